//! What stands in PHP's classes.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::rule::find_first;
use crate::syntax::walk::OutlineWalk;

/// Reads a method; a constructor's parameters may declare properties.
pub(super) fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = walk.text(name).to_owned();
    let kind = match name.to_ascii_lowercase().as_str() {
        "__construct" => SymbolKind::Constructor,
        "__destruct" => SymbolKind::Destructor,
        _ => SymbolKind::Method,
    };
    let inside = find(node, "body").map_or(SymbolBody::Nothing, SymbolBody::Code);
    walk.define(node, SymbolDefinition::new(kind, name, inside));
    for parameter in find_all(node, "parameters/.property_promotion_parameter") {
        let Some(name) = find_first(parameter, &["name/.variable_name", "name"]) else { continue };
        let name = walk.text(name).to_owned();
        let hooks = find(parameter, ".property_hook_list");
        define_property(walk, parameter, name, hooks, SymbolBody::Nothing);
    }
}

/// Reads `public int $a = 1, $b;` and `public int $a { get => 1; }`.
pub(super) fn property<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let hooks = find(node, ".property_hook_list");
    for element in find_all(node, ".property_element") {
        let Some(name) = find(element, "name") else { continue };
        let name = walk.text(name).to_owned();
        let value = find(element, "default_value").map_or(SymbolBody::Nothing, SymbolBody::Value);
        define_property(walk, node, name, hooks, value);
    }
}

fn define_property<'t>(
    walk: &mut OutlineWalk<'t>,
    node: Node<'t>,
    name: String,
    hooks: Option<Node<'t>>,
    inside: SymbolBody<'t>,
) {
    let kind = if hooks.is_some() { SymbolKind::Property } else { SymbolKind::Field };
    let mut definition = SymbolDefinition::new(kind, name, inside);
    if let Some(hooks) = hooks {
        definition = definition.with_signature_end(walk.range(hooks).start);
        for body in find_all(hooks, ".property_hook").into_iter().filter_map(|hook| find(hook, "body")) {
            if body.kind() == "compound_statement" {
                walk.cut_code(body);
            }
        }
    }
    walk.define(node, definition);
}
