//! What YAML's nodes mean.

use super::depth::is_too_deep;
use super::symbols::document;
use super::symbols::pair;
use super::symbols::sequence;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// YAML, version 1.2.
pub(in crate::syntax::languages) static YAML: Language = Language {
    id: "yaml",
    grammar: tree_sitter_yaml::LANGUAGE,
    grammar_version: "tree-sitter-yaml 0.7.2",
    separator: ".",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: ElisionMarks::HASH,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: Some(is_too_deep),
    node_tables: &[NODES],
    read_root: None,
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("document", Visit::Read(document)),
    ("block_node", Visit::Enter),
    ("flow_node", Visit::Enter),
    ("block_mapping", Visit::Enter),
    ("flow_mapping", Visit::Enter),
    ("block_mapping_pair", Visit::Read(pair)),
    ("flow_pair", Visit::Read(pair)),
    ("block_sequence", Visit::Read(sequence)),
];
