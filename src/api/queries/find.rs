//! The question for files and symbols by characters of their names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The names to find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FindAsk")]
pub struct FindQuery {
    /// Characters of the name, in order; an uppercase one must match exactly.
    pub query: String,
    /// What to find; by default files and symbols.
    #[serde(default)]
    pub of: Vec<NamedThing>,
    /// The most hits to return, from 1 to 1000; by default 20.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
}

/// Something with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NamedThing {
    /// A file.
    File,
    /// A symbol.
    Symbol,
}
