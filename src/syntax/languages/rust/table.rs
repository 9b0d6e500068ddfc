//! What Rust's nodes mean.

use super::macros::macro_items;
use super::symbols::constant;
use super::symbols::crate_docs;
use super::symbols::implementation;
use super::symbols::import;
use super::symbols::macro_rules;
use super::symbols::module;
use crate::model::SymbolKind;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::rule::Body;
use crate::syntax::rule::Rule;

/// Rust, up to what the grammar knows of the 2024 edition.
pub(in crate::syntax::languages) static RUST: Language = Language {
    id: "rust",
    grammar: tree_sitter_rust::LANGUAGE,
    grammar_version: "tree-sitter-rust 0.24.2",
    separator: "::",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    unsigned: &[],
    marks: Marks::BRACES,
    reduce: None,
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: Some(crate_docs),
};

const FUNCTION: Rule = Rule::new(SymbolKind::Function, Body::Code(&["body"])).in_type(SymbolKind::Method);
const DECLARED: Rule = Rule::new(SymbolKind::Prototype, Body::None).in_type(SymbolKind::Method);
const STRUCT: Rule = Rule::new(SymbolKind::Struct, Body::Members(&[".field_declaration_list"]));
const UNION: Rule = Rule::new(SymbolKind::Union, Body::Members(&["body"]));
const ENUM: Rule = Rule::new(SymbolKind::Enum, Body::Members(&["body"]));
const VARIANT: Rule = Rule::new(SymbolKind::EnumMember, Body::None);
const FIELD: Rule = Rule::new(SymbolKind::Field, Body::None);
const TRAIT: Rule = Rule::new(SymbolKind::Interface, Body::Members(&["body"]));
const ALIAS: Rule = Rule::new(SymbolKind::Typedef, Body::None);
const STATIC: Rule = Rule::new(SymbolKind::Variable, Body::Value(&["value"]));

const NODES: Nodes = &[
    ("line_comment", Visit::Comment),
    ("block_comment", Visit::Comment),
    ("attribute_item", Visit::Lead),
    ("function_item", Visit::Define(&FUNCTION)),
    ("function_signature_item", Visit::Define(&DECLARED)),
    ("struct_item", Visit::Define(&STRUCT)),
    ("union_item", Visit::Define(&UNION)),
    ("enum_item", Visit::Define(&ENUM)),
    ("enum_variant", Visit::Define(&VARIANT)),
    ("field_declaration", Visit::Define(&FIELD)),
    ("trait_item", Visit::Define(&TRAIT)),
    ("impl_item", Visit::Read(implementation)),
    ("mod_item", Visit::Read(module)),
    ("type_item", Visit::Define(&ALIAS)),
    ("associated_type", Visit::Define(&ALIAS)),
    ("const_item", Visit::Read(constant)),
    ("static_item", Visit::Define(&STATIC)),
    ("macro_invocation", Visit::Read(macro_items)),
    ("expression_statement", Visit::Enter),
    ("macro_definition", Visit::Read(macro_rules)),
    ("use_declaration", Visit::Preamble(import)),
    ("extern_crate_declaration", Visit::Preamble(import)),
    ("foreign_mod_item", Visit::Enter),
    ("declaration_list", Visit::Enter),
];
