//! What Ruby's nodes mean.

use super::bodies::heredoc;
use super::calls::call;
use super::symbols::alias;
use super::symbols::assignment;
use super::symbols::class;
use super::symbols::method;
use super::symbols::module;
use super::symbols::singleton_class;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// Ruby, up to what the grammar knows of 3.
pub(in crate::syntax::languages) static RUBY: Language = Language {
    id: "ruby",
    grammar: tree_sitter_ruby::LANGUAGE,
    grammar_version: "tree-sitter-ruby 0.23.1",
    separator: "::",
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
    ("class", Visit::Read(class)),
    ("module", Visit::Read(module)),
    ("singleton_class", Visit::Read(singleton_class)),
    ("method", Visit::Read(method)),
    ("singleton_method", Visit::Read(method)),
    ("alias", Visit::Read(alias)),
    ("assignment", Visit::Read(assignment)),
    ("operator_assignment", Visit::Read(assignment)),
    ("call", Visit::Read(call)),
    ("argument_list", Visit::Wrapper),
    ("heredoc_body", Visit::Read(heredoc)),
    ("body_statement", Visit::Enter),
    ("begin", Visit::Enter),
    ("if", Visit::Enter),
    ("unless", Visit::Enter),
    ("elsif", Visit::Enter),
    ("then", Visit::Enter),
    ("else", Visit::Enter),
    ("if_modifier", Visit::Enter),
    ("unless_modifier", Visit::Enter),
];
