//! What TOML's nodes mean.

use super::symbols::pair;
use super::symbols::table;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// TOML, version 1.
pub(in crate::syntax::languages) static TOML: Language = Language {
    id: "toml",
    grammar: tree_sitter_toml_ng::LANGUAGE,
    grammar_version: "tree-sitter-toml-ng 0.7.0",
    separator: ".",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: ElisionMarks::HASH,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("table", Visit::Read(table)),
    ("table_array_element", Visit::Read(table)),
    ("pair", Visit::Read(pair)),
];
