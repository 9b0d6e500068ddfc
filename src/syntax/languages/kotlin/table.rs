//! What Kotlin's nodes mean.

use super::bodies::without_bodies;
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
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::rule::Body;
use crate::syntax::rule::Rule;

/// Kotlin and its scripts.
pub(in crate::syntax::languages) static KOTLIN: Language = Language {
    id: "kotlin",
    grammar: tree_sitter_kotlin_ng::LANGUAGE,
    grammar_version: "tree-sitter-kotlin-ng 1.1.0",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    unsigned: &["annotation"],
    marks: Marks::BRACES,
    reduce: Some(without_bodies),
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const FUNCTION: Rule =
    Rule::new(SymbolKind::Function, Body::Code(&[".function_body"])).in_type(SymbolKind::Method);
const OBJECT: Rule = Rule::new(SymbolKind::Object, Body::Members(&[".class_body"]));
const ENUM_ENTRY: Rule =
    Rule::new(SymbolKind::EnumMember, Body::Members(&[".class_body"])).named(&[".identifier"]);
const ALIAS: Rule = Rule::new(SymbolKind::Typedef, Body::None).named(&["type"]);

const NODES: Nodes = &[
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
