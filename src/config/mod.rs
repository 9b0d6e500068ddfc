//! The settings: layers in, checked [`Settings`] out.
//!
//! Knows: which settings there are (`config/default.toml`, the only place of defaults), which layer wins, what a
//! value may be, where each value came from. Does not know: where the files lie, what the environment holds (both
//! are handed in as [`Inputs`]), nor what any setting brings about. A new setting is a line with its sentence in
//! `config/default.toml`, a field in `settings.rs` and its conversion in `convert.rs`.
//!
//! Start with [`load()`].

mod agent;
#[cfg(test)]
mod agent_tests;
mod convert;
mod curation;
#[cfg(test)]
mod curation_tests;
pub mod edit;
mod error;
mod items;
mod layers;
mod load;
mod merged;
mod nearest;
mod options;
mod origin;
mod pages;
mod provider;
mod schema;
mod section;
mod settings;
mod table;
#[cfg(test)]
mod tests;
mod trusted;

pub use agent::AgentSettings;
pub use curation::Curation;
pub use curation::SavedEntry;
pub use error::Error;
pub use load::ConfigInputs;
pub use load::LoadedConfig;
pub use load::SettingValue;
pub use load::load;
pub use nearest::close_match as near_name;
pub use nearest::nearest as nearest_name;
pub use origin::SettingOrigin;
pub use pages::commented_template;
pub use pages::settings_reference;
pub use schema::DEFAULT_TOML;
pub use settings::AggregationSettings;
pub use settings::ExecutionMode;
pub use settings::FormatSettings;
pub use settings::LimitSettings;
pub use settings::OutputSettings;
pub use settings::ProjectSettings;
pub use settings::SecretSettings;
pub use settings::Settings;
pub use settings::SummarySource;
pub use settings::TierSettings;
pub use trusted::UserOnlySettings;
