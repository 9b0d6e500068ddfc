//! C#'s namespaces, records, operators, properties and imports.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::nodes::children;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::rule::find_first;
use crate::syntax::walk::NamedScope;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::walk::format_line_count;

/// Accessors that take no more than this are part of a property's signature.
const SHORT_ACCESSORS: usize = 60;

/// Reads `using static A.B;` and `using X = A.B;`: `A.B`.
pub(super) fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(path) = children(node).into_iter().rfind(Node::is_named) {
        walk.add_import(walk.text(path));
    }
}

/// Reads `namespace A.B;`: all that follows is in it, and is not indented for it.
pub(super) fn file_namespace<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = walk.text(name).to_owned();
    walk.define(node, SymbolDefinition::new(SymbolKind::Namespace, name.clone(), SymbolBody::Nothing));
    if walk.scopes.is_empty() {
        walk.scopes.push(NamedScope { name, kind: SymbolKind::Namespace });
    }
}

/// Reads a class, a struct or a record: what stands in the parameters of a record are its properties.
pub(super) fn class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = walk.text(name).to_owned();
    let is_record = node.kind() == "record_declaration";
    let is_struct = node.kind() == "struct_declaration" || (is_record && find(node, ".struct").is_some());
    let kind = if is_struct { SymbolKind::Struct } else { SymbolKind::Class };
    let inside = find(node, "body").map_or(SymbolBody::Nothing, SymbolBody::Members);
    walk.define(node, SymbolDefinition::new(kind, name, inside));
    if let Some(parameters) = find(node, ".parameter_list").filter(|_| is_record) {
        walk.define_leading_members(parameters);
    }
}

/// Reads a method; one that implements an interface's by name bears that name too.
pub(super) fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = walk.text(name).to_owned();
    let inside = find(node, "body").map_or(SymbolBody::Nothing, SymbolBody::Code);
    let definition = SymbolDefinition::new(SymbolKind::Method, name, inside);
    walk.define(node, definition.with_owner(explicit_interface(walk, node)));
}

/// Reads `~Name()`.
pub(super) fn destructor<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = format!("~{}", walk.text(name));
    let inside = find(node, "body").map_or(SymbolBody::Nothing, SymbolBody::Code);
    walk.define(node, SymbolDefinition::new(SymbolKind::Destructor, name, inside));
}

/// Reads `operator +` and `implicit operator int`.
pub(super) fn operator<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let parts = children(node).into_iter().skip_while(|part| {
        !matches!(part.kind(), "operator" | "implicit" | "explicit")
            && part.kind() != "explicit_interface_specifier"
    });
    let parts = parts.take_while(|part| !matches!(part.kind(), "parameter_list" | "(" | "{" | "=>"));
    let words: Vec<_> = parts.map(|part| walk.text(part)).collect();
    if words.is_empty() {
        return;
    }
    let inside = find(node, "body").map_or(SymbolBody::Nothing, SymbolBody::Code);
    walk.define(node, SymbolDefinition::new(SymbolKind::Method, words.join(" "), inside));
}

/// Reads a property, an indexer or an event with accessors.
pub(super) fn property<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
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

/// Takes out the expression that a property stands for, where it is long.
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
pub(super) fn field<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let modifiers = find_all(node, ".modifier");
    let has = |word: &str| modifiers.iter().any(|modifier| walk.text(*modifier) == word);
    let kind = match node.kind() {
        "event_field_declaration" => SymbolKind::Event,
        _ if has("const") || (has("static") && has("readonly")) => SymbolKind::Constant,
        _ => SymbolKind::Field,
    };
    for declarator in find_all(node, ".variable_declaration/.variable_declarator") {
        let Some(name) = find(declarator, "name") else { continue };
        let name = walk.text(name).to_owned();
        let value = children(declarator).into_iter().skip_while(|child| child.kind() != "=").nth(1);
        let inside = value.map_or(SymbolBody::Nothing, SymbolBody::Value);
        walk.define(node, SymbolDefinition::new(kind, name, inside));
    }
}

fn explicit_interface<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> &'t str {
    find(node, ".explicit_interface_specifier")
        .map_or("", |name| walk.text(name).trim_end_matches(['.', ' ']))
}
