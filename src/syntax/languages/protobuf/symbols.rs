//! Imports and options of protocol buffers.

use tree_sitter::Node;

use crate::syntax::rule::find;
use crate::syntax::walk::OutlineWalk;

/// An option of more bytes than this is told by its size.
const LARGE_OPTION: usize = 400;

/// Reads what only tells that the comment above it is about the file: its syntax, its package.
pub(super) fn preamble<'t>(_walk: &mut OutlineWalk<'t>, _node: Node<'t>) {}

/// Reads `import public "a.proto";`.
pub(super) fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(path) = find(node, "path") {
        walk.add_import(walk.text(path).trim_matches(['"', '\'']));
    }
}

/// Reads `option (name) = { … };`, of which a large value is cut.
pub(super) fn option<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(block) =
        find(node, ".constant/.block_lit").filter(|block| LARGE_OPTION < walk.text(*block).len())
    {
        walk.cut_code(block);
    }
}
