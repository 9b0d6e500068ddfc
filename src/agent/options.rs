//! The settings of the sub-agent.

use std::time::Duration;

use crate::engine::summaries::SummaryPolicy;
use crate::llm::Model;
use crate::store::agent::SpendCaps;

/// How the sub-agent works.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Whether the daemon runs tasks automatically.
    pub is_background: bool,
    /// The models to call: the first one first, the others if it fails in a way that another may not.
    pub chain: Vec<Model>,
    /// Which summaries are wanted.
    pub policy: SummaryPolicy,
    /// The most calls in flight.
    pub concurrency: u32,
    /// The most calls a minute; the provider's own limits apply too.
    pub requests_a_minute: u32,
    /// The most tokens a minute, likewise.
    pub tokens_a_minute: u32,
    /// How long one call may take.
    pub timeout: Duration,
    /// A proxy for servers other than this machine.
    pub proxy: Option<String>,
    /// How much may be spent.
    pub caps: SpendCaps,
}
