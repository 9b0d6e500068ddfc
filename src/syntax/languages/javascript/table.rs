//! What JavaScript's nodes mean.

use super::bindings::declarator;
use super::bindings::variables;
use super::calls::statement;
use super::calls::visit_branch;
use super::calls::visit_returned;
use super::imports::export;
use super::imports::import;
#[cfg(feature = "lang-javascript")]
use super::members::field;
use super::members::method;
use super::members::pair;
use super::members::static_block;
use crate::model::SymbolKind;
#[cfg(feature = "lang-javascript")]
use crate::syntax::define::ElisionMarks;
#[cfg(feature = "lang-javascript")]
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::rule::BodyRule;
use crate::syntax::rule::SymbolRule;

/// JavaScript of browsers and of Node, with JSX.
#[cfg(feature = "lang-javascript")]
pub(in crate::syntax::languages) static JAVASCRIPT: Language = Language {
    id: "javascript",
    grammar: tree_sitter_javascript::LANGUAGE,
    grammar_version: "tree-sitter-javascript 0.25.0",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &["decorator"],
    marks: ElisionMarks::BRACES,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES, SHARED],
    read_root: Some(super::imports::read_file_comment),
};

const CLASS: SymbolRule = SymbolRule::new(SymbolKind::Class, BodyRule::Members(&["body"]));
const FUNCTION: SymbolRule = SymbolRule::new(SymbolKind::Function, BodyRule::Code(&["body"]));

/// The nodes that TypeScript does not have.
#[cfg(feature = "lang-javascript")]
const NODES: NodeTable =
    &[("field_definition", Visit::Read(field)), ("using_declaration", Visit::Read(variables))];

/// The nodes that mean the same in TypeScript.
pub(in crate::syntax::languages) const SHARED: NodeTable = &[
    ("comment", Visit::Comment),
    ("decorator", Visit::Prefix),
    ("import_statement", Visit::Preamble(import)),
    ("export_statement", Visit::Read(export)),
    ("function_declaration", Visit::Define(&FUNCTION)),
    ("generator_function_declaration", Visit::Define(&FUNCTION)),
    ("class_declaration", Visit::Define(&CLASS)),
    ("method_definition", Visit::Read(method)),
    ("class_static_block", Visit::Read(static_block)),
    ("pair", Visit::Read(pair)),
    ("lexical_declaration", Visit::Read(variables)),
    ("variable_declaration", Visit::Read(variables)),
    ("variable_declarator", Visit::Read(declarator)),
    ("expression_statement", Visit::Read(statement)),
    ("return_statement", Visit::Read(visit_returned)),
    ("statement_block", Visit::Enter),
    ("if_statement", Visit::Read(visit_branch)),
    ("else_clause", Visit::Enter),
    ("for_in_statement", Visit::Read(visit_branch)),
    ("try_statement", Visit::Read(visit_branch)),
    ("catch_clause", Visit::Enter),
    ("finally_clause", Visit::Enter),
];
