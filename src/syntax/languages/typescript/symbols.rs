//! What TypeScript has beside JavaScript: types, modules, enumerations, fields declared by a constructor.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::languages::javascript::method as javascript_method;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::walk::OutlineWalk;

/// Reads `type A = …`; an object's type has members.
pub(super) fn alias<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = walk.text(name).to_owned();
    let has_members = |value: &Node<'t>| {
        [".property_signature", ".method_signature"].iter().any(|kind| find(*value, kind).is_some())
    };
    let members = find(node, "value").filter(|value| value.kind() == "object_type" && has_members(value));
    let inside = members.map_or(SymbolBody::Nothing, SymbolBody::Members);
    walk.define(node, SymbolDefinition::new(SymbolKind::Typedef, name, inside));
}

/// Reads `namespace A.B { … }` and `declare module "a" { … }`.
pub(super) fn module<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let kind = if name.kind() == "string" { SymbolKind::Module } else { SymbolKind::Namespace };
    let name = walk.text(name).trim_matches(['"', '\'']).to_owned();
    let inside = find(node, "body").map_or(SymbolBody::Nothing, SymbolBody::Members);
    walk.define(node, SymbolDefinition::new(kind, name, inside));
}

/// Reads a name that stands alone: in an enumeration it is a constant.
pub(super) fn enum_constant<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if walk.scope_kind() == Some(SymbolKind::Enum) {
        let name = walk.text(node).to_owned();
        walk.define(node, SymbolDefinition::new(SymbolKind::EnumMember, name, SymbolBody::Nothing));
    }
}

/// Reads a method; `constructor(private a: string)` declares fields too.
pub(super) fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    javascript_method(walk, node);
    if find(node, "name").is_none_or(|name| walk.text(name) != "constructor") {
        return;
    }
    for kind in [".required_parameter", ".optional_parameter"] {
        for parameter in find_all(node, &format!("parameters/{kind}")) {
            let is_field = [".accessibility_modifier", ".readonly", ".override_modifier"]
                .iter()
                .any(|modifier| find(parameter, modifier).is_some());
            if let Some(name) = find(parameter, "pattern").filter(|_| is_field) {
                let name = walk.text(name).to_owned();
                walk.define(parameter, SymbolDefinition::new(SymbolKind::Field, name, SymbolBody::Nothing));
            }
        }
    }
}

/// Reads `import a = b.c`.
pub(super) fn import_alias<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(name) = find(node, ".nested_identifier") {
        walk.add_import(walk.text(name));
    }
}
