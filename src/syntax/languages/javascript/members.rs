//! What stands in JavaScript's classes and objects.

use tree_sitter::Node;

use super::bindings::Binding;
use super::bindings::bind;
use super::values::has_functions;
use super::values::is_function;
use super::values::plain;
use super::values::trim;
use crate::model::SymbolKind;
use crate::syntax::define::Definition;
use crate::syntax::define::Inside;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::rule::find;
use crate::syntax::rule::first;
use crate::syntax::walk::Walk;

/// Reads a method, a constructor, or what reads or writes a property.
pub(in crate::syntax::languages) fn method<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let is_accessor = ["get", "set"].iter().any(|word| child_of_kind(node, word).is_some());
    let name = member_name(walk, name);
    let kind = match name.as_str() {
        _ if is_accessor => SymbolKind::Property,
        "constructor" if walk.scope_kind() == Some(SymbolKind::Class) => SymbolKind::Constructor,
        _ => SymbolKind::Method,
    };
    let inside = find(node, "body").map_or(Inside::Nothing, Inside::Code);
    walk.define(node, Definition::new(kind, name, inside));
}

/// Reads a field of a class, which may be a method by its value.
pub(in crate::syntax::languages) fn field<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(name) = first(node, &["property", "name"]) else { return };
    let name = member_name(walk, name);
    bind(walk, node, Binding::new(SymbolKind::Field, &name), find(node, "value"));
}

/// Reads a member of an object that holds functions; one of data alone is left out of the outline.
pub(super) fn pair<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let (Some(key), Some(whole)) = (find(node, "key"), find(node, "value")) else { return };
    let value = plain(whole);
    if is_function(value) || value.kind() == "class" || has_functions(value) {
        let name = member_name(walk, key);
        bind(walk, node, Binding::new(SymbolKind::Method, &name), Some(whole));
    } else {
        trim(walk, whole);
    }
}

/// Reads `static { … }`, which runs when the class is made.
pub(super) fn static_block<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    if let Some(body) = find(node, "body") {
        walk.cut_code(body);
    }
}

/// Returns the name of a member without the quotation marks that it may stand in.
fn member_name(walk: &Walk<'_>, name: Node<'_>) -> String {
    walk.text(name).trim_matches(['"', '\'']).to_owned()
}
