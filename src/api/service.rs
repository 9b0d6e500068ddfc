//! The interface that answers questions: implemented by a project opened in this process, a running daemon, or
//! whichever is available.
//!
//! The command line and the transports (HTTP on a socket, MCP) only use this trait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::fault::ApiError;
use super::payload::{EncodedPayload, Payload};
use super::query::{AnyQuery, Query};
use super::wire::{FreshnessNote, IndexRun, MissingPath};
use crate::engine::ScanProgress;
use crate::model::lock;

/// The version of the protocol between clients and daemons of slop, which must be the same for both.
// Compared for equality: commands and daemon usually are the same binary, so nothing is negotiated.
pub const PROTOCOL: u32 = 1;

/// The version of the program. Another version may answer differently in the same protocol.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Answers questions. Ask it with [`super::ask`].
pub trait Service: Send + Sync {
    /// Answers one question, and passes the answer to `receive`. Blocks until then, so it must be called from a thread
    /// that may wait.
    ///
    /// A document is recorded as delivered only if the answer has arrived. So the answer is passed to a callback
    /// instead of being returned: a caller that writes it to a pipe knows the outcome only afterwards.
    fn answer(&self, query: AnyQuery, call: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError>;
}

/// Receives an answer, and returns whether it has arrived.
pub type Receiver<'r> = &'r mut dyn FnMut(ServiceAnswer) -> Delivery;

/// Whether an answer has arrived at its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    Arrived,
    /// It has not, or that is unknown.
    Lost,
}

/// Options that apply to any question.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    /// Whether an answer that may be out of date is an error.
    pub require_fresh: bool,
    /// The fingerprint of the settings that the client expects; `None` for any.
    pub settings: Option<String>,
    /// Whether only the text of a document is needed.
    pub only_text: bool,
    /// Whether a document is not recorded as delivered, because the question must not change anything.
    pub is_read_only: bool,
    /// The state that client and service share during the call.
    pub job: Arc<QueryJob>,
}

/// The state that client and service share during a call: cancellation, progress, and notes of the service.
#[derive(Default)]
pub struct QueryJob {
    is_cancelled: AtomicBool,
    progress: Mutex<(usize, usize)>,
    notes: Mutex<Vec<String>>,
    trace: Mutex<Vec<TraceEvent>>,
    observer: Option<Arc<dyn ProgressObserver>>,
}

pub trait ProgressObserver: Send + Sync {
    fn progress(&self, done: usize, total: usize);
}

/// How an answer was made, for verbose output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceEvent {
    /// All files were compared with the cache in this process.
    Scanned(IndexRun),
    /// Only the named files were checked.
    NamedFilesOnly,
    AnsweredByDaemon(Option<String>),
    UnreadableAnswer(String),
}

impl QueryJob {
    pub fn observed_by(observer: Arc<dyn ProgressObserver>) -> Self {
        Self { observer: Some(observer), ..Self::default() }
    }

    pub fn cancel(&self) {
        // Relaxed is enough: the flag guards no other data, and a worker that sees it late only does some needless
        // work.
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    pub(super) fn set_progress(&self, done: usize, total: usize) {
        *lock(&self.progress) = (done, total);
        if let Some(observer) = &self.observer {
            observer.progress(done, total);
        }
    }

    /// Returns how many files are done, and the total; zeros at first.
    pub fn progress(&self) -> (usize, usize) {
        *lock(&self.progress)
    }

    pub fn note(&self, note: String) {
        lock(&self.notes).push(note);
    }

    /// Removes and returns the notes added since the last call.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.notes))
    }

    pub fn trace(&self, event: TraceEvent) {
        lock(&self.trace).push(event);
    }

    /// Removes and returns the events recorded since the last call.
    pub fn take_trace(&self) -> Vec<TraceEvent> {
        std::mem::take(&mut lock(&self.trace))
    }
}

impl ScanProgress for QueryJob {
    fn begin(&self, files: usize) {
        self.set_progress(0, files);
    }

    fn advance(&self) {
        // The observer draws on a terminal, which may block: the lock is released before it is called.
        let (done, total) = {
            let mut progress = lock(&self.progress);
            progress.0 += 1;
            *progress
        };
        if let Some(observer) = &self.observer {
            observer.progress(done, total);
        }
    }

    fn is_cancelled(&self) -> bool {
        Self::is_cancelled(self)
    }
}

impl std::fmt::Debug for QueryJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryJob").field("progress", &self.progress).finish_non_exhaustive()
    }
}

/// An answer of the question's own type, or as a [`Payload`] whose type only the question knows.
#[derive(Debug)]
pub struct ServiceAnswer<A = Payload> {
    pub freshness: FreshnessNote,
    pub missing: Vec<MissingPath>,
    pub payload: A,
}

/// An encoded answer.
#[derive(Debug, Clone)]
pub struct EncodedAnswer {
    pub freshness: FreshnessNote,
    pub notes: Vec<String>,
    pub missing: Vec<MissingPath>,
    /// The `data` of the envelope; empty if only the text was requested.
    pub data: Bytes,
    /// The text of a document, if it need not be decoded.
    pub text: Option<Bytes>,
}

/// Asks a service, and returns its answer, which counts as delivered.
pub fn ask<Q: Query>(
    service: &dyn Service,
    query: Q,
    call: &CallOptions,
) -> Result<ServiceAnswer<Q::Answer>, ApiError> {
    ask_and(service, query, call, Ok)
}

/// Asks a service, and passes the answer to `receive` while the service waits: the answer counts as delivered only if
/// that succeeds.
pub fn ask_and<Q: Query, T, E: From<ApiError>>(
    service: &dyn Service,
    query: Q,
    call: &CallOptions,
    receive: impl FnOnce(ServiceAnswer<Q::Answer>) -> Result<T, E>,
) -> Result<T, E> {
    let (mut receive, mut received) = (Some(receive), None);
    service.answer(query.into_any(), call, &mut |answer| {
        // A service must not pass two answers, and the second one must not count as delivered.
        let Some(receive) = receive.take() else { return Delivery::Lost };
        let ServiceAnswer { freshness, missing, payload } = answer;
        let answer = Q::read_answer(payload).map_err(E::from);
        let outcome = answer.and_then(|payload| receive(ServiceAnswer { freshness, missing, payload }));
        let delivery = if outcome.is_ok() { Delivery::Arrived } else { Delivery::Lost };
        received = Some(outcome);
        delivery
    })?;
    received.unwrap_or_else(|| Err(ApiError::bug().into()))
}

/// Asks a service any question, and returns the encoded answer, which counts as delivered.
pub fn ask_encoded(
    service: &dyn Service,
    query: AnyQuery,
    call: &CallOptions,
) -> Result<EncodedAnswer, ApiError> {
    let mut received = None;
    service.answer(query, call, &mut |answer| {
        // It counts as delivered before it is sent, because this function cannot know whether the client reads it.
        received = Some(answer);
        Delivery::Arrived
    })?;
    let ServiceAnswer { freshness, missing, payload } = received.ok_or_else(ApiError::bug)?;
    let EncodedPayload { data, text, faults } = payload.encode(call.only_text)?;
    let mut notes = call.job.take_notes();
    // A caller that only gets the text has no receipt.
    notes.extend(faults.into_notes());
    Ok(EncodedAnswer { freshness, notes, missing, data, text })
}
