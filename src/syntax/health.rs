//! How much of a text its grammar did not understand.

use tree_sitter::Node;

use super::source::Source;
use crate::model::Health;

/// Returns the share of bytes of the original in error nodes below `root`, and in `recovered` bytes more.
pub(super) fn health(root: Node<'_>, source: &Source<'_>, recovered: usize) -> Health {
    let mut broken = recovered;
    each_error(root, &mut |node| broken += source.original_range(node.byte_range()).len());
    let total = source.whole().len() as u64;
    Health { broken_bytes: (broken as u64).min(total), total_bytes: total, fallback: None }
}

/// Returns how many error nodes and missing tokens stand below `root`.
pub(super) fn error_count(root: Node<'_>) -> usize {
    let mut count = 0;
    each_error(root, &mut |_| count += 1);
    count
}

/// Calls `report` with each outermost error node and each missing token. Only branches that hold one are entered,
/// and without recursion: a tree may be deeper than a stack.
fn each_error<'t>(root: Node<'t>, report: &mut dyn FnMut(Node<'t>)) {
    if !root.has_error() {
        return;
    }
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let is_error = node.is_error() || node.is_missing();
        if is_error {
            report(node);
        }
        if node.has_error() && !is_error && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
