//! Shared by line-oriented languages: comments that belong to what follows although the grammar attaches them
//! elsewhere, and the sizes of data.

use std::ops::Range;

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{OutlineWalk, SymbolDefinition};
use crate::syntax::text::{documentation, format_line_count};

/// The maximum number of lines that are read of a comment.
const MAX_COMMENT_LINES: usize = 40;

/// Returns the doc in the lines that begin with `#` directly above `start`. Line-oriented grammars attach such comments
/// to what precedes them.
pub(super) fn hash_comment_above(walk: &OutlineWalk<'_>, start: usize) -> Option<String> {
    let whole = walk.source.original_text();
    let mut first = walk.source.line_start(start);
    let below = first;
    // Bounded, because every key below a long comment would read all of it again.
    for _ in 0..MAX_COMMENT_LINES {
        let Some(above) = whole[..first].strip_suffix('\n') else { break };
        let line_start = above.rfind('\n').map_or(0, |at| at + 1);
        let line = &above[line_start..];
        if !line.trim_start().starts_with('#') {
            break;
        }
        first = line_start;
    }
    documentation(&whole[first..below])
}

/// Adds `node` to the outline with the given signature; returns whether it became a symbol.
pub(super) fn define_with_signature<'t>(
    walk: &mut OutlineWalk<'t>,
    node: Node<'t>,
    definition: SymbolDefinition<'t>,
    signature: String,
) -> bool {
    let before = walk.symbols.len();
    walk.define(node, definition);
    // A node without a name is not a symbol.
    let symbol = walk.symbols.get_mut(before);
    let is_symbol = symbol.is_some();
    if let Some(symbol) = symbol {
        symbol.signature = signature;
    }
    is_symbol
}

/// Sets the documentation of the last symbol, where it has none.
pub(super) fn document_last_symbol(
    walk: &mut OutlineWalk<'_>,
    doc: impl FnOnce(&OutlineWalk<'_>) -> Option<String>,
) {
    if walk.symbols.last().is_some_and(|last| last.doc.is_none()) {
        let doc = doc(walk);
        if let Some(last) = walk.symbols.last_mut() {
            last.doc = doc;
        }
    }
}

/// Returns the size of a piece of data: its lines, or its bytes where it is on one line.
pub(super) fn format_data_size(text: &str) -> String {
    match text.trim().lines().count() {
        0 | 1 if text.len() < 10_000 => format!("{} bytes", text.len()),
        0 | 1 => format!("{} KiB", text.len() >> 10),
        lines => format_line_count(lines),
    }
}

/// Returns whether a symbol of that kind and name is among the last ones: a variable that is set again is shown once.
pub(super) fn is_defined_nearby(walk: &OutlineWalk<'_>, kind: SymbolKind, name: &str) -> bool {
    // Limited, so that the time for many assignments does not grow with their square.
    const LOOKED_AT: usize = 200;
    walk.symbols.iter().rev().take(LOOKED_AT).any(|known| known.kind == kind && known.name == name)
}

/// Cuts all lines but the first of something that continues over several, and leaves their number.
pub(super) fn cut_after_first_line(walk: &mut OutlineWalk<'_>, range: Range<usize>) {
    let text = walk.source.text(range.clone()).trim_end();
    let Some(first) = text.lines().next() else { return };
    let kept = first.trim_end_matches([' ', '\t', '\\', '&', '|', ';']).len();
    let lines = text.lines().count() - 1;
    walk.cut(range.start + kept..range.start + text.len(), format!("  # {}", format_line_count(lines)));
}
