//! The material about source code: its outline, and as much of its text as fits, cut at symbol boundaries.

use std::collections::HashMap;
use std::ops::Range;

use super::excerpt;
use super::excerpt::{LineIndex, MaterialText, TextPiece, chunks, fit};
use crate::model::{Outline, Symbol, SymbolKind};
use crate::summarize::heuristic::SummaryInput;
use crate::summarize::{heuristic, words};

/// The outline takes at most this share of the material, and of the size of the text.
const OUTLINE_SHARE: usize = 4;
const SIGNATURE_BYTES: usize = 160;
const DOC_BYTES: usize = 160;
/// The most members of a symbol that are listed.
const MEMBERS: usize = 24;
/// The most lines before a symbol that belong to it: its comments and attributes.
const LEAD_LINES: usize = 16;
/// A type that exceeds this share of the room is cut between its members.
const PART_SHARE: usize = 3;
/// The nesting depth to which types are cut.
const MOST_LEVELS: usize = 4;

const BEFORE_OUTLINE: &str = "Outline, the most important first:\n";
const BEFORE_TEXT: &str = "\nText:\n";

/// Returns the outline, if there is one, and the text.
pub(crate) fn code_material(source: &SummaryInput<'_>, room: usize) -> MaterialText {
    let Some(outline) = source.outline.filter(|outline| !outline.symbols.is_empty()) else {
        return excerpt::prose_material(source, room);
    };
    let share = (room / OUTLINE_SHARE).min((source.text.len() / OUTLINE_SHARE).max(400));
    let listed = listed(outline, share.saturating_sub(BEFORE_OUTLINE.len()));
    let before = format!("{BEFORE_OUTLINE}{listed}{BEFORE_TEXT}");
    if room < before.len() {
        return excerpt::prose_material(source, room);
    }
    let room = room - before.len();
    let lines = LineIndex::new(source.text);
    let text = fit(&lines, &pieces(&lines, outline, room), room);
    MaterialText { text: before + &text.text, is_cut: text.is_cut }
}

/// Returns as many lines of the outline as fit.
fn listed(outline: &Outline, room: usize) -> String {
    let mut text = String::new();
    let mut push = |line: &str| {
        let fits = text.len() + line.len() < room;
        if fits {
            text.push_str(line);
            text.push('\n');
        }
        fits
    };
    for symbol in heuristic::main_symbols(outline) {
        if !push(&line(symbol, "")) {
            break;
        }
        let mut members: Vec<&Symbol> = symbol.children.iter().collect();
        members.sort_by_key(|member| heuristic::importance(member));
        let lines = members.into_iter().take(MEMBERS).map(|member| line(member, "  "));
        if !lines.into_iter().all(|line| push(&line)) {
            break;
        }
    }
    text
}

fn line(symbol: &Symbol, indent: &str) -> String {
    let signature = words::safe_signature(symbol);
    let head = if signature.is_empty() { words::one_line(&symbol.name) } else { signature };
    let head = words::clip(head.trim_end_matches([' ', ':', '{', ';']), SIGNATURE_BYTES);
    let (first, last) = (symbol.span.start_line, symbol.span.end_line);
    let doc = symbol.doc.as_deref().map(words::one_line).filter(|doc| !doc.is_empty());
    let doc = doc.map(|doc| format!(" - {}", words::clip(&doc, DOC_BYTES))).unwrap_or_default();
    format!("{indent}{head} (lines {first}-{last}){doc}")
}

/// Splits a text at symbol boundaries. A symbol stays with the lines right above it.
fn pieces(lines: &LineIndex<'_>, outline: &Outline, room: usize) -> Vec<TextPiece> {
    let most_bytes = room / PART_SHARE;
    let mut symbols = Vec::new();
    collect(&outline.symbols, lines, most_bytes, 0, &mut symbols);
    symbols.sort_by_key(|symbol| (symbol.span.start_line, symbol.span.end_line));
    let ranks = ranks(&symbols);
    let last_rank = symbols.len() + 2;
    let mut pieces: Vec<TextPiece> = Vec::new();
    let mut done = 0;
    for symbol in symbols {
        let at = range(symbol, lines);
        let Range { start, end } = at;
        if end <= done {
            // It shares its lines with earlier symbols.
            continue;
        }
        let start = start.max(done);
        let lead = if 0 < done && start - done <= LEAD_LINES { done } else { start };
        // The top of a file describes it and lists its imports.
        pieces.extend(chunks(done..lead, None, usize::from(0 < done), last_rank));
        let rank = ranks[&std::ptr::from_ref(symbol)];
        let is_large = most_bytes < lines.get(&(lead..end)).len();
        if is_large {
            pieces.extend(chunks(lead..end, Some(&symbol.qualified_name), rank, last_rank));
        } else {
            let name = Some(symbol.qualified_name.clone());
            pieces.push(TextPiece { lines: lead..end, name, rank });
        }
        done = end;
    }
    pieces.extend(chunks(done..lines.count(), None, last_rank, last_rank));
    pieces
}

/// Collects the symbols that are kept or dropped as a whole.
fn collect<'o>(
    symbols: &'o [Symbol],
    lines: &LineIndex<'_>,
    most_bytes: usize,
    level: usize,
    found: &mut Vec<&'o Symbol>,
) {
    for symbol in symbols {
        let is_large = most_bytes < lines.get(&range(symbol, lines)).len();
        let is_open = symbol.kind == SymbolKind::Namespace || is_large;
        if is_open && !symbol.children.is_empty() && level < MOST_LEVELS {
            collect(&symbol.children, lines, most_bytes, level + 1, found);
        } else {
            found.push(symbol);
        }
    }
}

/// Returns the rank of each symbol by importance, from 2.
fn ranks(symbols: &[&Symbol]) -> HashMap<*const Symbol, usize> {
    let mut order = symbols.to_vec();
    order.sort_by_key(|symbol| heuristic::importance(symbol));
    order.into_iter().enumerate().map(|(rank, symbol)| (std::ptr::from_ref(symbol), rank + 2)).collect()
}

/// Returns the zero-based line range of a symbol within the text.
fn range(symbol: &Symbol, lines: &LineIndex<'_>) -> Range<usize> {
    let start = (symbol.span.start_line.saturating_sub(1) as usize).min(lines.count());
    start..(symbol.span.end_line as usize).clamp(start, lines.count())
}
