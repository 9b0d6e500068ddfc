//! Notifications that resources are out of date, from the changes that a daemon reports.
//!
//! Until 2025-11-25 a session subscribes to resources one by one, and all of them share one stream of the daemon. As of
//! 2026-07-28 a client names them in a request that stays open, and each such request has a stream of its own.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use super::questions::joined;
use super::resources;
use crate::api::client::ClientError;
use crate::api::fault::ApiError;
use crate::api::feed::{FeedEvent, FeedEventKind};
use crate::api::feed_reader::{FeedReader, FeedSource};
use crate::api::wire::spelled_path;

/// How long to wait before the daemon is looked for again.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// The subscriptions of one client.
pub(super) struct Subscriptions {
    source: Arc<dyn FeedSource>,
    session: Arc<Mutex<SessionSubscriptions>>,
    has_left: watch::Receiver<bool>,
}

/// What was subscribed to with `resources/subscribe`.
#[derive(Default)]
struct SessionSubscriptions {
    /// The path of each address.
    addresses: BTreeMap<String, String>,
    /// Sends the notifications, as long as there are addresses.
    notifier: Option<JoinHandle<()>>,
}

impl Subscriptions {
    /// Returns subscriptions that end when `has_left` becomes true.
    pub(super) fn new(source: Arc<dyn FeedSource>, has_left: watch::Receiver<bool>) -> Self {
        Self { source, session: Arc::default(), has_left }
    }

    /// Adds an address, of which every later change is reported.
    pub(super) async fn add(
        &self,
        address: String,
        path: String,
        client: Peer<RoleServer>,
    ) -> Result<(), ApiError> {
        // Held while the stream is opened, so that two requests do not open two.
        let mut session = self.session.lock().await;
        if session.notifier.is_none() {
            let follower = ChangeFollower::open(Arc::clone(&self.source)).await?;
            session.notifier = Some(tokio::spawn(notify(follower, Arc::clone(&self.session), client)));
        }
        session.addresses.insert(address, path);
        Ok(())
    }

    pub(super) async fn remove(&self, address: &str) {
        let mut session = self.session.lock().await;
        session.addresses.remove(address);
        if session.addresses.is_empty()
            && let Some(notifier) = session.notifier.take()
        {
            notifier.abort();
        }
    }

    /// Reports changes until the request is cancelled or the client leaves.
    pub(super) async fn listen(&self, context: &SubscriptionContext) -> Result<(), ApiError> {
        let accepted = context.accepted().resource_subscriptions.iter().flatten();
        let addresses: BTreeMap<&String, String> =
            accepted.filter_map(|address| Some((address, resources::parse_address(address)?.0))).collect();
        let mut has_left = self.has_left.clone();
        let report = async {
            let mut follower = ChangeFollower::open(Arc::clone(&self.source)).await?;
            loop {
                let changed = follower.next().await;
                for (address, _) in addresses.iter().filter(|(_, path)| changed.contains(path)) {
                    // A client that is gone is noticed by the task that reads from it.
                    let _ = context.sink().notify_resource_updated(*address).await;
                }
            }
        };
        tokio::select! {
            ended = report => ended,
            () = context.cancelled() => Ok(()),
            _ = has_left.wait_for(|left| *left) => Ok(()),
        }
    }
}

/// Sends a session its notifications, until the task is aborted.
async fn notify(
    mut follower: ChangeFollower,
    session: Arc<Mutex<SessionSubscriptions>>,
    client: Peer<RoleServer>,
) {
    loop {
        let changed = follower.next().await;
        let session = session.lock().await;
        for (address, _) in session.addresses.iter().filter(|(_, path)| changed.contains(path)) {
            let update = ResourceUpdatedNotificationParam::new(address);
            let _ = client.notify_resource_updated(update).await;
        }
    }
}

/// The files that one event of the daemon is about.
enum ChangedFiles {
    /// It is not known which.
    Any,
    These(HashSet<String>),
}

impl ChangedFiles {
    fn contains(&self, path: &str) -> bool {
        match self {
            Self::Any => true,
            Self::These(paths) => paths.contains(path),
        }
    }
}

impl From<FeedEvent> for ChangedFiles {
    fn from(event: FeedEvent) -> Self {
        match event.kind {
            FeedEventKind::Changed => {
                let paths = event.changes.iter();
                Self::These(
                    paths.map(|change| spelled_path(&change.path, change.path_hex.as_deref())).collect(),
                )
            }
            FeedEventKind::FreshInstance | FeedEventKind::LostTrack => Self::Any,
        }
    }
}

/// Follows the changes of the project, also when its daemon is restarted.
struct ChangeFollower {
    source: Arc<dyn FeedSource>,
    feed: FeedReader,
}

impl ChangeFollower {
    async fn open(source: Arc<dyn FeedSource>) -> Result<Self, ApiError> {
        let feed = open_feed(&source).await?;
        Ok(Self { source, feed })
    }

    async fn next(&mut self) -> ChangedFiles {
        if let Ok(event) = self.feed.next().await {
            return event.into();
        }
        loop {
            tokio::time::sleep(RETRY_PAUSE).await;
            if let Ok(feed) = open_feed(&self.source).await {
                self.feed = feed;
                // What happened while no daemon was running is not known.
                return ChangedFiles::Any;
            }
        }
    }
}

async fn open_feed(source: &Arc<dyn FeedSource>) -> Result<FeedReader, ApiError> {
    let source = Arc::clone(source);
    let socket = joined(tokio::task::spawn_blocking(move || source.feed_socket()).await)??;
    FeedReader::open(&socket).await.map_err(|error| match error {
        ClientError::Fault(error) => error,
        ClientError::Unreachable(_)
        | ClientError::Cancelled
        | ClientError::NoRoute
        | ClientError::NotUnderstood(_) => {
            let hint =
                "`slop daemon start` starts a daemon, which reports changes; or read the resource again";
            ApiError::environment("no_daemon", error.to_string(), hint)
        }
    })
}
