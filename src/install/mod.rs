//! The settings files of agents: adds entries so that agents use slop, and removes them again.
//!
//! Knows: where each agent stores its settings and in which form, how to add an entry to JSON with comments or to TOML
//! while preserving all other bytes, and what was written where. Does not know: what the entries do when an agent runs
//! them, where the home folder is, how an edit is shown or confirmed.
//!
//! Start with [`AGENTS`], the table of all agents; [`plan_install`] and [`plan_uninstall`] return the changes of each
//! file, and [`apply`] changes one file. `json_text.rs` and `toml_text.rs` edit texts, and do no I/O.

mod agents;
mod edit;
mod entry;
mod error;
mod hook_event;
mod hooks;
mod json_text;
mod places;
mod plan;
mod record;
mod skill;
#[cfg(test)]
mod tests;
mod toml_text;

pub use agents::{AGENTS, CodingAgent};
pub use entry::InstallScope;
pub use error::Error;
pub use hook_event::HookEvent;
pub use hooks::{HookInput, hook_answer};
pub use places::InstallPlaces;
pub use plan::{FileChange, plan_install, plan_uninstall};
pub use record::{InstalledFile, apply, installed_files};
pub use skill::{SKILL, skill_description};
