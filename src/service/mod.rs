//! What was asked in words is answered: the settings are read, what is left open is decided by them, a session answers.
//!
//! Knows: settings, presets, personas, and what an ask means by them. Does not know: who asks, and whether a daemon
//! runs.
//!
//! Start with [`resolve()`], then [`Local`].

mod agent;
#[cfg(test)]
mod agent_tests;
mod document;
mod local;
mod profile;
mod resolve;
mod sources;
#[cfg(test)]
mod tests;
mod writing;

pub use agent::AgentChoice;
pub use agent::KeyVariable;
pub use agent::Keys;
pub use agent::agent_keys;
pub use agent::agent_options;
pub use agent::caps;
pub use agent::key_of;
pub use agent::prices;
pub use local::Local;
pub use resolve::Asker;
pub use resolve::resolve;
pub use sources::SETTINGS_FILE;
pub use sources::Sources;
pub use sources::base_variables;
pub use sources::fault_of_settings;
pub use sources::project_name;
pub use writing::Extent;
pub use writing::Plan;
pub use writing::Shown;
pub use writing::Usage;
pub use writing::Writing;
pub use writing::day_of;
pub use writing::has_key;
pub use writing::host_of;
pub use writing::shown;
pub use writing::usage;
