//! What Swift's nodes mean.

use super::symbols::function;
use super::symbols::import;
use super::symbols::property;
use super::symbols::special;
use super::symbols::type_declaration;
use crate::model::SymbolKind;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::rule::BodyRule;
use crate::syntax::rule::SymbolRule;

/// Swift 5, and what the grammar knows of Swift 6.
pub(in crate::syntax::languages) static SWIFT: Language = Language {
    id: "swift",
    grammar: tree_sitter_swift::LANGUAGE,
    grammar_version: "tree-sitter-swift 0.7.4",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    signature_excludes: &["attribute"],
    marks: ElisionMarks::BRACES,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const PROMISED: SymbolRule = SymbolRule::new(SymbolKind::Method, BodyRule::None);
const PROMISED_PROPERTY: SymbolRule =
    SymbolRule::new(SymbolKind::Property, BodyRule::None).named(&["name/bound_identifier", "name"]);
const PROTOCOL: SymbolRule = SymbolRule::new(SymbolKind::Interface, BodyRule::Members(&["body"]));
const CASE: SymbolRule = SymbolRule::new(SymbolKind::EnumMember, BodyRule::None).each("name").named(&[""]);
const ALIAS: SymbolRule = SymbolRule::new(SymbolKind::Typedef, BodyRule::None);
const MACRO: SymbolRule = SymbolRule::new(SymbolKind::Macro, BodyRule::None).named(&[".simple_identifier"]);

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("multiline_comment", Visit::Comment),
    ("import_declaration", Visit::Preamble(import)),
    ("class_declaration", Visit::Read(type_declaration)),
    ("protocol_declaration", Visit::Define(&PROTOCOL)),
    ("enum_entry", Visit::Define(&CASE)),
    ("function_declaration", Visit::Read(function)),
    ("protocol_function_declaration", Visit::Define(&PROMISED)),
    ("init_declaration", Visit::Read(special)),
    ("deinit_declaration", Visit::Read(special)),
    ("subscript_declaration", Visit::Read(special)),
    ("property_declaration", Visit::Read(property)),
    ("protocol_property_declaration", Visit::Define(&PROMISED_PROPERTY)),
    ("typealias_declaration", Visit::Define(&ALIAS)),
    ("associatedtype_declaration", Visit::Define(&ALIAS)),
    ("macro_declaration", Visit::Define(&MACRO)),
];
