//! Scala.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind, children, find,
    find_all, visit_descendants,
};
use crate::syntax::text::format_text_size;

/// Scala 2 and 3, with braces or indented.
pub(super) static SCALA: Language = Language {
    cuts_detached_comments: true,
    has_overloads: true,
    signature_excludes: &["annotation"],
    ..Language::new("scala", tree_sitter_scala::LANGUAGE, "tree-sitter-scala 0.26.4", &[NODES])
};

const NODES: NodeTable = &[
    ("comment block_comment", Visit::Comment),
    ("package_clause", Visit::Preamble(package)),
    ("package_object object_definition", Visit::members(SymbolKind::Object, "body")),
    ("import_declaration", Visit::Preamble(import)),
    ("class_definition", Visit::Read(class)),
    ("class_parameter", Visit::Read(class_parameter)),
    ("trait_definition", Visit::members(SymbolKind::Interface, "body")),
    ("enum_definition", Visit::members(SymbolKind::Enum, "body")),
    ("enum_case_definitions", Visit::Wrapper),
    ("simple_enum_case full_enum_case", Visit::leaf(SymbolKind::EnumMember)),
    ("given_definition", Visit::Read(given_instance)),
    ("extension_definition", Visit::Read(extension)),
    ("function_definition", Visit::Read(function)),
    ("function_declaration", Visit::leaf(SymbolKind::Function).in_type(SymbolKind::Method)),
    ("val_definition var_definition", Visit::Read(value)),
    ("val_declaration", Visit::leaf(SymbolKind::Constant).in_type(SymbolKind::Field)),
    ("var_declaration", Visit::leaf(SymbolKind::Variable).in_type(SymbolKind::Field)),
    ("type_definition", Visit::leaf(SymbolKind::Typedef)),
    ("call_expression", Visit::Read(call)),
];

/// A body that is an expression on one line and no longer than this stays as it is.
const SHORT_BODY: usize = 100;

/// A value of more bytes than this is shown by its size.
const LARGE_VALUE: usize = 400;

/// Patterns nested deeper than this are not visited.
const MAX_NESTING: usize = 20;

/// The code of closures.
const CODE: &[&str] = &["block", "case_block"];

/// Reads `package a.b`, whose name is not shown, and `package a { … }`, which is a namespace.
fn package<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(name), Some(body)) = (find(node, "name"), find(node, "body")) else { return };
    walk.define(
        node,
        SymbolDefinition::new(SymbolKind::Namespace, walk.text(name), SymbolBody::Members(body)),
    );
}

/// Reads `import a.b.{c, d => e}, f.g._`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let mut path = String::new();
    for child in children(node).into_iter().skip(1) {
        match child.kind() {
            "," => {
                walk.add_import(&path);
                path.clear();
            }
            _ => path.push_str(walk.text(child)),
        }
    }
    walk.add_import(path.trim_end_matches("._").trim_end_matches(".*"));
}

/// Reads a class; the parameters of a case class are its fields, as are those of others that are values or variables.
fn class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let inside = SymbolBody::members(find(node, "body"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Class, name, inside));
    // Those in further lists are not fields of a case class.
    if let Some(parameters) = find(node, "class_parameters") {
        walk.define_leading_members(parameters);
    }
}

fn class_parameter<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let has = |node: Node<'t>, kind: &str| child_of_kind(node, kind).is_some();
    let is_value = has(node, "val") || has(node, "var");
    let class = node.parent().and_then(|list| list.parent());
    let is_of_case_class = class.is_some_and(|class| has(class, "case"));
    if let Some(name) = walk.name_at(node, "name").filter(|_| is_value || is_of_case_class) {
        walk.define(node, SymbolDefinition::new(SymbolKind::Field, name, SymbolBody::Nothing));
    }
}

/// Reads `def f(…): T = …`.
fn function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(name), Some(body)) = (find(node, "name"), find(node, "body")) else { return };
    let name = walk.text(name).to_owned();
    let in_type = walk.scope_kind().is_some_and(SymbolKind::is_type);
    let kind = match (in_type, name.as_str()) {
        (true, "this") => SymbolKind::Constructor,
        (true, _) => SymbolKind::Method,
        (false, _) => SymbolKind::Function,
    };
    let head_end = walk.range(body).start;
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::Nothing).with_signature_end(head_end));
    cut_expression(walk, node, body, SHORT_BODY);
}

/// Reads `val a = …`, `var b = …`, `val (c, d) = …`.
fn value<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let mut names = Vec::new();
    if let Some(pattern) = find(node, "pattern") {
        collect_names(pattern, 0, &mut names);
    }
    let value = find(node, "value");
    let in_type = walk.scope_kind().is_some_and(SymbolKind::is_type);
    let kind = match (in_type, node.kind()) {
        (true, _) => SymbolKind::Field,
        (false, "val_definition") => SymbolKind::Constant,
        (false, _) => SymbolKind::Variable,
    };
    for name in names {
        walk.define(node, SymbolDefinition::new(kind, walk.text(name), SymbolBody::value(value)));
    }
    if let Some(value) = value {
        cut_expression(walk, node, value, LARGE_VALUE);
        walk.cut_code_within(value, CODE);
        cut_methods(walk, value);
    }
}

/// Reads a call among the members of a class, of which a block is an argument: `test("a") { … }`.
fn call<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    // Blocks may contain the tests of a suite.
    let holds_block = |block: Node<'t>| {
        children(block)
            .into_iter()
            .any(|inner| find(inner, "arguments").is_some_and(|last| last.kind() == "block"))
    };
    if let Some(block) = find(node, "arguments").filter(|last| last.kind() == "block") {
        if holds_block(block) {
            walk.visit_children(block);
        } else {
            walk.cut_code_within(block, CODE);
        }
    }
}

/// Cuts the bodies of the methods within a value: `new Encoder[A] { def apply(a: A) = … }`.
fn cut_methods<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    visit_descendants(value, &mut |node| {
        let body = if node.kind() == "function_definition" { find(node, "body") } else { None };
        if let Some(body) = body {
            cut_expression(walk, node, body, SHORT_BODY);
        }
        body.is_none() && !CODE.contains(&node.kind())
    });
}

fn collect_names<'t>(pattern: Node<'t>, depth: usize, names: &mut Vec<Node<'t>>) {
    match pattern.kind() {
        "identifier" => names.push(pattern),
        "identifiers" | "tuple_pattern" if depth < MAX_NESTING => {
            for child in children(pattern) {
                collect_names(child, depth + 1, names);
            }
        }
        _ => {}
    }
}

/// Reads `given name: Type = …` and `given Type with …`, which is named after its type.
fn given_instance<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name").or_else(|| find(node, "return_type")) else { return };
    let body = find(node, "body");
    let members = body.filter(|body| matches!(body.kind(), "template_body" | "with_template_body"));
    let inside = members.map_or_else(|| SymbolBody::value(body), SymbolBody::Members);
    let definition = SymbolDefinition::new(SymbolKind::Object, walk.text(name), inside);
    let last = find_all(node, "return_type").last().map(|last| walk.range(*last).end);
    walk.define(node, SymbolDefinition { signature_end: last.filter(|_| members.is_some()), ..definition });
    if let Some(value) = body.filter(|_| members.is_none()) {
        cut_expression(walk, node, value, LARGE_VALUE);
    }
}

/// Reads `extension (x: Type) …`: its members belong to the type.
fn extension<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let typed = find_all(node, "parameters").into_iter().find_map(|list| find(list, ".parameter/type"));
    let Some(typed) = typed else { return };
    let text = walk.text(typed);
    let name = text.split('[').next().unwrap_or(text).trim().to_owned();
    let head_end = find_all(node, "parameters").last().map_or(0, |last| walk.range(*last).end);
    let definition = SymbolDefinition::new(SymbolKind::Object, name, SymbolBody::Members(node));
    walk.define(node, definition.with_signature_end(head_end));
}

/// Cuts a body or a value that is longer than `limit`. A block is cut as such; any other expression is replaced with
/// `???`, which has every type.
fn cut_expression<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, body: Node<'t>, limit: usize) {
    let range = walk.range(body);
    let text = walk.source.text(range.clone());
    // A value may have several lines as long as it is not large; a body may not.
    let is_short = text.len() <= limit && (limit == LARGE_VALUE || !text.trim().contains('\n'));
    if is_short || node.has_error() {
        return;
    }
    if body.kind() == "block" {
        walk.cut_code(body);
        return;
    }
    // What is left has no region of its own that `end f` could close.
    let end = match child_of_kind(node, "end_marker") {
        Some(marker) => walk.range(marker).end,
        None => range.start + text.trim_end().len(),
    };
    let size = format_text_size(walk.source.text(range.start..end));
    walk.replace_with_mark(range.start..end, format!("??? /* {size} */"));
}
