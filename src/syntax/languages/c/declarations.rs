//! Declarations: variables, prototypes, fields, typedefs, and types with members.

use std::ops::Range;

use tree_sitter::Node;

use super::declarators::{
    DeclaredName, SpelledName, function_kind, is_keyword, lost_member_pointer, resolve_declarator,
    spelled_name,
};
use crate::model::{Symbol, SymbolKind};
use crate::syntax::outline::{GrammarField, NamedScope, OutlineWalk, Visit};
use crate::syntax::text::{documentation, format_line_count};

/// An initializer of more bytes than this is a table: its size is shown, not its rows.
const LARGE_INITIALIZER: usize = 400;

/// A declaration of more names than this is not hand-written, and its further names are ignored: each would repeat the
/// type and the doc of all of them.
const MAX_NAMES: usize = 1000;

/// One of the names of a declaration.
struct DeclaratorNode<'t> {
    node: Node<'t>,
    /// Where its text ends: at the comma or the semicolon after it, in the original.
    end: usize,
}

/// Reads a declaration: variables, prototypes and fields, and a type that is defined in it.
pub(super) fn declaration<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let before = walk.symbols.len();
    let declarators = declarators(walk, node);
    let members = match nameless_record(walk, node) {
        // The members of a nameless union or struct are members of what is around it.
        Some(record) if declarators.is_empty() => {
            walk.visit_children(record);
            Vec::new()
        }
        Some(record) => members_of_first(walk, &declarators, record, SymbolKind::Struct),
        None => {
            visit_defined_type(walk, node);
            Vec::new()
        }
    };
    for declarator in &declarators {
        cut_large_initializer(walk, declarator.node);
    }
    add_declared_symbols(walk, node, declarators, members, |walk, declared, spelled| {
        let is_in_type = walk.scope_kind().is_some_and(SymbolKind::is_type);
        match (declared.is_function, is_in_type) {
            (true, true) => function_kind(walk, &spelled.scope, &spelled.name),
            (true, false) => SymbolKind::Prototype,
            (false, true) => SymbolKind::Field,
            (false, false) => SymbolKind::Variable,
        }
    });
    // In `enum { A } a;` the variable begins before the constant does.
    walk.symbols[before..].sort_by_key(|symbol| symbol.span.start_byte);
}

/// Reads a `typedef`: its names, and a type that is defined in it.
pub(super) fn type_definition<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let declarators = declarators(walk, node);
    let nameless = defined_type(walk, node).filter(|inner| walk.field(*inner, GrammarField::Name).is_none());
    // The type has no other name, so this is where its members are found.
    let members =
        nameless.map(|specifier| members_of_first(walk, &declarators, specifier, SymbolKind::Typedef));
    if members.is_none() {
        visit_defined_type(walk, node);
    }
    add_declared_symbols(walk, node, declarators, members.unwrap_or_default(), |_, _, _| SymbolKind::Typedef);
}

/// Adds a symbol for each name of a declaration; the first one has the members.
fn add_declared_symbols<'t>(
    walk: &mut OutlineWalk<'t>,
    node: Node<'t>,
    declarators: Vec<DeclaratorNode<'t>>,
    mut members: Vec<Symbol>,
    kind_of: impl Fn(&OutlineWalk<'t>, &DeclaredName<'t>, &SpelledName) -> SymbolKind,
) {
    let Some(first) = declarators.first() else { return };
    let doc = walk.preceding_doc();
    let head = type_head(walk, node, first.node);
    let span = walk.span(node, walk.range(node).end);
    let lost_name = lost_member_pointer(walk, node);
    for declarator in declarators {
        let Some(declared) = resolve_declarator(walk, declarator.node) else { continue };
        let spelled = spelled_name(walk, lost_name.unwrap_or(declared.name));
        if spelled.name.is_empty() || is_keyword(&spelled.name) {
            continue;
        }
        let symbol = Symbol {
            kind: kind_of(walk, &declared, &spelled),
            qualified_name: walk.qualified(&spelled.full()),
            span,
            signature: signature(walk, &head, &declarator),
            doc: trailing_comment_doc(walk, &declarator).or_else(|| doc.clone()),
            name: spelled.name,
            recovered: false,
            children: std::mem::take(&mut members),
        };
        walk.add_symbol(symbol);
    }
}

fn declarators<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> Vec<DeclaratorNode<'t>> {
    let mut found: Vec<DeclaratorNode<'t>> = Vec::new();
    let mut is_open = false;
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    while more {
        let child = cursor.node();
        if walk.compiled.is_field(cursor.field_id(), GrammarField::Declarator) && child.is_named() {
            if found.len() == MAX_NAMES {
                break;
            }
            found.push(DeclaratorNode { node: child, end: walk.range(node).end });
            is_open = true;
        } else if let (true, "," | ";", Some(last)) = (is_open, child.kind(), found.last_mut()) {
            last.end = walk.range(child).start;
            is_open = false;
        }
        more = cursor.goto_next_sibling();
    }
    found
}

/// Returns what specifies the type of a declaration, if it is defined there.
pub(super) fn defined_type<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> Option<Node<'t>> {
    walk.field(node, GrammarField::Type).filter(|inner| walk.field(*inner, GrammarField::Body).is_some())
}

/// Returns the struct, union or class without a name that a declaration defines.
fn nameless_record<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> Option<Node<'t>> {
    // The constants of an enumeration belong to what is around it, whatever is declared with it.
    defined_type(walk, node)
        .filter(|inner| inner.kind() != "enum_specifier" && walk.field(*inner, GrammarField::Name).is_none())
}

fn members_of_first<'t>(
    walk: &mut OutlineWalk<'t>,
    declarators: &[DeclaratorNode<'t>],
    specifier: Node<'t>,
    kind: SymbolKind,
) -> Vec<Symbol> {
    let first = declarators.first().and_then(|first| resolve_declarator(walk, first.node));
    let (Some(first), Some(body)) = (first, walk.field(specifier, GrammarField::Body)) else {
        return Vec::new();
    };
    let name = spelled_name(walk, first.name).name;
    walk.visit_scope(NamedScope { name, kind }, body)
}

/// Visits the type of a declaration, if it is defined there.
fn visit_defined_type<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(specifier) = defined_type(walk, node) else { return };
    let Some(Visit::Read(read)) = walk.compiled.visit(specifier) else { return };
    let at = walk.symbols.len();
    read(walk, specifier);
    let whole = walk.span(node, walk.range(node).end);
    if let Some(defined) = walk.symbols.get_mut(at).filter(|defined| defined.kind.is_type()) {
        // `typedef struct node {…}` without the rest defines nothing.
        defined.span = whole;
    }
}

/// Returns what precedes the first name of a declaration, with `{…}` for the members of a type.
fn type_head<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, first: Node<'t>) -> String {
    let end = walk.range(first).start;
    let body = defined_type(walk, node).and_then(|specifier| walk.field(specifier, GrammarField::Body));
    match body.map(|body| walk.range(body)) {
        Some(body) if body.end <= end => {
            let after = walk.signature_text(node, body.end..end);
            let space = if after.is_empty() { "" } else { " " };
            format!("{} {{…}}{space}{after}", walk.signature_up_to(node, body.start))
        }
        Some(_) | None => walk.signature_up_to(node, end),
    }
}

/// Returns one name's declaration on one line, without the value.
fn signature<'t>(walk: &OutlineWalk<'t>, head: &str, declarator: &DeclaratorNode<'t>) -> String {
    let range = walk.range(declarator.node);
    let end = match walk.field(declarator.node, GrammarField::Value) {
        Some(value) if declarator.node.kind() == "init_declarator" => walk.range(value).start,
        Some(_) | None => declarator.end.max(range.end),
    };
    let own = walk.signature_text(declarator.node, range.start..end);
    // `int* p` keeps the style of its author.
    let is_glued = own.starts_with(['*', '&']) && walk.source.text(0..range.start).ends_with(is_sign);
    let space = if head.is_empty() || is_glued { "" } else { " " };
    format!("{head}{space}{}", own.trim_end_matches([';', ' ', '=']))
}

/// Returns the doc in a comment at the end of the line of a name that others follow: `int a, // the first`.
fn trailing_comment_doc(walk: &OutlineWalk<'_>, declarator: &DeclaratorNode<'_>) -> Option<String> {
    let rest_of_line = walk.source.line_suffix(declarator.end).trim().strip_prefix(',')?.trim_start();
    let ends_line = rest_of_line.starts_with("//")
        || rest_of_line
            .strip_prefix("/*")
            .is_some_and(|rest| rest.find("*/") == Some(rest.len().saturating_sub(2)));
    // Asked last: what follows on the line may be a thousand names.
    if ends_line { documentation(rest_of_line) } else { None }
}

fn is_sign(c: char) -> bool {
    !c.is_whitespace() && c != ','
}

fn cut_large_initializer<'t>(walk: &mut OutlineWalk<'t>, declarator: Node<'t>) {
    let value =
        walk.field(declarator, GrammarField::Value).filter(|value| value.kind() == "initializer_list");
    if let Some(value) = value {
        cut_initializer(walk, walk.range(value));
    }
}

/// Cuts the rows of a table.
pub(super) fn cut_initializer(walk: &mut OutlineWalk<'_>, range: Range<usize>) {
    if range.len() < LARGE_INITIALIZER {
        return;
    }
    let lines = walk.source.line(range.end - 1) - walk.source.line(range.start) + 1;
    let mark = format!("{{ /* {} */ }}", format_line_count(lines as usize));
    walk.cut_where_understood(range, mark);
}

/// Reads a struct, union, class or enumeration that is defined here; one that is only named is not a symbol.
pub(super) fn type_specifier<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(body) = walk.field(node, GrammarField::Body) else { return };
    let Some(kind) = type_kind(node) else { return };
    let Some(name) = walk.field(node, GrammarField::Name) else {
        // A type without a name cannot be requested; its members can.
        walk.visit_children(body);
        return;
    };
    let spelled = spelled_name(walk, name);
    let full = spelled.full();
    add_type(walk, node, body, kind, spelled.name, full);
}

fn add_type<'t>(
    walk: &mut OutlineWalk<'t>,
    node: Node<'t>,
    body: Node<'t>,
    kind: SymbolKind,
    name: String,
    full: String,
) {
    let signature = walk.signature_up_to(node, walk.range(body).start);
    let mut symbol = walk.symbol(node, walk.range(node).end, kind, name, &full, signature);
    symbol.children = walk.visit_scope(NamedScope { name: full, kind }, body);
    walk.add_symbol(symbol);
}

/// Reads `class MACRO Name : Base { … }`, which the grammar takes for a function whose type is `class MACRO`. What it
/// understands of the members is in the outline; nothing is cut but the bodies of methods.
pub(super) fn read_macro_class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(specifier), Some(body)) =
        (walk.field(node, GrammarField::Type), walk.field(node, GrammarField::Body))
    else {
        return;
    };
    let Some(kind) = type_kind(specifier) else { return };
    let head = walk.signature_text(node, walk.range(specifier).end..walk.range(body).start);
    if let Some(name) = name_before_bases(&head) {
        add_type(walk, node, body, kind, name.to_owned(), name.to_owned());
    }
}

/// Returns the last name before the `:` of the base classes.
fn name_before_bases(head: &str) -> Option<&str> {
    let own = head.split(':').next().unwrap_or(head);
    let mut words = own.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.rfind(|word| *word != "final" && !word.starts_with(|c: char| c.is_ascii_digit()))
}

fn type_kind(specifier: Node<'_>) -> Option<SymbolKind> {
    match specifier.kind() {
        "class_specifier" => Some(SymbolKind::Class),
        "enum_specifier" => Some(SymbolKind::Enum),
        "struct_specifier" => Some(SymbolKind::Struct),
        "union_specifier" => Some(SymbolKind::Union),
        _ => None,
    }
}

/// Reads a constant of an enumeration.
pub(super) fn enumerator<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.field(node, GrammarField::Name).map(|name| walk.text(name)) else { return };
    let range = walk.range(node);
    let signature = walk.signature_text(node, range.clone());
    let kind = SymbolKind::EnumMember;
    walk.add_symbol(walk.symbol(node, range.end, kind, name.to_owned(), name, signature));
}
