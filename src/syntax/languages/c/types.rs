//! Types that have members: structs, unions, classes and enumerations.

use tree_sitter::Node;

use super::declarators::spelled_name;
use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::GrammarField;
use crate::syntax::walk::NamedScope;
use crate::syntax::walk::OutlineWalk;

/// Reads a struct, union, class or enumeration that is defined here; one that is only named is no symbol.
pub(in crate::syntax::languages) fn type_specifier<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(body) = walk.field(node, GrammarField::Body) else {
        return;
    };
    let Some(kind) = type_kind(node) else {
        return;
    };
    let Some(name) = walk.field(node, GrammarField::Name) else {
        // What has no name cannot be asked for; its members can.
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
    let doc = walk.preceding_doc();
    let qualified_name = walk.qualified(&full);
    let span = walk.span(node, walk.range(node).end);
    let children = walk.visit_scope(NamedScope { name: full, kind }, body);
    walk.add_symbol(Symbol { kind, name, qualified_name, span, signature, doc, recovered: false, children });
}

/// Reads `class MACRO Name : Base { … }`, which the grammar takes for a function whose type is `class MACRO`. What it
/// understands of the members is in the outline; nothing is taken out but the bodies of methods.
pub(super) fn read_macro_class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(specifier), Some(body)) =
        (walk.field(node, GrammarField::Type), walk.field(node, GrammarField::Body))
    else {
        return;
    };
    let Some(kind) = type_kind(specifier) else {
        return;
    };
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
pub(in crate::syntax::languages) fn enumerator<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.field(node, GrammarField::Name) else {
        return;
    };
    let name = walk.text(name).to_owned();
    let range = walk.range(node);
    let symbol = Symbol {
        kind: SymbolKind::EnumMember,
        qualified_name: walk.qualified(&name),
        span: walk.span(node, range.end),
        signature: walk.signature_text(node, range),
        doc: walk.preceding_doc(),
        name,
        recovered: false,
        children: Vec::new(),
    };
    walk.add_symbol(symbol);
}
