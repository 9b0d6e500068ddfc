//! Small questions to nodes of a tree.

use tree_sitter::Node;

/// Returns where the last token below `node` ends that is no comment: what trails after a body belongs to nobody.
pub(super) fn end_without_comments(node: Node<'_>) -> usize {
    let mut node = node;
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

/// Says whether a node is only between others: a comment, or a backslash that continues a line.
pub(super) fn is_trivia(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.ends_with("comment") || kind == "line_continuation"
}

/// Returns the children of `node`, named or not.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

/// Returns the first child of that kind.
pub(super) fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    node.children(&mut node.walk()).find(|child| child.kind() == kind)
}
