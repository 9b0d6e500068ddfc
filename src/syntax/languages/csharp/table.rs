//! What C#'s nodes mean.

use super::conditionals::preprocess_conditionals;
use super::symbols::class;
use super::symbols::destructor;
use super::symbols::field;
use super::symbols::file_namespace;
use super::symbols::import;
use super::symbols::method;
use super::symbols::operator;
use super::symbols::property;
use crate::model::SymbolKind;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::rule::BodyRule;
use crate::syntax::rule::SymbolRule;

/// C#, up to what the grammar knows of version 13.
pub(in crate::syntax::languages) static CSHARP: Language = Language {
    id: "csharp",
    grammar: tree_sitter_c_sharp::LANGUAGE,
    grammar_version: "tree-sitter-c-sharp 0.23.5",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    signature_excludes: &["attribute_list", "preproc_if_in_attribute_list"],
    marks: ElisionMarks::BRACES,
    preprocess: Some(preprocess_conditionals),
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const NAMESPACE: SymbolRule = SymbolRule::new(SymbolKind::Namespace, BodyRule::Members(&["body"]));
const INTERFACE: SymbolRule = SymbolRule::new(SymbolKind::Interface, BodyRule::Members(&["body"]));
const ENUM: SymbolRule = SymbolRule::new(SymbolKind::Enum, BodyRule::Members(&["body"]));
const ENUM_MEMBER: SymbolRule = SymbolRule::new(SymbolKind::EnumMember, BodyRule::None);
const DELEGATE: SymbolRule = SymbolRule::new(SymbolKind::Typedef, BodyRule::None);
const CONSTRUCTOR: SymbolRule = SymbolRule::new(SymbolKind::Constructor, BodyRule::Code(&["body"]));
const FUNCTION: SymbolRule = SymbolRule::new(SymbolKind::Function, BodyRule::Code(&["body"]));
const PARAMETER: SymbolRule = SymbolRule::new(SymbolKind::Property, BodyRule::None);

const NODES: NodeTable = &[
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
