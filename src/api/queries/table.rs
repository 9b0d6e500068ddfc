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
    /// The `clock` of an earlier answer to the same choice: only what has changed since is answered, if no file came or
    /// went.
    pub since: Option<String>,
    /// Whether a daemon may look only at the files that events have reported, and need not compose the document, which is
    /// quicker in a large project. The answer is `stale` where it did, because an event may have been lost.
    pub trust_events: bool,
}
