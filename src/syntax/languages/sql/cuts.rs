//! What a skeleton leaves out of a script: bodies of functions, and data.

use std::ops::Range;

use super::statements::Statement;
use super::tokens::Kind;
use crate::syntax::define::lines_of;
use crate::syntax::walk::Walk;

/// What is shorter than this stays.
const SHORT: usize = 100;

/// Data of more bytes than this gives way to its size.
const LARGE_DATA: usize = 400;

/// A first row that is longer than this gives way too.
const LONG_ROW: usize = 1_000;

/// Takes the code out of a statement that holds some.
pub(super) fn cut_code(walk: &mut Walk<'_>, statement: &Statement) {
    if let Some(block) = statement.block.clone() {
        cut_block(walk, block);
        return;
    }
    let text = walk.source.whole();
    for (at, token) in statement.tokens.iter().enumerate() {
        let quoted = &text[token.range.clone()];
        if is_short(quoted) {
            continue;
        }
        if token.kind == Kind::Dollar {
            let tag = quoted[1..].find('$').map_or(1, |end| end + 2);
            let inside = token.range.start + tag..token.range.end - tag;
            let size = lines_of(&text[inside.clone()]);
            let line_end = walk.source.line_end();
            walk.put(inside, format!(" -- {size}{line_end}"));
        }
        if token.kind == Kind::Text && statement.word(text, at.saturating_sub(1)) == "AS" {
            let inside = token.range.start + 1..token.range.end - 1;
            let size = lines_of(&text[inside.clone()]);
            walk.put(inside, format!("-- {size}"));
        }
    }
}

/// Says whether a body tells more than its size would: a line, or few of them.
fn is_short(body: &str) -> bool {
    body.len() <= SHORT && body.trim().lines().count() < 3
}

fn cut_block(walk: &mut Walk<'_>, block: Range<usize>) {
    let text = walk.source.text(block.clone());
    if is_short(text) {
        return;
    }
    let size = lines_of(text);
    walk.put(block, format!(" /* {size} */ "));
}

/// Takes data out: rows that are inserted, behind the first; lines that are copied; statements that insert into the same
/// table as the one before. Returns how many statements it has seen to.
pub(super) fn cut_data(walk: &mut Walk<'_>, statements: &[Statement]) -> usize {
    let Some(first) = statements.first() else { return 0 };
    let text = walk.source.whole();
    if let Some(data) = first.data.clone() {
        let lines = text[data.clone()].lines().count().saturating_sub(1);
        let line_end = walk.source.line_end();
        walk.put(data, format!("\\.{line_end}-- {lines} rows"));
        return 1;
    }
    let Some(table) = inserted_into(text, first) else { return 1 };
    let same =
        statements.iter().take_while(|next| inserted_into(text, next).is_some_and(|next| next == table));
    let count = same.count();
    let last = &statements[count - 1];
    let more = first.range.end..last.range.end;
    if 2 < count && LARGE_DATA < more.len() {
        let line_end = walk.source.line_end();
        let size = format!(";{line_end}/* {} more rows into the same table */", count - 1);
        walk.put(more, size);
    }
    cut_rows(walk, first);
    count
}

/// Returns the table that a statement inserts into.
fn inserted_into<'a>(text: &'a str, statement: &Statement) -> Option<&'a str> {
    let is_insert = matches!(statement.word(text, 0).as_str(), "INSERT" | "REPLACE");
    let into = (1..5).find(|at| statement.word(text, *at) == "INTO").filter(|_| is_insert)?;
    let token = statement.tokens.get(into + 1)?;
    let end = statement.tokens.get(into + 3).filter(|_| statement.is_sign(into + 2, b'.')).unwrap_or(token);
    text.get(token.range.start..end.range.end)
}

fn cut_rows(walk: &mut Walk<'_>, statement: &Statement) {
    let text = walk.source.whole();
    let Some(values) = (0..statement.tokens.len()).find(|at| statement.word(text, *at) == "VALUES") else {
        return;
    };
    if statement.range.len() < LARGE_DATA || !statement.is_sign(values + 1, b'(') {
        return;
    }
    let (mut depth, mut rows, mut first_end) = (0_usize, 0_usize, None);
    for at in values + 1..statement.tokens.len() {
        match statement.tokens[at].kind {
            Kind::Sign(b'(') => {
                rows += usize::from(depth == 0);
                depth += 1;
            }
            Kind::Sign(b')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 && first_end.is_none() {
                    first_end = Some(statement.tokens[at].range.end);
                }
            }
            _ => {}
        }
    }
    let Some(first_end) = first_end else { return };
    let first = statement.tokens[values + 1].range.start..first_end;
    let rest = first_end..statement.range.end;
    let lines = text[rest.clone()].matches('(').count().min(rows.saturating_sub(1).max(1));
    if LONG_ROW < first.len() {
        walk.put(first.start..statement.range.end, format!("(NULL) /* {rows} rows */"));
    } else if 1 < rows {
        walk.put(rest, format!(" /* {lines} more rows */"));
    }
}
