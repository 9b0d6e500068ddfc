//! Where a name is defined.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::ToolOutput;
use crate::api::mcp::cut::{MAX_CHARACTERS, shorten, truncate};
use crate::api::mcp::refusal::ToolError;
use crate::api::wire::{FoundSymbol, spelled_path};
use crate::model::{printable, printable_lines};

/// So many symbols are shown at most.
const MAX_SYMBOLS: usize = 50;

/// What `slop_symbol` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::api::mcp) struct SymbolList {
    /// How many symbols have the name.
    total: usize,
    /// The first of them, by path and line.
    symbols: Vec<SymbolLocation>,
}

/// One symbol that has the name.
#[derive(Debug, Serialize, JsonSchema)]
struct SymbolLocation {
    /// The file, from the project's root.
    path: String,
    /// The first line, counted from 1.
    start_line: u32,
    /// The last line, inclusive.
    end_line: u32,
    /// What it is: `function`, `class`.
    kind: String,
    /// Its name with those of the symbols around it.
    qualified_name: String,
    /// Its signature.
    signature: String,
    /// The text, where it was asked for; its beginning, where it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    definition: Option<String>,
}

/// Returns the places, each with its signature or its text, as far as an agent can take them.
pub(in crate::api::mcp) fn symbols(mut all: Vec<FoundSymbol>, name: &str) -> Result<ToolOutput, ToolError> {
    if all.is_empty() {
        return Err(ToolError {
            code: "not_found".to_owned(),
            message: shorten(format!("no symbol named `{}` in the project", printable(name))),
            hint: "slop_outline lists the symbols of a file".to_owned(),
        });
    }
    let total = all.len();
    all.truncate(MAX_SYMBOLS);
    let share = MAX_CHARACTERS / all.len();
    let mut text = String::new();
    let symbols = all.into_iter().map(|symbol| write_symbol(&mut text, symbol, share)).collect();
    if MAX_SYMBOLS < total {
        writeln!(text, "[cut: {MAX_SYMBOLS} of {total} are shown; give more of the qualified name]")
            .expect("a String takes all");
    }
    let list = serde_json::to_value(SymbolList { total, symbols }).expect("strings and numbers become JSON");
    Ok(ToolOutput { text, structured: Some(list) })
}

fn write_symbol(text: &mut String, symbol: FoundSymbol, characters: usize) -> SymbolLocation {
    let path = spelled_path(&symbol.path, symbol.path_hex.as_deref());
    let FoundSymbol { kind, qualified_name, start_line, end_line, signature, doc, definition, .. } = symbol;
    let place = format!("{}:{start_line}-{end_line}", printable(&path));
    writeln!(text, "{place} [{kind}] {}", printable(&qualified_name)).expect("a String takes all");
    let mut shown = definition.as_deref().unwrap_or(&signature);
    let is_cut = truncate(shown, characters).map(|cut| shown = cut.head).is_some();
    writeln!(text, "{}", printable_lines(shown.trim_end_matches(['\n', '\r']))).expect("a String takes all");
    if is_cut {
        writeln!(text, "[cut: slop_view shows the lines {start_line}-{end_line}]")
            .expect("a String takes all");
    }
    if let (Some(doc), None) = (&doc, &definition) {
        writeln!(text, "{}", printable(doc)).expect("a String takes all");
    }
    text.push('\n');
    let shown = shown.to_owned();
    let (signature, definition) = if definition.is_some() { (signature, Some(shown)) } else { (shown, None) };
    SymbolLocation { path, start_line, end_line, kind, qualified_name, signature, definition }
}
