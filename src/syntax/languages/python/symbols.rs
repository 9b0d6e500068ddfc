//! Python's classes, functions, constants, imports and docstrings.

use tree_sitter::Node;

use super::docstrings::docstring;
use super::skeleton::cut_body;
use super::skeleton::cut_literals;
use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::GrammarField;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::nodes::children;
use crate::syntax::nodes::end_without_comments;
use crate::syntax::walk::NamedScope;
use crate::syntax::walk::OutlineWalk;

/// Reads a module: its docstring.
pub(super) fn module<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    walk.doc = docstring(walk, node);
}

/// Reads a class.
pub(super) fn class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(mut symbol) = definition(walk, node, SymbolKind::Class) else {
        return;
    };
    if let Some(body) = walk.field(node, GrammarField::Body) {
        symbol.doc = docstring(walk, body);
        let scope = NamedScope { name: symbol.name.clone(), kind: SymbolKind::Class };
        symbol.children = walk.visit_scope(scope, body);
    }
    walk.add_symbol(symbol);
}

/// Reads a function or a method; its body is not looked into.
pub(super) fn function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let is_method = walk.scope_kind() == Some(SymbolKind::Class);
    let kind = if is_method { SymbolKind::Method } else { SymbolKind::Function };
    let Some(mut symbol) = definition(walk, node, kind) else {
        return;
    };
    if let Some(body) = walk.field(node, GrammarField::Body) {
        symbol.doc = docstring(walk, body);
        if !is_hot(walk, node, body) {
            cut_body(walk, node, body);
        }
    }
    walk.add_symbol(symbol);
}

/// Reads an assignment of constants: a name in capitals, or one like `__all__`; each of `A = B = 1`.
pub(super) fn assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    cut_literals(walk, node);
    let mut next = child_of_kind(node, "assignment").filter(|_| walk.scopes.is_empty());
    while let Some(assignment) = next {
        let left = walk.field(assignment, GrammarField::Left).filter(|left| left.kind() == "identifier");
        if let Some(name) = left.map(|left| walk.text(left)).filter(|name| is_constant(name)) {
            add_statement_symbol(walk, node, SymbolKind::Constant, name);
        }
        next = child_of_kind(assignment, "assignment");
    }
}

/// Reads `type Name[T] = …`.
pub(super) fn type_alias<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let left = walk.field(node, GrammarField::Left).and_then(first_identifier);
    if let Some(name) = left.map(|left| walk.text(left)) {
        add_statement_symbol(walk, node, SymbolKind::Typedef, name);
    }
}

/// Returns the name in `Name`, or in `Name[T]`.
fn first_identifier(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    while node.kind() != "identifier" {
        node = node.named_child(0)?;
    }
    Some(node)
}

/// Adds a symbol that a whole statement makes.
fn add_statement_symbol<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind, name: &str) {
    let range = walk.range(node);
    let symbol = Symbol {
        kind,
        name: name.to_owned(),
        qualified_name: walk.qualified(name),
        span: walk.span(node, range.end),
        signature: walk.signature_text(node, range),
        doc: walk.preceding_doc(),
        recovered: false,
        children: Vec::new(),
    };
    walk.add_symbol(symbol);
}

/// Reads `import a, b.c as d`.
pub(super) fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    for name in children(node).into_iter().filter(tree_sitter::Node::is_named) {
        let name = walk.field(name, GrammarField::Name).unwrap_or(name);
        if name.kind() == "dotted_name" {
            walk.add_import(walk.text(name));
        }
    }
}

/// Reads `from __future__ import b`.
pub(super) fn import_future<'t>(walk: &mut OutlineWalk<'t>, _node: Node<'t>) {
    walk.add_import("__future__");
}

/// Reads `from a import b`.
pub(super) fn import_from<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(name) = walk.field(node, GrammarField::ModuleName) {
        walk.add_import(walk.text(name));
    }
}

fn definition<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind) -> Option<Symbol> {
    let name = walk.text(walk.field(node, GrammarField::Name)?);
    let body = walk.field(node, GrammarField::Body);
    let range = walk.range(node);
    let head_end = body.map_or(range.end, |body| walk.range(body).start);
    let head = walk.signature_text(node, range.start..head_end);
    let end = walk.source.original_end(end_without_comments(node));
    Some(Symbol {
        kind,
        name: name.to_owned(),
        qualified_name: walk.qualified(name),
        span: walk.span(node, end),
        signature: head.trim_end().trim_end_matches(':').trim_end().to_owned(),
        doc: None,
        recovered: false,
        children: Vec::new(),
    })
}

fn is_constant(name: &str) -> bool {
    let is_capitals = name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
    is_capitals || (name.starts_with("__") && name.ends_with("__"))
}

/// Says whether the author asked for the body to be kept: `# [HOT]` above the head, in it or first in the body, or a
/// decorator named `core_logic`.
fn is_hot<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, body: Node<'t>) -> bool {
    let start = walk.start_with_prefix(node);
    let head = walk.source.text(start..walk.range(body).start);
    let above = walk.preceding_comment();
    let first_line = walk.source.line_suffix(walk.range(body).start);
    let has_mark = |text: &str| text.contains("# [HOT]") || text.contains("#[HOT]");
    let is_decorated = head.lines().map(str::trim).any(|line| {
        let name = line.strip_prefix('@').and_then(|rest| rest.split(['(', ' ', '#']).next());
        name.is_some_and(|name| name.rsplit('.').next() == Some("core_logic"))
    });
    has_mark(above) || has_mark(head) || (first_line.starts_with('#') && has_mark(first_line)) || is_decorated
}
