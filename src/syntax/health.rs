//! How much of a text its grammar did not understand.

use tree_sitter::Node;

use super::source::SourceText;
use crate::model::ParseHealth;

/// Returns the share of bytes of the original in error nodes below `root`, and in `recovered` bytes more.
pub(super) fn parse_health(root: Node<'_>, source: &SourceText<'_>, recovered: usize) -> ParseHealth {
    let mut broken = recovered;
    for_each_error(root, &mut |node| broken += source.original_range(node.byte_range()).len());
    let total = source.original_text().len() as u64;
    ParseHealth { broken_bytes: (broken as u64).min(total), total_bytes: total, fallback: None }
}

/// Returns how many error nodes and missing tokens stand below `root`.
pub(super) fn error_count(root: Node<'_>) -> usize {
    let mut count = 0;
    for_each_error(root, &mut |_| count += 1);
    count
}

/// Calls `report` with each outermost error node and each missing token. Only branches that hold one are entered,
/// and without recursion: a tree may be deeper than a stack.
fn for_each_error<'t>(root: Node<'t>, report: &mut dyn FnMut(Node<'t>)) {
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
