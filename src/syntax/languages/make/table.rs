//! What the nodes of makefiles mean.

use super::reduce::preprocess_makefile;
use super::symbols::assignment;
use super::symbols::definition;
use super::symbols::include;
use super::symbols::rule;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// Makefiles, as GNU's make reads them.
pub(in crate::syntax::languages) static MAKE: Language = Language {
    id: "make",
    grammar: tree_sitter_make::LANGUAGE,
    grammar_version: "tree-sitter-make 1.1.1",
    separator: ".",
    cuts_detached_comments: false,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: ElisionMarks::HASH,
    preprocess: Some(preprocess_makefile),
    cut_synthesized: None,
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("include_directive", Visit::Preamble(include)),
    ("variable_assignment", Visit::Read(assignment)),
    ("shell_assignment", Visit::Read(assignment)),
    ("define_directive", Visit::Read(definition)),
    ("rule", Visit::Read(rule)),
    ("conditional", Visit::Enter),
    ("else_directive", Visit::Enter),
    ("elsif_directive", Visit::Enter),
    ("export_directive", Visit::Wrapper),
    ("override_directive", Visit::Wrapper),
    ("private_directive", Visit::Wrapper),
];
