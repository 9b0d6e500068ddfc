//! What the sub-agent needs to be told before it begins.

use std::time::Duration;

use crate::engine::summaries::SummaryPolicy;
use crate::llm::Model;
use crate::store::agent::SpendCaps;

/// How the sub-agent works.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Whether the daemon asks of its own accord.
    pub is_background: bool,
    /// Who is asked: the first one first, the others where that one fails in a way that another may not.
    pub chain: Vec<Model>,
    /// What is wanted.
    pub policy: SummaryPolicy,
    /// The most calls at once.
    pub concurrency: u32,
    /// The most calls a minute; the provider's own limits count too.
    pub requests_a_minute: u32,
    /// The most tokens a minute, likewise.
    pub tokens_a_minute: u32,
    /// How long one call may take.
    pub timeout: Duration,
    /// A proxy for servers that are not this machine, where there is to be one.
    pub proxy: Option<String>,
    /// How much may be spent.
    pub caps: SpendCaps,
}
