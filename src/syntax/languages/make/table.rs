//! What the nodes of makefiles mean.

use super::reduce::reduce;
use super::symbols::assignment;
use super::symbols::definition;
use super::symbols::include;
use super::symbols::rule;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
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
    unsigned: &[],
    marks: Marks::HASH,
    reduce: Some(reduce),
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const NODES: Nodes = &[
    ("comment", Visit::Comment),
    ("include_directive", Visit::Preamble(include)),
    ("variable_assignment", Visit::Read(assignment)),
    ("shell_assignment", Visit::Read(assignment)),
    ("define_directive", Visit::Read(definition)),
    ("rule", Visit::Read(rule)),
    ("conditional", Visit::Enter),
    ("else_directive", Visit::Enter),
    ("elsif_directive", Visit::Enter),
    ("export_directive", Visit::Wrap),
    ("override_directive", Visit::Wrap),
    ("private_directive", Visit::Wrap),
];
