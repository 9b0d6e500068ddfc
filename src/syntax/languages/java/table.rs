//! What Java's nodes mean.

use super::symbols::field;
use super::symbols::import;
use super::symbols::initializer;
use super::symbols::package;
use super::symbols::record;
use super::symbols::requires;
use crate::model::SymbolKind;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::rule::BodyRule;
use crate::syntax::rule::SymbolRule;

/// Java, up to what the grammar knows of version 21.
pub(in crate::syntax::languages) static JAVA: Language = Language {
    id: "java",
    grammar: tree_sitter_java::LANGUAGE,
    grammar_version: "tree-sitter-java 0.23.5",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    signature_excludes: &["annotation", "marker_annotation"],
    marks: ElisionMarks::BRACES,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const MODULE: SymbolRule = SymbolRule::new(SymbolKind::Module, BodyRule::Members(&["body"]));
const CLASS: SymbolRule = SymbolRule::new(SymbolKind::Class, BodyRule::Members(&["body"]));
const INTERFACE: SymbolRule = SymbolRule::new(SymbolKind::Interface, BodyRule::Members(&["body"]));
const ENUM: SymbolRule = SymbolRule::new(SymbolKind::Enum, BodyRule::Members(&["body"]));
const ENUM_MEMBER: SymbolRule = SymbolRule::new(SymbolKind::EnumMember, BodyRule::Members(&["body"]));
const METHOD: SymbolRule = SymbolRule::new(SymbolKind::Method, BodyRule::Code(&["body"]));
const CONSTRUCTOR: SymbolRule = SymbolRule::new(SymbolKind::Constructor, BodyRule::Code(&["body"]));
const COMPONENT: SymbolRule =
    SymbolRule::new(SymbolKind::Field, BodyRule::None).named(&["name", ".variable_declarator/name"]);

const NODES: NodeTable = &[
    ("line_comment", Visit::Comment),
    ("block_comment", Visit::Comment),
    ("package_declaration", Visit::Preamble(package)),
    ("import_declaration", Visit::Preamble(import)),
    ("module_declaration", Visit::Define(&MODULE)),
    ("requires_module_directive", Visit::Read(requires)),
    ("class_declaration", Visit::Define(&CLASS)),
    ("interface_declaration", Visit::Define(&INTERFACE)),
    ("annotation_type_declaration", Visit::Define(&INTERFACE)),
    ("enum_declaration", Visit::Define(&ENUM)),
    ("enum_constant", Visit::Define(&ENUM_MEMBER)),
    ("enum_body_declarations", Visit::Enter),
    ("record_declaration", Visit::Read(record)),
    ("formal_parameter", Visit::Define(&COMPONENT)),
    ("spread_parameter", Visit::Define(&COMPONENT)),
    ("method_declaration", Visit::Define(&METHOD)),
    ("annotation_type_element_declaration", Visit::Define(&METHOD)),
    ("constructor_declaration", Visit::Define(&CONSTRUCTOR)),
    ("compact_constructor_declaration", Visit::Define(&CONSTRUCTOR)),
    ("field_declaration", Visit::Read(field)),
    ("constant_declaration", Visit::Read(field)),
    ("static_initializer", Visit::Read(initializer)),
    ("block", Visit::Read(initializer)),
];
