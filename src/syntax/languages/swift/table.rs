//! What Swift's nodes mean.

use super::symbols::function;
use super::symbols::import;
use super::symbols::property;
use super::symbols::special;
use super::symbols::type_declaration;
use crate::model::SymbolKind;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::rule::Body;
use crate::syntax::rule::Rule;

/// Swift 5, and what the grammar knows of Swift 6.
pub(in crate::syntax::languages) static SWIFT: Language = Language {
    id: "swift",
    grammar: tree_sitter_swift::LANGUAGE,
    grammar_version: "tree-sitter-swift 0.7.4",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    unsigned: &["attribute"],
    marks: Marks::BRACES,
    reduce: None,
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const PROMISED: Rule = Rule::new(SymbolKind::Method, Body::None);
const PROMISED_PROPERTY: Rule =
    Rule::new(SymbolKind::Property, Body::None).named(&["name/bound_identifier", "name"]);
const PROTOCOL: Rule = Rule::new(SymbolKind::Interface, Body::Members(&["body"]));
const CASE: Rule = Rule::new(SymbolKind::EnumMember, Body::None).each("name").named(&[""]);
const ALIAS: Rule = Rule::new(SymbolKind::Typedef, Body::None);
const MACRO: Rule = Rule::new(SymbolKind::Macro, Body::None).named(&[".simple_identifier"]);

const NODES: Nodes = &[
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
