//! What Markdown's nodes mean: a section's place depends on the headings around it, so that the whole file is read at
//! once.

use super::reduce::preprocess_markdown;
use super::sections::read_document;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;

/// Markdown, as GitHub reads its blocks.
pub(in crate::syntax::languages) static MARKDOWN: Language = Language {
    id: "markdown",
    grammar: tree_sitter_md::LANGUAGE,
    grammar_version: "tree-sitter-md 0.5.4",
    separator: " > ",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: ElisionMarks::BRACES,
    preprocess: Some(preprocess_markdown),
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[],
    read_root: Some(read_document),
};
