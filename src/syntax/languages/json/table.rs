//! What JSON's nodes mean.

use super::reduce::reduce;
use super::symbols::array;
use super::symbols::object;
use super::symbols::pair;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;

/// JSON, with comments.
pub(in crate::syntax::languages) static JSON: Language = Language {
    id: "json",
    grammar: tree_sitter_json::LANGUAGE,
    grammar_version: "tree-sitter-json 0.24.8",
    separator: ".",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    unsigned: &[],
    marks: Marks::BRACES,
    reduce: Some(reduce),
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const NODES: Nodes = &[
    ("comment", Visit::Comment),
    ("object", Visit::Read(object)),
    ("array", Visit::Read(array)),
    ("pair", Visit::Read(pair)),
];
