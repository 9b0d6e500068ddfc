//! What C++'s nodes mean.

use super::declarations::alias;
use super::declarations::befriended;
use super::declarations::declaration_or_import;
use super::declarations::namespace;
use crate::syntax::language::Language;
use crate::syntax::language::Visit;
use crate::syntax::languages::c::declaration;
use crate::syntax::languages::c::enumerator;
use crate::syntax::languages::c::function_definition;
use crate::syntax::languages::c::include;
use crate::syntax::languages::c::macro_definition;
use crate::syntax::languages::c::object_macro;
use crate::syntax::languages::c::type_definition;
use crate::syntax::languages::c::type_specifier;

/// C++, up to what the grammar knows of C++20.
pub(in crate::syntax::languages) static CPP: Language = Language {
    id: "cpp",
    grammar: tree_sitter_cpp::LANGUAGE,
    grammar_version: "tree-sitter-cpp 0.23.4",
    separator: "::",
    cuts_detached_comments: true,
    checks_skeleton: true,
    nodes: &[
        ("comment", Visit::Comment),
        ("template_declaration", Visit::Wrap),
        ("namespace_definition", Visit::Read(namespace)),
        ("alias_declaration", Visit::Read(alias)),
        ("concept_definition", Visit::Read(alias)),
        ("function_definition", Visit::Read(function_definition)),
        ("declaration", Visit::Read(declaration_or_import)),
        ("field_declaration", Visit::Read(declaration)),
        ("type_definition", Visit::Read(type_definition)),
        ("class_specifier", Visit::Read(type_specifier)),
        ("struct_specifier", Visit::Read(type_specifier)),
        ("union_specifier", Visit::Read(type_specifier)),
        ("enum_specifier", Visit::Read(type_specifier)),
        ("enumerator", Visit::Read(enumerator)),
        ("preproc_include", Visit::Read(include)),
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
        ("friend_declaration", Visit::Read(befriended)),
        // `public:` in a class that the grammar takes for a function.
        ("labeled_statement", Visit::Enter),
        ("attributed_statement", Visit::Enter),
    ],
    root: None,
};
