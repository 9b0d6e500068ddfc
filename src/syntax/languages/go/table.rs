//! What Go's nodes mean.

use super::symbols::declaration;
use super::symbols::field;
use super::symbols::import;
use super::symbols::method;
use super::symbols::package;
use super::symbols::type_spec;
use super::symbols::value;
use crate::model::SymbolKind;
use crate::syntax::define::Marks;
use crate::syntax::language::Language;
use crate::syntax::language::Nodes;
use crate::syntax::language::Visit;
use crate::syntax::rule::Body;
use crate::syntax::rule::Rule;

/// Go, with type parameters.
pub(in crate::syntax::languages) static GO: Language = Language {
    id: "go",
    grammar: tree_sitter_go::LANGUAGE,
    grammar_version: "tree-sitter-go 0.25.0",
    separator: ".",
    cuts_detached_comments: true,
    checks_skeleton: true,
    has_overloads: false,
    unsigned: &[],
    marks: Marks::BRACES,
    reduce: None,
    cut_supplied: None,
    is_too_deep: None,
    nodes: &[NODES],
    root: None,
};

const FUNCTION: Rule = Rule::new(SymbolKind::Function, Body::Code(&["body"]));
const PROMISED: Rule = Rule::new(SymbolKind::Method, Body::None);

const NODES: Nodes = &[
    ("comment", Visit::Comment),
    ("package_clause", Visit::Preamble(package)),
    ("import_declaration", Visit::Preamble(import)),
    ("function_declaration", Visit::Define(&FUNCTION)),
    ("method_declaration", Visit::Read(method)),
    ("type_declaration", Visit::Read(declaration)),
    ("type_spec", Visit::Read(type_spec)),
    ("type_alias", Visit::Read(type_spec)),
    ("field_declaration_list", Visit::Enter),
    ("field_declaration", Visit::Read(field)),
    ("method_elem", Visit::Define(&PROMISED)),
    ("const_declaration", Visit::Read(declaration)),
    ("const_spec", Visit::Read(value)),
    ("var_declaration", Visit::Read(declaration)),
    ("var_spec_list", Visit::Enter),
    ("var_spec", Visit::Read(value)),
];
