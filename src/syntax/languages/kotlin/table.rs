//! What Kotlin's nodes mean.

use super::bodies::preprocess_kotlin;
use super::symbols::class;
use super::symbols::class_parameter;
use super::symbols::companion;
use super::symbols::constructor;
use super::symbols::cut_accessor;
use super::symbols::import;
use super::symbols::initializer;
use super::symbols::package;
use super::symbols::property;
use crate::model::SymbolKind;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::rule::BodyRule;
use crate::syntax::rule::SymbolRule;

/// Kotlin and its scripts.
pub(in crate::syntax::languages) static KOTLIN: Language = Language {
    id: "kotlin",
    grammar: tree_sitter_kotlin_ng::LANGUAGE,
    grammar_version: "tree-sitter-kotlin-ng 1.1.0",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    signature_excludes: &["annotation"],
    marks: ElisionMarks::BRACES,
    preprocess: Some(preprocess_kotlin),
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const FUNCTION: SymbolRule =
    SymbolRule::new(SymbolKind::Function, BodyRule::Code(&[".function_body"])).in_type(SymbolKind::Method);
const OBJECT: SymbolRule = SymbolRule::new(SymbolKind::Object, BodyRule::Members(&[".class_body"]));
const ENUM_ENTRY: SymbolRule =
    SymbolRule::new(SymbolKind::EnumMember, BodyRule::Members(&[".class_body"])).named(&[".identifier"]);
const ALIAS: SymbolRule = SymbolRule::new(SymbolKind::Typedef, BodyRule::None).named(&["type"]);

const NODES: NodeTable = &[
    ("line_comment", Visit::Comment),
    ("block_comment", Visit::Comment),
    ("package_header", Visit::Preamble(package)),
    ("import", Visit::Preamble(import)),
    ("class_declaration", Visit::Read(class)),
    ("class_parameter", Visit::Read(class_parameter)),
    ("object_declaration", Visit::Define(&OBJECT)),
    ("companion_object", Visit::Read(companion)),
    ("enum_entry", Visit::Define(&ENUM_ENTRY)),
    ("function_declaration", Visit::Define(&FUNCTION)),
    ("secondary_constructor", Visit::Read(constructor)),
    ("anonymous_initializer", Visit::Read(initializer)),
    ("property_declaration", Visit::Read(property)),
    ("getter", Visit::Read(cut_accessor)),
    ("setter", Visit::Read(cut_accessor)),
    ("type_alias", Visit::Define(&ALIAS)),
];
