//! What CMake's nodes mean.

use super::symbols::command;
use super::symbols::function;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
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
    unsigned: &[],
    marks: Marks::HASH,
    reduce: None,
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const NODES: Nodes = &[
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
