//! What Scala's nodes mean.

use super::symbols::extension;
use super::symbols::function;
use super::symbols::given_instance;
use super::symbols::import;
use super::symbols::package;
use super::symbols::value;
use crate::model::SymbolKind;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::rule::BodyRule;
use crate::syntax::rule::SymbolRule;

/// Scala 2 and 3, with braces or indented.
pub(in crate::syntax::languages) static SCALA: Language = Language {
    id: "scala",
    grammar: tree_sitter_scala::LANGUAGE,
    grammar_version: "tree-sitter-scala 0.26.4",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    signature_excludes: &["annotation"],
    marks: ElisionMarks::BRACES,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const CLASS: SymbolRule = SymbolRule::new(SymbolKind::Class, BodyRule::Members(&["body"]));
const TRAIT: SymbolRule = SymbolRule::new(SymbolKind::Interface, BodyRule::Members(&["body"]));
const OBJECT: SymbolRule = SymbolRule::new(SymbolKind::Object, BodyRule::Members(&["body"]));
const ENUM: SymbolRule = SymbolRule::new(SymbolKind::Enum, BodyRule::Members(&["body"]));
const CASE: SymbolRule = SymbolRule::new(SymbolKind::EnumMember, BodyRule::None);
const ALIAS: SymbolRule = SymbolRule::new(SymbolKind::Typedef, BodyRule::None);
const DECLARED: SymbolRule =
    SymbolRule::new(SymbolKind::Function, BodyRule::None).in_type(SymbolKind::Method);
const DECLARED_VALUE: SymbolRule =
    SymbolRule::new(SymbolKind::Constant, BodyRule::None).in_type(SymbolKind::Field);
const DECLARED_VARIABLE: SymbolRule =
    SymbolRule::new(SymbolKind::Variable, BodyRule::None).in_type(SymbolKind::Field);

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("block_comment", Visit::Comment),
    ("package_clause", Visit::Preamble(package)),
    ("package_object", Visit::Define(&OBJECT)),
    ("import_declaration", Visit::Preamble(import)),
    ("class_definition", Visit::Define(&CLASS)),
    ("trait_definition", Visit::Define(&TRAIT)),
    ("object_definition", Visit::Define(&OBJECT)),
    ("enum_definition", Visit::Define(&ENUM)),
    ("enum_case_definitions", Visit::Wrapper),
    ("simple_enum_case", Visit::Define(&CASE)),
    ("full_enum_case", Visit::Define(&CASE)),
    ("given_definition", Visit::Read(given_instance)),
    ("extension_definition", Visit::Read(extension)),
    ("function_definition", Visit::Read(function)),
    ("function_declaration", Visit::Define(&DECLARED)),
    ("val_definition", Visit::Read(value)),
    ("var_definition", Visit::Read(value)),
    ("val_declaration", Visit::Define(&DECLARED_VALUE)),
    ("var_declaration", Visit::Define(&DECLARED_VARIABLE)),
    ("type_definition", Visit::Define(&ALIAS)),
];
