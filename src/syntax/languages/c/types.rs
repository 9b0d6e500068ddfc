//! Types that have members: structs, unions, classes and enumerations.

use tree_sitter::Node;

use super::declarators::spelled;
use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::Field;
use crate::syntax::walk::Scope;
use crate::syntax::walk::Walk;

/// Reads a struct, a union or a class that is defined here; one that is only named is no symbol.
pub(in crate::syntax::languages) fn record<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(body) = walk.field(node, Field::Body) else {
        return;
    };
    let kind = match node.kind() {
        "union_specifier" => SymbolKind::Union,
        "class_specifier" => SymbolKind::Class,
        _ => SymbolKind::Struct,
    };
    define(walk, node, body, kind);
}

/// Reads an enumeration that is defined here.
pub(in crate::syntax::languages) fn enum_specifier<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    if let Some(body) = walk.field(node, Field::Body) {
        define(walk, node, body, SymbolKind::Enum);
    }
}

fn define<'t>(walk: &mut Walk<'t>, node: Node<'t>, body: Node<'t>, kind: SymbolKind) {
    let Some(name) = walk.field(node, Field::Name) else {
        // What has no name cannot be asked for; its members can.
        walk.enter(body);
        return;
    };
    let spelled = spelled(walk, name);
    let full = if spelled.scope.is_empty() {
        spelled.name.clone()
    } else {
        format!("{}::{}", spelled.scope, spelled.name)
    };
    let range = walk.range(node);
    let signature = walk.head(node, range.start..walk.range(body).start);
    let doc = walk.doc_above();
    let qualified_name = walk.qualified(&full);
    let span = walk.span(node, range.end);
    let children = walk.inside(Scope { name: full, kind }, body);
    walk.symbols.push(Symbol { kind, name: spelled.name, qualified_name, span, signature, doc, children });
}

/// Reads a constant of an enumeration.
pub(in crate::syntax::languages) fn enumerator<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(name) = walk.field(node, Field::Name) else {
        return;
    };
    let name = walk.text(name).to_owned();
    let range = walk.range(node);
    let symbol = Symbol {
        kind: SymbolKind::EnumMember,
        qualified_name: walk.qualified(&name),
        span: walk.span(node, range.end),
        signature: walk.head(node, range),
        doc: walk.doc_above(),
        name,
        children: Vec::new(),
    };
    walk.symbols.push(symbol);
}
