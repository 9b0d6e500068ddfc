//! What the nodes of SQL mean.

use super::reduce::preprocess_script;
use super::symbols::script;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// SQL.
pub(in crate::syntax::languages) static SQL: Language = Language {
    id: "sql",
    grammar: tree_sitter_sequel::LANGUAGE,
    grammar_version: "tree-sitter-sequel 0.3.11",
    separator: ".",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: true,
    signature_excludes: &[],
    marks: ElisionMarks::BRACES,
    preprocess: Some(preprocess_script),
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: Some(script),
};

const NODES: NodeTable = &[("comment", Visit::Comment), ("marginalia", Visit::Comment)];
