//! What the nodes of a shell's script mean.

use super::symbols::assignment;
use super::symbols::command;
use super::symbols::declared;
use super::symbols::function;
use super::symbols::redirected_statement;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// Bash, and what other shells have in common with it.
pub(in crate::syntax::languages) static SHELL: Language = Language {
    id: "shell",
    grammar: tree_sitter_bash::LANGUAGE,
    grammar_version: "tree-sitter-bash 0.25.1",
    separator: ".",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    // A body without a command is none.
    marks: ElisionMarks { body: (": # ", ""), data: (" # ", ""), ends_line: true },
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("function_definition", Visit::Read(function)),
    ("declaration_command", Visit::Wrapper),
    ("variable_assignments", Visit::Wrapper),
    ("variable_assignment", Visit::Read(assignment)),
    ("variable_name", Visit::Read(declared)),
    ("command", Visit::Preamble(command)),
    ("redirected_statement", Visit::Read(redirected_statement)),
    // Functions stand under any statement.
    ("if_statement", Visit::Enter),
    ("elif_clause", Visit::Enter),
    ("else_clause", Visit::Enter),
    ("case_statement", Visit::Enter),
    ("case_item", Visit::Enter),
    ("for_statement", Visit::Enter),
    ("while_statement", Visit::Enter),
    ("do_group", Visit::Enter),
    ("compound_statement", Visit::Enter),
    ("list", Visit::Enter),
];
