//! Events that wake the daemon, and notices for the user who runs it.

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
        /// The result, if the query was an audit.
        audit: Option<AuditStatus>,
    },
    /// The cache was brought up to date with files that had changed.
    Refreshed(RefreshOutcome),
    /// A worker has read changed settings, and opens the project with these options.
    SettingsChanged(Box<engine::Options>),
    /// The settings have become unreadable for this reason; answers use the last valid ones.
    SettingsBroken(String),
    /// A client requests the status.
    StatusRequested(SyncSender<DaemonStatus>),
    SummariesWritten(RoundReport),
    /// The database of summaries was found damaged; the text describes its recovery.
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

/// How many files are placed after a hydration, and how many were moved by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HydrationCounts {
    pub stored: u64,
    pub promoted: u64,
    pub demoted: u64,
    /// Files that are not placed.
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
    /// Tasks that are not retried soon, each with the reason.
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
        /// An additional address on which it answers.
        listen: Option<&'a str>,
    },
    /// The index was updated after files had changed.
    Refreshed {
        /// What has changed, by path.
        changes: &'a [FileChange],
        elapsed: Duration,
    },
    /// Models were called for summaries.
    Summarized {
        answered: u64,
        /// What they cost, in words.
        cost: &'a str,
        /// Tasks that are not retried soon, each with the reason.
        unanswered: &'a [String],
        /// Why it ended early.
        stopped: Option<&'a str>,
    },
    /// Files were placed for a client.
    Hydrated(HydrationCounts),
    /// Events are not trusted: each answer checks the files.
    Verified {
        reason: &'a str,
        /// What can be done about it; may be empty.
        hint: &'a str,
    },
    /// Events were lost, and everything is checked again.
    Lost {
        reason: &'a str,
    },
    /// A message for the user.
    Note(&'a str),
    Stopping {
        reason: &'a str,
    },
}
