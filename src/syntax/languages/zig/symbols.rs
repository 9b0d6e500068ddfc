//! Zig's declarations: a type is the value of a constant, and so is an import.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::comments::documentation;
use crate::syntax::define::Definition;
use crate::syntax::define::Inside;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::nodes::children;
use crate::syntax::rule::find;
use crate::syntax::walk::Walk;

/// Reads what `//!` at the head says of the file.
pub(super) fn file_docs<'t>(walk: &mut Walk<'t>, root: Node<'t>) {
    let head = children(root).into_iter().map(|child| walk.text(child));
    let lines: Vec<&str> = head.take_while(|text| text.starts_with("//!")).collect();
    walk.doc = documentation(&lines.join("\n"));
}

/// Reads `const Name = struct { … };`, `const std = @import("std");`, and what else is constant or varies.
pub(super) fn declaration<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let (Some(name), Some(value)) =
        (find(node, ".identifier"), children(node).into_iter().rfind(Node::is_named))
    else {
        return;
    };
    if let Some(import) = imported(walk, value) {
        walk.import(import);
        return;
    }
    let name = walk.text(name).to_owned();
    let varies = child_of_kind(node, "var").is_some();
    let (kind, inside) = match value.kind() {
        "struct_declaration" | "opaque_declaration" => (SymbolKind::Struct, Inside::Members(value)),
        "union_declaration" => (SymbolKind::Union, Inside::Members(value)),
        "enum_declaration" => (SymbolKind::Enum, Inside::Members(value)),
        "error_set_declaration" => (SymbolKind::Enum, Inside::Nothing),
        _ => {
            let rows = child_of_kind(value, "initializer_list").unwrap_or(value);
            (if varies { SymbolKind::Variable } else { SymbolKind::Constant }, Inside::Value(rows))
        }
    };
    let definition = Definition::new(kind, name, inside);
    // `struct`, `enum(u8)` are part of the head.
    let brace = child_of_kind(value, "{").filter(|_| matches!(inside, Inside::Members(_)));
    walk.define(
        node,
        match brace {
            Some(brace) => definition.with_head_end(walk.range(brace).start),
            None => definition,
        },
    );
}

/// Reads a field, or a constant of an enumeration.
pub(super) fn field<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let is_constant = walk.scope_kind() == Some(SymbolKind::Enum);
    let kind = if is_constant { SymbolKind::EnumMember } else { SymbolKind::Field };
    walk.define(node, Definition::new(kind, walk.text(name).to_owned(), Inside::Nothing));
}

/// Returns what `@import("…")` draws in, wherever it begins the value: `@import("std").mem` too.
fn imported<'t>(walk: &Walk<'t>, value: Node<'t>) -> Option<&'t str> {
    let call = walk.text(value).strip_prefix("@import(\"")?;
    call.split_once('"').map(|(name, _)| name)
}

/// Reads `test "words" { … }`.
pub(super) fn test<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(body) = child_of_kind(node, "block") else { return };
    let named = find(node, ".string").or_else(|| find(node, ".identifier"));
    let name = named.map_or("test", |name| walk.text(name).trim_matches('"')).to_owned();
    walk.define(node, Definition::new(SymbolKind::Function, name, Inside::Code(body)));
}
