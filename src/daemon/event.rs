//! All that can happen to a daemon.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use super::scribe::Written;
use crate::api::Answered;
use crate::api::Ask;
use crate::api::AuditStatus;
use crate::api::Call;
use crate::api::DaemonStatus;
use crate::api::Fault;
use crate::engine::Change;
use crate::watch::Signal;

/// Everything that can wake the daemon.
pub(super) enum Event {
    /// The watcher saw something.
    Signal(Signal),
    /// A client asks.
    Asked(Question),
    /// A question was answered.
    Answered {
        /// What it came to, where it was for an audit.
        audit: Option<AuditStatus>,
    },
    /// The cache was brought up to date with files that had changed.
    Refreshed(Refreshed),
    /// A worker has read other settings than before: other files may count.
    SettingsChanged,
    /// Somebody wants to know how the daemon is.
    Status(SyncSender<DaemonStatus>),
    /// A model was asked for summaries.
    Written(Written),
    /// What models wrote was found damaged, and this became of it.
    Salvaged(String),
    /// Time to go.
    Stop(&'static str),
}

/// What a client asks, and where the answer is awaited.
pub(super) struct Question {
    pub(super) ask: Ask,
    pub(super) call: Call,
    pub(super) reply: SyncSender<Result<Answered, Fault>>,
}

/// What a refresh came to.
pub(super) struct Refreshed {
    pub(super) changes: Vec<Change>,
    /// Whether it was about every file.
    pub(super) is_everything: bool,
    pub(super) took: Duration,
    /// What a person should be told of it.
    pub(super) notes: Vec<String>,
}
