//! What PHP's files draw in, and the namespaces that they are in.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::rule::find_first;
use crate::syntax::walk::NamedScope;
use crate::syntax::walk::OutlineWalk;

/// Reads `declare(strict_types=1)`, which tells nothing; the comment above it is about the file.
pub(super) fn declare<'t>(_walk: &mut OutlineWalk<'t>, _node: Node<'t>) {}

/// Reads `namespace A\B { … }`, and `namespace A\B;`, in which all is that follows up to the next one.
pub(super) fn namespace<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let body = find(node, "body");
    // One ends where the next begins.
    if walk.scopes.iter().all(|scope| scope.kind == SymbolKind::Namespace) {
        walk.scopes.clear();
    }
    if let Some(name) = find(node, "name") {
        let (head_end, name) = (walk.range(name).end, walk.text(name).to_owned());
        let definition = SymbolDefinition::new(SymbolKind::Namespace, name, SymbolBody::Nothing);
        walk.define(node, definition.with_signature_end(head_end));
    }
    // What is in it is joined to it by another sign than members to their class.
    let name = find(node, "name").map_or(String::new(), |name| format!("{}\\", walk.text(name)));
    let scope = NamedScope { name, kind: SymbolKind::Namespace };
    let Some(body) = body else {
        if walk.scopes.is_empty() {
            walk.scopes.push(scope);
        }
        return;
    };
    let within = walk.visit_scope(scope, body);
    match walk.symbols.last_mut() {
        Some(namespace) if find(node, "name").is_some() => namespace.children = within,
        Some(_) | None => walk.symbols.extend(within),
    }
}

/// Reads `use A\B as C, D;` and `use A\{B, C};`.
pub(super) fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    for clause in find_all(node, ".namespace_use_clause") {
        if let Some(name) = find_first(clause, &[".qualified_name", ".name"]) {
            walk.add_import(walk.text(name).trim_start_matches('\\'));
        }
    }
    let prefix = find(node, ".namespace_name").map_or("", |prefix| walk.text(prefix));
    for clause in find_all(node, "body/.namespace_use_clause") {
        if let Some(name) = find_first(clause, &[".qualified_name", ".namespace_name", ".name"]) {
            walk.add_import(&format!("{prefix}\\{}", walk.text(name)));
        }
    }
}
