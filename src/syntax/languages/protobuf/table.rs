//! What the nodes of protocol buffers mean.

use super::symbols::import;
use super::symbols::option;
use super::symbols::preamble;
use crate::model::SymbolKind;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::rule::Body;
use crate::syntax::rule::Rule;

/// Protocol buffers, versions 2 and 3, and editions.
pub(in crate::syntax::languages) static PROTOBUF: Language = Language {
    id: "protobuf",
    grammar: tree_sitter_proto::LANGUAGE,
    grammar_version: "tree-sitter-proto 0.6.0",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: false,
    unsigned: &[],
    marks: Marks::BRACES,
    reduce: None,
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const MESSAGE: Rule =
    Rule::new(SymbolKind::Struct, Body::Members(&[".message_body"])).named(&[".message_name/.identifier"]);
const ONEOF: Rule = Rule::new(SymbolKind::Union, Body::Members(&[""])).named(&[".identifier"]);
const FIELD: Rule = Rule::new(SymbolKind::Field, Body::None).named(&[".identifier"]);
const ENUM: Rule =
    Rule::new(SymbolKind::Enum, Body::Members(&[".enum_body"])).named(&[".enum_name/.identifier"]);
const VALUE: Rule = Rule::new(SymbolKind::EnumMember, Body::None).named(&[".identifier"]);
const EXTEND: Rule = Rule::new(SymbolKind::Object, Body::Members(&[".message_body"])).named(&[".full_ident"]);
const SERVICE: Rule =
    Rule::new(SymbolKind::Interface, Body::Members(&[""])).named(&[".service_name/.identifier"]);
const RPC: Rule = Rule::new(SymbolKind::Method, Body::Members(&[""])).named(&[".rpc_name/.identifier"]);

const NODES: Nodes = &[
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
