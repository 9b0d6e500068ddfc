//! Python's classes, functions, constants, imports and docstrings.

use tree_sitter::Node;

use super::docstrings::docstring;
use super::skeleton::cut_body;
use super::skeleton::cut_literals;
use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::Field;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::nodes::children;
use crate::syntax::nodes::end_without_comments;
use crate::syntax::walk::Scope;
use crate::syntax::walk::Walk;

/// Reads a module: its docstring.
pub(super) fn module<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    walk.doc = docstring(walk, node);
}

/// Reads a class.
pub(super) fn class<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(mut symbol) = definition(walk, node, SymbolKind::Class) else {
        return;
    };
    if let Some(body) = walk.field(node, Field::Body) {
        symbol.doc = docstring(walk, body);
        let scope = Scope { name: symbol.name.clone(), kind: SymbolKind::Class };
        symbol.children = walk.inside(scope, body);
    }
    walk.add(symbol);
}

/// Reads a function or a method; its body is not looked into.
pub(super) fn function<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let is_method = walk.scope_kind() == Some(SymbolKind::Class);
    let kind = if is_method { SymbolKind::Method } else { SymbolKind::Function };
    let Some(mut symbol) = definition(walk, node, kind) else {
        return;
    };
    if let Some(body) = walk.field(node, Field::Body) {
        symbol.doc = docstring(walk, body);
        if !is_hot(walk, node, body) {
            cut_body(walk, node, body);
        }
    }
    walk.add(symbol);
}

/// Reads an assignment of constants: a name in capitals, or one like `__all__`; each of `A = B = 1`.
pub(super) fn assignment<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    cut_literals(walk, node);
    let mut next = child_of_kind(node, "assignment").filter(|_| walk.scopes.is_empty());
    while let Some(assignment) = next {
        let left = walk.field(assignment, Field::Left).filter(|left| left.kind() == "identifier");
        if let Some(name) = left.map(|left| walk.text(left)).filter(|name| is_constant(name)) {
            statement(walk, node, SymbolKind::Constant, name);
        }
        next = child_of_kind(assignment, "assignment");
    }
}

/// Reads `type Name[T] = …`.
pub(super) fn type_alias<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let left = walk.field(node, Field::Left).and_then(first_identifier);
    if let Some(name) = left.map(|left| walk.text(left)) {
        statement(walk, node, SymbolKind::Typedef, name);
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
fn statement<'t>(walk: &mut Walk<'t>, node: Node<'t>, kind: SymbolKind, name: &str) {
    let range = walk.range(node);
    let symbol = Symbol {
        kind,
        name: name.to_owned(),
        qualified_name: walk.qualified(name),
        span: walk.span(node, range.end),
        signature: walk.head(node, range),
        doc: walk.doc_above(),
        recovered: false,
        children: Vec::new(),
    };
    walk.add(symbol);
}

/// Reads `import a, b.c as d`.
pub(super) fn import<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    for name in children(node).into_iter().filter(tree_sitter::Node::is_named) {
        let name = walk.field(name, Field::Name).unwrap_or(name);
        if name.kind() == "dotted_name" {
            walk.import(walk.text(name));
        }
    }
}

/// Reads `from __future__ import b`.
pub(super) fn import_future<'t>(walk: &mut Walk<'t>, _node: Node<'t>) {
    walk.import("__future__");
}

/// Reads `from a import b`.
pub(super) fn import_from<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    if let Some(name) = walk.field(node, Field::ModuleName) {
        walk.import(walk.text(name));
    }
}

fn definition<'t>(walk: &Walk<'t>, node: Node<'t>, kind: SymbolKind) -> Option<Symbol> {
    let name = walk.text(walk.field(node, Field::Name)?);
    let body = walk.field(node, Field::Body);
    let range = walk.range(node);
    let head_end = body.map_or(range.end, |body| walk.range(body).start);
    let head = walk.head(node, range.start..head_end);
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
fn is_hot<'t>(walk: &Walk<'t>, node: Node<'t>, body: Node<'t>) -> bool {
    let start = walk.start(node);
    let head = walk.source.text(start..walk.range(body).start);
    let above = walk.comment_above();
    let first_line = walk.source.after_on_line(walk.range(body).start);
    let has_mark = |text: &str| text.contains("# [HOT]") || text.contains("#[HOT]");
    let is_decorated = head.lines().map(str::trim).any(|line| {
        let name = line.strip_prefix('@').and_then(|rest| rest.split(['(', ' ', '#']).next());
        name.is_some_and(|name| name.rsplit('.').next() == Some("core_logic"))
    });
    has_mark(above) || has_mark(head) || (first_line.starts_with('#') && has_mark(first_line)) || is_decorated
}
