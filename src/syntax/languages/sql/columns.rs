//! What a table or a type consists of.

use std::ops::Range;

use super::heads::Head;
use super::heads::unquoted;
use super::statements::Statement;
use super::tokens::Kind;
use crate::model::SymbolKind;

/// Words that begin what is no column.
const NO_COLUMN: [&str; 11] = [
    "CONSTRAINT",
    "PRIMARY",
    "UNIQUE",
    "FOREIGN",
    "CHECK",
    "FULLTEXT",
    "SPATIAL",
    "EXCLUDE",
    "LIKE",
    "PERIOD",
    "PARTITION",
];

/// Types that are followed by a length: `key varchar(20)` is a column, `KEY name (a)` is none.
const TYPES_WITH_LENGTH: [&str; 13] = [
    "VARCHAR",
    "CHAR",
    "CHARACTER",
    "NUMERIC",
    "DECIMAL",
    "NVARCHAR",
    "NCHAR",
    "VARBINARY",
    "BINARY",
    "BIT",
    "INT",
    "FLOAT",
    "VARCHAR2",
];

/// A part of a table or of a type.
#[derive(Debug)]
pub(super) struct Part {
    /// What it is.
    pub(super) kind: SymbolKind,
    /// Its name.
    pub(super) name: String,
    /// Which tokens it is made of.
    pub(super) tokens: Range<usize>,
}

/// What a statement's list in brackets tells.
#[derive(Debug)]
pub(super) struct Parts {
    /// What the whole is, which only its list tells.
    pub(super) kind: SymbolKind,
    /// What is in it.
    pub(super) parts: Vec<Part>,
}

/// Returns the columns of a table, the fields of a type, the values of an enumeration.
pub(super) fn parts(text: &str, statement: &Statement, head: &Head) -> Option<Parts> {
    let open =
        (head.after..statement.tokens.len().min(head.after + 8)).find(|at| statement.is_sign(*at, b'('))?;
    let between: Vec<String> = (head.after..open).map(|at| statement.word(text, at)).collect();
    let says = |word: &str| between.iter().any(|found| found == word);
    let kind = match head.word.as_str() {
        "TABLE" if !says("AS") && !says("OF") && !says("USING") => SymbolKind::Table,
        "TYPE" if says("ENUM") => SymbolKind::Enum,
        "TYPE" if says("AS") && !says("RANGE") && !says("VARRAY") => SymbolKind::Struct,
        _ => return None,
    };
    let elements = elements(statement, open);
    let parts = elements.into_iter().filter_map(|tokens| part(text, statement, kind, tokens)).collect();
    Some(Parts { kind, parts })
}

/// Returns which tokens stand between the commas of a list.
fn elements(statement: &Statement, open: usize) -> Vec<Range<usize>> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, open + 1);
    for at in open..statement.tokens.len() {
        match statement.tokens[at].kind {
            Kind::Sign(b'(') => depth += 1,
            Kind::Sign(b')') => depth = depth.saturating_sub(1),
            Kind::Word | Kind::Quoted | Kind::Text | Kind::Dollar | Kind::Client | Kind::Sign(_) => {}
        }
        let is_end = depth == 0;
        if is_end || depth == 1 && statement.is_sign(at, b',') {
            found.push(start..at);
            start = at + 1;
        }
        if is_end {
            break;
        }
    }
    found
}

fn part(text: &str, statement: &Statement, kind: SymbolKind, tokens: Range<usize>) -> Option<Part> {
    let first = statement.tokens.get(tokens.start).filter(|_| !tokens.is_empty())?;
    let name = unquoted(&text[first.range.clone()]);
    if kind == SymbolKind::Enum {
        let is_text = first.kind == Kind::Text;
        return is_text.then_some(Part { kind: SymbolKind::EnumMember, name, tokens });
    }
    let word = statement.word(text, tokens.start);
    let is_named = matches!(first.kind, Kind::Word | Kind::Quoted);
    if !is_named || NO_COLUMN.contains(&word.as_str()) || is_key(text, statement, &tokens, &word) {
        return None;
    }
    Some(Part { kind: SymbolKind::Field, name, tokens })
}

/// Says whether an element is a key of a table: `KEY name (a, b)`.
fn is_key(text: &str, statement: &Statement, tokens: &Range<usize>, word: &str) -> bool {
    let named = statement.tokens.get(tokens.start + 1).is_some_and(|token| token.kind == Kind::Quoted);
    let next = statement.word(text, tokens.start + 1);
    let has_list = statement.is_sign(tokens.start + 2, b'(') && !TYPES_WITH_LENGTH.contains(&next.as_str());
    matches!(word, "KEY" | "INDEX") && (named || has_list || statement.is_sign(tokens.start + 1, b'('))
}
