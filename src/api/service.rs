//! Whoever answers asks: the daemon, or a project that is opened for one question.
//!
//! The transports (HTTP on a socket, MCP) know nothing but this trait.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

use super::ask::AnyQuery;
use super::fault::ApiError;
use super::response::QueryResponse;
use super::wire::AnyAnswer;
use super::wire::encode_document;
use crate::engine::ScanProgress;

/// Version of what clients and daemons of slop say to each other. Both must have the same.
pub const PROTOCOL: u32 = 1;

/// Version of the program. What another one answers in the same protocol may still be another answer.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Answers asks.
pub trait Service: Send + Sync {
    /// Answers one ask. Takes as long as it takes: to be called from a thread that may wait.
    fn ask(&self, ask: AnyQuery, call: &CallOptions) -> Result<ServiceAnswer, ApiError>;
}

/// How a question is to be answered, whatever it is.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    /// Whether an answer that cannot be vouched for is to be an error.
    pub require_fresh: bool,
    /// What the asker takes for the settings, as [`Answered`] comes from them; any, where it does not say.
    pub settings: Option<String>,
    /// Whether of a document its text alone is wanted.
    pub only_text: bool,
    /// Is set when nobody waits for the answer any more, and how far the work is.
    pub job: Arc<QueryJob>,
}

/// What asker and answerer tell each other while the work goes on.
#[derive(Debug, Default)]
pub struct QueryJob {
    is_cancelled: AtomicBool,
    progress: std::sync::Mutex<(usize, usize)>,
}

impl QueryJob {
    /// Says that nobody waits for the answer any more.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Says whether somebody still waits for the answer.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Says that so many files are to be read.
    pub fn begins(&self, files: usize) {
        if let Ok(mut progress) = self.progress.lock() {
            *progress = (0, files);
        }
    }

    /// Says that one more file was read.
    pub fn advances(&self) {
        if let Ok(mut progress) = self.progress.lock() {
            progress.0 += 1;
        }
    }

    /// Says that so many files were read, of so many.
    pub fn set_progress(&self, done: usize, total: usize) {
        if let Ok(mut progress) = self.progress.lock() {
            *progress = (done, total);
        }
    }

    /// Returns how many files were read, and of how many; zeros before the first.
    pub fn progress(&self) -> (usize, usize) {
        self.progress.lock().map_or((0, 0), |progress| *progress)
    }
}

impl ScanProgress for QueryJob {
    fn begin(&self, files: usize) {
        Self::begins(self, files);
    }

    fn advance(&self) {
        Self::advances(self);
    }

    fn is_cancelled(&self) -> bool {
        Self::is_cancelled(self)
    }
}

/// An answer, ready to be sent.
#[derive(Debug, Clone)]
pub struct ServiceAnswer {
    /// What the answer can be relied on for.
    pub freshness: FreshnessNote,
    /// What a person should be told beside the answer.
    pub notes: Vec<String>,
    /// The answer as JSON: the `data` of the envelope. Empty where a text alone was wanted and stands below.
    pub data: Bytes,
    /// The text of a document, where it is at hand.
    pub text: Option<Bytes>,
}

impl ServiceAnswer {
    /// Returns the answer that a response is on the wire; `None` for what no ask is answered by.
    pub fn from_response(
        response: QueryResponse,
        freshness: FreshnessNote,
        call: &CallOptions,
    ) -> Option<Self> {
        let (data, text) = match response {
            QueryResponse::Aggregated(aggregated) => {
                let written = aggregated.written;
                let data = if call.only_text { Bytes::new() } else { encode_document(&written) };
                (data, Some(written.text.clone()))
            }
            other => (AnyAnswer::from_response(other)?.to_json().into(), None),
        };
        Some(Self { freshness, notes: Vec::new(), data, text })
    }
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
