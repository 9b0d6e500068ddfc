//! What a statement creates, and under which name.

use super::statements::SqlStatement;
use super::tokens::SqlToken;
use super::tokens::SqlTokenKind;
use crate::model::SymbolKind;

/// How far behind `CREATE` the word stands that says what is created.
const HEAD: usize = 14;

/// What a statement creates.
#[derive(Debug)]
pub(super) struct CreateHead {
    /// What it is.
    pub(super) kind: SymbolKind,
    /// The word that says so.
    pub(super) keyword: String,
    /// Its name alone.
    pub(super) name: String,
    /// What qualifies the name: a schema.
    pub(super) owner: String,
    /// Which token follows the name.
    pub(super) after: usize,
}

/// Reads the head of a statement that creates something.
pub(super) fn parse_create(text: &str, statement: &SqlStatement) -> Option<CreateHead> {
    if statement.keyword_at(text, 0) != "CREATE" {
        return None;
    }
    let at = (1..HEAD).find(|at| is_object_keyword(&statement.keyword_at(text, *at)))?;
    // What an event trigger is called stands behind both words.
    let at = at
        + usize::from(
            statement.keyword_at(text, at + 1) == "TRIGGER" && statement.keyword_at(text, at) == "EVENT",
        );
    let kind = object_kind(&statement.keyword_at(text, at))?;
    let word = statement.keyword_at(text, at);
    let mut at = at + 1;
    // `PACKAGE BODY`, `TYPE BODY`, `INDEX CONCURRENTLY`, `IF NOT EXISTS`.
    while ["BODY", "CONCURRENTLY", "IF", "NOT", "EXISTS", "MAPPING"]
        .contains(&statement.keyword_at(text, at).as_str())
    {
        at += 1;
    }
    // An index may have no name of its own.
    if statement.keyword_at(text, at) == "ON" && matches!(word.as_str(), "INDEX" | "STATISTICS") {
        return None;
    }
    let (owner, name, after) = parse_qualified_name(text, statement, at)?;
    Some(CreateHead { kind, keyword: word, name, owner, after })
}

/// Reads a name with what qualifies it, `a.b.c`: what stands before the last dot, what behind it, and which token
/// follows.
pub(super) fn parse_qualified_name(
    text: &str,
    statement: &SqlStatement,
    at: usize,
) -> Option<(String, String, usize)> {
    let mut parts = Vec::new();
    let mut at = at;
    while let Some(token) = statement.tokens.get(at).filter(|token| is_name(token)) {
        parts.push(unquoted(&text[token.range.clone()]));
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
        Some(b'"' | b'`' | b'[' | b'\'') if 2 <= name.len() => &name[1..name.len() - 1],
        Some(_) | None => name,
    };
    inner.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Says whether a word tells what is created: also what is of no interest here, or is called in another way.
fn is_object_keyword(word: &str) -> bool {
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
