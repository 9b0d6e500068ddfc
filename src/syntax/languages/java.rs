//! Java.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, children, find, find_all,
};

/// Java, up to what the grammar knows of version 21.
pub(super) static JAVA: Language = Language {
    cuts_detached_comments: true,
    has_overloads: true,
    signature_excludes: &["annotation", "marker_annotation"],
    ..Language::new("java", tree_sitter_java::LANGUAGE, "tree-sitter-java 0.23.5", &[NODES])
};

const NODES: NodeTable = &[
    ("line_comment block_comment", Visit::Comment),
    ("package_declaration", Visit::FileHead),
    ("import_declaration", Visit::Preamble(import)),
    ("module_declaration", Visit::members(SymbolKind::Module, "body")),
    ("requires_module_directive", Visit::Read(requires)),
    ("class_declaration", Visit::members(SymbolKind::Class, "body")),
    ("interface_declaration annotation_type_declaration", Visit::members(SymbolKind::Interface, "body")),
    ("enum_declaration", Visit::members(SymbolKind::Enum, "body")),
    ("enum_constant", Visit::members(SymbolKind::EnumMember, "body")),
    ("enum_body_declarations", Visit::Enter),
    ("record_declaration", Visit::Read(record)),
    (
        "formal_parameter spread_parameter",
        Visit::leaf(SymbolKind::Field).named("name|.variable_declarator/name"),
    ),
    ("method_declaration annotation_type_element_declaration", Visit::code(SymbolKind::Method, "body")),
    ("constructor_declaration compact_constructor_declaration", Visit::code(SymbolKind::Constructor, "body")),
    ("field_declaration constant_declaration", Visit::Read(field)),
    ("static_initializer", Visit::Cut(".block")),
    ("block", Visit::Cut("")),
];

/// The code of lambda expressions, and of the methods of anonymous classes.
const CODE: &[&str] = &["block", "constructor_body"];

/// Reads `import static a.b.C.*;`: `a.b.C.*`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(path) = find(node, ".scoped_identifier|.identifier") else { return };
    let path = walk.text(path);
    match find(node, ".asterisk") {
        Some(_) => walk.add_import(&format!("{path}.*")),
        None => walk.add_import(path),
    }
}

fn requires<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(module) = find(node, "module") {
        walk.add_import(walk.text(module));
    }
}

/// Reads a field, or several of one declaration: a static and final one is a constant.
fn field<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let modifiers = find(node, ".modifiers").map(children).unwrap_or_default();
    let has = |word: &str| modifiers.iter().any(|modifier| modifier.kind() == word);
    let is_constant = node.kind() == "constant_declaration" || (has("static") && has("final"));
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Field };
    for declarator in find_all(node, "declarator") {
        let Some(name) = walk.name_at(declarator, "name") else { continue };
        let value = find(declarator, "value");
        walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::value(value)));
        if let Some(value) = value {
            walk.cut_code_within(value, CODE);
        }
    }
}

/// Reads a record, whose components are its fields.
fn record<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let inside = SymbolBody::members(find(node, "body"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Class, name, inside));
    if let Some(parameters) = find(node, "parameters") {
        walk.define_leading_members(parameters);
    }
}
