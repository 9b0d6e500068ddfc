//! What Go's nodes mean.

use super::symbols::declaration;
use super::symbols::field;
use super::symbols::import;
use super::symbols::method;
use super::symbols::package;
use super::symbols::type_spec;
use super::symbols::value;
use crate::model::SymbolKind;
use crate::syntax::define::ElisionMarks;
use crate::syntax::language::Language;
use crate::syntax::language::NodeTable;
use crate::syntax::language::Visit;
use crate::syntax::rule::BodyRule;
use crate::syntax::rule::SymbolRule;

/// Go, with type parameters.
pub(in crate::syntax::languages) static GO: Language = Language {
    id: "go",
    grammar: tree_sitter_go::LANGUAGE,
    grammar_version: "tree-sitter-go 0.25.0",
    separator: ".",
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

const FUNCTION: SymbolRule = SymbolRule::new(SymbolKind::Function, BodyRule::Code(&["body"]));
const PROMISED: SymbolRule = SymbolRule::new(SymbolKind::Method, BodyRule::None);

const NODES: NodeTable = &[
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
