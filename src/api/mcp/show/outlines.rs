//! The symbols of files.

use std::fmt::Write;

use super::ToolOutput;
use crate::api::mcp::cut::{MAX_CHARACTERS, truncate};
use crate::api::wire::{FileOutline, SymbolNode, spelled_path};
use crate::model::printable;

/// Returns the symbols, one a line with its lines in the file, as far as an agent can take them.
pub(in crate::api::mcp) fn outlines(outlines: &[FileOutline]) -> ToolOutput {
    let mut text = String::new();
    for outline in outlines {
        let FileOutline { path, path_hex, language, lines, symbols, .. } = outline;
        let path = spelled_path(path, path_hex.as_deref());
        writeln!(text, "### {}\n{language} · {lines} lines", printable(&path)).expect("a String takes all");
        for symbol in symbols {
            write_symbol(&mut text, symbol, 0);
        }
        text.push('\n');
    }
    if outlines.is_empty() {
        text.push_str("[none of these files has an outline; slop_view shows them]\n");
    }
    let Some(cut) = truncate(&text, MAX_CHARACTERS) else { return ToolOutput { text, structured: None } };
    let last = cut.head.lines().rev().find_map(|line| line.strip_prefix("### ")).unwrap_or_default();
    let (shown, all) = (cut.head.chars().count(), text.chars().count());
    let words = format!(
        "[cut within {last}: {shown} of {all} characters are shown; for the rest call slop_outline with fewer files, \
         or slop_view with mode `summary`]\n",
    );
    let text = format!("{}{words}", cut.head);
    ToolOutput { text, structured: None }
}

fn write_symbol(text: &mut String, symbol: &SymbolNode, depth: usize) {
    let SymbolNode { kind, qualified_name, start_line, end_line, signature, children, .. } = symbol;
    let words = if signature.is_empty() { qualified_name } else { signature };
    let (indent, words) = ("  ".repeat(depth), printable(words));
    writeln!(text, "{indent}{start_line}-{end_line} [{kind}] {words}").expect("a String takes all");
    for child in children {
        write_symbol(text, child, depth + 1);
    }
}
