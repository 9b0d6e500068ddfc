//! What HTML's nodes mean.

use super::reduce::reduce;
use super::symbols::document;
use super::symbols::element;
use super::symbols::script;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
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
    unsigned: &[],
    marks: Marks { body: ("<!-- ", " -->"), rows: ("<!-- ", " -->"), ends_line: false },
    reduce: Some(reduce),
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: Some(document),
};

const NODES: Nodes = &[
    ("comment", Visit::Comment),
    ("element", Visit::Read(element)),
    ("script_element", Visit::Read(script)),
    ("style_element", Visit::Read(script)),
];
