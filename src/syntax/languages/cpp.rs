//! C++: what it has beyond C.

use tree_sitter::Node;

use super::c::{C_NODES, cut_synthesized, declaration, type_specifier};
use crate::model::{Symbol, SymbolKind};
use crate::syntax::outline::{GrammarField, Language, NamedScope, NodeTable, OutlineWalk, Visit};

/// C++, up to what the grammar knows of C++20.
pub(super) static CPP: Language = Language {
    separator: "::",
    cuts_detached_comments: true,
    has_overloads: true,
    preprocess: Some(crate::syntax::preprocess::preprocess_cpp),
    cut_synthesized: Some(cut_synthesized),
    ..Language::new("cpp", tree_sitter_cpp::LANGUAGE, "tree-sitter-cpp 0.23.4", &[NODES, C_NODES])
};

/// The nodes that C does not have, or that mean more here.
const NODES: NodeTable = &[
    ("template_declaration", Visit::Wrapper),
    ("namespace_definition", Visit::Read(namespace)),
    ("alias_declaration", Visit::Read(alias)),
    ("concept_definition", Visit::Read(alias)),
    ("declaration", Visit::Read(declaration_or_import)),
    ("class_specifier", Visit::Read(type_specifier)),
    ("friend_declaration", Visit::Read(friend)),
    // `public:` in a class that the grammar takes for a function.
    ("labeled_statement", Visit::Enter),
];

/// Reads a namespace; the symbols of one without a name belong to the scope around it.
fn namespace<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
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

/// Reads `friend …`: a function that is declared in a class and belongs to the scope around the class.
fn friend<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let class = walk.scopes.pop();
    walk.visit_wrapped(node);
    walk.scopes.extend(class);
}

/// Reads a declaration; `import name;` looks like one to the grammar.
fn declaration_or_import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let is_import = walk.field(node, GrammarField::Type).is_some_and(|first| walk.text(first) == "import");
    match walk.field(node, GrammarField::Declarator) {
        Some(name) if is_import => walk.add_import(walk.text(name)),
        Some(_) | None => declaration(walk, node),
    }
}

/// Reads `using Name = …;` or `concept Name = …;`.
fn alias<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
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
