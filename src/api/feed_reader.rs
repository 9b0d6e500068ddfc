//! Reads the events of a running daemon, for servers that report changes to clients of their own.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde::Deserialize;

use super::client::{ClientError, ConnectError, exchange, parse_error, read_body, request};
use super::fault::ApiError;
use super::feed::{Change, FeedEvent, FeedEventKind};
use super::service::{PROTOCOL, QueryJob};

/// Finds the daemon that reports the changes of a project.
pub trait FeedSource: Send + Sync {
    /// Returns the socket on which the daemon listens, if one runs. May read settings, so it blocks.
    fn feed_socket(&self) -> Result<PathBuf, ApiError>;
}

/// How long a daemon may send nothing. Without events it sends a comment every 15 s.
const MAX_PAUSE: Duration = Duration::from_secs(40);

/// An open stream of events.
pub(super) struct FeedReader {
    body: Incoming,
    unread: BytesMut,
}

impl FeedReader {
    /// Opens the stream of the daemon on a socket. No change after this call is missed.
    pub(super) async fn open(socket: &Path) -> Result<Self, ClientError> {
        let request = request("GET", "/v1/events").header("slop-protocol", PROTOCOL).body(Full::default());
        let request = request.expect("the parts of a request of our own are well-formed");
        let (head, mut body) = exchange(socket, request).await?.into_parts();
        if !head.status.is_success() {
            let body = read_body(&mut body, &QueryJob::default()).await?;
            return Err(parse_error(head.status.as_u16(), &body));
        }
        let mut reader = Self { body, unread: BytesMut::new() };
        // The first block is a comment, which the daemon sends once it has subscribed to the changes.
        reader.next_block().await?;
        Ok(reader)
    }

    /// Waits for the next event. An error ends the stream.
    pub(super) async fn next(&mut self) -> Result<FeedEvent, ClientError> {
        loop {
            let block = self.next_block().await?;
            if block.starts_with(b":") {
                continue;
            }
            let event = str::from_utf8(&block).ok().and_then(parse_event);
            return event.ok_or_else(|| ClientError::NotUnderstood("not an event".to_owned()));
        }
    }

    /// Returns the next block, which an empty line ends.
    async fn next_block(&mut self) -> Result<Bytes, ConnectError> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memmem::find(&self.unread[searched..], b"\n\n") {
                return Ok(self.unread.split_to(searched + at + 2).freeze());
            }
            // The end of a block may arrive in two pieces.
            searched = self.unread.len().saturating_sub(1);
            let frame = tokio::time::timeout(MAX_PAUSE, self.body.frame()).await;
            let frame = frame.map_err(|_| ConnectError::Silent(MAX_PAUSE))?;
            let ended = || ConnectError::Broken(io::ErrorKind::UnexpectedEof.into());
            let frame = frame.ok_or_else(ended)?;
            let frame = frame.map_err(|error| ConnectError::Broken(io::Error::other(error)))?;
            if let Ok(data) = frame.into_data() {
                self.unread.extend_from_slice(&data);
            }
        }
    }
}

fn parse_event(block: &str) -> Option<FeedEvent> {
    #[derive(Deserialize)]
    struct EventPayload {
        clock: String,
        changes: Vec<Change>,
    }
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let payload: EventPayload = serde_json::from_str(field("data")?).ok()?;
    let (kind, clock) = (FeedEventKind::parse(field("event")?)?, payload.clock.parse().ok()?);
    Some(FeedEvent { kind, clock, changes: payload.changes })
}
