//! The question for the table of all files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::documents::ViewSelection;

/// The table of all files, as a document shows them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "TableAsk")]
pub struct TableQuery {
    /// The options that select views.
    pub choice: ViewSelection,
    /// The version of the table that the client has: only what has changed since is returned, if it is known.
    pub since: Option<String>,
    /// Whether to count tokens exactly, which takes time.
    pub exact_tokens: bool,
}
