//! What a script creates.

use std::ops::Range;

use tree_sitter::Node;

use super::columns::parse_members;
use super::cuts::cut_code;
use super::cuts::cut_data;
use super::documents::StoredComments;
use super::documents::comment_above;
use super::documents::comment_behind;
use super::documents::file_comment;
use super::heads::CreateHead;
use super::heads::parse_create;
use super::heads::parse_qualified_name;
use super::statements::SqlStatement;
use super::statements::split_statements;
use super::tokens::SqlTokenKind;
use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::nodes::children;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::words::clip_name;
use crate::syntax::words::one_line;

/// Reads all that a script creates, extends or fills.
pub(super) fn script<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    let text = walk.source.original_text();
    let statements = split_statements(text);
    walk.doc = statements.first().and_then(|first| file_comment(walk.source, first.range.start));
    let understood = understood_ranges(walk, root);
    let mut kept = StoredComments::default();
    let mut at = 0;
    while let Some(statement) = statements.get(at) {
        kept.record_statement(text, statement);
        add_extension_import(walk, statement);
        let is_code = if let Some(head) = parse_create(text, statement) {
            add_created_symbol(walk, statement, &head, &understood);
            head.kind == SymbolKind::Function || head.kind == SymbolKind::Event || statement.block.is_some()
        } else {
            statement.keyword_at(text, 0) == "DO"
        };
        if is_code {
            cut_code(walk, statement);
        }
        at += cut_data(walk, &statements[at..]);
    }
    kept.apply_to(&mut walk.symbols);
}

/// Remembers what a script draws in: `CREATE EXTENSION a`, `\i a.sql` is the client's.
fn add_extension_import(walk: &mut OutlineWalk<'_>, statement: &SqlStatement) {
    let text = walk.source.original_text();
    if statement.keyword_at(text, 0) == "CREATE" && statement.keyword_at(text, 1) == "EXTENSION" {
        let at = if statement.keyword_at(text, 2) == "IF" { 5 } else { 2 };
        if let Some((_, name, _)) = parse_qualified_name(text, statement, at) {
            walk.add_import(&name);
        }
    }
}

fn add_created_symbol(
    walk: &mut OutlineWalk<'_>,
    statement: &SqlStatement,
    head: &CreateHead,
    understood: &[Range<usize>],
) {
    let text = walk.source.original_text();
    let start = statement.range.start;
    let name = clip_name(head.name.clone());
    let full = if head.owner.is_empty() { name.clone() } else { clip_name(format!("{}.{name}", head.owner)) };
    let list = parse_members(text, statement, head);
    let after = understood.partition_point(|range| range.start <= start);
    let is_understood = after.checked_sub(1).is_some_and(|at| start < understood[at].end);
    let children = list.iter().flat_map(|list| &list.parts).map(|part| {
        let range =
            statement.tokens[part.tokens.start].range.start..statement.tokens[part.tokens.end - 1].range.end;
        let name = clip_name(part.name.clone());
        let own_line = walk.source.line_prefix(range.start).trim().is_empty();
        Symbol {
            kind: part.kind,
            qualified_name: format!("{full}.{name}"),
            name,
            span: walk.source.span(range.clone()),
            signature: tokens_on_one_line(text, statement, part.tokens.clone()),
            doc: column_comment(text, statement, part.tokens.clone())
                .or_else(|| comment_behind(walk.source, range.end))
                .or_else(|| own_line.then(|| comment_above(walk.source, range.start)).flatten()),
            recovered: false,
            children: Vec::new(),
        }
    });
    let symbol = Symbol {
        kind: list.as_ref().map_or(head.kind, |list| list.kind),
        qualified_name: full.clone(),
        name,
        span: walk.source.span(statement.range.clone()),
        signature: tokens_on_one_line(text, statement, 0..head_end(text, statement, head, list.is_some())),
        doc: comment_above(walk.source, start),
        recovered: !is_understood,
        children: children.collect(),
    };
    walk.add_symbol(symbol);
}

/// Returns what `COMMENT 'text'` says within a column.
fn column_comment(text: &str, statement: &SqlStatement, tokens: Range<usize>) -> Option<String> {
    let at = tokens.clone().find(|at| statement.keyword_at(text, *at) == "COMMENT")?;
    let token = statement
        .tokens
        .get(at + 1)
        .filter(|token| token.kind == SqlTokenKind::Text && at + 1 < tokens.end)?;
    crate::syntax::words::first_paragraph(text[token.range.clone()].trim_matches('\''))
}

/// Returns which token ends the head of a statement: what a signature tells.
fn head_end(text: &str, statement: &SqlStatement, head: &CreateHead, has_list: bool) -> usize {
    let ends: &[&str] = match head.keyword.as_str() {
        "FUNCTION" | "PROCEDURE" | "PROC" => &["AS", "IS", "BEGIN", "LANGUAGE", "DECLARE", "RETURN"],
        "TRIGGER" | "EVENT" => &["BEGIN", "AS", "DECLARE"],
        "TABLE" | "VIEW" => &["AS", "SELECT", "ENGINE", "WITH"],
        "SCHEMA" | "DATABASE" | "PACKAGE" => &["AS", "IS"],
        _ => &[],
    };
    let mut depth = 0_usize;
    for (at, token) in statement.tokens.iter().enumerate().skip(head.after) {
        match token.kind {
            SqlTokenKind::Punctuation(b'(') if has_list => {
                return at - usize::from(statement.keyword_at(text, at - 1) == "AS");
            }
            SqlTokenKind::Punctuation(b'(') => depth += 1,
            SqlTokenKind::Punctuation(b')') => depth = depth.saturating_sub(1),
            SqlTokenKind::DollarQuoted => return at,
            SqlTokenKind::Word if depth == 0 && ends.contains(&statement.keyword_at(text, at).as_str()) => {
                return at;
            }
            SqlTokenKind::Word
            | SqlTokenKind::Quoted
            | SqlTokenKind::Text
            | SqlTokenKind::Punctuation(_)
            | SqlTokenKind::ClientCommand => {}
        }
    }
    statement.tokens.len()
}

/// Returns tokens on one line, without the comments between them.
fn tokens_on_one_line(text: &str, statement: &SqlStatement, tokens: Range<usize>) -> String {
    let mut line = String::new();
    let mut end = None;
    for token in statement.tokens.get(tokens).unwrap_or_default() {
        if end.is_some_and(|end| end < token.range.start) {
            line.push(' ');
        }
        line.push_str(&text[token.range.clone()]);
        end = Some(token.range.end);
        if 1_000 < line.len() {
            break;
        }
    }
    one_line(&line)
}

/// Returns the ranges of the statements that the grammar understood.
fn understood_ranges<'t>(walk: &OutlineWalk<'t>, root: Node<'t>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for child in children(root) {
        if matches!(child.kind(), "transaction" | "block") {
            let inner = children(child).into_iter().filter(|child| !child.has_error());
            found.extend(inner.map(|child| walk.range(child)));
        } else if !child.has_error() {
            found.push(walk.range(child));
        }
    }
    found
}
