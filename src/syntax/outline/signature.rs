//! Signatures on one line, without the comments and directives between their words.

use std::ops::Range;

use tree_sitter::Node;

use super::nodes::is_trivia;
use crate::syntax::text::{SourceText, one_line};

/// Returns the text of a range of the original on one line, without the comments in it: those below `node`, and those
/// that were elided before there was a tree.
pub(super) fn signature_line(source: &SourceText<'_>, node: Option<Node<'_>>, range: Range<usize>) -> String {
    let text = source.text(range.clone());
    // Most signatures have none of the characters that begin a comment, a directive or a continuation.
    if !text.contains(['#', '/', '\\', '-']) {
        return one_line(text);
    }
    let mut comments = node.map_or(Vec::new(), |node| comments_below(source, node, &range));
    // Elided comments are not in the tree, but may be between those that are.
    let elided = source.elided_comments_in(&range);
    if !elided.is_empty() {
        comments.extend_from_slice(elided);
        comments.sort_unstable_by_key(|comment| comment.start);
    }
    let mut plain = String::with_capacity(text.len());
    let mut at = range.start;
    for comment in comments {
        plain.push_str(source.text(at..comment.start.clamp(at, range.end)));
        plain.push(' ');
        at = comment.end.max(at);
    }
    plain.push_str(source.text(at.min(range.end)..range.end));
    one_line(&without_directives(&plain))
}

/// Returns the ranges of the comments below `node` that overlap `range`, in order.
fn comments_below(source: &SourceText<'_>, node: Node<'_>, range: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut cursor = node.walk();
    loop {
        let node = cursor.node();
        let own = source.original_range(node.byte_range());
        let is_inside = own.start < range.end && range.start < own.end;
        if is_inside && is_trivia(node) {
            found.push(own);
        } else if is_inside && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// The directives of the preprocessors of C and C#.
const DIRECTIVES: [&str; 18] = [
    "define", "elif", "elifdef", "elifndef", "else", "endif", "endregion", "error", "if", "ifdef", "ifndef",
    "include", "line", "nullable", "pragma", "region", "undef", "warning",
];

/// Returns whether a line is a directive of the preprocessor: in CSS `#` begins the name of an element, in Rust an
/// attribute.
fn is_preprocessor_line(line: &str) -> bool {
    let Some(directive) = line.trim_start().strip_prefix('#') else { return false };
    let directive = directive.trim_start();
    let word = directive.find(|c: char| !c.is_alphanumeric()).map_or(directive, |end| &directive[..end]);
    DIRECTIVES.contains(&word)
}

/// Returns a signature without the directives in it and without the backslashes of continued lines. Its first line
/// always stays.
fn without_directives(head: &str) -> String {
    let mut plain = String::with_capacity(head.len());
    for (at, line) in head.lines().enumerate() {
        if at == 0 || !is_preprocessor_line(line) {
            plain.push_str(line.trim_end().trim_end_matches('\\'));
            plain.push('\n');
        }
    }
    plain
}
