//! What TypeScript's nodes mean; those of JavaScript mean the same.

use super::repairs::repair;
use super::repairs::repair_with_jsx;
use super::symbols::alias;
use super::symbols::enum_constant;
use super::symbols::import_alias;
use super::symbols::method;
use super::symbols::module;
use crate::model::SymbolKind;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::languages::javascript::JAVASCRIPT_NODES;
use crate::syntax::languages::javascript::field;
use crate::syntax::languages::javascript::read_file_comment;
use crate::syntax::rule::BodyRule;
use crate::syntax::rule::SymbolRule;

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
    signature_excludes: &["decorator"],
    marks: ElisionMarks::BRACES,
    preprocess: Some(repair),
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES, JAVASCRIPT_NODES],
    read_root: Some(read_file_comment),
};

/// TypeScript with JSX.
pub(in crate::syntax::languages) static TSX: Language = Language {
    id: "tsx",
    grammar: tree_sitter_typescript::LANGUAGE_TSX,
    preprocess: Some(repair_with_jsx),
    ..TYPESCRIPT
};

const CLASS: SymbolRule = SymbolRule::new(SymbolKind::Class, BodyRule::Members(&["body"]));
const INTERFACE: SymbolRule = SymbolRule::new(SymbolKind::Interface, BodyRule::Members(&["body"]));
const ENUM: SymbolRule = SymbolRule::new(SymbolKind::Enum, BodyRule::Members(&["body"]));
const ENUM_MEMBER: SymbolRule = SymbolRule::new(SymbolKind::EnumMember, BodyRule::None);
const FUNCTION: SymbolRule = SymbolRule::new(SymbolKind::Prototype, BodyRule::None);
const METHOD: SymbolRule = SymbolRule::new(SymbolKind::Method, BodyRule::None);
const FIELD: SymbolRule = SymbolRule::new(SymbolKind::Field, BodyRule::None);

/// The nodes that JavaScript does not have, or that mean more here.
const NODES: NodeTable = &[
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
    ("ambient_declaration", Visit::Wrapper),
    ("module", Visit::Read(module)),
    ("internal_module", Visit::Read(module)),
    ("import_alias", Visit::Preamble(import_alias)),
];
