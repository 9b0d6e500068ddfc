//! Go.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind, find, find_all,
};

/// Go, with type parameters.
pub(super) static GO: Language = Language {
    cuts_detached_comments: true,
    member_separator: Some(';'),
    ..Language::new("go", tree_sitter_go::LANGUAGE, "tree-sitter-go 0.25.0", &[NODES])
};

/// A value that is longer is not repeated at the constants that have the same.
const MAX_REPEATED: usize = 60;

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("package_clause", Visit::FileHead),
    ("import_declaration", Visit::Preamble(import)),
    ("function_declaration", Visit::code(SymbolKind::Function, "body")),
    ("method_declaration", Visit::Read(method)),
    ("type_declaration const_declaration var_declaration", Visit::Read(declaration)),
    ("type_spec type_alias", Visit::Read(type_spec)),
    ("field_declaration_list var_spec_list", Visit::Enter),
    ("field_declaration", Visit::Read(field)),
    ("method_elem", Visit::leaf(SymbolKind::Method)),
    ("const_spec var_spec", Visit::Read(value)),
];

/// Reads `import ("a"; b "c/d")`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let grouped = find_all(node, ".import_spec_list/.import_spec");
    for spec in find_all(node, ".import_spec").into_iter().chain(grouped) {
        if let Some(path) = find(spec, "path") {
            walk.add_import(walk.text(path).trim_matches(['"', '`']));
        }
    }
}

/// Reads a method, which belongs to its receiver's type: `func (s *Server[T]) Serve()`.
fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let receiver = find(node, "receiver/.parameter_declaration/type").map_or("", |node| walk.text(node));
    let owner: String = receiver
        // Go permits parentheses around the type of a receiver.
        .trim_start_matches(['*', '(', ' '])
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    let inside = SymbolBody::code(find(node, "body"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Method, name, inside).with_owner(&owner));
}

/// Reads `const …`, `var …` and `type …`: a single declaration begins at the keyword, one in parentheses does not.
fn declaration<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let is_group = child_of_kind(node, "(").is_some() || child_of_kind(node, "var_spec_list").is_some();
    if !is_group {
        return walk.visit_wrapped(node);
    }
    let doc = walk.preceding_doc().filter(|_| node.kind() != "type_declaration");
    let before = walk.symbols.len();
    walk.visit_children(node);
    let keyword = node.kind().trim_end_matches("_declaration");
    repeat_values(walk, node, before);
    walk.prefix_signatures(before, keyword);
    // The doc of a group is shown at its first symbol.
    if let Some(first) = walk.symbols.get_mut(before) {
        first.doc = first.doc.take().or(doc);
    }
}

/// Gives constants without a value the type and the value of those above them, as Go does: `B` below `A = iota`.
fn repeat_values<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, first: usize) {
    let mut value = "";
    for spec in find_all(node, ".const_spec") {
        let range = walk.range(spec);
        let Some(names) = find_all(spec, "name").last().map(|name| walk.range(*name).end) else { continue };
        if find(spec, "value").is_some() {
            value = walk.source.text(names..range.end);
        } else if value.len() <= MAX_REPEATED && !value.contains('\n') {
            let own =
                walk.symbols.iter_mut().skip(first).filter(|symbol| symbol.span.start_byte == range.start);
            own.for_each(|symbol| symbol.signature.push_str(value));
        }
    }
}

/// Reads one type of a `type` declaration.
fn type_spec<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(name), Some(defined)) = (find(node, "name"), find(node, "type")) else { return };
    let mut head_end = None;
    let (kind, inside) = match defined.kind() {
        "struct_type" => {
            let fields = find(defined, ".field_declaration_list");
            (SymbolKind::Struct, SymbolBody::members(fields))
        }
        "interface_type" => {
            head_end = child_of_kind(defined, "{").map(|bracket| walk.range(bracket).start);
            (SymbolKind::Interface, SymbolBody::Members(defined))
        }
        _ => (SymbolKind::Typedef, SymbolBody::Nothing),
    };
    walk.define(
        node,
        SymbolDefinition { signature_end: head_end, ..SymbolDefinition::new(kind, walk.text(name), inside) },
    );
}

/// Reads fields of a struct: an embedded one has the name of its type, and one that is a struct has fields.
fn field<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(field_type) = find(node, "type") else { return };
    let mut names: Vec<_> = find_all(node, "name").into_iter().map(|name| walk.text(name)).collect();
    if names.is_empty() {
        // An embedded field is named after its type alone: `T` of `*pkg.T[int]`.
        let path = walk.text(field_type).split('[').next().unwrap_or_default();
        names.push(path.rsplit(['.', '*']).next().unwrap_or_default());
    }
    let fields = find(field_type, ".field_declaration_list").filter(|_| field_type.kind() == "struct_type");
    for name in names.into_iter().filter(|name| *name != "_") {
        let inside = SymbolBody::members(fields);
        walk.define(node, SymbolDefinition::new(SymbolKind::Field, name, inside));
    }
}

/// Reads constants or variables that are declared together; `_` is not a symbol.
fn value<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let kind = if node.kind() == "const_spec" { SymbolKind::Constant } else { SymbolKind::Variable };
    let value = find(node, "value");
    for name in find_all(node, "name") {
        match (walk.text(name), value) {
            ("_", Some(value)) => walk.cut_rows(value),
            ("_" | ",", _) => {}
            (name, value) => {
                let code = value.and_then(code);
                let inside = code.or(value.map(SymbolBody::Value)).unwrap_or(SymbolBody::Nothing);
                walk.define(node, SymbolDefinition::new(kind, name, inside));
            }
        }
    }
}

/// Returns the code of a value that is a function, and nothing else.
fn code(values: Node<'_>) -> Option<SymbolBody<'_>> {
    let function = find(values, ".func_literal").filter(|_| values.named_child_count() == 1)?;
    find(function, "body").map(SymbolBody::Code)
}
