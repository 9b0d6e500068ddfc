//! Namespaces, aliases and concepts.

use tree_sitter::Node;

use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::Field;
use crate::syntax::languages::c::declaration;
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
    let name = namespace_name(walk.text(name));
    let mut symbol = symbol(walk, node, SymbolKind::Namespace, name.clone());
    symbol.signature = walk.head(node, walk.range(node).start..walk.range(body).start);
    symbol.children = walk.inside(Scope { name, kind: SymbolKind::Namespace }, body);
    walk.add(symbol);
}

/// Returns `a::b` for `a :: inline b`.
fn namespace_name(text: &str) -> String {
    let parts = text.split("::").map(|part| part.trim().trim_start_matches("inline ").trim());
    parts.collect::<Vec<_>>().join("::")
}

/// Reads `friend …`: a function that is declared in a class and is not of it, but of what is around it.
pub(super) fn befriended<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let class = walk.scopes.pop();
    walk.unwrap(node);
    walk.scopes.extend(class);
}

/// Reads a declaration; `import name;` looks like one to the grammar.
pub(super) fn declaration_or_import<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let is_import = walk.field(node, Field::Type).is_some_and(|first| walk.text(first) == "import");
    match walk.field(node, Field::Declarator) {
        Some(name) if is_import => walk.import(walk.text(name)),
        Some(_) | None => declaration(walk, node),
    }
}

/// Reads `using Name = …;` or `concept Name = …;`.
pub(super) fn alias<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(name) = walk.field(node, Field::Name) else {
        return;
    };
    let name = walk.text(name).to_owned();
    let symbol = symbol(walk, node, SymbolKind::Typedef, name);
    walk.add(symbol);
}

fn symbol<'t>(walk: &Walk<'t>, node: Node<'t>, kind: SymbolKind, name: String) -> Symbol {
    let range = walk.range(node);
    Symbol {
        kind,
        qualified_name: walk.qualified(&name),
        span: walk.span(node, range.end),
        signature: walk.whole_head(node, range.end).trim_end_matches([';', ' ']).to_owned(),
        doc: walk.doc_above(),
        name,
        recovered: false,
        children: Vec::new(),
    }
}
