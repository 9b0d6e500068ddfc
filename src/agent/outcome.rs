//! The results of runs, what is reported during a run, and the state of the service.

use std::fmt;
use std::time::Duration;

use crate::engine::summaries::{SummaryTask, WithheldReason};
use crate::llm::FailureClass;
use crate::model::Money;
use crate::store;
use crate::store::agent::{CapExceeded, SpendCaps, SpendTotals};

/// The result of a run.
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

/// The outcome of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskOutcome {
    /// It was answered.
    Answered,
    /// The answer already existed.
    Done,
    /// Another process is working on it.
    InProgress,
    /// It is in a batch.
    InBatch,
    /// No model could answer it.
    Refused(String),
    /// It must not be sent.
    Withheld(WithheldReason),
    /// It was not answered this time.
    Unanswered,
}

/// Why a run ended early.
#[derive(Debug)]
pub enum StopReason {
    /// The caller stopped it.
    Interrupted,
    /// The next call could exceed a cap.
    OverCap {
        /// Which cap that is.
        cap: CapExceeded,
        /// All caps.
        caps: SpendCaps,
        /// What has been spent.
        spent: SpendTotals,
        /// What the next call could cost.
        next: Money,
    },
    /// A provider requires payment, another key or other settings, or rejects every request, and no other model is
    /// left.
    Account {
        /// The provider's name.
        provider: String,
        /// One of [`FailureClass::Money`], [`FailureClass::Auth`], [`FailureClass::Settings`] and
        /// [`FailureClass::Request`].
        class: FailureClass,
        /// The provider's message.
        message: String,
    },
    /// No provider answers.
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
            Self::Interrupted | Self::Account { .. } | Self::Unreachable { .. } | Self::Store(_) => None,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("stopped"),
            Self::OverCap { cap, caps, spent, next } => match cap {
                CapExceeded::Day => {
                    write!(
                        f,
                        "{} per day allowed, {} spent, and the next call could cost {next}",
                        caps.day, spent.day
                    )
                }
                CapExceeded::Total => {
                    write!(
                        f,
                        "{} in total allowed, {} spent, and the next call could cost {next}",
                        caps.total, spent.total
                    )
                }
                CapExceeded::Calls => {
                    write!(f, "{} of {} calls per day made", spent.calls, caps.calls_a_day)
                }
            },
            Self::Account { provider, class: FailureClass::Auth, message } => {
                write!(f, "{provider} does not accept the key: {message}")
            }
            Self::Account { provider, class: FailureClass::Settings, message } => {
                write!(f, "{provider} cannot be called with these settings: {message}")
            }
            Self::Account { provider, class: FailureClass::Request, message } => {
                write!(f, "{provider} rejects every request: {message}")
            }
            Self::Account { provider, message, .. } => write!(f, "{provider} requires payment: {message}"),
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
    /// Handles an event.
    fn notify(&self, note: &RunEvent<'_>);
}

/// Something that happened during a run.
#[derive(Debug, Clone, Copy)]
pub enum RunEvent<'a> {
    /// A task was started.
    Started,
    /// A call was made, at this cost.
    Spent(Money),
    /// A call waits for a provider.
    Waiting {
        /// The provider's name.
        provider: &'a str,
        /// The least time to wait.
        retry_in: Duration,
    },
    /// A task has ended.
    Finished,
}

/// Ignores all events.
#[cfg(test)]
#[derive(Debug, Clone, Copy)]
pub struct NoObserver;

#[cfg(test)]
impl RunObserver for NoObserver {
    fn notify(&self, _note: &RunEvent<'_>) {}
}

/// The state of the sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgentStatus {
    /// Whether it is working.
    pub state: SubAgentState,
    /// Calls in flight.
    pub in_flight: u32,
    /// Tasks of the current run that have not been started.
    pub waiting: u64,
    /// What has been spent.
    pub spent: SpendTotals,
    /// What may be spent.
    pub caps: SpendCaps,
}

/// Whether the sub-agent is working.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubAgentState {
    /// There is nothing to do.
    Idle,
    /// It is running tasks.
    Working,
    /// It waits, and will continue automatically.
    Paused {
        /// The reason, for display.
        reason: String,
        /// The least time to wait, if known.
        retry_in: Option<Duration>,
    },
    /// It continues once a user has acted.
    Stopped {
        /// The reason, for display.
        reason: String,
    },
}

impl SubAgentState {
    /// Returns the stable name, as in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Paused { .. } => "paused",
            Self::Stopped { .. } => "stopped",
        }
    }
}
