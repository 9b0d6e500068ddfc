//! What the sub-agent is at.

use std::time::Duration;

use crate::store::agent::SpendCaps;
use crate::store::agent::SpendTotals;

/// What the sub-agent is at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgentStatus {
    /// Whether it works.
    pub state: SubAgentState,
    /// Calls that are under way.
    pub in_flight: u32,
    /// Questions of the present run that nobody has begun with.
    pub waiting: u64,
    /// What has been spent.
    pub spent: SpendTotals,
    /// What may be.
    pub caps: SpendCaps,
}

/// Whether the sub-agent works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubAgentState {
    /// No model is chosen, or it is not to ask of its own accord.
    Off,
    /// There is nothing to ask.
    Idle,
    /// It asks.
    Working,
    /// It waits, and will go on by itself.
    Paused {
        /// Why, in words.
        reason: String,
        /// For how long at least, where that is known.
        retry_in: Option<Duration>,
    },
    /// It goes on when somebody has done something.
    Stopped {
        /// Why, in words.
        reason: String,
    },
}

impl SubAgentState {
    /// Returns the stable name, as in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Paused { .. } => "paused",
            Self::Stopped { .. } => "stopped",
        }
    }
}
