//! What TypeScript's nodes mean; those of JavaScript mean the same.

use super::repairs::repair;
use super::repairs::repair_with_jsx;
use super::symbols::alias;
use super::symbols::enum_constant;
use super::symbols::import_alias;
use super::symbols::method;
use super::symbols::module;
use crate::model::SymbolKind;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::languages::javascript::JAVASCRIPT_NODES;
use crate::syntax::languages::javascript::field;
use crate::syntax::languages::javascript::file;
use crate::syntax::rule::Body;
use crate::syntax::rule::Rule;

/// TypeScript without JSX, where `<T>value` is a cast.
pub(in crate::syntax::languages) static TYPESCRIPT: Language = Language {
    id: "typescript",
    grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
    grammar_version: "tree-sitter-typescript 0.23.2",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    // What overloads a function is all that its callers see of it.
    has_overloads: true,
    unsigned: &["decorator"],
    marks: Marks::BRACES,
    reduce: Some(repair),
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES, JAVASCRIPT_NODES],
    root: Some(file),
};

/// TypeScript with JSX.
pub(in crate::syntax::languages) static TSX: Language = Language {
    id: "tsx",
    grammar: tree_sitter_typescript::LANGUAGE_TSX,
    reduce: Some(repair_with_jsx),
    ..TYPESCRIPT
};

const CLASS: Rule = Rule::new(SymbolKind::Class, Body::Members(&["body"]));
const INTERFACE: Rule = Rule::new(SymbolKind::Interface, Body::Members(&["body"]));
const ENUM: Rule = Rule::new(SymbolKind::Enum, Body::Members(&["body"]));
const ENUM_MEMBER: Rule = Rule::new(SymbolKind::EnumMember, Body::None);
const FUNCTION: Rule = Rule::new(SymbolKind::Prototype, Body::None);
const METHOD: Rule = Rule::new(SymbolKind::Method, Body::None);
const FIELD: Rule = Rule::new(SymbolKind::Field, Body::None);

/// The nodes that JavaScript does not have, or that mean more here.
const NODES: Nodes = &[
    ("abstract_class_declaration", Visit::Define(&CLASS)),
    ("interface_declaration", Visit::Define(&INTERFACE)),
    ("type_alias_declaration", Visit::Read(alias)),
    ("enum_declaration", Visit::Define(&ENUM)),
    ("enum_assignment", Visit::Define(&ENUM_MEMBER)),
    ("property_identifier", Visit::Read(enum_constant)),
    ("function_signature", Visit::Define(&FUNCTION)),
    ("method_definition", Visit::Read(method)),
    ("method_signature", Visit::Read(method)),
    ("abstract_method_signature", Visit::Define(&METHOD)),
    ("property_signature", Visit::Define(&FIELD)),
    ("public_field_definition", Visit::Read(field)),
    ("ambient_declaration", Visit::Wrap),
    ("module", Visit::Read(module)),
    ("internal_module", Visit::Read(module)),
    ("import_alias", Visit::Preamble(import_alias)),
];
