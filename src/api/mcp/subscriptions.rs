//! Notifications that resources are out of date, from the changes that a daemon reports.
//!
//! Up to version 2025-11-25, a session subscribes to resources one by one, and all of them share one stream of the
//! daemon. From 2026-07-28 on, a client lists them in a request that stays open, and each such request has a stream of
//! its own.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::questions::joined;
use super::resources;
use crate::api::client::ClientError;
use crate::api::daemon_control::DaemonControl;
use crate::api::fault::ApiError;
use crate::api::feed::{ChangeKind, FeedEvent, FeedEventKind, Subscription};
use crate::api::feed_reader::{FeedReader, FeedSource};
use crate::api::wire::spelled_path;

/// How long to wait before searching for the daemon again.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// The minimum time between two events of a daemon in this process, as in the streams to other processes.
const EVENT_INTERVAL: Duration = Duration::from_millis(100);

/// The source of the project's changes.
#[derive(Clone)]
pub(super) enum ChangeSource {
    /// A daemon in another process, if one runs.
    Socket(Arc<dyn FeedSource>),
    /// The daemon that this server is part of, and the permits for its streams.
    Daemon(Arc<dyn DaemonControl>, Arc<Semaphore>),
}

/// The subscriptions of one client.
pub(super) struct Subscriptions {
    source: ChangeSource,
    session: Arc<Mutex<SessionSubscriptions>>,
    has_left: watch::Receiver<bool>,
}

/// The subscriptions made with `resources/subscribe`.
#[derive(Default)]
struct SessionSubscriptions {
    /// The path of each address.
    addresses: BTreeMap<String, String>,
    /// Whether the client has listed the resources, and is notified when the list changes.
    follows_list: bool,
    /// The task that sends the notifications, while there are subscriptions.
    notifier: Option<JoinHandle<()>>,
}

impl Subscriptions {
    /// Returns subscriptions that end when `has_left` becomes true.
    pub(super) fn new(source: ChangeSource, has_left: watch::Receiver<bool>) -> Self {
        Self { source, session: Arc::default(), has_left }
    }

    /// Returns whether the client has a session, to which notifications can be sent between its requests.
    pub(super) const fn has_session(&self) -> bool {
        matches!(self.source, ChangeSource::Socket(_))
    }

    /// Subscribes to an address: every later change is reported.
    pub(super) async fn add(
        &self,
        address: String,
        path: String,
        client: Peer<RoleServer>,
    ) -> Result<(), ApiError> {
        if !self.has_session() {
            let hint = "call `subscriptions/listen` of version 2026-07-28, or use `slop mcp` on standard input and output";
            let message = "over HTTP there is no session that could be notified";
            return Err(ApiError::user("no_session", message, hint));
        }
        // Held while the stream is opened, so that two requests do not open two streams.
        let mut session = self.session.lock().await;
        self.open_stream(&mut session, client).await?;
        session.addresses.insert(address, path);
        Ok(())
    }

    /// Notifies a client with a session when the list of files changes, if a daemon reports that.
    pub(super) async fn follow_list(&self, client: Peer<RoleServer>) {
        if self.has_session() {
            let mut session = self.session.lock().await;
            session.follows_list = self.open_stream(&mut session, client).await.is_ok();
        }
    }

    async fn open_stream(
        &self,
        session: &mut SessionSubscriptions,
        client: Peer<RoleServer>,
    ) -> Result<(), ApiError> {
        if session.notifier.is_none() {
            let follower = ChangeFollower::open(self.source.clone()).await?;
            session.notifier = Some(tokio::spawn(notify(follower, Arc::clone(&self.session), client)));
        }
        Ok(())
    }

    pub(super) async fn remove(&self, address: &str) {
        let mut session = self.session.lock().await;
        session.addresses.remove(address);
        if session.addresses.is_empty()
            && !session.follows_list
            && let Some(notifier) = session.notifier.take()
        {
            notifier.abort();
        }
    }

    /// Reports changes until the request is cancelled or the client disconnects.
    pub(super) async fn listen(&self, context: &SubscriptionContext) -> Result<(), ApiError> {
        let accepted = context.accepted().resource_subscriptions.iter().flatten();
        let addresses: BTreeMap<&String, String> =
            accepted.filter_map(|address| Some((address, resources::parse_address(address)?.0))).collect();
        let follows_list = context.accepted().resources_list_changed == Some(true);
        let mut has_left = self.has_left.clone();
        let report = async {
            let mut follower = ChangeFollower::open(self.source.clone()).await?;
            loop {
                let changed = follower.next().await;
                for (address, _) in addresses.iter().filter(|(_, path)| changed.contains(path)) {
                    // The task that reads from the client notices if it is gone.
                    let _ = context.sink().notify_resource_updated(*address).await;
                }
                if follows_list && changed.is_list_changed() {
                    let _ = context.sink().notify_resource_list_changed().await;
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

/// Sends the notifications of a session, until the task is aborted.
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
        if session.follows_list && changed.is_list_changed() {
            let _ = client.notify_resource_list_changed().await;
        }
    }
}

/// The files of one event of the daemon.
enum ChangedFiles {
    /// Unknown files.
    Any,
    These {
        paths: HashSet<String>,
        are_added_or_removed: bool,
    },
}

impl ChangedFiles {
    fn contains(&self, path: &str) -> bool {
        match self {
            Self::Any => true,
            Self::These { paths, .. } => paths.contains(path),
        }
    }

    const fn is_list_changed(&self) -> bool {
        matches!(self, Self::Any | Self::These { are_added_or_removed: true, .. })
    }
}

impl From<FeedEvent> for ChangedFiles {
    fn from(event: FeedEvent) -> Self {
        match event.kind {
            FeedEventKind::Changed => {
                let changes = event.changes.iter();
                let paths =
                    changes.clone().map(|change| spelled_path(&change.path, change.path_hex.as_deref()));
                let mut kinds = changes.map(|change| change.kind);
                let are_added_or_removed = kinds.any(|kind| kind != ChangeKind::Modified);
                Self::These { paths: paths.collect(), are_added_or_removed }
            }
            FeedEventKind::FreshInstance | FeedEventKind::LostTrack => Self::Any,
        }
    }
}

/// Follows the changes of the project, even if its daemon is restarted.
struct ChangeFollower {
    source: ChangeSource,
    feed: OpenFeed,
}

/// An open stream of changes.
enum OpenFeed {
    Socket(FeedReader),
    /// The permit of the stream is released on drop.
    Daemon {
        subscription: Subscription,
        /// The earliest time for the next event, after the first one.
        not_before: Option<Instant>,
        _permit: OwnedSemaphorePermit,
    },
}

impl OpenFeed {
    /// Waits for the next event; `None` if the stream has ended.
    async fn next(&mut self) -> Option<ChangedFiles> {
        match self {
            Self::Socket(reader) => reader.next().await.ok().map(ChangedFiles::from),
            Self::Daemon { subscription, not_before, .. } => {
                if let Some(not_before) = *not_before {
                    // Events until then are joined into one.
                    tokio::time::sleep_until(not_before).await;
                }
                let event = subscription.next_joined(None).await?;
                *not_before = Some(Instant::now() + EVENT_INTERVAL);
                Some(FeedEvent::clone(&event).into())
            }
        }
    }
}

impl ChangeFollower {
    async fn open(source: ChangeSource) -> Result<Self, ApiError> {
        let feed = open_feed(&source).await?;
        Ok(Self { source, feed })
    }

    async fn next(&mut self) -> ChangedFiles {
        if let Some(changed) = self.feed.next().await {
            return changed;
        }
        loop {
            tokio::time::sleep(RETRY_PAUSE).await;
            if let Ok(feed) = open_feed(&self.source).await {
                self.feed = feed;
                // Changes while no daemon was running are unknown.
                return ChangedFiles::Any;
            }
        }
    }
}

async fn open_feed(source: &ChangeSource) -> Result<OpenFeed, ApiError> {
    let source = match source {
        ChangeSource::Socket(source) => Arc::clone(source),
        ChangeSource::Daemon(daemon, streams) => {
            let permit = Arc::clone(streams).try_acquire_owned().map_err(|_| {
                let message = "limit of event streams reached";
                ApiError::environment("busy", message, "end another subscription, and try again")
            })?;
            let subscription = daemon.subscribe(None);
            return Ok(OpenFeed::Daemon { subscription, not_before: None, _permit: permit });
        }
    };
    let socket = joined(tokio::task::spawn_blocking(move || source.feed_socket()).await)??;
    let reader = FeedReader::open(&socket).await;
    reader.map(OpenFeed::Socket).map_err(|error| match error {
        ClientError::Fault(error) => error,
        ClientError::Unreachable(_)
        | ClientError::Cancelled
        | ClientError::NoRoute
        | ClientError::NotUnderstood(_) => {
            let hint =
                "read the resource again; changes are reported while the user's daemon runs (`slop daemon start`)";
            ApiError::environment("no_daemon", error.to_string(), hint)
        }
    })
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::api::feed::{Change, ClockPosition, Feed};

    fn changed(sequence: u64, path: &str) -> FeedEvent {
        let change =
            Change { path: path.to_owned(), path_hex: None, kind: ChangeKind::Modified, sha256: None };
        let clock = ClockPosition { epoch: 1, sequence };
        FeedEvent { kind: FeedEventKind::Changed, clock, changes: vec![change] }
    }

    #[tokio::test]
    async fn the_first_change_is_reported_at_once_and_those_after_it_together() {
        let feed = Feed::new(ClockPosition { epoch: 1, sequence: 0 });
        let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        let mut open =
            OpenFeed::Daemon { subscription: feed.subscribe(None), not_before: None, _permit: permit };
        feed.publish(changed(1, "a"));
        let Poll::Ready(first) = pin!(open.next()).poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("the first change waits for others");
        };
        feed.publish(changed(2, "b"));
        feed.publish(changed(3, "c"));
        let rest = open.next().await.unwrap();
        let has = |files: &ChangedFiles| ["a", "b", "c"].map(|path| files.contains(path));
        assert_eq!((has(&first.unwrap()), has(&rest)), ([true, false, false], [false, true, true]));
    }
}
