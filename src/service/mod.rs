//! What was asked in words is answered: the settings are read, what is left open is decided by them, a session answers.
//!
//! Knows: settings, presets, personas, and how they resolve a question. Does not know: who asks, and whether a daemon
//! runs.
//!
//! Start with [`LocalService`], then [`resolve()`].

mod agent;
#[cfg(test)]
mod agent_tests;
mod answer;
mod document;
mod local;
mod profile;
mod project;
mod sources;
#[cfg(test)]
mod tests;
mod writing;

pub use agent::AgentOverrides;
pub use agent::ProviderKeys;
pub use agent::agent_keys;
pub use agent::agent_options;
pub use agent::caps;
pub use agent::prices;
pub use answer::{Found, QueryOrigin, QuerySettings, resolve};
pub use document::{resolve_aggregate, resolve_explain};
pub use local::{LocalService, with_world};
pub use project::Project;
pub use sources::SETTINGS_FILE;
pub use sources::SettingsSources;
pub use sources::base_variables;
pub use sources::project_name;
pub use sources::settings_error;
pub use writing::SubjectScope;
pub use writing::SubjectSummaries;
pub use writing::SummaryRunPlan;
pub use writing::SummarySession;
pub use writing::UsageReport;
pub use writing::day_of;
pub use writing::has_key;
pub use writing::host_of;
pub use writing::usage;
pub use writing::written_summaries;
