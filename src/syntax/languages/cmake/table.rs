//! What CMake's nodes mean.

use super::symbols::command;
use super::symbols::function;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// CMake.
pub(in crate::syntax::languages) static CMAKE: Language = Language {
    id: "cmake",
    grammar: tree_sitter_cmake::LANGUAGE,
    grammar_version: "tree-sitter-cmake 0.7.6",
    separator: "::",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: ElisionMarks::HASH,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const NODES: NodeTable = &[
    ("line_comment", Visit::Comment),
    ("bracket_comment", Visit::Comment),
    ("function_def", Visit::Read(function)),
    ("macro_def", Visit::Read(function)),
    ("normal_command", Visit::Read(command)),
    ("if_condition", Visit::Enter),
    ("foreach_loop", Visit::Enter),
    ("while_loop", Visit::Enter),
    ("block_def", Visit::Enter),
    ("body", Visit::Enter),
];
