//! Why a tool gave no answer, in words that an agent can act on.

use super::cut::shorten;
use crate::api::fault::ApiError;
use crate::model::printable_lines;

/// Why a tool gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolError {
    /// Stable name.
    pub(super) code: String,
    /// The condition that prevented an answer: complete without a prefix, lowercase, no period, no advice.
    pub(super) message: String,
    /// A hint.
    pub(super) hint: String,
}

impl ToolError {
    /// The arguments are not what the tool's schema says.
    pub(super) fn bad_arguments(why: &str) -> Self {
        Self {
            code: "bad_arguments".to_owned(),
            message: shorten(format!("invalid arguments: {why}")),
            hint: "give what the tool's input schema says, and nothing else".to_owned(),
        }
    }

    /// The client takes no interest any more, so that nobody reads this.
    pub(super) fn cancelled() -> Self {
        Self {
            code: "cancelled".to_owned(),
            message: "request was cancelled".to_owned(),
            hint: "ask again".to_owned(),
        }
    }

    /// Something broke that never should.
    pub(super) fn bug(what: &str) -> Self {
        Self {
            code: "bug".to_owned(),
            message: what.to_owned(),
            hint: "this is a bug in slop; asking for something else may still work".to_owned(),
        }
    }

    /// Returns the refusal as an agent reads it.
    pub(super) fn to_text(&self) -> String {
        let message = printable_lines(&self.message);
        format!("error: {message}\ncode: {}\nhint: {}", self.code, self.hint)
    }
}

impl From<ApiError> for ToolError {
    fn from(fault: ApiError) -> Self {
        let hint = hint_for_agents(&fault.code).map_or_else(|| fault.hint.into_owned(), str::to_owned);
        Self { code: fault.code.into_owned(), message: shorten(fault.message), hint }
    }
}

/// Returns what an agent can do where the fault's own hint names flags and commands, which an agent has not.
fn hint_for_agents(code: &str) -> Option<&'static str> {
    Some(match code {
        "not_found" => "slop_status lists the files of the project; paths are given from the project's root",
        "outside_project" => "give a path from the project's root; nothing outside of it can be shown",
        "not_shown" => "slop_status says why the file is left out",
        "no_such_view" => "mode `summary` works for every text",
        "no_such_lines" => "count lines from 1, the last one included; slop_outline shows where symbols are",
        "over_budget" => "raise `budget` to the stated size, or name less in `focus` and `files`",
        _ => return None,
    })
}
