//! The hover text of a name: the signature and documentation of its definition, the grade, and the number of uses.

use std::fmt::Write;

use serde_json::{Value, json};

use super::context::RequestContext;
use super::navigation::{LocatedTarget, MeaningGrade, NameMeaning, locate, meaning_at};
use super::text::Position;
use crate::api::fault::ApiError;
use crate::api::wire::{SymbolUses, display_path};
use crate::model::{printable, printable_lines};
use crate::render::{format_grouped, write_fenced};

/// The maximum number of definitions that are shown, if a name may mean several.
const MAX_SHOWN: usize = 3;

/// Returns the hover of the name at a position, in the form of the protocol.
pub(super) fn hover(context: &RequestContext<'_>, uri: &str, position: Position) -> Result<Value, ApiError> {
    let Some(meaning) = meaning_at(context, uri, position)? else { return Ok(Value::Null) };
    let located = locate(context, meaning.targets.iter().take(MAX_SHOWN).cloned())?;
    if located.is_empty() {
        return Ok(Value::Null);
    }
    let is_markdown = context.session.traits.reads_markdown;
    let mut text = String::new();
    for found in &located {
        write_definition(&mut text, found, is_markdown);
    }
    write_facts(&mut text, &meaning);
    let kind = if is_markdown { "markdown" } else { "plaintext" };
    Ok(json!({"contents": {"kind": kind, "value": text.trim_end()}, "range": meaning.range}))
}

fn write_definition(text: &mut String, found: &LocatedTarget, is_markdown: bool) {
    let LocatedTarget { target, file, range, symbol } = found;
    let signature = symbol.as_ref().map_or(target.qualified_name.as_str(), |symbol| &symbol.signature);
    let signature = printable_lines(signature);
    if is_markdown {
        write_fenced(text, file.source.file_type.id, &signature);
    } else {
        text.push_str(&signature);
    }
    text.push('\n');
    if let Some(doc) = symbol.as_ref().and_then(|symbol| symbol.doc.as_deref()) {
        writeln!(text, "{}\n", printable(doc)).expect("writing to a String does not fail");
    }
    let path = display_path(&file.path.0, file.path.1.as_deref());
    let kind = symbol.as_ref().map(|symbol| format!(" · {}", symbol.kind.title())).unwrap_or_default();
    let place = format!("{path}:{}", range.start.line + 1);
    let place = if is_markdown { format!("`{}`", place.replace('`', "'")) } else { place };
    writeln!(text, "{place}{kind}\n").expect("writing to a String does not fail");
}

/// Writes the grade of the meaning, and the uses.
fn write_facts(text: &mut String, meaning: &NameMeaning) {
    let NameMeaning { targets, meaning: grade, uses, .. } = meaning;
    let hidden = targets.len().saturating_sub(MAX_SHOWN);
    if 0 < hidden {
        writeln!(text, "{hidden} more definitions\n").expect("writing to a String does not fail");
    }
    let note = match grade {
        MeaningGrade::Definition => None,
        MeaningGrade::Sure => Some("sure: the language allows no other reading"),
        MeaningGrade::Likely => Some("likely: the best reading of this use"),
        MeaningGrade::Maybe if uses.is_some() => {
            Some("maybe: this use was not resolved, or has several readings")
        }
        MeaningGrade::Maybe => Some("maybe: found by its name alone"),
    };
    if let Some(note) = note {
        writeln!(text, "{note}\n").expect("writing to a String does not fail");
    }
    if let Some(uses) = uses {
        text.push_str(&use_counts(uses, meaning));
    }
}

/// Returns the number of uses of the targets, by grade.
fn use_counts(uses: &SymbolUses, meaning: &NameMeaning) -> String {
    let count = |grade: &str| {
        let of_targets = uses.references.iter().filter(|edge| {
            let is_target = |path: &str, line: u32| {
                meaning.targets.iter().any(|target| target.path.0 == path && target.line == line)
            };
            edge.grade == grade && is_target(&edge.to.path, edge.to.line)
        });
        of_targets.count() as u64
    };
    let counts = ["sure", "likely", "maybe"].map(|grade| (grade, count(grade)));
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let parts = counts.iter().filter(|(_, count)| 0 < *count);
    let parts: Vec<String> =
        parts.map(|(grade, count)| format!("{} {grade}", format_grouped(*count))).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    let unresolved = match uses.unresolved {
        0 => String::new(),
        count => format!("; {} of the same name not resolved", format_grouped(count)),
    };
    format!("{} {}{parts}{unresolved}", format_grouped(all), if all == 1 { "use" } else { "uses" })
}
