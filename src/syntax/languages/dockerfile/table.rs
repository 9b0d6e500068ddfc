//! What the nodes of Dockerfiles mean: their stages are no nodes, so that the whole file is read at once.

use super::symbols::file;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;

/// Dockerfiles.
pub(in crate::syntax::languages) static DOCKERFILE: Language = Language {
    id: "dockerfile",
    grammar: tree_sitter_containerfile::LANGUAGE,
    grammar_version: "tree-sitter-containerfile 0.9.2",
    separator: ".",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    unsigned: &[],
    marks: Marks::HASH,
    reduce: None,
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[],
    root: Some(file),
};
