//! The symbols of a script, and the comments that document them: those in the text, and those that a server stores.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::Node;

use super::create::{CreateHead, MemberEntry, parse_create, parse_members, parse_qualified_name, unquoted};
use super::cuts::{cut_code, cut_data, preprocess_script};
use super::statements::{SqlStatement, SqlTokenKind, split_statements};
use crate::model::{Symbol, SymbolKind};
use crate::syntax::outline::{Language, NodeTable, OutlineWalk, Visit, children};
use crate::syntax::text::{SourceText, clip_name, documentation, first_paragraph, is_license_text, one_line};

pub(in crate::syntax::languages) static SQL: Language = Language {
    has_overloads: true,
    preprocess: Some(preprocess_script),
    read_root: Some(script),
    ..Language::new("sql", tree_sitter_sequel::LANGUAGE, "tree-sitter-sequel 0.3.11", &[NODES])
};

const NODES: NodeTable = &[("comment marginalia", Visit::Comment)];

/// A comment is searched for within this many lines above.
const MAX_COMMENT_LINES: usize = 200;

/// A comment in `/* … */` is no longer than this.
const MAX_COMMENT_BYTES: usize = 4_000;

/// Reads everything that a script creates, extends or fills.
fn script<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    let statements = split_statements(walk.source.original_text());
    walk.doc = statements.first().and_then(|first| file_comment(walk.source, first.range.start));
    let understood = understood_ranges(walk, root);
    let mut kept = StoredComments::default();
    let mut at = 0;
    while let Some(statement) = statements.get(at) {
        kept.record_statement(statement);
        add_extension_import(walk, statement);
        let is_code = if let Some(head) = parse_create(statement) {
            add_created_symbol(walk, statement, &head, &understood);
            head.kind == SymbolKind::Function || head.kind == SymbolKind::Event || statement.block.is_some()
        } else {
            statement.keyword_at(0) == "DO"
        };
        if is_code {
            cut_code(walk, statement);
        }
        // At least one statement, so that the loop ends.
        at += cut_data(walk, &statements[at..]);
    }
    // At the end, because dumps comment on a table after they have created it.
    kept.apply_to(&mut walk.symbols);
    add_model_imports(walk);
}

/// Adds what a model of dbt selects from to the imports: `{{ ref('orders') }}`, `{{ source('shop', 'items') }}`.
fn add_model_imports(walk: &mut OutlineWalk<'_>) {
    let text = walk.source.original_text();
    for inside in text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}")) {
        let call = inside.0.trim_start();
        let arguments = ["ref(", "source("].iter().find_map(|name| call.strip_prefix(name));
        let quoted = arguments.unwrap_or_default().split(['\'', '"']).skip(1).step_by(2);
        let name = quoted.collect::<Vec<_>>().join(".");
        if !name.is_empty() {
            walk.add_import(&name);
        }
    }
}

/// Adds the extensions that a script needs to the imports: `CREATE EXTENSION a`; `\i a.sql` is a command for the
/// client.
fn add_extension_import(walk: &mut OutlineWalk<'_>, statement: &SqlStatement<'_>) {
    if statement.keyword_at(0) == "CREATE" && statement.keyword_at(1) == "EXTENSION" {
        // `IF NOT EXISTS` precedes the name by three words.
        let at = if statement.keyword_at(2) == "IF" { 5 } else { 2 };
        if let Some((_, name, _)) = parse_qualified_name(statement, at) {
            walk.add_import(&name);
        }
    }
}

fn add_created_symbol(
    walk: &mut OutlineWalk<'_>,
    statement: &SqlStatement<'_>,
    head: &CreateHead,
    understood: &[Range<usize>],
) {
    let start = statement.range.start;
    let name = clip_name(head.name.clone());
    let full = if head.owner.is_empty() { name.clone() } else { clip_name(format!("{}.{name}", head.owner)) };
    let list = parse_members(statement, head);
    // The ranges are those of siblings, in order.
    let after = understood.partition_point(|range| range.start <= start);
    let is_understood = after.checked_sub(1).is_some_and(|at| start < understood[at].end);
    let parts = list.iter().flat_map(|list| &list.parts);
    let children = parts.map(|part| member_symbol(walk.source, statement, &full, part));
    let symbol = Symbol {
        kind: list.as_ref().map_or(head.kind, |list| list.kind),
        qualified_name: full.clone(),
        name,
        span: walk.source.span(statement.range.clone()),
        signature: tokens_on_one_line(statement, 0..head_end(statement, head, list.is_some())),
        doc: comment_above(walk.source, start),
        // The scanner finds every statement; one that the grammar did not understand counts as recovered, because
        // only the scanner has read it.
        recovered: !is_understood,
        children: children.collect(),
    };
    walk.add_symbol(symbol);
}

/// Returns the symbol of a column, a field or a value of what has the qualified name `owner`.
fn member_symbol(
    source: &SourceText<'_>,
    statement: &SqlStatement<'_>,
    owner: &str,
    part: &MemberEntry,
) -> Symbol {
    // A member has at least one token, its name.
    let range =
        statement.tokens[part.tokens.start].range.start..statement.tokens[part.tokens.end - 1].range.end;
    let name = clip_name(part.name.clone());
    let own_line = source.line_prefix(range.start).trim().is_empty();
    Symbol {
        kind: part.kind,
        qualified_name: format!("{owner}.{name}"),
        name,
        span: source.span(range.clone()),
        signature: tokens_on_one_line(statement, part.tokens.clone()),
        doc: column_comment(statement, part.tokens.clone())
            .or_else(|| comment_after(source, range.end))
            .or_else(|| own_line.then(|| comment_above(source, range.start)).flatten()),
        recovered: false,
        children: Vec::new(),
    }
}

/// Returns the doc in `COMMENT 'text'` within a column.
fn column_comment(statement: &SqlStatement<'_>, tokens: Range<usize>) -> Option<String> {
    let at = tokens.clone().find(|at| statement.keyword_at(*at) == "COMMENT")?;
    let token = statement
        .tokens
        .get(at + 1)
        .filter(|token| token.kind == SqlTokenKind::Text && at + 1 < tokens.end)?;
    first_paragraph(statement.text[token.range.clone()].trim_matches('\''))
}

/// Returns the index of the token that ends the signature of a statement.
fn head_end(statement: &SqlStatement<'_>, head: &CreateHead, has_list: bool) -> usize {
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
                return at - usize::from(statement.keyword_at(at - 1) == "AS");
            }
            SqlTokenKind::Punctuation(b'(') => depth += 1,
            SqlTokenKind::Punctuation(b')') => depth = depth.saturating_sub(1),
            SqlTokenKind::DollarQuoted => return at,
            SqlTokenKind::Word if depth == 0 && ends.contains(&statement.keyword_at(at).as_str()) => {
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
fn tokens_on_one_line(statement: &SqlStatement<'_>, tokens: Range<usize>) -> String {
    let mut line = String::new();
    let mut end = None;
    for token in statement.tokens.get(tokens).unwrap_or_default() {
        if end.is_some_and(|end| end < token.range.start) {
            line.push(' ');
        }
        line.push_str(&statement.text[token.range.clone()]);
        end = Some(token.range.end);
        // Not for the length, which `one_line` limits, but for the work on a statement of megabytes.
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

/// Returns the doc in the comments directly above `start`.
fn comment_above(source: &SourceText<'_>, start: usize) -> Option<String> {
    let end = source.line_start(start);
    let mut begin = end;
    for _ in 0..MAX_COMMENT_LINES {
        let line_start = source.line_start(begin.checked_sub(1).unwrap_or(begin));
        let line = source.text(line_start..begin).trim();
        if line.starts_with("--") {
            begin = line_start;
        } else if let Some(open) = block_start(source, begin).filter(|_| line.ends_with("*/")) {
            begin = source.line_start(open);
        } else {
            break;
        }
    }
    documentation(source.text(begin..end)).filter(|doc| !is_license_text(doc))
}

/// Returns where the block comment begins that ends before `end`, where it is the first on its line.
fn block_start(source: &SourceText<'_>, end: usize) -> Option<usize> {
    let from = end.saturating_sub(MAX_COMMENT_BYTES);
    let open = from + source.text(from..end).rfind("/*")?;
    let is_comment = !source.text(open..end).starts_with("/*!");
    (is_comment && source.line_prefix(open).trim().is_empty()).then_some(open)
}

/// Returns the doc in a comment that follows `end` on its line, after a comma or not.
fn comment_after(source: &SourceText<'_>, end: usize) -> Option<String> {
    let rest = source.line_suffix(end).trim_start().trim_start_matches(',').trim_start();
    rest.starts_with("--").then(|| documentation(rest)).flatten()
}

/// Returns the file's doc in the comments at the head: the first run that is not a license, unless it is directly above
/// `first`, which it documents.
fn file_comment(source: &SourceText<'_>, first: usize) -> Option<String> {
    let head = source.text(0..first);
    let mut runs: Vec<String> = vec![String::new()];
    for line in head.lines() {
        if line.trim().is_empty() {
            runs.push(String::new());
        } else if let Some(run) = runs.last_mut() {
            run.push_str(line);
            run.push('\n');
        }
    }
    let ends_with_blank = head.ends_with("\n\n") || head.ends_with("\n\r\n");
    if !ends_with_blank {
        runs.pop();
    }
    runs.iter().filter_map(|run| documentation(run)).find(|doc| !is_license_text(doc))
}

/// The comments of `COMMENT ON … IS '…'` statements, by the name of what they document.
#[derive(Debug, Default)]
struct StoredComments(HashMap<String, String>);

impl StoredComments {
    /// Records the comment of a statement that has one.
    fn record_statement(&mut self, statement: &SqlStatement<'_>) {
        if statement.keyword_at(0) != "COMMENT" || statement.keyword_at(1) != "ON" {
            return;
        }
        // These kinds have names of two words, such as `MATERIALIZED VIEW`.
        let is_long = ["MATERIALIZED", "FOREIGN", "EVENT"].contains(&statement.keyword_at(2).as_str());
        let Some((owner, name, _)) = parse_qualified_name(statement, if is_long { 4 } else { 3 }) else {
            return;
        };
        let last = statement.tokens.last().filter(|token| token.kind == SqlTokenKind::Text);
        let Some(comment) =
            last.and_then(|token| first_paragraph(&unquoted(&statement.text[token.range.clone()])))
        else {
            return;
        };
        let full = if owner.is_empty() { name } else { format!("{owner}.{name}") };
        self.0.insert(full, comment.replace("''", "'"));
    }

    /// Sets the documentation of each symbol that has none but a recorded comment.
    fn apply_to(&self, symbols: &mut [Symbol]) {
        if self.0.is_empty() {
            return;
        }
        for symbol in symbols {
            if symbol.doc.is_none() {
                symbol.doc = self.0.get(&symbol.qualified_name).cloned();
            }
            self.apply_to(&mut symbol.children);
        }
    }
}
