//! What Lua's nodes mean.

use super::symbols::assignment;
use super::symbols::call;
use super::symbols::field;
use super::symbols::function;
use super::symbols::local;
use super::symbols::returned;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// Lua up to 5.4, and `LuaJIT`.
pub(in crate::syntax::languages) static LUA: Language = Language {
    id: "lua",
    grammar: tree_sitter_lua::LANGUAGE,
    grammar_version: "tree-sitter-lua 0.5.0",
    separator: ".",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: ElisionMarks { body: ("-- ", ""), data: ("  -- ", ""), ends_line: true },
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("function_declaration", Visit::Read(function)),
    ("variable_declaration", Visit::Preamble(local)),
    ("assignment_statement", Visit::Read(assignment)),
    ("function_call", Visit::Read(call)),
    ("return_statement", Visit::Read(returned)),
    ("field", Visit::Read(field)),
    // Symbols stand under any statement.
    ("block", Visit::Enter),
    ("do_statement", Visit::Enter),
    ("if_statement", Visit::Enter),
    ("elseif_statement", Visit::Enter),
    ("else_statement", Visit::Enter),
    ("for_statement", Visit::Enter),
    ("while_statement", Visit::Enter),
    ("repeat_statement", Visit::Enter),
];
