//! C#.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    BodyRule, Language, NamedScope, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, SymbolRule, Visit,
    children, find, find_all, find_first,
};
use crate::syntax::preprocess::preprocess_conditionals;
use crate::syntax::text::format_line_count;

/// C#, up to what the grammar knows of version 13.
pub(super) static CSHARP: Language = Language {
    cuts_detached_comments: true,
    has_overloads: true,
    signature_excludes: &["attribute_list", "preproc_if_in_attribute_list"],
    preprocess: Some(preprocess_conditionals),
    ..Language::new("csharp", tree_sitter_c_sharp::LANGUAGE, "tree-sitter-c-sharp 0.23.5", &[NODES])
};

const NAMESPACE: SymbolRule = SymbolRule::new(SymbolKind::Namespace, BodyRule::Members(&["body"]));
const INTERFACE: SymbolRule = SymbolRule::new(SymbolKind::Interface, BodyRule::Members(&["body"]));
const ENUM: SymbolRule = SymbolRule::new(SymbolKind::Enum, BodyRule::Members(&["body"]));
const ENUM_MEMBER: SymbolRule = SymbolRule::new(SymbolKind::EnumMember, BodyRule::None);
const DELEGATE: SymbolRule = SymbolRule::new(SymbolKind::Typedef, BodyRule::None);
const CONSTRUCTOR: SymbolRule = SymbolRule::new(SymbolKind::Constructor, BodyRule::Code(&["body"]));
const FUNCTION: SymbolRule = SymbolRule::new(SymbolKind::Function, BodyRule::Code(&["body"]));
const PARAMETER: SymbolRule = SymbolRule::new(SymbolKind::Property, BodyRule::None);

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("using_directive", Visit::Preamble(import)),
    ("namespace_declaration", Visit::Define(&NAMESPACE)),
    ("file_scoped_namespace_declaration", Visit::Read(file_namespace)),
    ("class_declaration", Visit::Read(class)),
    ("struct_declaration", Visit::Read(class)),
    ("record_declaration", Visit::Read(class)),
    ("parameter", Visit::Define(&PARAMETER)),
    ("interface_declaration", Visit::Define(&INTERFACE)),
    ("enum_declaration", Visit::Define(&ENUM)),
    ("enum_member_declaration", Visit::Define(&ENUM_MEMBER)),
    ("delegate_declaration", Visit::Define(&DELEGATE)),
    ("method_declaration", Visit::Read(method)),
    ("constructor_declaration", Visit::Define(&CONSTRUCTOR)),
    ("destructor_declaration", Visit::Read(destructor)),
    ("operator_declaration", Visit::Read(operator)),
    ("conversion_operator_declaration", Visit::Read(operator)),
    ("property_declaration", Visit::Read(property)),
    ("indexer_declaration", Visit::Read(property)),
    ("event_declaration", Visit::Read(property)),
    ("event_field_declaration", Visit::Read(field)),
    ("field_declaration", Visit::Read(field)),
    ("global_statement", Visit::Enter),
    ("local_function_statement", Visit::Define(&FUNCTION)),
    ("preproc_if", Visit::Enter),
    ("preproc_elif", Visit::Enter),
    ("preproc_else", Visit::Enter),
];

/// Accessors no longer than this are part of a property's signature.
const SHORT_ACCESSORS: usize = 60;

/// Reads `using static A.B;` and `using X = A.B;`: `A.B`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(path) = children(node).into_iter().rfind(Node::is_named) {
        walk.add_import(walk.text(path));
    }
}

/// Reads `namespace A.B;`: everything that follows is in it, without being indented.
fn file_namespace<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    walk.define(node, SymbolDefinition::new(SymbolKind::Namespace, name.clone(), SymbolBody::Nothing));
    if walk.scopes.is_empty() {
        walk.scopes.push(NamedScope { name, kind: SymbolKind::Namespace });
    }
}

/// Reads a class, a struct or a record: the parameters of a record are its properties.
fn class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let is_record = node.kind() == "record_declaration";
    let is_struct = node.kind() == "struct_declaration" || (is_record && find(node, ".struct").is_some());
    let kind = if is_struct { SymbolKind::Struct } else { SymbolKind::Class };
    let inside = SymbolBody::members(find(node, "body"));
    walk.define(node, SymbolDefinition::new(kind, name, inside));
    if let Some(parameters) = find(node, ".parameter_list").filter(|_| is_record) {
        walk.define_leading_members(parameters);
    }
}

/// Reads a method; one that implements an interface's explicitly is qualified by the interface's name.
fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let inside = SymbolBody::code(find(node, "body"));
    let definition = SymbolDefinition::new(SymbolKind::Method, name, inside);
    walk.define(node, definition.with_owner(explicit_interface(walk, node)));
}

/// Reads `~Name()`.
fn destructor<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = format!("~{}", walk.text(name));
    let inside = SymbolBody::code(find(node, "body"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Destructor, name, inside));
}

/// Reads `operator +` and `implicit operator int`.
fn operator<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let parts = children(node).into_iter().skip_while(|part| {
        !matches!(part.kind(), "operator" | "implicit" | "explicit")
            && part.kind() != "explicit_interface_specifier"
    });
    let parts = parts.take_while(|part| !matches!(part.kind(), "parameter_list" | "(" | "{" | "=>"));
    let words: Vec<_> = parts.map(|part| walk.text(part)).collect();
    if words.is_empty() {
        return;
    }
    let inside = SymbolBody::code(find(node, "body"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Method, words.join(" "), inside));
}

/// Reads a property, an indexer or an event with accessors.
fn property<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (kind, name) = match (node.kind(), find(node, "name")) {
        ("event_declaration", Some(name)) => (SymbolKind::Event, walk.text(name).to_owned()),
        (_, Some(name)) => (SymbolKind::Property, walk.text(name).to_owned()),
        ("indexer_declaration", None) => (SymbolKind::Property, "this[]".to_owned()),
        (_, None) => return,
    };
    let accessors = find(node, "accessors");
    let bodies =
        find_all(node, "accessors/.accessor_declaration").into_iter().filter_map(|one| find(one, "body"));
    let bodies: Vec<_> = bodies.collect();
    let is_short =
        accessors.is_none_or(|list| bodies.is_empty() && list.byte_range().len() <= SHORT_ACCESSORS);
    let inside = match (accessors, find_first(node, &["value"])) {
        (Some(list), _) if !is_short => SymbolBody::Members(list),
        (_, Some(value)) => SymbolBody::Value(value),
        (_, None) => SymbolBody::Nothing,
    };
    let definition = SymbolDefinition::new(kind, name, inside);
    walk.define(node, definition.with_owner(explicit_interface(walk, node)));
    for body in bodies {
        walk.cut_code(body);
    }
    if let Some(value) = find(node, ".arrow_expression_clause") {
        cut_arrow(walk, value);
    }
}

/// Cuts the expression that a property returns, where it is long.
fn cut_arrow<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    let range = walk.range(value);
    let text = walk.source.text(range.clone());
    let lines = text.lines().count();
    if 1 < lines && !value.has_error() {
        let end = range.end + usize::from(walk.source.line_suffix(range.end).starts_with(';'));
        walk.cut(range.start..end, format!("{{ get {{ /* {} */ }} }}", format_line_count(lines)));
    }
}

/// Reads fields, constants and events of one declaration.
fn field<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let modifiers = find_all(node, ".modifier");
    let has = |word: &str| modifiers.iter().any(|modifier| walk.text(*modifier) == word);
    let kind = match node.kind() {
        "event_field_declaration" => SymbolKind::Event,
        _ if has("const") || (has("static") && has("readonly")) => SymbolKind::Constant,
        _ => SymbolKind::Field,
    };
    for declarator in find_all(node, ".variable_declaration/.variable_declarator") {
        let Some(name) = walk.name_at(declarator, "name") else { continue };
        let value = children(declarator).into_iter().skip_while(|child| child.kind() != "=").nth(1);
        let inside = SymbolBody::value(value);
        walk.define(node, SymbolDefinition::new(kind, name, inside));
    }
}

fn explicit_interface<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> &'t str {
    find(node, ".explicit_interface_specifier")
        .map_or("", |name| walk.text(name).trim_end_matches(['.', ' ']))
}
