//! What C's nodes mean.

use super::declarations::declaration;
use super::declarations::type_definition;
use super::functions::function_definition;
use super::preprocessor::include;
use super::preprocessor::macro_definition;
use super::preprocessor::object_macro;
use super::supplied::cut_supplied;
use super::types::enumerator;
use super::types::type_specifier;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;

/// C, with the extensions of GCC and of Microsoft that the grammar knows.
pub(in crate::syntax::languages) static C: Language = Language {
    id: "c",
    grammar: tree_sitter_c::LANGUAGE,
    grammar_version: "tree-sitter-c 0.24.2",
    separator: "::",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: false,
    signature_excludes: &[],
    marks: ElisionMarks::BRACES,
    preprocess: Some(crate::syntax::reduce::preprocess_c),
    cut_synthesized: Some(cut_supplied),
    is_too_deep: None,
    node_tables: &[NODES],
    read_root: None,
};

/// The nodes of C; C++ has them too.
pub(in crate::syntax::languages) const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("function_definition", Visit::Read(function_definition)),
    ("declaration", Visit::Read(declaration)),
    ("field_declaration", Visit::Read(declaration)),
    ("type_definition", Visit::Read(type_definition)),
    ("struct_specifier", Visit::Read(type_specifier)),
    ("union_specifier", Visit::Read(type_specifier)),
    ("enum_specifier", Visit::Read(type_specifier)),
    ("enumerator", Visit::Read(enumerator)),
    ("preproc_include", Visit::Preamble(include)),
    ("preproc_def", Visit::Read(object_macro)),
    ("preproc_function_def", Visit::Read(macro_definition)),
    // Both branches of a condition are looked into: nobody here knows what is defined.
    ("preproc_if", Visit::Enter),
    ("preproc_ifdef", Visit::Enter),
    ("preproc_else", Visit::Enter),
    ("preproc_elif", Visit::Enter),
    ("preproc_elifdef", Visit::Enter),
    ("linkage_specification", Visit::Enter),
    ("declaration_list", Visit::Enter),
    ("field_declaration_list", Visit::Enter),
    ("enumerator_list", Visit::Enter),
    ("attributed_statement", Visit::Enter),
];
