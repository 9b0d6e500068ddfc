//! Swift.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind, children, find,
    find_all, named_children,
};

/// Swift 5, and what the grammar knows of Swift 6.
pub(super) static SWIFT: Language = Language {
    cuts_detached_comments: true,
    has_overloads: true,
    signature_excludes: &["attribute"],
    ..Language::new("swift", tree_sitter_swift::LANGUAGE, "tree-sitter-swift 0.7.4", &[NODES])
};

const NODES: NodeTable = &[
    ("comment multiline_comment", Visit::Comment),
    ("import_declaration", Visit::Import(".identifier", &[])),
    ("class_declaration", Visit::Read(type_declaration)),
    ("protocol_declaration", Visit::members(SymbolKind::Interface, "body")),
    ("enum_entry", Visit::leaf(SymbolKind::EnumMember).each("name").named("")),
    ("function_declaration", Visit::Read(function)),
    ("protocol_function_declaration", Visit::leaf(SymbolKind::Method)),
    ("init_declaration deinit_declaration subscript_declaration", Visit::Read(special)),
    ("property_declaration", Visit::Read(property)),
    ("protocol_property_declaration", Visit::leaf(SymbolKind::Property).named("name/bound_identifier|name")),
    ("typealias_declaration associatedtype_declaration", Visit::leaf(SymbolKind::Typedef)),
    ("macro_declaration", Visit::leaf(SymbolKind::Macro).named(".simple_identifier")),
];

/// Patterns nested deeper than this are not visited.
const MAX_NESTING: usize = 20;

/// Reads a class, a struct, an enumeration, an actor or an extension: the grammar has one node for all of them.
fn type_declaration<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    // Not by `find`, which passes over nodes without names, such as keywords.
    let kind = match node.child_by_field_name("declaration_kind").map_or("", |word| word.kind()) {
        "struct" => SymbolKind::Struct,
        "enum" => SymbolKind::Enum,
        "extension" => SymbolKind::Object,
        _ => SymbolKind::Class,
    };
    // What is added to `Array<Int>` is added to `Array`.
    let text = walk.text(name);
    let name = text.split('<').next().unwrap_or(text).trim().to_owned();
    let inside = SymbolBody::members(find(node, "body"));
    walk.define(node, SymbolDefinition::new(kind, name, inside));
}

/// Reads a function; its name may be an operator's sign.
fn function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    // Not by `find`, which passes over nodes without names, such as the sign of an operator.
    let Some(name) = node.child_by_field_name("name") else { return };
    let in_type = walk.scope_kind().is_some_and(SymbolKind::is_type);
    let kind = if in_type { SymbolKind::Method } else { SymbolKind::Function };
    let inside = SymbolBody::code(find(node, "body"));
    walk.define(node, SymbolDefinition::new(kind, walk.text(name), inside));
}

/// Reads a declaration that is named by a keyword: `init`, `deinit`, `subscript`.
fn special<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (kind, name) = match node.kind() {
        "init_declaration" => (SymbolKind::Constructor, "init"),
        "deinit_declaration" => (SymbolKind::Destructor, "deinit"),
        _ => (SymbolKind::Method, "subscript"),
    };
    let inside = SymbolBody::code(find(node, "body"));
    let definition = SymbolDefinition::new(kind, name, inside);
    let Some(accessors) = find(node, ".computed_property") else {
        walk.define(node, definition);
        return;
    };
    walk.define(node, definition.with_signature_end(walk.range(accessors).start));
    cut_accessors(walk, accessors);
}

/// Reads `let a = 1, b = 2` and `var c: Int { … }`.
fn property<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let mut names = Vec::new();
    for pattern in find_all(node, "name") {
        collect_names(pattern, 0, &mut names);
    }
    let computed = find(node, "computed_value");
    let accessors = computed.or_else(|| find(node, ".willset_didset_block"));
    let inside = SymbolBody::value(find(node, "value"));
    let kind = property_kind(walk, node, computed.is_some());
    for name in names {
        let definition = SymbolDefinition::new(kind, walk.text(name).to_owned(), inside);
        let head_end = accessors.map(|accessors| walk.range(accessors).start);
        walk.define(node, SymbolDefinition { signature_end: head_end, ..definition });
    }
    for value in find_all(node, "value") {
        // Also one that is called to make the value: `lazy var a = { … }()`.
        walk.cut_code_within(value, &["lambda_literal"]);
    }
    if let Some(accessors) = accessors {
        cut_accessors(walk, accessors);
    }
}

fn property_kind(walk: &OutlineWalk<'_>, node: Node<'_>, is_computed: bool) -> SymbolKind {
    let in_type = walk.scope_kind().is_some_and(SymbolKind::is_type);
    let binding = find(node, ".value_binding_pattern").map_or("", |binding| walk.text(binding));
    let modifiers = find(node, ".modifiers").map_or("", |modifiers| walk.text(modifiers));
    let is_shared = !in_type || modifiers.split_whitespace().any(|word| word == "static");
    match (is_computed, is_shared, in_type) {
        (true, _, _) => SymbolKind::Property,
        (false, true, _) if binding == "let" => SymbolKind::Constant,
        (false, _, true) => SymbolKind::Field,
        (false, _, false) => SymbolKind::Variable,
    }
}

fn collect_names<'t>(pattern: Node<'t>, depth: usize, names: &mut Vec<Node<'t>>) {
    for child in children(pattern) {
        match child.kind() {
            "simple_identifier" => names.push(child),
            "pattern" if depth < MAX_NESTING => collect_names(child, depth + 1, names),
            _ => {}
        }
    }
}

/// Cuts the bodies of `get`, `set`, `willSet` and `didSet`, and keeps their names.
fn cut_accessors<'t>(walk: &mut OutlineWalk<'t>, accessors: Node<'t>) {
    // A getter alone is not enclosed in `get { … }`.
    if child_of_kind(accessors, "statements").is_some() {
        walk.cut_code(accessors);
        return;
    }
    for accessor in named_children(accessors) {
        let parts = children(accessor);
        let open = parts.iter().find(|part| part.kind() == "{");
        let close = parts.iter().rfind(|part| part.kind() == "}");
        if let (Some(open), Some(close)) = (open, close)
            && !accessor.has_error()
        {
            walk.cut_body_range(walk.range(*open).start..walk.range(*close).end);
        }
    }
}
