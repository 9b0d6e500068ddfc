//! What a table or a type consists of.

use std::ops::Range;

use super::heads::CreateHead;
use super::heads::unquoted;
use super::statements::SqlStatement;
use super::tokens::SqlTokenKind;
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
pub(super) struct MemberEntry {
    /// What it is.
    pub(super) kind: SymbolKind,
    /// Its name.
    pub(super) name: String,
    /// Which tokens it is made of.
    pub(super) tokens: Range<usize>,
}

/// What a statement's list in brackets tells.
#[derive(Debug)]
pub(super) struct MemberList {
    /// What the whole is, which only its list tells.
    pub(super) kind: SymbolKind,
    /// What is in it.
    pub(super) parts: Vec<MemberEntry>,
}

/// Returns the columns of a table, the fields of a type, the values of an enumeration.
pub(super) fn parse_members(text: &str, statement: &SqlStatement, head: &CreateHead) -> Option<MemberList> {
    let open =
        (head.after..statement.tokens.len().min(head.after + 8)).find(|at| statement.is_sign(*at, b'('))?;
    let between: Vec<String> = (head.after..open).map(|at| statement.keyword_at(text, at)).collect();
    let says = |word: &str| between.iter().any(|found| found == word);
    let kind = match head.keyword.as_str() {
        "TABLE" if !says("AS") && !says("OF") && !says("USING") => SymbolKind::Table,
        "TYPE" if says("ENUM") => SymbolKind::Enum,
        "TYPE" if says("AS") && !says("RANGE") && !says("VARRAY") => SymbolKind::Struct,
        _ => return None,
    };
    let elements = elements(statement, open);
    let parts =
        elements.into_iter().filter_map(|tokens| parse_member(text, statement, kind, tokens)).collect();
    Some(MemberList { kind, parts })
}

/// Returns which tokens stand between the commas of a list.
fn elements(statement: &SqlStatement, open: usize) -> Vec<Range<usize>> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, open + 1);
    for at in open..statement.tokens.len() {
        match statement.tokens[at].kind {
            SqlTokenKind::Punctuation(b'(') => depth += 1,
            SqlTokenKind::Punctuation(b')') => depth = depth.saturating_sub(1),
            SqlTokenKind::Word
            | SqlTokenKind::Quoted
            | SqlTokenKind::Text
            | SqlTokenKind::DollarQuoted
            | SqlTokenKind::ClientCommand
            | SqlTokenKind::Punctuation(_) => {}
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

fn parse_member(
    text: &str,
    statement: &SqlStatement,
    kind: SymbolKind,
    tokens: Range<usize>,
) -> Option<MemberEntry> {
    let first = statement.tokens.get(tokens.start).filter(|_| !tokens.is_empty())?;
    let name = unquoted(&text[first.range.clone()]);
    if kind == SymbolKind::Enum {
        let is_text = first.kind == SqlTokenKind::Text;
        return is_text.then_some(MemberEntry { kind: SymbolKind::EnumMember, name, tokens });
    }
    let word = statement.keyword_at(text, tokens.start);
    let is_named = matches!(first.kind, SqlTokenKind::Word | SqlTokenKind::Quoted);
    if !is_named || NO_COLUMN.contains(&word.as_str()) || is_key(text, statement, &tokens, &word) {
        return None;
    }
    Some(MemberEntry { kind: SymbolKind::Field, name, tokens })
}

/// Says whether an element is a key of a table: `KEY name (a, b)`.
fn is_key(text: &str, statement: &SqlStatement, tokens: &Range<usize>, word: &str) -> bool {
    let named =
        statement.tokens.get(tokens.start + 1).is_some_and(|token| token.kind == SqlTokenKind::Quoted);
    let next = statement.keyword_at(text, tokens.start + 1);
    let has_list = statement.is_sign(tokens.start + 2, b'(') && !TYPES_WITH_LENGTH.contains(&next.as_str());
    matches!(word, "KEY" | "INDEX") && (named || has_list || statement.is_sign(tokens.start + 1, b'('))
}
