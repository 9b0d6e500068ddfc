//! The parts that a skeleton cuts from a script, and that are removed from a dump before parsing: bodies of functions,
//! and data.

use std::ops::Range;

use super::statements::{SqlStatement, SqlTokenKind, split_statements};
use crate::syntax::outline::OutlineWalk;
use crate::syntax::text::{PreprocessedText, TextRewriter, format_text_size};

/// Bodies shorter than this are kept.
const SHORT_BODY: usize = 100;

/// Data of more bytes than this is replaced with its size.
const LARGE_DATA: usize = 400;

/// The word before the rows is among this many tokens.
const MAX_COLUMNS: usize = 1_000;

/// A first row that is longer than this is cut too.
const LONG_ROW: usize = 1_000;

/// A range, and what replaces it.
type DataCut = (Range<usize>, String);

/// A text that is shorter than this is parsed as it is.
const MIN_BYTES: usize = 16 << 10;

/// Cuts the code of a statement that contains some.
pub(super) fn cut_code(walk: &mut OutlineWalk<'_>, statement: &SqlStatement<'_>) {
    if let Some(block) = statement.block.clone() {
        cut_block(walk, block);
        return;
    }
    let text = walk.source.original_text();
    for (at, token) in statement.tokens.iter().enumerate() {
        let quoted = &text[token.range.clone()];
        if is_short(quoted) {
            continue;
        }
        if token.kind == SqlTokenKind::DollarQuoted {
            // Between dollar signs the grammar expects statements; a quoted text is as good a body.
            let size =
                format_text_size(quoted.trim_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '$'));
            walk.replace_with_mark(token.range.clone(), format!("'-- {size}'"));
        }
        if token.kind == SqlTokenKind::Text && statement.keyword_at(at.saturating_sub(1)) == "AS" {
            let inside = token.range.start + 1..token.range.end - 1;
            // A quote that nothing closes is followed by the rest of the text, which may end within a character.
            let Some(code) = text.get(inside.clone()) else { continue };
            let size = format_text_size(code);
            walk.replace_with_mark(inside, format!("-- {size}"));
        }
    }
}

/// Returns whether a body is worth more than its size: a line, or few of them.
fn is_short(body: &str) -> bool {
    body.len() <= SHORT_BODY && body.trim().lines().count() < 3
}

fn cut_block(walk: &mut OutlineWalk<'_>, block: Range<usize>) {
    let text = walk.source.text(block.clone());
    if is_short(text) {
        return;
    }
    let size = format_text_size(text);
    walk.replace_with_mark(block, format!(" /* {size} */ "));
}

/// Cuts the data of the first statement, and of those after it that insert into the same table; returns how many
/// statements these are.
pub(super) fn cut_data(walk: &mut OutlineWalk<'_>, statements: &[SqlStatement<'_>]) -> usize {
    let (cuts, count) = data_cuts(walk.source.original_text(), walk.source.line_ending(), statements);
    for (range, mark) in cuts {
        walk.replace_with_mark(range, mark);
    }
    count
}

/// Returns the cuts of data: rows that are inserted after the first; lines that are copied; statements that insert into
/// the same table as the first. Also returns how many statements these are.
fn data_cuts(text: &str, line_end: &str, statements: &[SqlStatement<'_>]) -> (Vec<DataCut>, usize) {
    let Some(first) = statements.first() else { return (Vec::new(), 0) };
    if let Some(data) = first.data.clone() {
        let lines = text[data.clone()].lines().count().saturating_sub(1);
        return (vec![(data, format!("\\.{line_end}-- {lines} rows"))], 1);
    }
    let Some(table) = inserted_into(first) else { return (Vec::new(), 1) };
    let same = statements.iter().take_while(|next| inserted_into(next) == Some(table));
    let count = same.count();
    let more = first.range.end..statements[count - 1].range.end;
    let mut cuts = row_cuts(first);
    if 2 < count && LARGE_DATA < more.len() {
        let mark = format!(" /* {} more statements */", count - 1);
        cuts.push((more, mark));
    }
    (cuts, count)
}

/// Returns the table that a statement inserts into.
fn inserted_into<'a>(statement: &SqlStatement<'a>) -> Option<&'a str> {
    let is_insert = matches!(statement.keyword_at(0).as_str(), "INSERT" | "REPLACE");
    let into = (1..5).find(|at| statement.keyword_at(*at) == "INTO").filter(|_| is_insert)?;
    let token = statement.tokens.get(into + 1)?;
    let end = statement.tokens.get(into + 3).filter(|_| statement.is_sign(into + 2, b'.')).unwrap_or(token);
    statement.text.get(token.range.start..end.range.end)
}

/// Returns the cuts of the rows of a large statement.
fn row_cuts(statement: &SqlStatement<'_>) -> Vec<DataCut> {
    let values =
        (0..statement.tokens.len().min(MAX_COLUMNS)).find(|at| statement.keyword_at(*at) == "VALUES");
    let Some(first) = values.map(|values| values + 1).filter(|at| statement.is_sign(*at, b'(')) else {
        return Vec::new();
    };
    if statement.range.len() < LARGE_DATA {
        return Vec::new();
    }
    let (mut depth, mut count, mut first_end) = (0_usize, 0_usize, None);
    for at in first..statement.tokens.len() {
        if statement.is_sign(at, b'(') {
            count += usize::from(depth == 0);
            depth += 1;
        } else if statement.is_sign(at, b')') {
            depth = depth.saturating_sub(1);
            let is_end = depth == 0 && first_end.is_none();
            first_end = first_end.or(is_end.then_some(statement.tokens[at].range.end));
        }
    }
    let Some(first_end) = first_end else { return Vec::new() };
    let first = statement.tokens[first].range.start;
    // Not all rows of a statement with very many tokens were counted.
    let size = if statement.is_whole() { format!("{count}") } else { format!("over {count}") };
    if LONG_ROW < first_end - first {
        return vec![(first..statement.range.end, format!("(NULL) /* {size} rows */"))];
    }
    let rest = first_end..statement.range.end;
    if 1 < count { vec![(rest, format!(" /* {size} rows */"))] } else { Vec::new() }
}

/// Returns a script without its data; `None` where that saves little.
pub(super) fn preprocess_script(text: &str) -> Option<PreprocessedText> {
    // Small scripts parse quickly enough as they are.
    if text.len() < MIN_BYTES {
        return None;
    }
    let statements = split_statements(text);
    let (mut rewriter, mut seen) = (TextRewriter::new(text), 0);
    while seen < statements.len() {
        let (cuts, count) = data_cuts(text, "\n", &statements[seen..]);
        for (range, mark) in cuts {
            // A range within another cut is removed with it.
            if rewriter.done <= range.start && mark.len() < range.len() {
                rewriter.replace(range, &mark);
            }
        }
        seen += count;
    }
    let preprocessed = rewriter.finish();
    // A copy that is hardly smaller is not worth its cost.
    (preprocessed.text.len() < text.len() / 2).then_some(preprocessed)
}
