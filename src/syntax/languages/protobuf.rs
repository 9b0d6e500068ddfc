//! Protocol buffers.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{BodyRule, Language, NodeTable, OutlineWalk, SymbolRule, Visit, find};

/// Protocol buffers, versions 2 and 3, and editions.
pub(super) static PROTOBUF: Language = Language {
    cuts_detached_comments: true,
    ..Language::new("protobuf", tree_sitter_proto::LANGUAGE, "tree-sitter-proto 0.6.0", &[NODES])
};

const MESSAGE: SymbolRule = SymbolRule::new(SymbolKind::Struct, BodyRule::Members(&[".message_body"]))
    .named(&[".message_name/.identifier"]);
const ONEOF: SymbolRule =
    SymbolRule::new(SymbolKind::Union, BodyRule::Members(&[""])).named(&[".identifier"]);
const FIELD: SymbolRule = SymbolRule::new(SymbolKind::Field, BodyRule::None).named(&[".identifier"]);
const ENUM: SymbolRule =
    SymbolRule::new(SymbolKind::Enum, BodyRule::Members(&[".enum_body"])).named(&[".enum_name/.identifier"]);
const VALUE: SymbolRule = SymbolRule::new(SymbolKind::EnumMember, BodyRule::None).named(&[".identifier"]);
const EXTEND: SymbolRule =
    SymbolRule::new(SymbolKind::Object, BodyRule::Members(&[".message_body"])).named(&[".full_ident"]);
const SERVICE: SymbolRule =
    SymbolRule::new(SymbolKind::Interface, BodyRule::Members(&[""])).named(&[".service_name/.identifier"]);
const RPC: SymbolRule =
    SymbolRule::new(SymbolKind::Method, BodyRule::Members(&[""])).named(&[".rpc_name/.identifier"]);

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("syntax", Visit::Preamble(preamble)),
    ("edition", Visit::Preamble(preamble)),
    ("package", Visit::Preamble(preamble)),
    ("import", Visit::Preamble(import)),
    ("option", Visit::Preamble(option)),
    ("message", Visit::Define(&MESSAGE)),
    ("group", Visit::Define(&MESSAGE)),
    ("field", Visit::Define(&FIELD)),
    ("map_field", Visit::Define(&FIELD)),
    ("oneof", Visit::Define(&ONEOF)),
    ("oneof_field", Visit::Define(&FIELD)),
    ("enum", Visit::Define(&ENUM)),
    ("enum_field", Visit::Define(&VALUE)),
    ("extend", Visit::Define(&EXTEND)),
    ("service", Visit::Define(&SERVICE)),
    ("rpc", Visit::Define(&RPC)),
];

/// An option of more bytes than this is shown by its size.
const LARGE_OPTION: usize = 400;

/// Reads a statement whose only effect is that the comment above it is about the file: its syntax, its package.
fn preamble<'t>(_walk: &mut OutlineWalk<'t>, _node: Node<'t>) {}

/// Reads `import public "a.proto";`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(path) = find(node, "path") {
        walk.add_import(walk.text(path).trim_matches(['"', '\'']));
    }
}

/// Reads `option (name) = { … };`, of which a large value is cut.
fn option<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(block) =
        find(node, ".constant/.block_lit").filter(|block| LARGE_OPTION < walk.text(*block).len())
    {
        walk.cut_code(block);
    }
}
