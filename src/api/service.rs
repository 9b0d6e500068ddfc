//! What answers questions: a project that is opened in this process, a running daemon, or whichever of them there is.
//!
//! The command line and the transports (HTTP on a socket, MCP) know nothing but this trait.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

use super::fault::ApiError;
use super::query::{AnyQuery, Payload};
use super::wire::{IndexRun, MissingPath};
use crate::engine::ScanProgress;

/// Version of the protocol that clients and daemons of slop speak. Both must have the same.
pub const PROTOCOL: u32 = 1;

/// Version of the program. Another version may answer differently in the same protocol.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Answers questions. Ask it with [`super::ask`].
pub trait Service: Send + Sync {
    /// Answers one question, and hands the answer to `receive`. Blocks until the answer is there: call it from a thread
    /// that may wait.
    ///
    /// What a document shows is remembered only if the answer has arrived. This is why the answer is handed over in a
    /// call and not returned: whoever writes it to a pipe knows the outcome only afterwards.
    fn answer(&self, query: AnyQuery, call: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError>;
}

/// Takes an answer, and returns whether it has arrived.
pub type Receiver<'r> = &'r mut dyn FnMut(ServiceAnswer) -> Delivery;

/// Whether an answer has arrived where it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It has.
    Arrived,
    /// It has not, or it is not known.
    Lost,
}

/// How a question is answered, whatever it is.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    /// Whether an answer that may be out of date is an error.
    pub require_fresh: bool,
    /// The fingerprint of the settings that the client expects; any, if it gives none.
    pub settings: Option<String>,
    /// Whether only the text of a document is needed.
    pub only_text: bool,
    /// What client and service share during the call.
    pub job: Arc<QueryJob>,
}

/// What client and service share during a call: whether the client still waits, how far the work is, and what the
/// service has to report besides the answer.
#[derive(Default)]
pub struct QueryJob {
    is_cancelled: AtomicBool,
    progress: Mutex<(usize, usize)>,
    notes: Mutex<Vec<String>>,
    trace: Mutex<Vec<TraceEvent>>,
    observer: Option<Arc<dyn ProgressObserver>>,
}

/// Is notified of progress.
pub trait ProgressObserver: Send + Sync {
    /// Records that `done` of `total` files are done.
    fn progress(&self, done: usize, total: usize);
}

/// How an answer came about, for those who ask for details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceEvent {
    /// All files were compared with the cache in this process.
    Scanned(IndexRun),
    /// Only the files that were named were looked at.
    NamedFilesOnly,
    /// A daemon answered, at this position of its clock.
    AnsweredByDaemon(Option<String>),
    /// A daemon answered in a way that could not be read.
    UnreadableAnswer(String),
}

impl QueryJob {
    /// Returns a job whose progress `observer` is notified of.
    pub fn observed_by(observer: Arc<dyn ProgressObserver>) -> Self {
        Self { observer: Some(observer), ..Self::default() }
    }

    /// Records that nobody waits for the answer any more.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether nobody waits for the answer any more.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Records that `done` of `total` files are done.
    pub fn set_progress(&self, done: usize, total: usize) {
        *lock(&self.progress) = (done, total);
        if let Some(observer) = &self.observer {
            observer.progress(done, total);
        }
    }

    /// Returns how many files are done, and of how many; zeros before the first.
    pub fn progress(&self) -> (usize, usize) {
        *lock(&self.progress)
    }

    /// Adds a note for the user.
    pub fn note(&self, note: String) {
        lock(&self.notes).push(note);
    }

    /// Takes the notes that were added since the last call.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.notes))
    }

    /// Records how the answer came about.
    pub fn trace(&self, event: TraceEvent) {
        lock(&self.trace).push(event);
    }

    /// Takes the events that were recorded since the last call.
    pub fn take_trace(&self) -> Vec<TraceEvent> {
        std::mem::take(&mut lock(&self.trace))
    }
}

impl ScanProgress for QueryJob {
    fn begin(&self, files: usize) {
        self.set_progress(0, files);
    }

    fn advance(&self) {
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

/// A panic elsewhere leaves nothing half done here: each value is replaced or appended to as a whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An answer of a type that only the question knows.
#[derive(Debug)]
pub struct ServiceAnswer {
    /// What the answer can be relied on for.
    pub freshness: FreshnessNote,
    /// The paths that were asked for and cannot be answered for.
    pub missing: Vec<MissingPath>,
    /// The answer.
    pub payload: Payload,
}

/// What an answer can be relied on for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FreshnessNote {
    /// Whether the answer reflects every write that returned before the question.
    pub freshness: FreshnessState,
    /// Why it does not, or may not.
    pub reason: Option<String>,
    /// When it was, by the daemon's count: `epoch:sequence`. Absent without a daemon.
    pub clock: Option<String>,
    /// When it was, in milliseconds since the epoch.
    pub as_of_ms: i64,
    /// How many files are known to have changed, and are still to be derived from. None of them is in the answer.
    pub pending: u64,
}

impl FreshnessNote {
    /// Returns what an answer can be relied on for that looked at all of its files at a time, in milliseconds since the
    /// epoch.
    pub const fn at(as_of_ms: i64) -> Self {
        Self { freshness: FreshnessState::Fresh, reason: None, clock: None, as_of_ms, pending: 0 }
    }

    /// Takes in how many files could not be read because they are written to all the time.
    #[must_use]
    pub fn with_unsettled(self, files: u64) -> Self {
        if files == 0 {
            return self;
        }
        let reason = Some(format!("files that kept changing while they were read: {files}"));
        Self { freshness: FreshnessState::Partial, reason, ..self }
    }

    /// Fails where an answer cannot be vouched for although it has to be.
    pub fn require_fresh(&self, require_fresh: bool) -> Result<(), ApiError> {
        let is_fresh = self.freshness == FreshnessState::Fresh;
        if is_fresh || !require_fresh {
            return Ok(());
        }
        Err(ApiError::not_fresh(self.reason.as_deref().unwrap_or("it cannot be vouched for")))
    }
}

/// Whether an answer reflects every write that returned before the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreshnessState {
    /// It does.
    Fresh,
    /// It does, but for files that could not be read while they change; the reason says so.
    Partial,
    /// It may not.
    Stale,
}
