//! Events that wake the daemon, and notices that it gives to the person who watches it.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use crate::api::{
    AnyQuery, ApiError, AuditStatus, CallOptions, DaemonStatus, HydrationResult, ServiceAnswer,
};
use crate::engine;
use crate::engine::FileChange;
use crate::watch::WatchSignal;

/// Everything that can wake the event loop.
pub(super) enum DaemonEvent {
    Signal(WatchSignal),
    QueryReceived(PendingQuery),
    QueryAnswered {
        /// What it came to, where it was for an audit.
        audit: Option<AuditStatus>,
    },
    /// The cache was brought up to date with files that had changed.
    Refreshed(RefreshOutcome),
    /// A worker has read other settings than before, and opens the project with these options.
    SettingsChanged(Box<engine::Options>),
    /// The settings cannot be read any more, for this reason; answers use the last good ones.
    SettingsBroken(String),
    /// Somebody wants to know how the daemon is.
    StatusRequested(SyncSender<DaemonStatus>),
    SummariesWritten(RoundReport),
    /// What models wrote was found damaged, and this became of it.
    LedgerRecovered(String),
    /// Files were placed for a client.
    Hydrated(HydrationCounts),
    /// The team's cache cannot be used.
    TeamCacheFailed(String),
    Stop(&'static str),
}

/// A query of a client, and the channel for its answer.
pub(super) struct PendingQuery {
    pub(super) query: AnyQuery,
    pub(super) call: CallOptions,
    pub(super) reply: SyncSender<Result<ServiceAnswer, ApiError>>,
}

pub(super) struct RefreshOutcome {
    pub(super) changes: Vec<FileChange>,
    pub(super) is_everything: bool,
    pub(super) elapsed: Duration,
    pub(super) notes: Vec<String>,
}

/// How many files have a place after a hydration, and how many have another one than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HydrationCounts {
    pub stored: u64,
    pub promoted: u64,
    pub demoted: u64,
    /// Files without a place.
    pub skipped: u64,
}

impl From<&HydrationResult> for HydrationCounts {
    fn from(placed: &HydrationResult) -> Self {
        let HydrationResult { hot, warm, cold, promoted, demoted, skipped, .. } = placed;
        let stored = hot.fragments + warm.fragments + cold.fragments;
        Self { stored, promoted: *promoted, demoted: *demoted, skipped: *skipped }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RoundReport {
    pub(super) answered: u64,
    /// What they cost, in words.
    pub(super) cost: String,
    /// Questions that are not asked again soon, each with why.
    pub(super) unanswered: Vec<String>,
    /// Why the round ended early.
    pub(super) stopped: Option<String>,
}

/// What a daemon reports, as it happens.
#[derive(Debug)]
pub enum Notice<'a> {
    Watching {
        folders: usize,
        socket: &'a std::path::Path,
        /// The address where it answers too.
        listen: Option<&'a str>,
    },
    /// Files have changed, and what is known of them is up to date again.
    Refreshed {
        /// What has changed, by path.
        changes: &'a [FileChange],
        elapsed: Duration,
    },
    /// A model was asked for summaries.
    Summarized {
        answered: u64,
        /// What they cost, in words.
        cost: &'a str,
        /// Questions that are not asked again soon, each with why.
        unanswered: &'a [String],
        /// Why it ended early.
        stopped: Option<&'a str>,
    },
    /// Files were placed for a client.
    Hydrated(HydrationCounts),
    /// Events are not to be trusted: each answer looks at the files.
    Verified {
        reason: &'a str,
        /// What can be done about it; may be empty.
        hint: &'a str,
    },
    /// Events were lost, and everything is looked at once more.
    Lost {
        reason: &'a str,
    },
    /// Something that a person should know.
    Note(&'a str),
    Stopping {
        reason: &'a str,
    },
}
