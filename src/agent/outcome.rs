//! The results of runs, what is reported during a run, and the state of the service.

use std::fmt;
use std::time::Duration;

use crate::engine::summaries::{SummaryTask, WithheldReason};
use crate::llm::FailureClass;
use crate::model::Money;
use crate::store;
use crate::store::agent::{CapExceeded, SpendCaps, SpendTotals};

#[derive(Debug, Default)]
pub struct RunOutcome {
    /// Tasks that were answered; their summaries are stored.
    pub answered: u64,
    /// Tasks that another process had already answered.
    pub done: u64,
    /// Tasks that another live process is working on.
    pub in_progress: u64,
    /// Tasks that are in a batch and have no result yet.
    pub in_batch: u64,
    /// Tasks that this run submitted in a batch.
    pub submitted: u64,
    /// Tasks that no model could answer and that are not tried again soon, with the reason.
    pub refused: Vec<(SummaryTask, String)>,
    /// Tasks that are not sent because of what the files contain.
    pub withheld: Vec<(SummaryTask, WithheldReason)>,
    /// Tasks that can be tried again at once: providers had outages, files changed, or the run was stopped.
    pub remaining: u64,
    /// The last message of a provider that was not an answer, if tasks remain.
    pub last_error: Option<String>,
    /// Why the run ended early.
    pub stopped: Option<StopReason>,
    /// How many calls were made.
    pub calls: u64,
    /// How many of them reported more tokens than possible; they count at their worst cost.
    pub implausible: u64,
    /// What they cost; unknown costs count at their worst.
    pub spent: Money,
}

impl RunOutcome {
    /// Counts a task that has ended.
    pub(super) fn record(&mut self, task: SummaryTask, end: TaskOutcome) {
        match end {
            TaskOutcome::Answered => self.answered += 1,
            TaskOutcome::Done => self.done += 1,
            TaskOutcome::InProgress => self.in_progress += 1,
            TaskOutcome::InBatch => self.in_batch += 1,
            TaskOutcome::Unanswered | TaskOutcome::Withheld(WithheldReason::Changed) => self.remaining += 1,
            TaskOutcome::Refused(reason) => self.refused.push((task, reason)),
            TaskOutcome::Withheld(withheld) => self.withheld.push((task, withheld)),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskOutcome {
    Answered,
    /// The answer already existed.
    Done,
    /// Another process is working on it.
    InProgress,
    /// It is in a batch.
    InBatch,
    /// No model could answer it.
    Refused(String),
    Withheld(WithheldReason),
    Unanswered,
}

/// Why a run ended early.
#[derive(Debug)]
pub enum StopReason {
    Interrupted,
    /// The next call could exceed a cap.
    OverCap {
        cap: CapExceeded,
        caps: SpendCaps,
        spent: SpendTotals,
        /// What the next call could cost.
        next: Money,
    },
    /// A provider requires payment, another key or other settings, or rejects every request, and no other model is
    /// left.
    Account {
        provider: String,
        /// One of [`FailureClass::Money`], [`FailureClass::Auth`], [`FailureClass::Settings`] and
        /// [`FailureClass::Request`].
        class: FailureClass,
        message: String,
    },
    Unreachable {
        /// Name of the first one.
        provider: String,
        /// Its message, or why it could not be reached.
        message: String,
        /// When it may be called again.
        retry_in: Duration,
    },
    /// Spending cannot be recorded, so nothing more is spent.
    Store(store::Error),
}

impl StopReason {
    /// Returns the key of the setting that would have to change for the run to continue.
    pub const fn setting(&self) -> Option<&'static str> {
        match self {
            Self::OverCap { cap: CapExceeded::Day, .. } => Some("agent.budget_day_usd"),
            Self::OverCap { cap: CapExceeded::Total, .. } => Some("agent.budget_total_usd"),
            Self::OverCap { cap: CapExceeded::Calls, .. } => Some("agent.calls_per_day"),
            Self::OverCap { cap: CapExceeded::DayClosed, .. }
            | Self::Interrupted
            | Self::Account { .. }
            | Self::Unreachable { .. }
            | Self::Store(_) => None,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("stopped"),
            Self::OverCap { cap, caps, spent, next } => {
                let (allowed, spent, period) = match cap {
                    CapExceeded::Day => (caps.day, spent.day, "per day"),
                    CapExceeded::Total => (caps.total, spent.total, "in total"),
                    CapExceeded::DayClosed => {
                        return f.write_str(
                            "the record of calls was damaged and has been restored, and calls of today may be \
                             missing from it",
                        );
                    }
                    CapExceeded::Calls => {
                        return write!(f, "{} of {} calls per day made", spent.calls, caps.calls_a_day);
                    }
                };
                write!(f, "{allowed} {period} allowed, {spent} spent, and the next call could cost {next}")
            }
            Self::Account { provider, class, message } => {
                let problem = match class {
                    FailureClass::Auth => "does not accept the key",
                    FailureClass::Settings => "cannot be called with these settings",
                    FailureClass::Request => "rejects every request",
                    _ => "requires payment",
                };
                write!(f, "{provider} {problem}: {message}")
            }
            Self::Unreachable { provider, message, retry_in } => {
                write!(
                    f,
                    "{provider} does not answer and is retried after {} s: {message}",
                    retry_in.as_secs().max(1)
                )
            }
            Self::Store(error) => write!(f, "spending cannot be recorded: {error}"),
        }
    }
}

/// Receives the events of a run. Called from several threads at once.
pub trait RunObserver: Sync {
    fn notify(&self, note: &RunEvent<'_>);
}

/// Something that happened during a run.
#[derive(Debug, Clone, Copy)]
pub enum RunEvent<'a> {
    Started,
    /// A call was made, at this cost.
    Spent(Money),
    Waiting {
        provider: &'a str,
        /// The least time to wait.
        retry_in: Duration,
    },
    Finished,
}

#[cfg(test)]
#[derive(Debug, Clone, Copy)]
pub struct NoObserver;

#[cfg(test)]
impl RunObserver for NoObserver {
    fn notify(&self, _note: &RunEvent<'_>) {}
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgentStatus {
    pub state: SubAgentState,
    pub in_flight: u32,
    /// Tasks of the current run that have not been started.
    pub waiting: u64,
    pub spent: SpendTotals,
    pub caps: SpendCaps,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubAgentState {
    Idle,
    Working,
    /// It waits, and will continue automatically.
    Paused {
        reason: String,
        /// The least time to wait, if known.
        retry_in: Option<Duration>,
    },
    /// It continues once a user has acted.
    Stopped {
        reason: String,
    },
}

impl SubAgentState {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Paused { .. } => "paused",
            Self::Stopped { .. } => "stopped",
        }
    }
}
