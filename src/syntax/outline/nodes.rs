//! Queries on the nodes of a tree, and signatures: their text on one line, without the comments and directives between
//! its words.

use std::ops::Range;

use tree_sitter::Node;

use crate::syntax::text::{SourceText, one_line, with_separators};

/// Returns the end of the last token below `node` that is not a comment: comments after a body do not belong to it.
pub(in crate::syntax) fn end_without_comments(node: Node<'_>) -> usize {
    let mut node = node;
    // A loop and not a recursion, because a tree may be deeper than a stack.
    'deeper: loop {
        for at in (0..node.child_count()).rev() {
            let Some(child) = node.child(at) else { continue };
            // A node without width is a token that the grammar inserted, or a virtual one such as a dedent.
            if !is_trivia(child) && child.start_byte() < child.end_byte() {
                node = child;
                continue 'deeper;
            }
        }
        return node.end_byte();
    }
}

/// Returns whether a node is only between others: a comment, or a backslash that continues a line.
pub(in crate::syntax) fn is_trivia(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.ends_with("comment") || kind == "line_continuation"
}

/// Returns the children of `node`, named or not.
pub(in crate::syntax) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

pub(in crate::syntax) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).collect()
}

pub(in crate::syntax) fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    node.children(&mut node.walk()).find(|child| child.kind() == kind)
}

/// Calls `enter` with each node from `top` down; a node for which it returns false is not entered. A loop and not a
/// recursion, because a tree may be deeper than a stack.
pub(in crate::syntax) fn visit_descendants<'t>(top: Node<'t>, enter: &mut dyn FnMut(Node<'t>) -> bool) {
    let mut cursor = top.walk();
    loop {
        if enter(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// The path from a node to one below it: steps separated by `/`, each the name of a field, or a kind of child with a
/// dot before it. An empty path is the node itself. Each step takes the first node, the last step all nodes where all
/// are asked for: `declarator/name`, `.type_spec`. Of several paths with `|` between them the first that exists counts.
pub(super) type NodePath = &'static str;

/// Returns the first node that a path leads to.
pub(in crate::syntax) fn find<'t>(node: Node<'t>, path: &str) -> Option<Node<'t>> {
    path.split('|').find_map(|path| {
        let mut steps = path.split('/').filter(|step| !step.is_empty());
        steps.try_fold(node, |node, step| follow_step(node, step).into_iter().next())
    })
}

/// Returns every node that the last step of a path leads to.
pub(in crate::syntax) fn find_all<'t>(node: Node<'t>, path: &str) -> Vec<Node<'t>> {
    let (before, last) = path.rsplit_once('/').unwrap_or(("", path));
    match find(node, before) {
        Some(node) if last.is_empty() => vec![node],
        Some(node) => follow_step(node, last),
        None => Vec::new(),
    }
}

fn follow_step<'t>(node: Node<'t>, step: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    match step.strip_prefix('.') {
        Some(kind) => node.children(&mut cursor).filter(|child| child.kind() == kind).collect(),
        // A field may contain the punctuation between its nodes too.
        None => node.children_by_field_name(step, &mut cursor).filter(Node::is_named).collect(),
    }
}

/// Returns the text of a range of the original on one line, without the comments in it: those below `node`, and those
/// that were elided before there was a tree. The separator is put between members that only the ends of their lines
/// separate.
pub(super) fn signature_line(
    source: &SourceText<'_>,
    node: Option<Node<'_>>,
    range: Range<usize>,
    separator: Option<char>,
) -> String {
    let joined = |text: &str| match separator {
        Some(separator) => one_line(&with_separators(text, separator)),
        None => one_line(text),
    };
    let text = source.text(range.clone());
    // Most signatures have none of the characters that begin a comment, a directive or a continuation.
    if !text.contains(['#', '/', '\\', '-']) {
        return joined(text);
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
    joined(&without_directives(&plain))
}

/// Returns the ranges of the comments below `node` that overlap `range`, in order.
fn comments_below(source: &SourceText<'_>, node: Node<'_>, range: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    visit_descendants(node, &mut |node| {
        let own = source.original_range(node.byte_range());
        let is_inside = own.start < range.end && range.start < own.end;
        let is_comment = is_inside && is_trivia(node);
        if is_comment {
            found.push(own);
        }
        is_inside && !is_comment
    });
    found
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
