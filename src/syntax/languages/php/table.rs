//! What PHP's nodes mean.

use super::imports::declare;
use super::imports::import;
use super::imports::namespace;
use super::statements::handed_back;
use super::statements::statement;
use super::symbols::method;
use super::symbols::property;
use crate::model::SymbolKind;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::rule::Body;
use crate::syntax::rule::Rule;

/// PHP, up to what the grammar knows of 8.4.
pub(in crate::syntax::languages) static PHP: Language = Language {
    id: "php",
    grammar: tree_sitter_php::LANGUAGE_PHP,
    grammar_version: "tree-sitter-php 0.25.1",
    separator: "::",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: false,
    unsigned: &["attribute_list"],
    marks: Marks::BRACES,
    reduce: None,
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const FUNCTION: Rule = Rule::new(SymbolKind::Function, Body::Code(&["body"]));
const CLASS: Rule = Rule::new(SymbolKind::Class, Body::Members(&["body"]));
const INTERFACE: Rule = Rule::new(SymbolKind::Interface, Body::Members(&["body"]));
const ENUM: Rule = Rule::new(SymbolKind::Enum, Body::Members(&["body"]));
const CASE: Rule = Rule::new(SymbolKind::EnumMember, Body::None);
const CONSTANT: Rule = Rule::new(SymbolKind::Constant, Body::Value(&[".array_creation_expression"]))
    .each(".const_element")
    .named(&[".name"]);

const NODES: Nodes = &[
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
    ("return_statement", Visit::Read(handed_back)),
    ("if_statement", Visit::Enter),
    ("else_clause", Visit::Enter),
    ("compound_statement", Visit::Enter),
    ("colon_block", Visit::Enter),
];
