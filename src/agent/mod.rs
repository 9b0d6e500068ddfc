//! The sub-agent: has language models write summaries, within caps on spending.
//!
//! Knows: the order of work, single flight, retries and escalation, rate limits, the ledger and its caps. Does not
//! know: how a prompt is written (`engine`, `summarize`), how it is encoded for a provider (`llm`), where settings
//! come from.
//!
//! Start with [`SummaryService::run`]; then read `request_run.rs`, the path of one task.

mod batch_collect;
mod batch_submit;
#[cfg(test)]
mod batch_tests;
mod call;
#[cfg(test)]
mod call_tests;
mod claims;
mod core;
mod estimate;
mod gate;
mod ledger;
mod options;
mod outcome;
mod prompts;
mod request_run;
#[cfg(test)]
mod request_run_tests;
mod run;
mod service;
#[cfg(test)]
mod service_tests;
mod sharing;
mod team_memory;
mod team_sync;
#[cfg(test)]
mod testing;

pub use batch_collect::CollectedBatches;
pub use batch_submit::batch_model;
pub use call::{AgentWorld, preview};
pub use claims::TeamClaims;
pub use estimate::{CostEstimate, estimate_cost};
pub use ledger::{LedgerReader, forget_refusals};
pub use options::{Error, Options};
pub use outcome::{RunEvent, RunObserver, RunOutcome, StopReason, SubAgentState, SubAgentStatus};
pub use prompts::{ProjectPrompts, PromptSource};
pub use service::SummaryService;
pub use sharing::{
    PullReport, ShareCounts, ShareFailure, VerifyReport, pack_shared, pull_shared, push_all_shared,
    push_shared, share_counts, verify_shared,
};

pub use team_memory::TeamMemory;
pub use team_sync::TeamSync;

pub use crate::llm::{FailureClass, SoftFailure};
pub use crate::store::agent::{CapExceeded, SpendCaps, SpendTotals, StoredSummary, UsageRow};
#[cfg(test)]
pub use outcome::NoObserver;
