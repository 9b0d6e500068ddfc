//! Zig: a type is the value of a constant, and so is an import.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    ElisionMarks, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind,
    children, find,
};
use crate::syntax::text::documentation;

/// Zig, up to what the grammar knows of it.
pub(super) static ZIG: Language = Language {
    marks: MARKS,
    read_root: Some(file_docs),
    ..Language::new("zig", tree_sitter_zig::LANGUAGE, "tree-sitter-zig 1.1.2", &[NODES])
};

/// Zig has no comments within a line.
const MARKS: ElisionMarks = ElisionMarks { body: ("{ // ", "\n}"), data: (" // ", ""), ends_line: true };

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("function_declaration", Visit::Read(function)),
    ("variable_declaration", Visit::Read(declaration)),
    ("container_field", Visit::Read(field)),
    ("identifier", Visit::Read(error_name)),
    ("test_declaration", Visit::Read(test)),
    ("assignment_expression field_initializer", Visit::Read(data_key)),
];

/// Keys of this many levels of a ZON file are shown.
const SHOWN_LEVELS: usize = 2;

/// Reads the `//!` comments at the head of the file.
fn file_docs<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    let head = children(root).into_iter().map(|child| walk.text(child));
    let lines: Vec<&str> = head.take_while(|text| text.starts_with("//!")).collect();
    walk.doc = documentation(&lines.join("\n"));
}

/// Reads `const Name = struct { … };`, `const std = @import("std");`, and what else is constant or varies.
fn declaration<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(name), Some(value)) =
        (find(node, ".identifier"), children(node).into_iter().rfind(Node::is_named))
    else {
        return;
    };
    if let Some(import) = imported(walk, value) {
        walk.add_import(import);
        return;
    }
    let varies = child_of_kind(node, "var").is_some();
    let (kind, inside) = match value.kind() {
        "struct_declaration" | "opaque_declaration" => (SymbolKind::Struct, SymbolBody::Members(value)),
        "union_declaration" => (SymbolKind::Union, SymbolBody::Members(value)),
        "enum_declaration" | "error_set_declaration" => (SymbolKind::Enum, SymbolBody::Members(value)),
        _ => {
            let rows = child_of_kind(value, "initializer_list").unwrap_or(value);
            (if varies { SymbolKind::Variable } else { SymbolKind::Constant }, SymbolBody::Value(rows))
        }
    };
    let definition = SymbolDefinition::new(kind, walk.text(name), inside);
    // `struct`, `enum(u8)` are part of the signature.
    let brace = child_of_kind(value, "{").filter(|_| matches!(inside, SymbolBody::Members(_)));
    walk.define(
        node,
        match brace {
            Some(brace) => definition.with_signature_end(walk.range(brace).start),
            None => definition,
        },
    );
}

/// Reads a field, or a constant of an enumeration.
fn field<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    // A ZON file has one value, which the grammar takes for the type of a field without a name.
    if let Some(list) = find(name, "left/.initializer_list").or_else(|| find(name, ".initializer_list")) {
        return walk.visit_children(list);
    }
    let is_constant = walk.scope_kind() == Some(SymbolKind::Enum);
    let kind = if is_constant { SymbolKind::EnumMember } else { SymbolKind::Field };
    walk.define(node, SymbolDefinition::new(kind, walk.text(name).to_owned(), SymbolBody::Nothing));
}

/// Reads a name in `error { … }`.
fn error_name<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if node.parent().is_some_and(|parent| parent.kind() == "error_set_declaration") {
        let name = walk.text(node).to_owned();
        walk.define(node, SymbolDefinition::new(SymbolKind::EnumMember, name, SymbolBody::Nothing));
    }
}

/// Reads `.name = value` in a ZON file.
fn data_key<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let level = walk.scopes.len();
    let name = find(node, "left/member").or_else(|| find(node, ".identifier"));
    let Some(name) = name.filter(|_| level < SHOWN_LEVELS) else { return };
    let list = find(node, "right/.initializer_list")
        .or_else(|| find(node, ".anonymous_struct_initializer/.initializer_list"));
    let list = list.filter(|_| level + 1 < SHOWN_LEVELS);
    let inside = list.map_or(SymbolBody::Nothing, SymbolBody::Members);
    let definition = SymbolDefinition::new(SymbolKind::Key, walk.text(name), inside);
    let end = walk.range(name).end;
    walk.define(node, if list.is_some() { definition.with_signature_end(end) } else { definition });
}

/// Returns the file in `@import("…")`, wherever that begins the value: in `@import("std").mem` too.
fn imported<'t>(walk: &OutlineWalk<'t>, value: Node<'t>) -> Option<&'t str> {
    let call = walk.text(value).strip_prefix("@import(\"")?;
    call.split_once('"').map(|(name, _)| name)
}

/// Reads a function. One that returns a type, as `fn List(comptime T: type) type { return struct { … }; }` does, has
/// the members of that type; any other has code.
fn function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let is_member = walk.scope_kind().is_some_and(SymbolKind::is_type);
    let kind = if is_member { SymbolKind::Method } else { SymbolKind::Function };
    let Some(body) = find(node, "body") else {
        walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::Nothing));
        return;
    };
    let Some(container) = returned_container(body) else {
        walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::Code(body)));
        return;
    };
    let head_end = walk.range(body).start;
    // Its methods are methods, and its fields fields: what it makes is a type.
    let definition = SymbolDefinition::new(SymbolKind::Struct, name, SymbolBody::Members(container));
    walk.define(node, definition.with_signature_end(head_end));
}

/// Returns the container that a body returns with its last statement.
fn returned_container(body: Node<'_>) -> Option<Node<'_>> {
    let last = children(body).into_iter().rfind(|child| child.is_named() && child.kind() != "comment")?;
    let returned = find(last, ".return_expression").unwrap_or(last);
    let kinds = ["struct_declaration", "union_declaration", "enum_declaration", "opaque_declaration"];
    (returned.kind() == "return_expression").then_some(())?;
    children(returned).into_iter().find(|child| kinds.contains(&child.kind()))
}

/// Reads `test "words" { … }`.
fn test<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(body) = child_of_kind(node, "block") else { return };
    let named = find(node, ".string").or_else(|| find(node, ".identifier"));
    let name = named.map_or("test", |name| walk.text(name).trim_matches('"')).to_owned();
    walk.define(node, SymbolDefinition::new(SymbolKind::Function, name, SymbolBody::Code(body)));
}
