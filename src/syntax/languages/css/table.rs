//! What CSS's nodes mean.

use super::symbols::at_rule;
use super::symbols::declaration;
use super::symbols::import;
use super::symbols::keyframes;
use super::symbols::preamble;
use super::symbols::rule_set;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// CSS, with nested rules.
pub(in crate::syntax::languages) static CSS: Language = Language {
    id: "css",
    grammar: tree_sitter_css::LANGUAGE,
    grammar_version: "tree-sitter-css 0.25.0",
    separator: " ",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: ElisionMarks::BRACES,
    preprocess: None,
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("charset_statement", Visit::Preamble(preamble)),
    ("import_statement", Visit::Preamble(import)),
    ("rule_set", Visit::Read(rule_set)),
    ("declaration", Visit::Read(declaration)),
    ("media_statement", Visit::Read(at_rule)),
    ("supports_statement", Visit::Read(at_rule)),
    ("scope_statement", Visit::Read(at_rule)),
    ("at_rule", Visit::Read(at_rule)),
    ("keyframes_statement", Visit::Read(keyframes)),
];
