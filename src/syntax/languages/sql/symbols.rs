//! What a script creates.

use std::ops::Range;

use tree_sitter::Node;

use super::columns::parts;
use super::cuts::cut_code;
use super::cuts::cut_data;
use super::documents::Kept;
use super::documents::above;
use super::documents::behind;
use super::documents::of_file;
use super::heads::Head;
use super::heads::head;
use super::heads::name;
use super::statements::Statement;
use super::statements::statements;
use super::tokens::Kind;
use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::nodes::children;
use crate::syntax::walk::Walk;
use crate::syntax::words::clipped;
use crate::syntax::words::one_line;

/// Reads all that a script creates, extends or fills.
pub(super) fn script<'t>(walk: &mut Walk<'t>, root: Node<'t>) {
    let text = walk.source.whole();
    let statements = statements(text);
    walk.doc = statements.first().and_then(|first| of_file(walk.source, first.range.start));
    let understood = understood(walk, root);
    let mut kept = Kept::default();
    let mut at = 0;
    while let Some(statement) = statements.get(at) {
        kept.read(text, statement);
        import(walk, statement);
        let is_code = if let Some(head) = head(text, statement) {
            create(walk, statement, &head, &understood);
            head.kind == SymbolKind::Function || head.kind == SymbolKind::Event || statement.block.is_some()
        } else {
            statement.word(text, 0) == "DO"
        };
        if is_code {
            cut_code(walk, statement);
        }
        at += cut_data(walk, &statements[at..]);
    }
    kept.give(&mut walk.symbols);
}

/// Remembers what a script draws in: `CREATE EXTENSION a`, `\i a.sql` is the client's.
fn import(walk: &mut Walk<'_>, statement: &Statement) {
    let text = walk.source.whole();
    if statement.word(text, 0) == "CREATE" && statement.word(text, 1) == "EXTENSION" {
        let at = if statement.word(text, 2) == "IF" { 5 } else { 2 };
        if let Some((_, name, _)) = name(text, statement, at) {
            walk.import(&name);
        }
    }
}

fn create(walk: &mut Walk<'_>, statement: &Statement, head: &Head, understood: &[Range<usize>]) {
    let text = walk.source.whole();
    let start = statement.range.start;
    let name = clipped(head.name.clone());
    let full = if head.owner.is_empty() { name.clone() } else { clipped(format!("{}.{name}", head.owner)) };
    let list = parts(text, statement, head);
    let after = understood.partition_point(|range| range.start <= start);
    let is_understood = after.checked_sub(1).is_some_and(|at| start < understood[at].end);
    let children = list.iter().flat_map(|list| &list.parts).map(|part| {
        let range =
            statement.tokens[part.tokens.start].range.start..statement.tokens[part.tokens.end - 1].range.end;
        let name = clipped(part.name.clone());
        let own_line = walk.source.before_on_line(range.start).trim().is_empty();
        Symbol {
            kind: part.kind,
            qualified_name: format!("{full}.{name}"),
            name,
            span: walk.source.span(range.clone()),
            signature: plain(text, statement, part.tokens.clone()),
            doc: said(text, statement, part.tokens.clone())
                .or_else(|| behind(walk.source, range.end))
                .or_else(|| own_line.then(|| above(walk.source, range.start)).flatten()),
            recovered: false,
            children: Vec::new(),
        }
    });
    let symbol = Symbol {
        kind: list.as_ref().map_or(head.kind, |list| list.kind),
        qualified_name: full.clone(),
        name,
        span: walk.source.span(statement.range.clone()),
        signature: plain(text, statement, 0..head_end(text, statement, head, list.is_some())),
        doc: above(walk.source, start),
        recovered: !is_understood,
        children: children.collect(),
    };
    walk.add(symbol);
}

/// Returns what `COMMENT 'text'` says within a column.
fn said(text: &str, statement: &Statement, tokens: Range<usize>) -> Option<String> {
    let at = tokens.clone().find(|at| statement.word(text, *at) == "COMMENT")?;
    let token =
        statement.tokens.get(at + 1).filter(|token| token.kind == Kind::Text && at + 1 < tokens.end)?;
    crate::syntax::words::first_paragraph(text[token.range.clone()].trim_matches('\''))
}

/// Returns which token ends the head of a statement: what a signature tells.
fn head_end(text: &str, statement: &Statement, head: &Head, has_list: bool) -> usize {
    let ends: &[&str] = match head.word.as_str() {
        "FUNCTION" | "PROCEDURE" | "PROC" => &["AS", "IS", "BEGIN", "LANGUAGE", "DECLARE", "RETURN"],
        "TRIGGER" | "EVENT" => &["BEGIN", "AS", "DECLARE"],
        "TABLE" | "VIEW" => &["AS", "SELECT", "ENGINE", "WITH"],
        "SCHEMA" | "DATABASE" | "PACKAGE" => &["AS", "IS"],
        _ => &[],
    };
    let mut depth = 0_usize;
    for (at, token) in statement.tokens.iter().enumerate().skip(head.after) {
        match token.kind {
            Kind::Sign(b'(') if has_list => return at - usize::from(statement.word(text, at - 1) == "AS"),
            Kind::Sign(b'(') => depth += 1,
            Kind::Sign(b')') => depth = depth.saturating_sub(1),
            Kind::Dollar => return at,
            Kind::Word if depth == 0 && ends.contains(&statement.word(text, at).as_str()) => return at,
            Kind::Word | Kind::Quoted | Kind::Text | Kind::Sign(_) | Kind::Client => {}
        }
    }
    statement.tokens.len()
}

/// Returns tokens on one line, without the comments between them.
fn plain(text: &str, statement: &Statement, tokens: Range<usize>) -> String {
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
fn understood<'t>(walk: &Walk<'t>, root: Node<'t>) -> Vec<Range<usize>> {
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
