//! The question for the table of all files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::documents::ViewSelection;

/// The table to show.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "TableAsk")]
pub struct TableQuery {
    /// The options that select views.
    pub choice: ViewSelection,
    /// The `clock` of an earlier answer to the same choice: only later changes are returned, unless files were added or
    /// removed.
    pub since: Option<String>,
    /// Whether a daemon may check only the files that events have reported, without composing the document, which is
    /// faster in a large project. Such an answer is `stale`, because an event may have been lost.
    pub trust_events: bool,
}
