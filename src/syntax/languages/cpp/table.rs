//! What C++'s nodes mean.

use super::declarations::alias;
use super::declarations::declaration_or_import;
use super::declarations::friend;
use super::declarations::namespace;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
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
    signature_excludes: &[],
    marks: ElisionMarks::BRACES,
    preprocess: Some(crate::syntax::reduce::preprocess_cpp),
    cut_synthesized: Some(cut_supplied),
    is_too_deep: None,
    node_tables: &[NODES, C_NODES],
    read_root: None,
};

/// The nodes that C does not have, or that mean more here.
const NODES: NodeTable = &[
    ("template_declaration", Visit::Wrapper),
    ("namespace_definition", Visit::Read(namespace)),
    ("alias_declaration", Visit::Read(alias)),
    ("concept_definition", Visit::Read(alias)),
    ("declaration", Visit::Read(declaration_or_import)),
    ("class_specifier", Visit::Read(type_specifier)),
    ("friend_declaration", Visit::Read(friend)),
    // `public:` in a class that the grammar takes for a function.
    ("labeled_statement", Visit::Enter),
];
