//! What PHP's nodes mean.

use super::imports::declare;
use super::imports::import;
use super::imports::namespace;
use super::statements::file_return_value;
use super::statements::statement;
use super::symbols::method;
use super::symbols::property;
use crate::model::SymbolKind;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::rule::BodyRule;
use crate::syntax::rule::SymbolRule;

/// PHP, up to what the grammar knows of 8.4.
pub(in crate::syntax::languages) static PHP: Language = Language {
    id: "php",
    grammar: tree_sitter_php::LANGUAGE_PHP,
    grammar_version: "tree-sitter-php 0.25.1",
    separator: "::",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &["attribute_list"],
    marks: ElisionMarks::BRACES,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const FUNCTION: SymbolRule = SymbolRule::new(SymbolKind::Function, BodyRule::Code(&["body"]));
const CLASS: SymbolRule = SymbolRule::new(SymbolKind::Class, BodyRule::Members(&["body"]));
const INTERFACE: SymbolRule = SymbolRule::new(SymbolKind::Interface, BodyRule::Members(&["body"]));
const ENUM: SymbolRule = SymbolRule::new(SymbolKind::Enum, BodyRule::Members(&["body"]));
const CASE: SymbolRule = SymbolRule::new(SymbolKind::EnumMember, BodyRule::None);
const CONSTANT: SymbolRule =
    SymbolRule::new(SymbolKind::Constant, BodyRule::Value(&[".array_creation_expression"]))
        .each(".const_element")
        .named(&[".name"]);

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("namespace_definition", Visit::Preamble(namespace)),
    ("namespace_use_declaration", Visit::Preamble(import)),
    ("declare_statement", Visit::Preamble(declare)),
    ("function_definition", Visit::Define(&FUNCTION)),
    ("class_declaration", Visit::Define(&CLASS)),
    ("interface_declaration", Visit::Define(&INTERFACE)),
    ("trait_declaration", Visit::Define(&INTERFACE)),
    ("enum_declaration", Visit::Define(&ENUM)),
    ("enum_case", Visit::Define(&CASE)),
    ("const_declaration", Visit::Define(&CONSTANT)),
    ("property_declaration", Visit::Read(property)),
    ("method_declaration", Visit::Read(method)),
    ("expression_statement", Visit::Read(statement)),
    ("return_statement", Visit::Read(file_return_value)),
    ("if_statement", Visit::Enter),
    ("else_clause", Visit::Enter),
    ("compound_statement", Visit::Enter),
    ("colon_block", Visit::Enter),
];
