//! What the sub-agent is at.

use std::time::Duration;

use crate::store::paid::Caps;
use crate::store::paid::Spent;

/// What the sub-agent is at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Whether it works.
    pub state: State,
    /// Calls that are under way.
    pub in_flight: u32,
    /// Questions of the present run that nobody has begun with.
    pub waiting: u64,
    /// What has been spent.
    pub spent: Spent,
    /// What may be.
    pub caps: Caps,
}

/// Whether the sub-agent works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// No model is chosen, or it is not to ask of its own accord.
    Off,
    /// There is nothing to ask.
    Idle,
    /// It asks.
    Working,
    /// It waits, and will go on by itself.
    Paused {
        /// Why, in words.
        why: String,
        /// For how long at least, where that is known.
        time: Option<Duration>,
    },
    /// It goes on when somebody has done something.
    Stopped {
        /// Why, in words.
        why: String,
    },
}

impl State {
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
