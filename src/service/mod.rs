//! Resolves questions with the settings, and answers them from the project.
//!
//! Knows: settings, presets, personas, and how they resolve a question. Does not know: which client asks, and whether a
//! daemon runs.
//!
//! Start with [`LocalService`], then [`resolve()`].

mod agent;
#[cfg(test)]
mod agent_tests;
mod answer;
mod asking;
mod cache_replay;
mod curation;
mod curation_edit;
#[cfg(test)]
mod curation_tests;
mod document;
mod history;
mod hydration;
mod links;
mod local;
mod opened;
mod plan;
mod profile;
mod project_root;
#[cfg(test)]
mod receipt_tests;
mod resolved;
mod sharing;
mod sources;
mod table;
#[cfg(test)]
mod table_tests;
mod takes;
#[cfg(test)]
mod tests;
mod writing;
mod written;

pub use crate::engine::authenticate_cache;
pub use agent::{AgentOverrides, ProviderKeys, agent_keys, agent_options, caps};
pub use answer::resolve;
pub use asking::{AskOptions, TEAM_POLL};
pub use cache_replay::{CacheReplay, ReplayCost, ReplayStep};
pub use document::{resolve_aggregate, resolve_explain};
pub use history::CurationHistory;
pub use links::{LinkedSize, checkouts_within, edit_links, is_own_worktree, link_state, measure_linked};
pub use local::{LocalService, Project, with_world};
pub use plan::{BudgetClaim, share_budget};
pub use profile::{find_persona, find_preset};
pub use project_root::{ProjectRoot, RootGuard, TOO_MANY_FILES_CODE};
pub use resolved::{AnswerWithMissing, QueryOrigin, QuerySettings};
pub use sharing::{
    TeamCache, generate_keys, pack_summaries, push_all_summaries, push_summaries, share_counts,
    signing_risks, team_cache, team_memory, verify_summaries,
};
pub use sources::{SETTINGS_FILE, SettingsSources, base_variables, prices, project_name, settings_error};
pub use writing::{SummaryRunPlan, SummarySession, has_key, host_of};
pub use written::{
    ShownSummary, SubjectScope, SubjectSummaries, UsageReport, format_day, usage, written_summaries,
};
