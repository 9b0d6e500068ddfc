//! What an answer can be relied on for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::fault::ApiError;

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
