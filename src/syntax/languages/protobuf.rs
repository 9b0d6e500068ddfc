//! Protocol buffers.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{Language, NodeTable, OutlineWalk, Visit, find};

/// Protocol buffers, versions 2 and 3, and editions.
pub(super) static PROTOBUF: Language = Language {
    cuts_detached_comments: true,
    ..Language::new("protobuf", tree_sitter_proto::LANGUAGE, "tree-sitter-proto 0.6.0", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("syntax edition package", Visit::FileHead),
    ("import", Visit::Import("path", &['"', '\''])),
    ("option", Visit::Preamble(option)),
    ("message group", Visit::members(SymbolKind::Struct, ".message_body").named(".message_name/.identifier")),
    ("field map_field oneof_field", Visit::leaf(SymbolKind::Field).named(".identifier")),
    ("oneof", Visit::members(SymbolKind::Union, "").named(".identifier")),
    ("enum", Visit::members(SymbolKind::Enum, ".enum_body").named(".enum_name/.identifier")),
    ("enum_field", Visit::leaf(SymbolKind::EnumMember).named(".identifier")),
    ("extend", Visit::members(SymbolKind::Object, ".message_body").named(".full_ident")),
    ("service", Visit::members(SymbolKind::Interface, "").named(".service_name/.identifier")),
    ("rpc", Visit::members(SymbolKind::Method, "").named(".rpc_name/.identifier")),
];

/// An option of more bytes than this is shown by its size.
const LARGE_OPTION: usize = 400;

/// Reads `option (name) = { … };`, of which a large value is cut.
fn option<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(block) =
        find(node, ".constant/.block_lit").filter(|block| LARGE_OPTION < walk.text(*block).len())
    {
        walk.cut_code(block);
    }
}
