//! What comments say of statements: those in the text, and those that a server keeps.

use std::collections::HashMap;

use super::heads::parse_qualified_name;
use super::heads::unquoted;
use super::statements::SqlStatement;
use super::tokens::SqlTokenKind;
use crate::model::Symbol;
use crate::syntax::comments::documentation;
use crate::syntax::comments::is_license_text;
use crate::syntax::source::SourceText;
use crate::syntax::words::first_paragraph;

/// A comment is looked for no further above than so many lines.
const MAX_COMMENT_LINES: usize = 200;

/// A comment in `/* … */` is no longer than this.
const MAX_COMMENT_BYTES: usize = 4_000;

/// Returns what the comments directly above `start` say.
pub(super) fn comment_above(source: &SourceText<'_>, start: usize) -> Option<String> {
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

/// Returns what a comment says that follows `end` on its line, behind a comma or not.
pub(super) fn comment_behind(source: &SourceText<'_>, end: usize) -> Option<String> {
    let rest = source.line_suffix(end).trim_start().trim_start_matches(',').trim_start();
    rest.starts_with("--").then(|| documentation(rest)).flatten()
}

/// Returns what the comments at the head say of the file: the first run that is not about copying, unless it stands
/// directly above `first`, which it is about.
pub(super) fn file_comment(source: &SourceText<'_>, first: usize) -> Option<String> {
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

/// What `COMMENT ON … IS '…'` says, by the name it is about.
#[derive(Debug, Default)]
pub(super) struct StoredComments(HashMap<String, String>);

impl StoredComments {
    /// Reads a statement, where it keeps a comment.
    pub(super) fn record_statement(&mut self, text: &str, statement: &SqlStatement) {
        if statement.keyword_at(text, 0) != "COMMENT" || statement.keyword_at(text, 1) != "ON" {
            return;
        }
        let is_long = ["MATERIALIZED", "FOREIGN", "EVENT"].contains(&statement.keyword_at(text, 2).as_str());
        let Some((owner, name, _)) = parse_qualified_name(text, statement, if is_long { 4 } else { 3 })
        else {
            return;
        };
        let last = statement.tokens.last().filter(|token| token.kind == SqlTokenKind::Text);
        let Some(said) = last.and_then(|token| first_paragraph(&unquoted(&text[token.range.clone()]))) else {
            return;
        };
        let full = if owner.is_empty() { name } else { format!("{owner}.{name}") };
        self.0.insert(full, said.replace("''", "'"));
    }

    /// Gives each symbol that has no documentation what was kept of it.
    pub(super) fn apply_to(&self, symbols: &mut [Symbol]) {
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
