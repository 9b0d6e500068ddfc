//! Namespaces, aliases and concepts.

use tree_sitter::Node;

use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::Field;
use crate::syntax::walk::Scope;
use crate::syntax::walk::Walk;

/// Reads a namespace; one without a name lends its symbols to what is around it.
pub(super) fn namespace<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(body) = walk.field(node, Field::Body) else {
        return;
    };
    let Some(name) = walk.field(node, Field::Name) else {
        walk.enter(body);
        return;
    };
    let name: String = walk.text(name).split_whitespace().collect();
    let mut symbol = symbol(walk, node, SymbolKind::Namespace, name.clone());
    symbol.signature = format!("namespace {name}");
    symbol.children = walk.inside(Scope { name, kind: SymbolKind::Namespace }, body);
    walk.symbols.push(symbol);
}

/// Reads `using Name = …;` or `concept Name = …;`.
pub(super) fn alias<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(name) = walk.field(node, Field::Name) else {
        return;
    };
    let name = walk.text(name).to_owned();
    let symbol = symbol(walk, node, SymbolKind::Typedef, name);
    walk.symbols.push(symbol);
}

fn symbol<'t>(walk: &Walk<'t>, node: Node<'t>, kind: SymbolKind, name: String) -> Symbol {
    let range = walk.range(node);
    Symbol {
        kind,
        qualified_name: walk.qualified(&name),
        span: walk.span(node, range.end),
        signature: walk.head(node, range).trim_end_matches([';', ' ']).to_owned(),
        doc: walk.doc_above(),
        name,
        children: Vec::new(),
    }
}
