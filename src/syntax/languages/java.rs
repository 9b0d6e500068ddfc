//! Java.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    BodyRule, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, SymbolRule, Visit,
    child_of_kind, children, find, find_all, find_first,
};

/// Java, up to what the grammar knows of version 21.
pub(super) static JAVA: Language = Language {
    cuts_detached_comments: true,
    has_overloads: true,
    signature_excludes: &["annotation", "marker_annotation"],
    ..Language::new("java", tree_sitter_java::LANGUAGE, "tree-sitter-java 0.23.5", &[NODES])
};

const MODULE: SymbolRule = SymbolRule::new(SymbolKind::Module, BodyRule::Members(&["body"]));
const CLASS: SymbolRule = SymbolRule::new(SymbolKind::Class, BodyRule::Members(&["body"]));
const INTERFACE: SymbolRule = SymbolRule::new(SymbolKind::Interface, BodyRule::Members(&["body"]));
const ENUM: SymbolRule = SymbolRule::new(SymbolKind::Enum, BodyRule::Members(&["body"]));
const ENUM_MEMBER: SymbolRule = SymbolRule::new(SymbolKind::EnumMember, BodyRule::Members(&["body"]));
const METHOD: SymbolRule = SymbolRule::new(SymbolKind::Method, BodyRule::Code(&["body"]));
const CONSTRUCTOR: SymbolRule = SymbolRule::new(SymbolKind::Constructor, BodyRule::Code(&["body"]));
const COMPONENT: SymbolRule =
    SymbolRule::new(SymbolKind::Field, BodyRule::None).named(&["name", ".variable_declarator/name"]);

const NODES: NodeTable = &[
    ("line_comment", Visit::Comment),
    ("block_comment", Visit::Comment),
    ("package_declaration", Visit::Preamble(package)),
    ("import_declaration", Visit::Preamble(import)),
    ("module_declaration", Visit::Define(&MODULE)),
    ("requires_module_directive", Visit::Read(requires)),
    ("class_declaration", Visit::Define(&CLASS)),
    ("interface_declaration", Visit::Define(&INTERFACE)),
    ("annotation_type_declaration", Visit::Define(&INTERFACE)),
    ("enum_declaration", Visit::Define(&ENUM)),
    ("enum_constant", Visit::Define(&ENUM_MEMBER)),
    ("enum_body_declarations", Visit::Enter),
    ("record_declaration", Visit::Read(record)),
    ("formal_parameter", Visit::Define(&COMPONENT)),
    ("spread_parameter", Visit::Define(&COMPONENT)),
    ("method_declaration", Visit::Define(&METHOD)),
    ("annotation_type_element_declaration", Visit::Define(&METHOD)),
    ("constructor_declaration", Visit::Define(&CONSTRUCTOR)),
    ("compact_constructor_declaration", Visit::Define(&CONSTRUCTOR)),
    ("field_declaration", Visit::Read(field)),
    ("constant_declaration", Visit::Read(field)),
    ("static_initializer", Visit::Read(initializer)),
    ("block", Visit::Read(initializer)),
];

/// Reads a package's name, which is not shown; the comment above it is about the file.
fn package<'t>(_walk: &mut OutlineWalk<'t>, _node: Node<'t>) {}

/// Reads `import static a.b.C.*;`: `a.b.C.*`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(path) = find_first(node, &[".scoped_identifier", ".identifier"]) else { return };
    let path = walk.text(path);
    match find(node, ".asterisk") {
        Some(_) => walk.add_import(&format!("{path}.*")),
        None => walk.add_import(path),
    }
}

/// Reads what a module requires.
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
        let inside = SymbolBody::value(find(declarator, "value"));
        walk.define(node, SymbolDefinition::new(kind, name, inside));
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

/// Cuts the code that runs when a class or an object is initialized.
fn initializer<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let body = if node.kind() == "block" { Some(node) } else { child_of_kind(node, "block") };
    if let Some(body) = body {
        walk.cut_code(body);
    }
}
