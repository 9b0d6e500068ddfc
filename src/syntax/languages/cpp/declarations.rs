//! Namespaces, aliases and concepts.

use tree_sitter::Node;

use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::GrammarField;
use crate::syntax::languages::c::declaration;
use crate::syntax::walk::NamedScope;
use crate::syntax::walk::OutlineWalk;

/// Reads a namespace; one without a name lends its symbols to what is around it.
pub(super) fn namespace<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(body) = walk.field(node, GrammarField::Body) else {
        return;
    };
    let Some(name) = walk.field(node, GrammarField::Name) else {
        walk.visit_children(body);
        return;
    };
    let name = namespace_name(walk.text(name));
    let mut symbol = symbol(walk, node, SymbolKind::Namespace, name.clone());
    symbol.signature = walk.signature_text(node, walk.range(node).start..walk.range(body).start);
    symbol.children = walk.visit_scope(NamedScope { name, kind: SymbolKind::Namespace }, body);
    walk.add_symbol(symbol);
}

/// Returns `a::b` for `a :: inline b`.
fn namespace_name(text: &str) -> String {
    let parts = text.split("::").map(|part| part.trim().trim_start_matches("inline ").trim());
    parts.collect::<Vec<_>>().join("::")
}

/// Reads `friend …`: a function that is declared in a class and is not of it, but of what is around it.
pub(super) fn friend<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let class = walk.scopes.pop();
    walk.visit_wrapped(node);
    walk.scopes.extend(class);
}

/// Reads a declaration; `import name;` looks like one to the grammar.
pub(super) fn declaration_or_import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let is_import = walk.field(node, GrammarField::Type).is_some_and(|first| walk.text(first) == "import");
    match walk.field(node, GrammarField::Declarator) {
        Some(name) if is_import => walk.add_import(walk.text(name)),
        Some(_) | None => declaration(walk, node),
    }
}

/// Reads `using Name = …;` or `concept Name = …;`.
pub(super) fn alias<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.field(node, GrammarField::Name) else {
        return;
    };
    let name = walk.text(name).to_owned();
    let symbol = symbol(walk, node, SymbolKind::Typedef, name);
    walk.add_symbol(symbol);
}

fn symbol<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind, name: String) -> Symbol {
    let range = walk.range(node);
    Symbol {
        kind,
        qualified_name: walk.qualified(&name),
        span: walk.span(node, range.end),
        signature: walk.signature_up_to(node, range.end).trim_end_matches([';', ' ']).to_owned(),
        doc: walk.preceding_doc(),
        name,
        recovered: false,
        children: Vec::new(),
    }
}
