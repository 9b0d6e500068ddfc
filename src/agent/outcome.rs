//! What came of a run.

use std::fmt;
use std::time::Duration;

use crate::engine::summaries::SummaryTask;
use crate::engine::summaries::WithheldReason;
use crate::llm::FailureClass;
use crate::model::Money;
use crate::store;
use crate::store::agent::CapExceeded;
use crate::store::agent::SpendCaps;
use crate::store::agent::SpendTotals;

/// What came of a run.
#[derive(Debug, Default)]
pub struct RunOutcome {
    /// Questions that were answered; their summaries are kept.
    pub answered: u64,
    /// Questions whose answers were there already: another process was quicker.
    pub done: u64,
    /// Questions that another process that is alive asks now.
    pub in_progress: u64,
    /// Questions that are in a batch, whose answers are still to come.
    pub in_batch: u64,
    /// Questions that were handed over in a batch by this run.
    pub submitted: u64,
    /// Questions that no model could answer, and that are not asked again soon; with why.
    pub refused: Vec<(SummaryTask, String)>,
    /// Questions that are not asked, for what stands in the files.
    pub withheld: Vec<(SummaryTask, WithheldReason)>,
    /// Questions that can be asked again at once: providers were in trouble, files changed, or the run was stopped.
    pub remaining: u64,
    /// What a provider said last that was no answer, where questions are left.
    pub last_error: Option<String>,
    /// Why the run ended before all was asked.
    pub stopped: Option<StopReason>,
    /// How many calls were made.
    pub calls: u64,
    /// How many of them are said to have taken more tokens than there can have been; they count as their worst.
    pub implausible: u64,
    /// What they cost; what nobody knows counts as its worst.
    pub spent: Money,
}

/// What became of one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskOutcome {
    /// It was answered.
    Answered,
    /// The answer was there already.
    Done,
    /// Another process asks it.
    InProgress,
    /// It is in a batch.
    InBatch,
    /// No model could answer it.
    Refused(String),
    /// It is not asked.
    Withheld(WithheldReason),
    /// It was not answered this time.
    Unanswered,
}

/// Why a run ended before all was asked.
#[derive(Debug)]
pub enum StopReason {
    /// Somebody wanted it to end.
    Interrupted,
    /// The next call could pass what may be spent.
    OverCap {
        /// Which cap that is.
        cap: CapExceeded,
        /// What may be spent.
        caps: SpendCaps,
        /// What has been.
        spent: SpendTotals,
        /// What the next call could cost.
        next: Money,
    },
    /// A provider wants money, another key or other settings, or calls every question wrong, and there is no other to be asked.
    Account {
        /// Its name.
        provider: String,
        /// Whether it is [`Class::Money`], [`Class::Auth`], [`Class::Settings`] or [`Class::Request`].
        class: FailureClass,
        /// What it said.
        message: String,
    },
    /// No provider answers.
    Unreachable {
        /// Name of the first one.
        provider: String,
        /// What it said, or why it could not be reached.
        message: String,
        /// When it may be asked again.
        retry_in: Duration,
    },
    /// No account could be kept, so that nothing more is spent.
    Store(store::Error),
}

impl StopReason {
    /// Returns the key of the setting that would have to be another for the run to go on.
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
            Self::Interrupted => f.write_str("it was stopped"),
            Self::OverCap { cap, caps, spent, next } => match cap {
                CapExceeded::Day => {
                    write!(f, "of {} a day, {} is spent, and a call could cost {next}", caps.day, spent.day)
                }
                CapExceeded::Total => {
                    write!(
                        f,
                        "of {} in all, {} is spent, and a call could cost {next}",
                        caps.total, spent.total
                    )
                }
                CapExceeded::Calls => {
                    write!(f, "{} of {} calls a day are made", spent.calls, caps.calls_a_day)
                }
            },
            Self::Account { provider, class: FailureClass::Auth, message: words } => {
                write!(f, "{provider} does not accept the key: {words}")
            }
            Self::Account { provider, class: FailureClass::Settings, message: words } => {
                write!(f, "{provider} cannot be asked as the settings say: {words}")
            }
            Self::Account { provider, class: FailureClass::Request, message: words } => {
                write!(f, "{provider} refuses one question like the other: {words}")
            }
            Self::Account { provider, message: words, .. } => write!(f, "{provider} wants money: {words}"),
            Self::Unreachable { provider, message: words, retry_in } => {
                write!(
                    f,
                    "{provider} does not answer, and is left alone for {} s: {words}",
                    retry_in.as_secs().max(1)
                )
            }
            Self::Store(error) => write!(f, "no account can be kept: {error}"),
        }
    }
}
