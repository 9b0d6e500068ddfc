//! Questions about where the files and slices of a project are, and how deep.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::documents::ViewSelection;

/// What to place files by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "HydrateAsk")]
pub struct HydrateQuery {
    /// The options that decide ranks and views. `budget` limits what is HOT, instead of `hydration.hot_tokens`.
    pub choice: ViewSelection,
    /// Whether to return each file and slice that has a tier, with its place.
    pub fragments: bool,
}

/// What to place files by, without keeping their places.
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
    /// Whether to return what each shows now.
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
    /// How deep to pin them, from 0 to 9; by default as deep as there is room for.
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
    /// Take that back.
    Unpin,
    /// Forget their places, pins and uses.
    Forget,
}

/// A tier of fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum WarmthName {
    /// In the context.
    Hot,
    /// Derived, one call away, and named in the map.
    Warm,
    /// Known by its name, a line of words, and its hash.
    Cold,
}
