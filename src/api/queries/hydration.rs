//! Questions about the placements of a project's files and slices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::documents::ViewSelection;

/// The options of a hydration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "HydrateAsk")]
pub struct HydrateQuery {
    /// The options that decide ranks and views. `budget` limits HOT files, instead of `hydration.hot_tokens`.
    pub choice: ViewSelection,
    /// Whether to return each placed file and slice.
    pub fragments: bool,
}

/// The options of a hydration that is not saved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "SimulateAsk")]
pub struct SimulateQuery(pub HydrateQuery);

/// The fragments to list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "FragmentsAsk")]
pub struct FragmentsQuery {
    /// Only those of this tier.
    pub tier: Option<WarmthName>,
    /// Whether to return the current text of each.
    pub text: bool,
}

/// The fragments to pin, to unpin or to forget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EditFragmentsAsk")]
pub struct EditFragmentsQuery {
    /// What to do with them.
    pub action: FragmentAction,
    /// Files, folders or patterns.
    pub files: Vec<String>,
    /// Only the slices of this name: their tag, or without one their lines when they were marked, such as `10-14`.
    #[serde(default)]
    pub slice: Option<String>,
    /// The depth at which to pin them, from 0 to 9; by default as deep as fits.
    #[serde(default)]
    #[schemars(range(min = 0, max = 9))]
    pub depth: Option<u8>,
}

/// What to do with fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FragmentAction {
    /// Make them HOT from the next hydration on.
    Pin,
    /// Undo `pin`.
    Unpin,
    /// Forget their placements, pins and uses.
    Forget,
}

/// A tier of fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum WarmthName {
    /// In the context.
    Hot,
    /// Prepared, and listed in the map.
    Warm,
    /// Known by its name, a line of words, and its hash.
    Cold,
}
