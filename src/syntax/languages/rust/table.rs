//! What Rust's nodes mean.

use super::macros::macro_items;
use super::symbols::constant;
use super::symbols::crate_docs;
use super::symbols::implementation;
use super::symbols::import;
use super::symbols::macro_rules;
use super::symbols::module;
use crate::model::SymbolKind;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::rule::BodyRule;
use crate::syntax::rule::SymbolRule;

/// Rust, up to what the grammar knows of the 2024 edition.
pub(in crate::syntax::languages) static RUST: Language = Language {
    id: "rust",
    grammar: tree_sitter_rust::LANGUAGE,
    grammar_version: "tree-sitter-rust 0.24.2",
    separator: "::",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: ElisionMarks::BRACES,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: Some(crate_docs),
};

const FUNCTION: SymbolRule =
    SymbolRule::new(SymbolKind::Function, BodyRule::Code(&["body"])).in_type(SymbolKind::Method);
const DECLARED: SymbolRule =
    SymbolRule::new(SymbolKind::Prototype, BodyRule::None).in_type(SymbolKind::Method);
const STRUCT: SymbolRule =
    SymbolRule::new(SymbolKind::Struct, BodyRule::Members(&[".field_declaration_list"]));
const UNION: SymbolRule = SymbolRule::new(SymbolKind::Union, BodyRule::Members(&["body"]));
const ENUM: SymbolRule = SymbolRule::new(SymbolKind::Enum, BodyRule::Members(&["body"]));
const VARIANT: SymbolRule = SymbolRule::new(SymbolKind::EnumMember, BodyRule::None);
const FIELD: SymbolRule = SymbolRule::new(SymbolKind::Field, BodyRule::None);
const TRAIT: SymbolRule = SymbolRule::new(SymbolKind::Interface, BodyRule::Members(&["body"]));
const ALIAS: SymbolRule = SymbolRule::new(SymbolKind::Typedef, BodyRule::None);
const STATIC: SymbolRule = SymbolRule::new(SymbolKind::Variable, BodyRule::Value(&["value"]));

const NODES: NodeTable = &[
    ("line_comment", Visit::Comment),
    ("block_comment", Visit::Comment),
    ("attribute_item", Visit::Prefix),
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
