//! Lua: functions, tables, variables, and what a file requires.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    ElisionMarks, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind,
    children, find, find_all,
};
use crate::syntax::text::{is_all_capitals, one_line};

/// Lua up to 5.4, and `LuaJIT`.
pub(super) static LUA: Language = Language {
    marks: ElisionMarks { body: ("-- ", ""), data: ("  -- ", ""), ends_line: true },
    ..Language::new("lua", tree_sitter_lua::LANGUAGE, "tree-sitter-lua 0.5.0", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("function_declaration", Visit::Read(function)),
    ("variable_declaration", Visit::Preamble(local)),
    ("assignment_statement", Visit::Read(assignment)),
    ("function_call", Visit::Read(call)),
    ("return_statement", Visit::Read(returned)),
    ("field", Visit::Read(field)),
    // Symbols may be nested in any statement.
    (
        "block do_statement if_statement elseif_statement else_statement for_statement \
         while_statement repeat_statement",
        Visit::Enter,
    ),
];

/// A table of more bytes than this, without a function in it, is data: its size is shown, not its rows.
const LARGE_TABLE: usize = 400;

/// A function on one line that is no longer than this stays as it is.
const SHORT_FUNCTION: usize = 80;

/// Calls that contain tests.
const GROUPS: [&str; 4] = ["describe", "context", "insulate", "expose"];

/// Calls that contain the code of a test.
const TESTS: [&str; 3] = ["it", "spec", "test"];

/// Calls and tables nested deeper than this are not visited.
const MAX_NESTING: usize = 20;

/// Reads `function M.f() … end`, `function M:f() … end` and `local function f() … end`.
fn function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let kind =
        if name.kind() == "method_index_expression" { SymbolKind::Method } else { SymbolKind::Function };
    define_function(walk, node, node, named(walk, name, kind, SymbolBody::Nothing));
}

/// Reads `local a, b = 1, 2`. A mere alias is not shown.
fn local<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let assignment = child_of_kind(node, "assignment_statement");
    let names = find_all(assignment.unwrap_or(node), ".variable_list/name");
    let values = assignment.map_or_else(Vec::new, |assignment| assigned_values(assignment));
    let required: Vec<bool> = values.iter().map(|value| import(walk, *value)).collect();
    for (at, name) in names.into_iter().enumerate() {
        let value = values.get(at).copied();
        let is_alias =
            value.is_some_and(|value| matches!(value.kind(), "identifier" | "dot_index_expression"));
        // Names beyond the values get those of the last one: `local ok, a = pcall(require, "a")`.
        let is_required = required.get(at).or(required.last()).is_some_and(|required| *required);
        if !is_alias && !is_required {
            variable(walk, node, name, value);
        }
    }
}

/// Reads `M.f = function() … end`, `M.T = { … }` and `NAME = 1`.
fn assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let values = assigned_values(node);
    for value in &values {
        import(walk, *value);
    }
    for (at, name) in find_all(node, ".variable_list/name").into_iter().enumerate() {
        variable(walk, node, name, values.get(at).copied());
    }
}

/// Reads the value that a name is bound to; one that is not a function matters only at the top level of a file.
fn variable<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, name: Node<'t>, value: Option<Node<'t>>) {
    // A computed key is not a name; that of a function may be a text: `M["f"]` is `M.f`.
    let is_indexed = name.kind() == "bracket_index_expression";
    if is_indexed && find(name, "field").is_none_or(|key| key.kind() != "string") {
        return;
    }
    if let Some(function) = value.filter(|value| value.kind() == "function_definition") {
        define_function(walk, node, function, named(walk, name, SymbolKind::Function, SymbolBody::Nothing));
        return;
    }
    if is_indexed || !walk.is_top_level() {
        return;
    }
    let is_member = name.kind() != "identifier";
    let definition = named(walk, name, SymbolKind::Variable, value.map_or(SymbolBody::Nothing, inside));
    let is_constant =
        node.kind() == "variable_declaration" && is_all_capitals(&definition.name) || is_const(name);
    // `local M = {}` is mostly a module that is filled further down.
    let is_empty_table = value.is_some_and(|value| walk.text(value) == "{}");
    let kind = if is_empty_table || matches!(definition.body, SymbolBody::Members(_)) {
        SymbolKind::Object
    } else if is_constant {
        SymbolKind::Constant
    } else if is_member {
        SymbolKind::Field
    } else {
        SymbolKind::Variable
    };
    walk.define(node, SymbolDefinition { kind, ..definition });
    if let Some(value) = value {
        callbacks(walk, value, 0);
    }
}

/// Reads a field of a table that is visited.
fn field<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(name), Some(value)) = (find(node, "name"), find(node, "value")) else { return };
    let text = match name.kind() {
        "identifier" => walk.text(name),
        "string" => without_quotes(walk.text(name)),
        _ => return,
    };
    let text = text.to_owned();
    if value.kind() == "function_definition" {
        let definition = SymbolDefinition::new(SymbolKind::Function, text, SymbolBody::Nothing);
        define_function(walk, node, value, definition);
        return;
    }
    let inside = inside(value);
    let is_table = matches!(inside, SymbolBody::Members(_));
    let kind = if is_table { SymbolKind::Object } else { SymbolKind::Field };
    walk.define(node, SymbolDefinition::new(kind, text, inside));
}

/// Reads `require "a"`, a test, and the functions in the arguments of any other call.
fn call<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if !import(walk, node) && !define_test(walk, node) {
        callbacks(walk, node, 0);
    }
}

/// Reads a test of busted or a group of tests, which are named by their titles: `describe frames`. Returns whether the
/// call is one.
fn define_test<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) -> bool {
    let word = find(node, "name").map_or("", |name| walk.text(name));
    let arguments: Vec<Node<'t>> = find_all(node, "arguments").into_iter().flat_map(children).collect();
    let title = arguments.iter().find(|argument| argument.kind() == "string");
    let function = arguments.iter().find(|argument| argument.kind() == "function_definition");
    let (Some(title), Some(function)) = (title, function) else { return false };
    let name = one_line(&format!("{word} {}", without_quotes(walk.text(*title))));
    let head_end = find(*function, "parameters").map(|parameters| walk.range(parameters).end);
    match (GROUPS.contains(&word), TESTS.contains(&word), find(*function, "body"), head_end) {
        (true, _, Some(body), Some(end)) => {
            let group = SymbolDefinition::new(SymbolKind::Module, name, SymbolBody::Members(body));
            walk.define(node, group.with_signature_end(end));
        }
        (_, true, ..) => {
            let test = SymbolDefinition::new(SymbolKind::Function, name, SymbolBody::Nothing);
            define_function(walk, node, *function, test);
        }
        _ => return false,
    }
    true
}

/// Reads what a file returns: the fields of a table are its public interface, and so is a function.
fn returned<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if !walk.is_top_level() {
        return;
    }
    for value in find_all(node, ".expression_list").into_iter().flat_map(children) {
        if value.kind() == "function_definition" {
            let definition = SymbolDefinition::new(SymbolKind::Function, "return", SymbolBody::Nothing);
            define_function(walk, node, value, definition);
            continue;
        }
        match inside(value) {
            SymbolBody::Members(table) => walk.visit_children(table),
            SymbolBody::Value(value) => walk.cut_rows(value),
            SymbolBody::Nothing | SymbolBody::Code(_) => {}
        }
        callbacks(walk, value, 0);
    }
}

/// Cuts the anonymous functions below a value. One that calls others with functions as arguments only groups them, as
/// tests are grouped.
fn callbacks<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, depth: usize) {
    if MAX_NESTING < depth {
        return;
    }
    match node.kind() {
        "function_definition" => match find(node, "body") {
            Some(body) if groups(body) => walk.visit_children(body),
            Some(_) | None => cut_body(walk, node),
        },
        "function_call" => {
            for argument in find_all(node, "arguments").into_iter().flat_map(children) {
                callbacks(walk, argument, depth + 1);
            }
        }
        _ => {}
    }
}

fn groups(body: Node<'_>) -> bool {
    let mut calls = children(body).into_iter().filter(|child| child.kind() == "function_call");
    calls.any(|call| find(call, "arguments/.function_definition").is_some())
}

/// Adds what a value requires to the imports; returns whether that is all it does.
fn import<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) -> bool {
    let mut node = value;
    // The call is at the bottom of the indexes: `require("a").b.c` requires `a`.
    while let Some(inner) = find(node, "table").filter(|_| node.kind() != "function_call") {
        node = inner;
    }
    let Some(name) = find(node, "name").filter(|_| node.kind() == "function_call") else { return false };
    let arguments = find_all(node, "arguments").into_iter().flat_map(children);
    let mut strings = arguments.filter(|argument| argument.kind() == "string");
    match (walk.text(name), strings.next()) {
        // `pcall(require, "a")` has the name of the module in its second argument.
        ("require" | "pcall" | "dofile", Some(string)) => {
            let name = find(string, "content").map_or("", |content| walk.text(content));
            walk.add_import(name);
            true
        }
        _ => false,
    }
}

fn without_quotes(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

/// Returns a definition of what `name` spells: `f`, `M.f`, `M:f`, `M["f"]`.
fn named<'t>(
    walk: &OutlineWalk<'t>,
    name: Node<'t>,
    kind: SymbolKind,
    inside: SymbolBody<'t>,
) -> SymbolDefinition<'t> {
    let last = find(name, "method").or_else(|| find(name, "field"));
    let text = without_quotes(walk.text(last.unwrap_or(name))).to_owned();
    let owner = find(name, "table").map_or("", |table| walk.text(table));
    // `_G.f` is `f`.
    let owner = if owner == "_G" { "" } else { owner };
    let separator = if kind == SymbolKind::Method { ":" } else { "." };
    SymbolDefinition::new(kind, text, inside).with_owner(owner).with_separator(separator)
}

/// Adds a function to the outline, whose signature ends with its parameters.
fn define_function<'t>(
    walk: &mut OutlineWalk<'t>,
    node: Node<'t>,
    function: Node<'t>,
    definition: SymbolDefinition<'t>,
) {
    let head_end = find(function, "parameters").map(|parameters| walk.range(parameters).end);
    walk.define(node, SymbolDefinition { signature_end: head_end, ..definition });
    cut_body(walk, function);
}

/// Cuts everything between the parameters and `end`, comments too.
fn cut_body<'t>(walk: &mut OutlineWalk<'t>, function: Node<'t>) {
    let (Some(parameters), Some(end)) = (find(function, "parameters"), child_of_kind(function, "end")) else {
        return;
    };
    let range = walk.range(parameters).end..walk.range(end).start;
    let is_short = range.len() <= SHORT_FUNCTION && !walk.source.text(range.clone()).contains('\n');
    if !is_short && !function.has_error() {
        walk.cut_body_range(range);
    }
}

/// Returns how a value is shown: a table by its members, unless it is one of data.
fn inside(value: Node<'_>) -> SymbolBody<'_> {
    // `class { greet = function() … end }` makes something of the table.
    if value.kind() == "function_call" {
        let arguments = find_all(value, "arguments").into_iter().flat_map(children);
        let arguments: Vec<Node<'_>> = arguments.filter(Node::is_named).collect();
        return match arguments[..] {
            [table] if table.kind() == "table_constructor" && has_functions(table, 0) => {
                SymbolBody::Members(table)
            }
            _ => SymbolBody::Value(value),
        };
    }
    if value.kind() != "table_constructor" {
        return SymbolBody::Value(value);
    }
    let has_names = find(value, ".field/name").is_some();
    let is_small = value.byte_range().len() <= LARGE_TABLE && has_names;
    if is_small || has_functions(value, 0) { SymbolBody::Members(value) } else { SymbolBody::Value(value) }
}

fn has_functions(table: Node<'_>, depth: usize) -> bool {
    let fields = children(table).into_iter().filter(|child| child.kind() == "field");
    let mut values =
        fields.filter(|field| find(*field, "name").is_some()).filter_map(|field| find(field, "value"));
    values.any(|value| match value.kind() {
        "function_definition" => true,
        "table_constructor" => depth < MAX_NESTING && has_functions(value, depth + 1),
        _ => false,
    })
}

fn assigned_values(assignment: Node<'_>) -> Vec<Node<'_>> {
    find_all(assignment, ".expression_list/value")
}

/// Returns whether a name is followed by `<const>`.
fn is_const(name: Node<'_>) -> bool {
    name.next_named_sibling().is_some_and(|next| next.kind() == "attribute")
}
