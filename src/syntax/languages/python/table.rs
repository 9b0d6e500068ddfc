//! What Python's nodes mean.

use super::symbols::assignment;
use super::symbols::class;
use super::symbols::function;
use super::symbols::import;
use super::symbols::import_from;
use super::symbols::import_future;
use super::symbols::module;
use super::symbols::type_alias;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::reduce::preprocess_python;

/// Python 3, with what the grammar still knows of Python 2.
pub(in crate::syntax) static PYTHON: Language = Language {
    id: "python",
    grammar: tree_sitter_python::LANGUAGE,
    grammar_version: "tree-sitter-python 0.25.0",
    separator: ".",
    cuts_detached_comments: false,
    checks_skeleton: false,
    has_overloads: false,
    signature_excludes: &[],
    // Its own functions take bodies out, by indent.
    marks: ElisionMarks::HASH,
    preprocess: Some(preprocess_python),
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: Some(module),
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("decorated_definition", Visit::Wrapper),
    ("class_definition", Visit::Read(class)),
    ("function_definition", Visit::Read(function)),
    ("expression_statement", Visit::Read(assignment)),
    ("type_alias_statement", Visit::Read(type_alias)),
    ("import_statement", Visit::Preamble(import)),
    ("import_from_statement", Visit::Preamble(import_from)),
    ("future_import_statement", Visit::Preamble(import_future)),
    // Symbols stand under any block statement.
    ("block", Visit::Enter),
    ("if_statement", Visit::Enter),
    ("elif_clause", Visit::Enter),
    ("else_clause", Visit::Enter),
    ("for_statement", Visit::Enter),
    ("while_statement", Visit::Enter),
    ("try_statement", Visit::Enter),
    ("except_clause", Visit::Enter),
    ("finally_clause", Visit::Enter),
    ("with_statement", Visit::Enter),
    ("match_statement", Visit::Enter),
    ("case_clause", Visit::Enter),
];
