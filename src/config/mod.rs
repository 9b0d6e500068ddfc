//! The settings: merges layers into checked [`Settings`].
//!
//! Knows: which settings there are (`config/default.toml`, the only place of defaults), the precedence of layers, the
//! constraints on values, the origin of each value. Does not know: where the files are, what the environment contains
//! (both are passed in as [`ConfigInputs`]), or what a setting does. A new setting is a line with its sentence in
//! `config/default.toml`, a field in `settings.rs` and its conversion in `convert.rs`.
//!
//! Start with [`load()`].

#[cfg(test)]
mod agent_tests;
mod convert;
mod curation;
#[cfg(test)]
mod curation_tests;
pub mod edit;
mod error;
mod hidden;
mod layers;
mod links;
mod links_file;
#[cfg(test)]
mod links_tests;
mod load;
mod older_files;
mod pages;
mod plan;
mod schema;
mod section;
mod settings;
mod share;
#[cfg(test)]
mod tests;
mod user_only;

pub use curation::{Curation, SavedEntry};
pub use error::Error;
#[cfg(test)]
pub use error::SettingOrigin;
pub use links::{Links, NAME_FORM, NamedBy, PrivateFolders, Resource, ResourceState, kind_of, link_to};
pub use links_file::{Link, links_text};
#[cfg(test)]
pub use load::SettingValue;
pub use load::{ConfigInputs, LoadedConfig, load, revision_of};
pub use pages::{commented_template, settings_reference};
pub use plan::{HydrationPlan, PlannedProject, read_plan};
#[cfg(test)]
pub use schema::DEFAULT_TOML;
pub use settings::{ExecutionMode, Settings, ShareMode, ShareSettings};
#[cfg(test)]
pub use settings::{SummarySource, TierSettings};
