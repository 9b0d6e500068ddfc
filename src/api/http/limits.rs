//! How much of anything the server bears.

use std::time::Duration;

/// Bytes of a request's body.
pub(in crate::api) const REQUEST_BYTES: usize = 1 << 20;

/// Characters of one text in a request: no path is longer, and no name should be.
pub(in crate::api) const TEXT_CHARACTERS: usize = 4096;

/// Items of one list in a request.
pub(in crate::api) const LIST_ITEMS: usize = 10_000;

/// Connections at the same time.
pub(super) const CONNECTIONS: usize = 64;

/// Asks that are worked on at the same time, those included that nobody waits for any more.
pub(super) const WORKING: usize = 64;

/// The most connections that wait for events, so that some are left for questions.
pub(super) const SUBSCRIBERS: usize = 24;

/// Bytes of a request's head, and of what is read and written at once.
pub(super) const BUFFER_BYTES: usize = 64 << 10;

/// Fields of a request's head.
pub(super) const HEADERS: usize = 64;

/// How long clients may take. Tests are in a greater hurry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    /// For a request's head; an idle connection is closed after it.
    pub(super) head: Duration,
    /// For a request's body.
    pub(super) body: Duration,
    /// For reading anything at all of a response that is there to be read.
    pub(super) read: Duration,
    /// For all that is in flight when the server stops.
    pub(super) stop: Duration,
    /// Between two lines of progress.
    pub(super) progress: Duration,
    /// Between two lines of progress, where there is none: a client knows by them that somebody is there.
    pub(super) sign: Duration,
    /// Between two comments in a stream without events.
    pub(super) heartbeat: Duration,
}

/// What the daemon grants.
pub(super) const TIMEOUTS: Timeouts = Timeouts {
    head: Duration::from_secs(5),
    body: Duration::from_secs(30),
    read: Duration::from_secs(30),
    stop: Duration::from_secs(2),
    progress: Duration::from_millis(250),
    sign: Duration::from_secs(1),
    heartbeat: Duration::from_secs(15),
};
