//! What JSON's nodes mean.

use super::reduce::preprocess_json;
use super::symbols::array;
use super::symbols::object;
use super::symbols::pair;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
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
    signature_excludes: &[],
    marks: ElisionMarks::BRACES,
    preprocess: Some(preprocess_json),
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("object", Visit::Read(object)),
    ("array", Visit::Read(array)),
    ("pair", Visit::Read(pair)),
];
