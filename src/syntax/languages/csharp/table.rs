//! What C#'s nodes mean.

use super::conditionals::without_odd_branches;
use super::symbols::class;
use super::symbols::destructor;
use super::symbols::field;
use super::symbols::file_namespace;
use super::symbols::import;
use super::symbols::method;
use super::symbols::operator;
use super::symbols::property;
use crate::model::SymbolKind;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::rule::Body;
use crate::syntax::rule::Rule;

/// C#, up to what the grammar knows of version 13.
pub(in crate::syntax::languages) static CSHARP: Language = Language {
    id: "csharp",
    grammar: tree_sitter_c_sharp::LANGUAGE,
    grammar_version: "tree-sitter-c-sharp 0.23.5",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    unsigned: &["attribute_list", "preproc_if_in_attribute_list"],
    marks: Marks::BRACES,
    reduce: Some(without_odd_branches),
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const NAMESPACE: Rule = Rule::new(SymbolKind::Namespace, Body::Members(&["body"]));
const INTERFACE: Rule = Rule::new(SymbolKind::Interface, Body::Members(&["body"]));
const ENUM: Rule = Rule::new(SymbolKind::Enum, Body::Members(&["body"]));
const ENUM_MEMBER: Rule = Rule::new(SymbolKind::EnumMember, Body::None);
const DELEGATE: Rule = Rule::new(SymbolKind::Typedef, Body::None);
const CONSTRUCTOR: Rule = Rule::new(SymbolKind::Constructor, Body::Code(&["body"]));
const FUNCTION: Rule = Rule::new(SymbolKind::Function, Body::Code(&["body"]));
const PARAMETER: Rule = Rule::new(SymbolKind::Property, Body::None);

const NODES: Nodes = &[
    ("comment", Visit::Comment),
    ("using_directive", Visit::Preamble(import)),
    ("namespace_declaration", Visit::Define(&NAMESPACE)),
    ("file_scoped_namespace_declaration", Visit::Read(file_namespace)),
    ("class_declaration", Visit::Read(class)),
    ("struct_declaration", Visit::Read(class)),
    ("record_declaration", Visit::Read(class)),
    ("parameter", Visit::Define(&PARAMETER)),
    ("interface_declaration", Visit::Define(&INTERFACE)),
    ("enum_declaration", Visit::Define(&ENUM)),
    ("enum_member_declaration", Visit::Define(&ENUM_MEMBER)),
    ("delegate_declaration", Visit::Define(&DELEGATE)),
    ("method_declaration", Visit::Read(method)),
    ("constructor_declaration", Visit::Define(&CONSTRUCTOR)),
    ("destructor_declaration", Visit::Read(destructor)),
    ("operator_declaration", Visit::Read(operator)),
    ("conversion_operator_declaration", Visit::Read(operator)),
    ("property_declaration", Visit::Read(property)),
    ("indexer_declaration", Visit::Read(property)),
    ("event_declaration", Visit::Read(property)),
    ("event_field_declaration", Visit::Read(field)),
    ("field_declaration", Visit::Read(field)),
    ("global_statement", Visit::Enter),
    ("local_function_statement", Visit::Define(&FUNCTION)),
    ("preproc_if", Visit::Enter),
    ("preproc_elif", Visit::Enter),
    ("preproc_else", Visit::Enter),
];
