//! Kotlin and its scripts: the nodes of its grammar.

use tree_sitter::Node;

use super::scanner::preprocess_kotlin;
use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind, children, find,
    find_all,
};

pub(in crate::syntax::languages) static KOTLIN: Language = Language {
    cuts_detached_comments: true,
    has_overloads: true,
    signature_excludes: &["annotation"],
    preprocess: Some(preprocess_kotlin),
    ..Language::new("kotlin", tree_sitter_kotlin_ng::LANGUAGE, "tree-sitter-kotlin-ng 1.1.0", &[NODES])
};

const NODES: NodeTable = &[
    ("line_comment block_comment", Visit::Comment),
    ("package_header", Visit::FileHead),
    ("import", Visit::Preamble(import)),
    ("class_declaration", Visit::Read(class)),
    ("class_parameter", Visit::Read(class_parameter)),
    ("object_declaration", Visit::members(SymbolKind::Object, ".class_body")),
    ("companion_object", Visit::Read(companion)),
    ("enum_entry", Visit::members(SymbolKind::EnumMember, ".class_body").named(".identifier")),
    ("function_declaration", Visit::code(SymbolKind::Function, ".function_body").in_type(SymbolKind::Method)),
    ("secondary_constructor", Visit::Read(constructor)),
    ("anonymous_initializer", Visit::Cut(".block")),
    ("property_declaration", Visit::Read(property)),
    // With a comment after a declaration, the grammar may read `@A("x")` above it as an expression.
    ("annotated_expression", Visit::Prefix),
    // The grammar may make an accessor a sibling of its property.
    ("getter setter", Visit::Cut(".function_body")),
    ("type_alias", Visit::leaf(SymbolKind::Typedef).named("type")),
];

/// The code of lambda expressions, and of what objects without a name do.
const CODE: &[&str] = &["lambda_literal", "function_body"];

/// Reads `import a.b.C as D` and `import a.b.*`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(path) = find(node, ".qualified_identifier|.identifier") else { return };
    let path = walk.text(path);
    match child_of_kind(node, "*") {
        Some(_) => walk.add_import(&format!("{path}.*")),
        None => walk.add_import(path),
    }
}

/// Reads a class or an interface: properties that its constructor declares are members too.
fn class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let kind = if child_of_kind(node, "interface").is_some() {
        SymbolKind::Interface
    } else if find(node, ".enum_class_body").is_some() || has_modifier(walk, node, "enum") {
        SymbolKind::Enum
    } else {
        SymbolKind::Class
    };
    let body = find(node, ".class_body|.enum_class_body");
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::members(body)));
    if let Some(parameters) = find(node, ".primary_constructor/.class_parameters") {
        walk.define_leading_members(parameters);
    }
}

/// Reads a parameter of a constructor, which is a property where it is declared as one.
fn class_parameter<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let declares = ["val", "var"].iter().any(|word| child_of_kind(node, word).is_some());
    if let Some(name) = find(node, ".identifier").filter(|_| declares) {
        walk.define(node, SymbolDefinition::new(SymbolKind::Property, walk.text(name), SymbolBody::Nothing));
    }
}

/// Reads `companion object`, which is named `Companion` where it has no name.
fn companion<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let name = find(node, "name").map_or("Companion", |name| walk.text(name)).to_owned();
    let inside = SymbolBody::members(find(node, ".class_body"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Object, name, inside));
}

/// Reads a constructor in a class's body.
fn constructor<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let inside = SymbolBody::code(find(node, ".block"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Constructor, "constructor", inside));
}

/// Reads a property, or the several that `val (a, b) = …` declares.
fn property<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let kind = match walk.scope_kind() {
        _ if has_modifier(walk, node, "const") => SymbolKind::Constant,
        Some(_) => SymbolKind::Property,
        None => SymbolKind::Variable,
    };
    let one = find_all(node, ".variable_declaration/.identifier");
    let several = find_all(node, ".multi_variable_declaration/.variable_declaration");
    let several = several.into_iter().filter_map(|one| find(one, ".identifier"));
    let value = children(node).into_iter().skip_while(|child| child.kind() != "=").nth(1);
    let value = value.or_else(|| find(node, ".property_delegate|.getter|.setter"));
    for name in one.into_iter().take(1).chain(several) {
        walk.define(node, SymbolDefinition::new(kind, walk.text(name), SymbolBody::value(value)));
    }
    if let Some(value) = value {
        walk.cut_code_within(value, CODE);
    }
    for accessor in find_all(node, ".getter").into_iter().chain(find_all(node, ".setter")) {
        if let Some(body) = find(accessor, ".function_body") {
            walk.cut_code(body);
        }
    }
}

fn has_modifier<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, word: &str) -> bool {
    let modifiers = find(node, ".modifiers").map(children).unwrap_or_default();
    modifiers.into_iter().any(|modifier| walk.text(modifier) == word)
}
