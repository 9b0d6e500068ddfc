//! What a skeleton leaves out of values: the code of functions within them, and literals that are tables.

use tree_sitter::Node;

use super::walk::OutlineWalk;
use super::walk::format_line_count;

/// A text within the code that has more bytes than this is told by its size.
const LARGE_TEXT: usize = 400;

/// What a language's values are made of.
pub(super) struct ValueTrimmer {
    /// Takes the code out of a function; says whether the node is one.
    pub(super) cut_function: for<'t> fn(&mut OutlineWalk<'t>, Node<'t>) -> bool,
    /// Takes the rows out of a large literal; says whether the node is a literal, large or not.
    pub(super) cut_literal: for<'t> fn(&mut OutlineWalk<'t>, Node<'t>) -> bool,
}

impl ValueTrimmer {
    /// Takes out of the skeleton what is code within a value, and the literals that hold none.
    pub(super) fn trim_value<'t>(&self, walk: &mut OutlineWalk<'t>, value: Node<'t>) {
        let mut functions = Vec::new();
        visit_descendants(value, &mut |node| {
            let is_function = (self.cut_function)(walk, node);
            if is_function {
                functions.push(node.start_byte());
            }
            is_function
        });
        visit_descendants(value, &mut |node| {
            let next = functions.partition_point(|&start| start < node.start_byte());
            let has_function = functions.get(next).is_some_and(|&start| start < node.end_byte());
            // A function itself has lost its code already.
            let is_function = functions.get(next) == Some(&node.start_byte());
            is_function || (!has_function && (self.cut_literal)(walk, node))
        });
    }
}

impl<'t> OutlineWalk<'t> {
    /// Takes the inside of a long text out of the skeleton; `from` and `until` are how many bytes at its ends stay.
    pub(super) fn cut_text(&mut self, text: Node<'t>, from: usize, until: usize) {
        let range = self.range(text);
        if range.len() < LARGE_TEXT || text.has_error() {
            return;
        }
        let size = format_line_count(self.text(text).lines().count());
        self.replace_with_mark(range.start + from..range.end - until, format!(" /* {size} */ "));
    }
}

/// Calls `look` with each node from `top` down; what it says yes to is not looked into.
fn visit_descendants<'t>(top: Node<'t>, look: &mut dyn FnMut(Node<'t>) -> bool) {
    let mut cursor = top.walk();
    loop {
        if !look(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
