//! The state of the sub-agent.

use std::time::Duration;

use crate::store::agent::SpendCaps;
use crate::store::agent::SpendTotals;

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
    /// No model is configured, or it does not run automatically.
    Off,
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
            Self::Off => "off",
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Paused { .. } => "paused",
            Self::Stopped { .. } => "stopped",
        }
    }
}
