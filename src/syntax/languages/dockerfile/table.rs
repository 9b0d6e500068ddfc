//! What the nodes of Dockerfiles mean: their stages are no nodes, so that the whole file is read at once.

use super::symbols::file;
use crate::syntax::define::ElisionMarks;
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
    signature_excludes: &[],
    marks: ElisionMarks::HASH,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[],
    read_root: Some(file),
};
