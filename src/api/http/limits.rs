//! The server's limits: sizes, times, connections, and clients that are slow to read.

use std::collections::BTreeMap;
use std::io;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Sleep;

use crate::model::lock;

/// The most bytes of a request's body.
pub(in crate::api) const REQUEST_BYTES: usize = 1 << 20;

/// The most bytes of a too large body that are read nevertheless, so that its client receives the error.
pub(super) const DRAINED_BYTES: u64 = 16 << 20;

/// The most characters of one text in a request: no path is longer, and no name should be.
pub(in crate::api) const TEXT_CHARACTERS: usize = 4096;

pub(in crate::api) const LIST_ITEMS: usize = 10_000;

/// Returns whether a key of a request has prose or lines of source, which may be as long as the body allows.
pub(in crate::api) fn is_free_text(key: &str) -> bool {
    let keys =
        ["task", "text", "system_prompt", "start_context", "end_context", "anchor_lines", "before", "after"];
    keys.contains(&key)
}

/// The most simultaneous connections.
pub(super) const CONNECTIONS: usize = 64;

/// The most questions that are answered simultaneously, including those of disconnected clients.
pub(super) const WORKING: usize = 64;

/// The most connections that wait for events, so that some are left for questions.
pub(super) const SUBSCRIBERS: usize = 24;

/// The most bytes of a request's head, and of a single read or write.
pub(super) const BUFFER_BYTES: usize = 64 << 10;

pub(super) const HEADERS: usize = 64;

/// Timeouts for clients; a type, because tests use shorter ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    /// For a request's head; also closes idle connections.
    pub(super) head: Duration,
    pub(super) body: Duration,
    /// For reading any part of a response that is waiting to be read.
    pub(super) read: Duration,
    /// For everything in flight when the server stops.
    pub(super) stop: Duration,
    /// Between two progress lines.
    pub(super) progress: Duration,
    /// Between two lines without progress, which show that the daemon is alive.
    pub(super) sign: Duration,
    /// Between two comments in a stream without events.
    pub(super) heartbeat: Duration,
}

// `sign` must stay well below the 5 s of silence after which a client considers the daemon hung.
pub(super) const TIMEOUTS: Timeouts = Timeouts {
    head: Duration::from_secs(5),
    body: Duration::from_secs(30),
    read: Duration::from_secs(30),
    stop: Duration::from_secs(2),
    progress: Duration::from_millis(250),
    sign: Duration::from_secs(1),
    heartbeat: Duration::from_secs(15),
};

#[derive(Debug)]
pub(super) struct ConnectionLimiter {
    limit: usize,
    table: Mutex<SlotTable>,
}

#[derive(Debug, Default)]
struct SlotTable {
    next: u64,
    taken: BTreeMap<u64, OccupiedSlot>,
}

#[derive(Debug)]
struct OccupiedSlot {
    is_busy: bool,
    evicted: Arc<Notify>,
}

/// A connection slot, which is released on drop.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    limiter: Arc<ConnectionLimiter>,
    number: u64,
    evicted: Arc<Notify>,
}

/// A busy slot, which becomes idle on drop.
#[derive(Debug)]
pub(super) struct ActiveRequest(Arc<ConnectionSlot>);

impl ConnectionLimiter {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, table: Mutex::default() })
    }

    /// Returns a slot, if necessary that of an idle connection; `None` if all connections are being answered.
    pub(super) fn acquire(self: &Arc<Self>) -> Option<ConnectionSlot> {
        let mut table = lock(&self.table);
        if self.limit <= table.taken.len() {
            // Numbers only increase, so the first idle connection is the oldest.
            let idle = table.taken.iter().find(|(_, taken)| !taken.is_busy).map(|(number, _)| *number)?;
            // The slot is free at once. The evicted connection may live a moment longer, so the limit is exceeded by
            // those only.
            if let Some(taken) = table.taken.remove(&idle) {
                // `notify_one` keeps a permit for a holder that is not waiting yet, unlike `notify_waiters`.
                taken.evicted.notify_one();
            }
        }
        let number = table.next;
        table.next += 1;
        let evicted = Arc::new(Notify::new());
        table.taken.insert(number, OccupiedSlot { is_busy: false, evicted: Arc::clone(&evicted) });
        drop(table);
        Some(ConnectionSlot { limiter: Arc::clone(self), number, evicted })
    }
}

impl ConnectionSlot {
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// Marks the slot as busy until the answer has been sent; `None` if it was evicted.
    pub(super) fn begin_request(self: &Arc<Self>) -> Option<ActiveRequest> {
        lock(&self.limiter.table).taken.get_mut(&self.number)?.is_busy = true;
        Some(ActiveRequest(Arc::clone(self)))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        // Numbers are never reused, so an evicted slot does not affect its successor.
        lock(&self.limiter.table).taken.remove(&self.number);
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        if let Some(taken) = lock(&self.0.limiter.table).taken.get_mut(&self.0.number) {
            taken.is_busy = false;
        }
    }
}

/// A stream that fails if its reader has accepted no byte for some time.
pub(super) struct TimedStream<S> {
    stream: S,
    timeout: Duration,
    /// Runs while a write is pending.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> TimedStream<S> {
    pub(super) const fn new(stream: S, timeout: Duration) -> Self {
        Self { stream, timeout, waiting: None }
    }

    /// Returns the result of a write, or an error if it has been pending for too long.
    fn check_deadline(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            // Any progress restarts the timeout: a reader may be slow, but not stuck.
            self.waiting = None;
            return written;
        }
        let timeout = self.timeout;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_deadline(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.check_deadline(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // No deadline here: a socket has no buffer of its own to flush, so only writes can be stuck.
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_connections_are_evicted_and_busy_ones_are_kept() {
        let limiter = ConnectionLimiter::new(2);
        let asking = Arc::new(limiter.acquire().unwrap());
        let busy = asking.begin_request().unwrap();
        let idle = Arc::new(limiter.acquire().unwrap());
        let next = Arc::new(limiter.acquire().unwrap());
        assert!(idle.begin_request().is_none());
        let next_busy = next.begin_request().unwrap();
        assert!(limiter.acquire().is_none());
        drop(busy);
        assert!(limiter.acquire().is_some());
        assert!(asking.begin_request().is_none());
        drop((next_busy, next, idle, asking));
        assert!(lock(&limiter.table).taken.is_empty());
    }
}
