//! Rewrites the hints of errors, and notes, for agents: a client of MCP calls tools, and may have no command line.

use std::borrow::Cow;

use super::show::shorten;
use crate::api::fault::ApiError;

/// The beginning of a hint that only helps somebody who can run commands.
const FOR_THE_USER: &str = "for the user, on the command line: ";

/// Commands that hints and notes mention, and the corresponding tools. A command precedes those that it contains.
const TOOLS_OF_COMMANDS: [(&str, &str); 9] = [
    ("`slop status --all`", "slop_status"),
    ("`slop status`", "slop_status"),
    ("`slop outline PATH --json`", "slop_outline"),
    ("`slop outline --json`", "slop_outline"),
    ("`slop outline`", "slop_outline"),
    ("`slop symbol NAME`", "slop_symbol"),
    ("`slop view --mode summary`", "slop_view with `mode` summary"),
    ("`slop hydrate`", "slop_aggregate with `hydrate`"),
    ("`slop aggregate`", "slop_aggregate"),
];

/// Returns an error with a hint that an agent can act on.
pub(super) fn error_for_agents(error: ApiError) -> ApiError {
    let hint = hint_of_code(&error.code).map_or_else(|| with_tools(&error.hint), str::to_owned);
    let hint = if hint.contains("`slop ") { format!("{FOR_THE_USER}{hint}") } else { hint };
    ApiError { message: shorten(error.message), hint: Cow::Owned(hint), ..error }
}

/// Returns a text that names tools instead of the commands that do the same.
pub(super) fn with_tools(text: &str) -> String {
    TOOLS_OF_COMMANDS.iter().fold(text.to_owned(), |text, (command, tool)| text.replace(command, tool))
}

/// Returns the hint of a code where the remedy of an agent is another than that of a user.
fn hint_of_code(code: &str) -> Option<&'static str> {
    Some(match code {
        "not_found" => "slop_status lists the files of the project; paths are relative to the project's root",
        "outside_project" => "give a path relative to the project's root; nothing outside of it can be shown",
        "not_shown" => "slop_status shows why the file is left out",
        "no_such_symbol" => {
            "slop_outline shows the symbols of files, and slop_symbol finds names in the project"
        }
        "no_such_view" => "mode `summary` works for every text",
        "no_such_lines" => "count lines from 1, the last one included; slop_outline shows where symbols are",
        "no_such_preset" => "name a preset of slop.toml, give one as JSON in `preset`, or list `files`",
        "no_such_persona" => "name a persona of slop.toml, give one as JSON in `persona`, or give a `tier`",
        "too_many_files" => {
            "the project's folder has more files than discover.max_files; leave folders out in .slopignore"
        }
        "over_budget" => "raise `budget` to the stated size, or name less in `focus` and `files`",
        "pins_over_budget" => "raise `budget`: the user has pinned files that need more",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &'static str, hint: &'static str, expected: &str) {
        assert_eq!(error_for_agents(ApiError::user(code, "condition", hint)).hint, expected);
    }

    #[test]
    fn a_hint_names_tools_instead_of_commands() {
        check(
            "not_hydrated",
            "place the files first: `slop hydrate`",
            "place the files first: slop_aggregate with `hydrate`",
        );
        check("bad_ask", "a kind as `slop outline --json` writes it", "a kind as slop_outline writes it");
        check(
            "no_such_preset",
            "`slop preset list` lists the presets",
            "name a preset of slop.toml, give one as JSON in `preset`, or list `files`",
        );
        check("bad_task", "describe the task in words", "describe the task in words");
    }

    #[test]
    fn a_hint_with_a_command_that_no_tool_replaces_is_for_the_user() {
        let hint = "for the user, on the command line: `slop daemon status` shows its state";
        check("no_answer", "`slop daemon status` shows its state", hint);
    }

    #[test]
    fn a_note_names_tools_instead_of_commands() {
        let note = with_tools("files that have no text to show: 2; `slop status` says which and why");
        assert_eq!(note, "files that have no text to show: 2; slop_status says which and why");
    }
}
