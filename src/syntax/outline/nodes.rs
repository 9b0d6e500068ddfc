//! Queries on the nodes of a tree.

use tree_sitter::Node;

/// Returns the end of the last token below `node` that is not a comment: comments after a body do not belong to it.
pub(in crate::syntax) fn end_without_comments(node: Node<'_>) -> usize {
    let mut node = node;
    // A loop and not a recursion, because a tree may be deeper than a stack.
    'deeper: loop {
        for at in (0..node.child_count()).rev() {
            let Some(child) = node.child(at) else { continue };
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

/// Returns the first child of that kind.
pub(in crate::syntax) fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    node.children(&mut node.walk()).find(|child| child.kind() == kind)
}

/// The path from a node to one below it: steps separated by `/`, each the name of a field, or a kind of child with a
/// dot before it. An empty path is the node itself. Each step takes the first node, the last step all nodes where all
/// are asked for: `declarator/name`, `.type_spec`.
pub(super) type NodePath = &'static str;

/// Returns the first node that one of the paths leads to.
pub(in crate::syntax) fn find_first<'t>(node: Node<'t>, paths: &[NodePath]) -> Option<Node<'t>> {
    paths.iter().find_map(|path| find(node, path))
}

/// Returns the first node that a path leads to.
pub(in crate::syntax) fn find<'t>(node: Node<'t>, path: &str) -> Option<Node<'t>> {
    let mut steps = path.split('/').filter(|step| !step.is_empty());
    steps.try_fold(node, |node, step| follow_step(node, step).into_iter().next())
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
