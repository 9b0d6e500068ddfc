//! Kotlin and its scripts.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    BodyRule, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, SymbolRule, Visit,
    child_of_kind, children, find, find_all, find_first,
};
use crate::syntax::preprocess::preprocess_kotlin;

/// Kotlin and its scripts.
pub(super) static KOTLIN: Language = Language {
    cuts_detached_comments: true,
    has_overloads: true,
    signature_excludes: &["annotation"],
    preprocess: Some(preprocess_kotlin),
    ..Language::new("kotlin", tree_sitter_kotlin_ng::LANGUAGE, "tree-sitter-kotlin-ng 1.1.0", &[NODES])
};

const FUNCTION: SymbolRule =
    SymbolRule::new(SymbolKind::Function, BodyRule::Code(&[".function_body"])).in_type(SymbolKind::Method);
const OBJECT: SymbolRule = SymbolRule::new(SymbolKind::Object, BodyRule::Members(&[".class_body"]));
const ENUM_ENTRY: SymbolRule =
    SymbolRule::new(SymbolKind::EnumMember, BodyRule::Members(&[".class_body"])).named(&[".identifier"]);
const ALIAS: SymbolRule = SymbolRule::new(SymbolKind::Typedef, BodyRule::None).named(&["type"]);

const NODES: NodeTable = &[
    ("line_comment", Visit::Comment),
    ("block_comment", Visit::Comment),
    ("package_header", Visit::Preamble(package)),
    ("import", Visit::Preamble(import)),
    ("class_declaration", Visit::Read(class)),
    ("class_parameter", Visit::Read(class_parameter)),
    ("object_declaration", Visit::Define(&OBJECT)),
    ("companion_object", Visit::Read(companion)),
    ("enum_entry", Visit::Define(&ENUM_ENTRY)),
    ("function_declaration", Visit::Define(&FUNCTION)),
    ("secondary_constructor", Visit::Read(constructor)),
    ("anonymous_initializer", Visit::Read(initializer)),
    ("property_declaration", Visit::Read(property)),
    ("getter", Visit::Read(cut_accessor)),
    ("setter", Visit::Read(cut_accessor)),
    ("type_alias", Visit::Define(&ALIAS)),
];

/// Reads a package's name, which is not shown; the comment above it is about the file.
fn package<'t>(_walk: &mut OutlineWalk<'t>, _node: Node<'t>) {}

/// Reads `import a.b.C as D` and `import a.b.*`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(path) = find_first(node, &[".qualified_identifier", ".identifier"]) else { return };
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
    let body = find_first(node, &[".class_body", ".enum_class_body"]);
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::members(body)));
    if let Some(parameters) = find(node, ".primary_constructor/.class_parameters") {
        walk.define_leading_members(parameters);
    }
}

/// Reads a parameter of a constructor, which is a property where it is declared as one.
fn class_parameter<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let declares = ["val", "var"].iter().any(|word| child_of_kind(node, word).is_some());
    if let Some(name) = find(node, ".identifier").filter(|_| declares) {
        let name = walk.text(name).to_owned();
        walk.define(node, SymbolDefinition::new(SymbolKind::Property, name, SymbolBody::Nothing));
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
    walk.define(node, SymbolDefinition::new(SymbolKind::Constructor, "constructor".to_owned(), inside));
}

/// Cuts the code that runs when an object is initialized.
fn initializer<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(body) = find(node, ".block") {
        walk.cut_code(body);
    }
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
    let value = value.or_else(|| find_first(node, &[".property_delegate", ".getter", ".setter"]));
    for name in one.into_iter().take(1).chain(several) {
        let name = walk.text(name).to_owned();
        walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::value(value)));
    }
    for accessor in find_all(node, ".getter").into_iter().chain(find_all(node, ".setter")) {
        cut_accessor(walk, accessor);
    }
}

/// Cuts the body of an accessor; the grammar may make it a sibling of its property.
fn cut_accessor<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(body) = find(node, ".function_body") {
        walk.cut_code(body);
    }
}

fn has_modifier<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, word: &str) -> bool {
    let modifiers = find(node, ".modifiers").map(children).unwrap_or_default();
    modifiers.into_iter().any(|modifier| walk.text(modifier) == word)
}
