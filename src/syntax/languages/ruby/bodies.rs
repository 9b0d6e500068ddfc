//! What a skeleton leaves out of Ruby: bodies, and texts that are long.

use std::ops::Range;

use tree_sitter::Node;

use crate::syntax::nodes::children;
use crate::syntax::rule::find;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::walk::format_line_count;

/// A text or a list of more bytes than this is told by its size.
const LARGE: usize = 400;

/// Returns the comments that the grammar puts before a body though they stand in it.
pub(super) fn comments_before<'t>(holder: Node<'t>, body: Node<'t>) -> Vec<Node<'t>> {
    let first_line = holder.start_position().row;
    children(holder)
        .into_iter()
        .take_while(|child| child.start_byte() < body.start_byte())
        .filter(|child| child.kind() == "comment" && first_line < child.start_position().row)
        .collect()
}

/// Visits what stands in `holder` as part of the scopes around it.
pub(super) fn enter<'t>(walk: &mut OutlineWalk<'t>, holder: Node<'t>) {
    if let Some(body) = find(holder, "body") {
        walk.prepend_comments(comments_before(holder, body));
        walk.visit_children(body);
    }
}

/// Takes the body of a method or a block out of the skeleton, with the comments that it begins with. What stands on one
/// line stays, for its mark would not.
pub(super) fn cut_body<'t>(walk: &mut OutlineWalk<'t>, holder: Node<'t>) {
    let Some(body) = find(holder, "body") else { return };
    let range = walk.range(holder);
    if body.has_error() || !walk.source.text(range).contains('\n') {
        return;
    }
    let first = comments_before(holder, body).into_iter().next().unwrap_or(body);
    let range = walk.range(first).start..walk.range(body).end;
    if is_endless(holder) {
        cut_expression(walk, range);
    } else {
        walk.cut_body_range(range);
    }
}

/// Says whether a method has a value in place of a body: `def size = @size`.
pub(super) fn is_endless(method: Node<'_>) -> bool {
    children(method).into_iter().any(|child| child.kind() == "=")
}

/// A value must stand where one stood.
fn cut_expression(walk: &mut OutlineWalk<'_>, range: Range<usize>) {
    let size = format_line_count(walk.source.text(range.clone()).lines().count());
    walk.cut(range, format!("nil # {size}"));
}

/// Reads the text of `<<~TEXT`, which stands behind the statement that it is part of.
pub(super) fn heredoc<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let range = walk.range(node);
    let line = walk.source.line(range.start);
    let end = walk.source.span(range.clone());
    if let Some(last) = walk.symbols.last_mut().filter(|last| last.span.end_line == line) {
        last.span.end_byte = end.end_byte;
        last.span.end_line = end.end_line;
    }
    cut_heredoc(walk, node);
}

fn cut_heredoc<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let range = walk.range(node);
    let Some(mark) = children(node).into_iter().find(|child| child.kind() == "heredoc_end") else { return };
    if LARGE <= range.len() && !node.has_error() {
        let end = walk.source.line_start(walk.range(mark).start);
        let text = walk.source.text(range.start..end);
        let begin = range.start + text.find('\n').map_or(0, |at| at + 1);
        let size = format_line_count(walk.source.text(begin..end).lines().count());
        let line_end = walk.source.line_ending();
        walk.replace_with_mark(begin..end, format!("# {size}{line_end}"));
    }
}

/// Takes the words out of a long `%w[…]`.
pub(super) fn cut_words<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    let value = find(value, "receiver").unwrap_or(value);
    let range = walk.range(value);
    if !matches!(value.kind(), "string_array" | "symbol_array") || range.len() < LARGE || value.has_error() {
        return;
    }
    let [first, .., last] = &children(value)[..] else { return };
    let inner = walk.range(*first).end..walk.range(*last).start;
    let size = format_line_count(walk.source.text(range).lines().count());
    walk.replace_with_mark(inner, format!(" # {size} "));
}
