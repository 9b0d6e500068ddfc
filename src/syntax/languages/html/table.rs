//! What HTML's nodes mean.

use super::reduce::preprocess_html;
use super::symbols::document;
use super::symbols::element;
use super::symbols::script;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// HTML.
pub(in crate::syntax::languages) static HTML: Language = Language {
    id: "html",
    grammar: tree_sitter_html::LANGUAGE,
    grammar_version: "tree-sitter-html 0.23.2",
    separator: " > ",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: ElisionMarks { body: ("<!-- ", " -->"), data: ("<!-- ", " -->"), ends_line: false },
    preprocess: Some(preprocess_html),
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: Some(document),
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("element", Visit::Read(element)),
    ("script_element", Visit::Read(script)),
    ("style_element", Visit::Read(script)),
];
