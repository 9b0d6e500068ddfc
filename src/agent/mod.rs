//! The sub-agent: has language models write summaries, within caps on spending.
//!
//! Knows: the order of work, single flight, retries and escalation, rate limits, the ledger and its caps. Does not
//! know: how a prompt is written (`engine`, `summarize`), how it is encoded for a provider (`llm`), where settings
//! come from.
//!
//! Start with [`SummaryService::run`]; then read `request_run.rs`, the path of one task.

mod batch;
mod books;
mod claims;
mod collect;
mod course;
mod door;
mod error;
mod estimate;
mod hush;
mod office;
mod options;
mod outcome;
mod post;
mod questions;
mod report;
mod run;
mod sending;
mod status;
#[cfg(test)]
mod testing;
mod till;
mod warm;

pub use crate::llm::FailureClass;
pub use crate::llm::SoftFailure;
pub use crate::store::agent::CapExceeded;
pub use crate::store::agent::SpendCaps;
pub use crate::store::agent::SpendTotals;
pub use crate::store::agent::StoredSummary;
pub use crate::store::agent::UsageRow;
pub use batch::batch_model;
pub use books::LedgerReader;
pub use books::forget_refusals;
pub use collect::CollectedBatches;
pub use error::Error;
pub use estimate::CostEstimate;
pub use estimate::estimate_cost;
pub use office::AgentWorld;
pub use office::SummaryService;
pub use options::Options;
pub use outcome::RunOutcome;
pub use outcome::StopReason;
pub use outcome::TaskOutcome;
pub use questions::ProjectPrompts;
pub use questions::PromptSource;
pub use report::NoObserver;
pub use report::RunEvent;
pub use report::RunObserver;
pub use sending::preview;
pub use status::SubAgentState;
pub use status::SubAgentStatus;
