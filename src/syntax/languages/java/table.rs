//! What Java's nodes mean.

use super::symbols::field;
use super::symbols::import;
use super::symbols::initializer;
use super::symbols::package;
use super::symbols::record;
use super::symbols::requires;
use crate::model::SymbolKind;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::rule::Body;
use crate::syntax::rule::Rule;

/// Java, up to what the grammar knows of version 21.
pub(in crate::syntax::languages) static JAVA: Language = Language {
    id: "java",
    grammar: tree_sitter_java::LANGUAGE,
    grammar_version: "tree-sitter-java 0.23.5",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    unsigned: &["annotation", "marker_annotation"],
    marks: Marks::BRACES,
    reduce: None,
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const MODULE: Rule = Rule::new(SymbolKind::Module, Body::Members(&["body"]));
const CLASS: Rule = Rule::new(SymbolKind::Class, Body::Members(&["body"]));
const INTERFACE: Rule = Rule::new(SymbolKind::Interface, Body::Members(&["body"]));
const ENUM: Rule = Rule::new(SymbolKind::Enum, Body::Members(&["body"]));
const ENUM_MEMBER: Rule = Rule::new(SymbolKind::EnumMember, Body::Members(&["body"]));
const METHOD: Rule = Rule::new(SymbolKind::Method, Body::Code(&["body"]));
const CONSTRUCTOR: Rule = Rule::new(SymbolKind::Constructor, Body::Code(&["body"]));
const COMPONENT: Rule =
    Rule::new(SymbolKind::Field, Body::None).named(&["name", ".variable_declarator/name"]);

const NODES: Nodes = &[
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
