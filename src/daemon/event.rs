//! All that can happen to a daemon.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use super::scribe::RoundReport;
use crate::api::AnyQuery;
use crate::api::ApiError;
use crate::api::AuditStatus;
use crate::api::CallOptions;
use crate::api::DaemonStatus;
use crate::api::ServiceAnswer;
use crate::engine::FileChange;
use crate::watch::WatchSignal;

/// Everything that can wake the daemon.
pub(super) enum DaemonEvent {
    /// The watcher saw something.
    Signal(WatchSignal),
    /// A client asks.
    QueryReceived(PendingQuery),
    /// A question was answered.
    QueryAnswered {
        /// What it came to, where it was for an audit.
        audit: Option<AuditStatus>,
    },
    /// The cache was brought up to date with files that had changed.
    Refreshed(RefreshOutcome),
    /// A worker has read other settings than before: other files may count.
    SettingsChanged,
    /// Somebody wants to know how the daemon is.
    StatusRequested(SyncSender<DaemonStatus>),
    /// A model was asked for summaries.
    SummariesWritten(RoundReport),
    /// What models wrote was found damaged, and this became of it.
    LedgerRecovered(String),
    /// Time to go.
    Stop(&'static str),
}

/// What a client asks, and where the answer is awaited.
pub(super) struct PendingQuery {
    pub(super) query: AnyQuery,
    pub(super) call: CallOptions,
    pub(super) reply: SyncSender<Result<ServiceAnswer, ApiError>>,
}

/// What a refresh came to.
pub(super) struct RefreshOutcome {
    pub(super) changes: Vec<FileChange>,
    /// Whether it was about every file.
    pub(super) is_everything: bool,
    pub(super) elapsed: Duration,
    /// What a person should be told of it.
    pub(super) notes: Vec<String>,
}
