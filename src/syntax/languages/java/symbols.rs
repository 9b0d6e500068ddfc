//! Java's fields, records, imports, modules and initializers.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::nodes::children;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::rule::find_first;
use crate::syntax::walk::OutlineWalk;

/// Reads a package's name, which tells nothing; the comment above it is about the file.
pub(super) fn package<'t>(_walk: &mut OutlineWalk<'t>, _node: Node<'t>) {}

/// Reads `import static a.b.C.*;`: `a.b.C.*`.
pub(super) fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(path) = find_first(node, &[".scoped_identifier", ".identifier"]) else { return };
    let path = walk.text(path);
    match find(node, ".asterisk") {
        Some(_) => walk.add_import(&format!("{path}.*")),
        None => walk.add_import(path),
    }
}

/// Reads what a module requires.
pub(super) fn requires<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(module) = find(node, "module") {
        walk.add_import(walk.text(module));
    }
}

/// Reads a field, or several of one declaration: what is static and final is a constant.
pub(super) fn field<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let modifiers = find(node, ".modifiers").map(children).unwrap_or_default();
    let has = |word: &str| modifiers.iter().any(|modifier| modifier.kind() == word);
    let is_constant = node.kind() == "constant_declaration" || (has("static") && has("final"));
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Field };
    for declarator in find_all(node, "declarator") {
        let Some(name) = find(declarator, "name") else { continue };
        let name = walk.text(name).to_owned();
        let inside = find(declarator, "value").map_or(SymbolBody::Nothing, SymbolBody::Value);
        walk.define(node, SymbolDefinition::new(kind, name, inside));
    }
}

/// Reads a record: what it is made of are its fields.
pub(super) fn record<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = walk.text(name).to_owned();
    let inside = find(node, "body").map_or(SymbolBody::Nothing, SymbolBody::Members);
    walk.define(node, SymbolDefinition::new(SymbolKind::Class, name, inside));
    if let Some(parameters) = find(node, "parameters") {
        walk.define_leading_members(parameters);
    }
}

/// Takes the code out that runs when a class or an object is made.
pub(super) fn initializer<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let body = if node.kind() == "block" { Some(node) } else { child_of_kind(node, "block") };
    if let Some(body) = body {
        walk.cut_code(body);
    }
}
