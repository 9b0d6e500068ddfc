//! What is taken out of a Python text: the bodies of functions, and large literals.
//!
//! Whatever `ast.parse` accepts of the source, it accepts of the skeleton: a body gives way to `...` at the same
//! indent, and a literal keeps its brackets.

use tree_sitter::Node;

use super::docstrings::docstring_statement;
use crate::syntax::language::GrammarField;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::nodes::children;
use crate::syntax::nodes::end_without_comments;
use crate::syntax::nodes::is_trivia;
use crate::syntax::skeleton::SkeletonCut;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::walk::format_line_count;

/// A literal of more bytes than this is a table: its size is told, not its rows.
pub(in crate::syntax) const LARGE_LITERAL: usize = 400;

/// Takes out the body of a function, but for its docstring.
pub(super) fn cut_body<'t>(walk: &mut OutlineWalk<'t>, function: Node<'t>, body: Node<'t>) {
    if body.has_error() || children(function).iter().any(Node::is_error) {
        // Where the grammar is lost it may be wrong about where the body begins and ends.
        return;
    }
    let docstring = docstring_statement(body);
    let Some(first) = first_statement_after(body, docstring) else {
        return;
    };
    let start = walk.range(first).start;
    let end = walk.source.original_end(end_without_comments(body));
    if end <= start {
        return;
    }
    let lines = walk.source.line(end - 1) - walk.source.line(start) + 1;
    let mark = format!("...  # {}", format_line_count(lines as usize));
    let above = docstring.or_else(|| child_of_kind(function, ":"));
    let indent = walk.source.line_prefix(start);
    let above_end = above.map(|above| walk.range(above).end);
    match above_end {
        // The comments between the head and the first statement go with the body, where that is safe to say.
        Some(above_end) if is_indent(indent) && is_free(walk, above_end, start) => {
            walk.cuts.push(SkeletonCut::new(
                above_end..end,
                format!("{}{indent}{mark}", walk.source.line_ending()),
            ));
        }
        Some(_) | None => walk.cuts.push(SkeletonCut::new(start..end, mark)),
    }
}

fn first_statement_after<'t>(body: Node<'t>, docstring: Option<Node<'t>>) -> Option<Node<'t>> {
    let mut cursor = body.walk();
    let after = docstring.map_or(0, |docstring| docstring.end_byte());
    body.named_children(&mut cursor).find(|child| !is_trivia(*child) && after <= child.start_byte())
}

fn is_indent(text: &str) -> bool {
    text.chars().all(|c| c == ' ' || c == '\t' || c == '\u{c}')
}

/// Says whether only comments and white space stand between the head and the first statement, on lines of their own.
fn is_free(walk: &OutlineWalk<'_>, from: usize, to: usize) -> bool {
    let between = walk.source.text(from..to);
    let mut lines = between.split('\n').map(str::trim);
    between.contains('\n') && lines.all(|line| line.is_empty() || line.starts_with('#'))
}

/// Takes out the rows of large lists, dictionaries, sets and tuples that a statement assigns.
pub(super) fn cut_literals<'t>(walk: &mut OutlineWalk<'t>, statement: Node<'t>) {
    if walk.range(statement).len() < LARGE_LITERAL || statement.has_error() {
        return;
    }
    let mut value =
        child_of_kind(statement, "assignment").and_then(|node| walk.field(node, GrammarField::Right));
    while let Some(node) = value.filter(|node| node.kind() == "assignment") {
        value = walk.field(node, GrammarField::Right);
    }
    let Some(value) = value else { return };
    let mut cursor = value.walk();
    loop {
        let node = cursor.node();
        let is_literal = matches!(node.kind(), "list" | "dictionary" | "set" | "tuple");
        if is_literal && LARGE_LITERAL <= walk.range(node).len() {
            cut_rows(walk, node);
        } else if node.kind() != "string" && node.kind() != "lambda" && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn cut_rows<'t>(walk: &mut OutlineWalk<'t>, literal: Node<'t>) {
    let range = walk.range(literal);
    let lines = walk.source.line(range.end - 1) - walk.source.line(range.start) + 1;
    // The mark is a comment, and a comment ends with its line: so the closing bracket gets one of its own.
    let mark = format!("...  # {}{}", format_line_count(lines as usize), walk.source.line_ending());
    walk.cuts.push(SkeletonCut::new(range.start + 1..range.end - 1, mark));
}
