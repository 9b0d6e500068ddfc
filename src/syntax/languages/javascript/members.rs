//! What stands in JavaScript's classes and objects.

use tree_sitter::Node;

use super::bindings::NameBinding;
use super::bindings::define_binding;
use super::values::has_functions;
use super::values::is_function;
use super::values::trim_value;
use super::values::unwrap_value;
use crate::model::SymbolKind;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::rule::find;
use crate::syntax::rule::find_first;
use crate::syntax::walk::OutlineWalk;

/// Reads a method, a constructor, or what reads or writes a property.
pub(in crate::syntax::languages) fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let is_accessor = ["get", "set"].iter().any(|word| child_of_kind(node, word).is_some());
    let name = member_name(walk, name);
    let kind = match name.as_str() {
        _ if is_accessor => SymbolKind::Property,
        "constructor" if walk.scope_kind() == Some(SymbolKind::Class) => SymbolKind::Constructor,
        _ => SymbolKind::Method,
    };
    let inside = find(node, "body").map_or(SymbolBody::Nothing, SymbolBody::Code);
    walk.define(node, SymbolDefinition::new(kind, name, inside));
}

/// Reads a field of a class, which may be a method by its value.
pub(in crate::syntax::languages) fn field<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find_first(node, &["property", "name"]) else { return };
    let name = member_name(walk, name);
    define_binding(walk, node, NameBinding::new(SymbolKind::Field, &name), find(node, "value"));
}

/// Reads a member of an object that holds functions; one of data alone is left out of the outline.
pub(super) fn pair<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(key), Some(whole)) = (find(node, "key"), find(node, "value")) else { return };
    let value = unwrap_value(whole);
    if is_function(value) || value.kind() == "class" || has_functions(value) {
        let name = member_name(walk, key);
        define_binding(walk, node, NameBinding::new(SymbolKind::Method, &name), Some(whole));
    } else {
        trim_value(walk, whole);
    }
}

/// Reads `static { … }`, which runs when the class is made.
pub(super) fn static_block<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(body) = find(node, "body") {
        walk.cut_code(body);
    }
}

/// Returns the name of a member without the quotation marks that it may stand in.
fn member_name(walk: &OutlineWalk<'_>, name: Node<'_>) -> String {
    walk.text(name).trim_matches(['"', '\'']).to_owned()
}
