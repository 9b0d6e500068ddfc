//! What C++'s nodes mean.

use super::declarations::alias;
use super::declarations::befriended;
use super::declarations::declaration_or_import;
use super::declarations::namespace;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::languages::c::C_NODES;
use crate::syntax::languages::c::cut_supplied;
use crate::syntax::languages::c::type_specifier;

/// C++, up to what the grammar knows of C++20.
pub(in crate::syntax::languages) static CPP: Language = Language {
    id: "cpp",
    grammar: tree_sitter_cpp::LANGUAGE,
    grammar_version: "tree-sitter-cpp 0.23.4",
    separator: "::",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: true,
    unsigned: &[],
    marks: Marks::BRACES,
    reduce: Some(crate::syntax::reduce::reduce_cpp),
    cut_supplied: Some(cut_supplied),
    is_too_deep: None,
    nodes: &[NODES, C_NODES],
    root: None,
};

/// The nodes that C does not have, or that mean more here.
const NODES: Nodes = &[
    ("template_declaration", Visit::Wrap),
    ("namespace_definition", Visit::Read(namespace)),
    ("alias_declaration", Visit::Read(alias)),
    ("concept_definition", Visit::Read(alias)),
    ("declaration", Visit::Read(declaration_or_import)),
    ("class_specifier", Visit::Read(type_specifier)),
    ("friend_declaration", Visit::Read(befriended)),
    // `public:` in a class that the grammar takes for a function.
    ("labeled_statement", Visit::Enter),
];
