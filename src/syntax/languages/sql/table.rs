//! What the nodes of SQL mean.

use super::reduce::reduce;
use super::symbols::script;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
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
    unsigned: &[],
    marks: Marks::BRACES,
    reduce: Some(reduce),
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: Some(script),
};

const NODES: Nodes = &[("comment", Visit::Comment), ("marginalia", Visit::Comment)];
