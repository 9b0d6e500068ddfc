//! What Zig's nodes mean.

use super::symbols::declaration;
use super::symbols::field;
use super::symbols::file_docs;
use super::symbols::function;
use super::symbols::test;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// Zig, up to what the grammar knows of it.
pub(in crate::syntax::languages) static ZIG: Language = Language {
    id: "zig",
    grammar: tree_sitter_zig::LANGUAGE,
    grammar_version: "tree-sitter-zig 1.1.2",
    separator: ".",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: MARKS,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: Some(file_docs),
};

/// Zig has no comments within a line.
const MARKS: ElisionMarks = ElisionMarks { body: ("{ // ", "\n}"), data: (" // ", ""), ends_line: true };

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("function_declaration", Visit::Read(function)),
    ("variable_declaration", Visit::Read(declaration)),
    ("container_field", Visit::Read(field)),
    ("test_declaration", Visit::Read(test)),
];
