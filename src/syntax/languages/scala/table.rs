//! What Scala's nodes mean.

use super::symbols::extension;
use super::symbols::function;
use super::symbols::given;
use super::symbols::import;
use super::symbols::package;
use super::symbols::value;
use crate::model::SymbolKind;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::rule::Body;
use crate::syntax::rule::Rule;

/// Scala 2 and 3, with braces or indented.
pub(in crate::syntax::languages) static SCALA: Language = Language {
    id: "scala",
    grammar: tree_sitter_scala::LANGUAGE,
    grammar_version: "tree-sitter-scala 0.26.4",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    unsigned: &["annotation"],
    marks: Marks::BRACES,
    reduce: None,
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const CLASS: Rule = Rule::new(SymbolKind::Class, Body::Members(&["body"]));
const TRAIT: Rule = Rule::new(SymbolKind::Interface, Body::Members(&["body"]));
const OBJECT: Rule = Rule::new(SymbolKind::Object, Body::Members(&["body"]));
const ENUM: Rule = Rule::new(SymbolKind::Enum, Body::Members(&["body"]));
const CASE: Rule = Rule::new(SymbolKind::EnumMember, Body::None);
const ALIAS: Rule = Rule::new(SymbolKind::Typedef, Body::None);
const DECLARED: Rule = Rule::new(SymbolKind::Function, Body::None).in_type(SymbolKind::Method);
const DECLARED_VALUE: Rule = Rule::new(SymbolKind::Constant, Body::None).in_type(SymbolKind::Field);
const DECLARED_VARIABLE: Rule = Rule::new(SymbolKind::Variable, Body::None).in_type(SymbolKind::Field);

const NODES: Nodes = &[
    ("comment", Visit::Comment),
    ("block_comment", Visit::Comment),
    ("package_clause", Visit::Preamble(package)),
    ("package_object", Visit::Define(&OBJECT)),
    ("import_declaration", Visit::Preamble(import)),
    ("class_definition", Visit::Define(&CLASS)),
    ("trait_definition", Visit::Define(&TRAIT)),
    ("object_definition", Visit::Define(&OBJECT)),
    ("enum_definition", Visit::Define(&ENUM)),
    ("enum_case_definitions", Visit::Wrap),
    ("simple_enum_case", Visit::Define(&CASE)),
    ("full_enum_case", Visit::Define(&CASE)),
    ("given_definition", Visit::Read(given)),
    ("extension_definition", Visit::Read(extension)),
    ("function_definition", Visit::Read(function)),
    ("function_declaration", Visit::Define(&DECLARED)),
    ("val_definition", Visit::Read(value)),
    ("var_definition", Visit::Read(value)),
    ("val_declaration", Visit::Define(&DECLARED_VALUE)),
    ("var_declaration", Visit::Define(&DECLARED_VARIABLE)),
    ("type_definition", Visit::Define(&ALIAS)),
];
