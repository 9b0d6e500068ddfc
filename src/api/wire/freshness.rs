//! What an answer can be relied on for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::fault::ApiError;

/// What an answer guarantees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FreshnessNote {
    /// Whether the answer reflects every write that returned before the query.
    pub freshness: FreshnessState,
    /// Why the answer is not fresh, or may not be.
    pub reason: Option<String>,
    /// The daemon's clock at the time of the answer: `epoch:sequence`. Absent without a daemon.
    pub clock: Option<String>,
    /// The time of the answer in milliseconds since the Unix epoch.
    pub as_of_ms: i64,
    /// The number of files that have changed and are not yet indexed. None of them is in the answer.
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
        Err(ApiError::not_fresh(self.reason.as_deref().unwrap_or("its freshness is unknown")))
    }
}

/// Whether an answer reflects every write that returned before the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreshnessState {
    /// Every write that returned before the query is included.
    Fresh,
    /// Fresh except for files that kept changing while they were read; `reason` states how many.
    Partial,
    /// It may be out of date.
    Stale,
}
