//! What a statement creates: its name, and the members of a table or a type.

use std::ops::Range;

use super::statements::{SqlStatement, SqlToken, SqlTokenKind};
use crate::model::{SymbolKind, collapse_whitespace};

/// The keyword of what is created is within this many tokens after `CREATE`.
const HEAD_TOKENS: usize = 14;

/// Words that begin an element that is not a column.
const NO_COLUMN: [&str; 11] = [
    "CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "FULLTEXT", "SPATIAL", "EXCLUDE", "LIKE",
    "PERIOD", "PARTITION",
];

/// Types that are followed by a length: `key varchar(20)` is a column, `KEY name (a)` is none.
const TYPES_WITH_LENGTH: [&str; 13] = [
    "VARCHAR", "CHAR", "CHARACTER", "NUMERIC", "DECIMAL", "NVARCHAR", "NCHAR", "VARBINARY", "BINARY", "BIT",
    "INT", "FLOAT", "VARCHAR2",
];

/// What a statement creates.
#[derive(Debug)]
pub(super) struct CreateHead {
    pub(super) kind: SymbolKind,
    /// The keyword that decides it.
    pub(super) keyword: String,
    /// Its name, unqualified.
    pub(super) name: String,
    /// What qualifies the name: a schema.
    pub(super) owner: String,
    /// Which token follows the name.
    pub(super) after: usize,
}

/// Parses the head of a statement that creates something.
pub(super) fn parse_create(statement: &SqlStatement<'_>) -> Option<CreateHead> {
    if statement.keyword_at(0) != "CREATE" {
        return None;
    }
    // Other words may precede the keyword: `OR REPLACE`, `UNLOGGED`, `DEFINER = …`.
    let at = (1..HEAD_TOKENS).find(|at| is_object_keyword(&statement.keyword_at(*at)))?;
    // The name of an event trigger follows both words.
    let at =
        at + usize::from(statement.keyword_at(at + 1) == "TRIGGER" && statement.keyword_at(at) == "EVENT");
    let kind = object_kind(&statement.keyword_at(at))?;
    let word = statement.keyword_at(at);
    let mut at = at + 1;
    // `PACKAGE BODY`, `TYPE BODY`, `INDEX CONCURRENTLY`, `IF NOT EXISTS`.
    while ["BODY", "CONCURRENTLY", "IF", "NOT", "EXISTS", "MAPPING"]
        .contains(&statement.keyword_at(at).as_str())
    {
        at += 1;
    }
    // An index may have no name of its own.
    if statement.keyword_at(at) == "ON" && matches!(word.as_str(), "INDEX" | "STATISTICS") {
        return None;
    }
    let (owner, name, after) = parse_qualified_name(statement, at)?;
    Some(CreateHead { kind, keyword: word, name, owner, after })
}

/// Parses a qualified name, `a.b.c`: what precedes the last dot, what follows it, and the index of the token after it.
pub(super) fn parse_qualified_name(
    statement: &SqlStatement<'_>,
    at: usize,
) -> Option<(String, String, usize)> {
    let mut parts = Vec::new();
    let mut at = at;
    while let Some(token) = statement.tokens.get(at).filter(|token| is_name(token)) {
        parts.push(unquoted(&statement.text[token.range.clone()]));
        at += 1;
        if !statement.is_sign(at, b'.') {
            break;
        }
        at += 1;
    }
    let name = parts.pop()?;
    Some((parts.join("."), name, at))
}

fn is_name(token: &SqlToken) -> bool {
    matches!(token.kind, SqlTokenKind::Word | SqlTokenKind::Quoted)
}

/// Returns a name without its quotes.
pub(super) fn unquoted(name: &str) -> String {
    let inner = match name.as_bytes().first() {
        // A quote that nothing closes is followed by the rest of the text, which may end within a
        // character.
        Some(b'"' | b'`' | b'[' | b'\'') if 2 <= name.len() => {
            name.get(1..name.len() - 1).unwrap_or(&name[1..])
        }
        Some(_) | None => name,
    };
    collapse_whitespace(inner)
}

/// Returns whether a word is a keyword of what is created: also of what is not shown, or is named in another way.
fn is_object_keyword(word: &str) -> bool {
    // The first keyword decides, so that the `SCHEMA` of an extension is not taken for a schema.
    let others = ["CAST", "EXTENSION", "OPERATOR", "TRANSFORM", "METHOD", "WRAPPER", "GROUP"];
    others.contains(&word) || object_kind(word).is_some()
}

fn object_kind(word: &str) -> Option<SymbolKind> {
    let kind = match word {
        "TABLE" | "VIEW" | "INDEX" | "SEQUENCE" | "STATISTICS" => SymbolKind::Table,
        "FUNCTION" | "PROCEDURE" | "PROC" | "AGGREGATE" => SymbolKind::Function,
        "TRIGGER" | "EVENT" => SymbolKind::Event,
        "TYPE" | "DOMAIN" | "SYNONYM" => SymbolKind::Typedef,
        "SCHEMA" | "DATABASE" | "PACKAGE" => SymbolKind::Namespace,
        "POLICY" | "RULE" | "ROLE" | "USER" | "SERVER" | "PUBLICATION" | "SUBSCRIPTION" | "COLLATION"
        | "CONVERSION" | "LANGUAGE" | "TABLESPACE" | "CONFIGURATION" | "DICTIONARY" => SymbolKind::Object,
        _ => return None,
    };
    Some(kind)
}

/// A part of a table or of a type.
#[derive(Debug)]
pub(super) struct MemberEntry {
    pub(super) kind: SymbolKind,
    pub(super) name: String,
    pub(super) tokens: Range<usize>,
}

/// The members in a statement's list in parentheses.
#[derive(Debug)]
pub(super) struct MemberList {
    /// What the whole is, which only its list decides.
    pub(super) kind: SymbolKind,
    pub(super) parts: Vec<MemberEntry>,
}

/// Returns the columns of a table, the fields of a type, the values of an enumeration.
pub(super) fn parse_members(statement: &SqlStatement<'_>, head: &CreateHead) -> Option<MemberList> {
    let open =
        // Only a few words may be between the name and its list; a parenthesis farther away belongs to
        // something else.
        (head.after..statement.tokens.len().min(head.after + 8)).find(|at| statement.is_sign(*at, b'('))?;
    let between: Vec<String> = (head.after..open).map(|at| statement.keyword_at(at)).collect();
    let has_word = |word: &str| between.iter().any(|found| found == word);
    let kind = match head.keyword.as_str() {
        // After these words the parentheses contain a query, or the arguments of a virtual table.
        "TABLE" if !has_word("AS") && !has_word("OF") && !has_word("USING") => SymbolKind::Table,
        "TYPE" if has_word("ENUM") => SymbolKind::Enum,
        "TYPE" if has_word("AS") && !has_word("RANGE") && !has_word("VARRAY") => SymbolKind::Struct,
        _ => return None,
    };
    let elements = elements(statement, open);
    let parts = elements.into_iter().filter_map(|tokens| parse_member(statement, kind, tokens)).collect();
    Some(MemberList { kind, parts })
}

/// Returns the tokens between the commas of a list.
fn elements(statement: &SqlStatement<'_>, open: usize) -> Vec<Range<usize>> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, open + 1);
    for at in open..statement.tokens.len() {
        if statement.is_sign(at, b'(') {
            depth += 1;
        } else if statement.is_sign(at, b')') {
            depth = depth.saturating_sub(1);
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

fn parse_member(statement: &SqlStatement<'_>, kind: SymbolKind, tokens: Range<usize>) -> Option<MemberEntry> {
    let first = statement.tokens.get(tokens.start).filter(|_| !tokens.is_empty())?;
    let name = unquoted(&statement.text[first.range.clone()]);
    if kind == SymbolKind::Enum {
        let is_text = first.kind == SqlTokenKind::Text;
        return is_text.then_some(MemberEntry { kind: SymbolKind::EnumMember, name, tokens });
    }
    let word = statement.keyword_at(tokens.start);
    let is_named = matches!(first.kind, SqlTokenKind::Word | SqlTokenKind::Quoted);
    if !is_named || NO_COLUMN.contains(&word.as_str()) || is_key(statement, &tokens, &word) {
        return None;
    }
    Some(MemberEntry { kind: SymbolKind::Field, name, tokens })
}

/// Returns whether an element is a key of a table: `KEY name (a, b)`.
fn is_key(statement: &SqlStatement<'_>, tokens: &Range<usize>, word: &str) -> bool {
    let named =
        statement.tokens.get(tokens.start + 1).is_some_and(|token| token.kind == SqlTokenKind::Quoted);
    let next = statement.keyword_at(tokens.start + 1);
    let has_list = statement.is_sign(tokens.start + 2, b'(') && !TYPES_WITH_LENGTH.contains(&next.as_str());
    matches!(word, "KEY" | "INDEX") && (named || has_list || statement.is_sign(tokens.start + 1, b'('))
}
