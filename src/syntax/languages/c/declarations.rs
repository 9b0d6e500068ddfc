//! Declarations: variables, prototypes, fields and names for types.

use tree_sitter::Node;

use super::declarators::declared;
use super::declarators::spelled;
use super::functions::function_kind;
use super::functions::is_keyword;
use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::Field;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::skeleton::Cut;
use crate::syntax::walk::Scope;
use crate::syntax::walk::Walk;
use crate::syntax::walk::count_lines;

/// An initializer of more bytes than this is a table: its size is told, not its rows.
const LARGE_INITIALIZER: usize = 400;

/// Reads a declaration outside of functions: variables and prototypes, and a type that is defined on the way.
pub(in crate::syntax::languages) fn declaration<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    read_type(walk, node);
    for declarator in declarators(walk, node) {
        let Some(declared) = declared(walk, declarator) else {
            continue;
        };
        let spelled = spelled(walk, declared.name);
        if is_keyword(&spelled.name) {
            continue;
        }
        let is_in_type = walk.scope_kind().is_some_and(SymbolKind::is_type);
        let kind = match (declared.is_function, is_in_type) {
            (true, true) => function_kind(walk, &spelled.scope, &spelled.name),
            (true, false) => SymbolKind::Prototype,
            (false, true) => SymbolKind::Field,
            (false, false) => SymbolKind::Variable,
        };
        // `Foo::bar` in a declaration defines a static member, or befriends a function.
        let name = spelled.name;
        let qualified =
            if spelled.scope.is_empty() { name.clone() } else { format!("{}::{name}", spelled.scope) };
        push(walk, node, kind, name, &qualified, Vec::new());
        cut_initializer(walk, declarator);
    }
}

/// Reads the declaration of a type's fields or methods.
pub(in crate::syntax::languages) fn field_declaration<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let declarators = declarators(walk, node);
    let inner = walk.field(node, Field::Type).filter(|inner| walk.field(*inner, Field::Body).is_some());
    match inner {
        // The members of a nameless union or struct are members of what is around it.
        Some(inner) if declarators.is_empty() && walk.field(inner, Field::Name).is_none() => {
            walk.enter(inner);
        }
        Some(inner) if walk.field(inner, Field::Name).is_none() => {
            let Some(first) = declarators.first().and_then(|first| declared(walk, *first)) else {
                return;
            };
            let name = spelled(walk, first.name).name;
            let scope = Scope { name: name.clone(), kind: SymbolKind::Struct };
            let children = members(walk, inner, scope);
            push(walk, node, SymbolKind::Field, name.clone(), &name, children);
        }
        Some(_) | None => declaration(walk, node),
    }
}

/// Reads a `typedef`: its names, and a type that is defined on the way.
pub(in crate::syntax::languages) fn type_definition<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let inner = walk.field(node, Field::Type).filter(|inner| walk.field(*inner, Field::Body).is_some());
    let is_nameless = inner.is_some_and(|inner| walk.field(inner, Field::Name).is_none());
    if !is_nameless {
        read_type(walk, node);
    }
    for (at, declarator) in declarators(walk, node).into_iter().enumerate() {
        let Some(declared) = declared(walk, declarator) else {
            continue;
        };
        let name = spelled(walk, declared.name).name;
        let children = match inner {
            // The type has no other name, so this is where its members are found.
            Some(inner) if is_nameless && at == 0 => {
                members(walk, inner, Scope { name: name.clone(), kind: SymbolKind::Typedef })
            }
            Some(_) | None => Vec::new(),
        };
        push(walk, node, SymbolKind::Typedef, name.clone(), &name, children);
    }
}

fn members<'t>(walk: &mut Walk<'t>, specifier: Node<'t>, scope: Scope) -> Vec<Symbol> {
    match walk.field(specifier, Field::Body) {
        Some(body) => walk.inside(scope, body),
        None => Vec::new(),
    }
}

/// Visits the type of a declaration, where it is defined there and then.
fn read_type<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(specifier) = walk.field(node, Field::Type) else {
        return;
    };
    if walk.field(specifier, Field::Body).is_none() {
        return;
    }
    if let Some(crate::syntax::language::Visit::Read(read)) = walk.compiled.visit(specifier) {
        read(walk, specifier);
    }
}

fn declarators<'t>(walk: &Walk<'t>, node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let all = node.named_children(&mut cursor);
    let is_declarator = |child: &Node<'t>| {
        let kind = child.kind();
        kind.ends_with("declarator") || kind.ends_with("identifier") || kind.starts_with("operator_")
    };
    let specifier = walk.field(node, Field::Type);
    all.filter(is_declarator).filter(|child| Some(*child) != specifier).collect()
}

fn push<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    kind: SymbolKind,
    name: String,
    qualified: &str,
    children: Vec<Symbol>,
) {
    if name.is_empty() {
        return;
    }
    let range = walk.range(node);
    let symbol = Symbol {
        kind,
        qualified_name: walk.qualified(qualified),
        span: walk.span(node, range.end),
        signature: signature(walk, node),
        doc: walk.doc_above(),
        name,
        children,
    };
    walk.symbols.push(symbol);
}

/// Returns the declaration on one line, with `{…}` for the members of a type and without the values.
fn signature<'t>(walk: &Walk<'t>, node: Node<'t>) -> String {
    let range = walk.range(node);
    let body = walk.field(node, Field::Type).and_then(|specifier| walk.field(specifier, Field::Body));
    let initializer = child_of_kind(node, "init_declarator").and_then(|init| walk.field(init, Field::Value));
    let end = initializer.map_or(range.end, |value| walk.range(value).start);
    let line = match body {
        Some(body) if walk.range(body).end <= end => {
            let body = walk.range(body);
            let before = walk.head(node, range.start..body.start);
            format!("{before} {{…}} {}", walk.head(node, body.end..end))
        }
        Some(_) | None => walk.head(node, range.start..end),
    };
    line.trim_end_matches([';', ' ', '=']).to_owned()
}

fn cut_initializer<'t>(walk: &mut Walk<'t>, declarator: Node<'t>) {
    let Some(value) = walk.field(declarator, Field::Value) else {
        return;
    };
    let range = walk.range(value);
    if value.kind() != "initializer_list" || range.len() < LARGE_INITIALIZER {
        return;
    }
    let lines = walk.source.line(range.end - 1) - walk.source.line(range.start) + 1;
    let mark = format!("{{ /* {} */ }}", count_lines(lines as usize));
    walk.cuts.push(Cut::new(range, mark));
}
