//! References as text for a model, limited to the size of a message.

use std::fmt::Write;

use super::kept::LongAnswer;
use super::show::{MAX_CHARACTERS, ToolOutput, truncate};
use crate::api::queries::CallDirectionName;
use crate::api::wire::{ChangeImpact, SymbolCalls, SymbolUses, found_text};

/// Formats the uses of a symbol.
pub(super) fn uses(uses: &SymbolUses) -> ToolOutput {
    let found = found_text(uses.line_count(), ["use", "uses"], uses.unresolved, true);
    rows(&uses.text(), &found, "name a symbol of one file, as `src/a.py:run`")
}

/// Formats the callers or callees of a symbol.
pub(super) fn calls(calls: &SymbolCalls, direction: CallDirectionName) -> ToolOutput {
    let are_callers = direction == CallDirectionName::Callers;
    let words = if are_callers { ["caller", "callers"] } else { ["callee", "callees"] };
    let found = found_text(calls.calls.len(), words, calls.unresolved, are_callers);
    rows(&calls.text(are_callers), &found, "give a smaller `depth`, or a symbol of one file")
}

/// Formats the impact of a change.
pub(super) fn impact(impact: &ChangeImpact) -> ToolOutput {
    let found = found_text(impact.affected.len(), ["row", "rows"], impact.unresolved, true);
    let mut text = String::new();
    for note in impact.removal_notes() {
        writeln!(text, "[{note}]").expect("writing to a String does not fail");
    }
    text.push_str(&impact.text());
    rows(&text, &found, "give a smaller `depth`, or a symbol instead of a file")
}

fn rows(text: &str, found: &str, advice: &str) -> ToolOutput {
    let Some(cut) = truncate(text, MAX_CHARACTERS) else {
        return ToolOutput::text(format!("{text}[{found}]\n"));
    };
    let (shown, all) = (cut.lines, text.lines().count());
    let shown = format!("{}[cut: {shown} of {all} rows are shown; {advice}]\n[{found}]\n", cut.head);
    ToolOutput { text: shown, structured: None, long: Some(LongAnswer::after_first(text)) }
}
