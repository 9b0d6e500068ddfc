//! JavaScript's table, and its statements that are not declarations: assignments to exports and prototypes, and calls
//! that contain a file.

use tree_sitter::Node;

use super::bindings::{
    arguments, declarator, define_binding, export, has_functions, is_function, plain_name, required_module,
    significant_children, trim_value, unquoted, unwrap_value, variables,
};
use crate::model::SymbolKind;
#[cfg(feature = "lang-javascript")]
use crate::syntax::outline::Language;
use crate::syntax::outline::{
    NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind, find,
};
use crate::syntax::text::one_line;

/// JavaScript of browsers and of Node, with JSX.
#[cfg(feature = "lang-javascript")]
pub(in crate::syntax::languages) static JAVASCRIPT: Language = Language {
    cuts_detached_comments: true,
    signature_excludes: &["decorator"],
    respell: Some(super::without_bare_ampersands),
    read_root: Some(crate::syntax::languages::javascript::bindings::read_file_comment),
    ..Language::new(
        "javascript",
        tree_sitter_javascript::LANGUAGE,
        "tree-sitter-javascript 0.25.0",
        &[NODES, JAVASCRIPT_NODES],
    )
};

/// The nodes that TypeScript does not have.
#[cfg(feature = "lang-javascript")]
const NODES: NodeTable =
    &[("field_definition", Visit::Read(field)), ("using_declaration", Visit::Read(variables))];

/// The nodes that mean the same in TypeScript.
pub(in crate::syntax::languages) const JAVASCRIPT_NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("decorator", Visit::Prefix),
    ("import_statement", Visit::Import("source", &['"', '\'', '`'])),
    ("export_statement", Visit::Read(export)),
    ("function_declaration generator_function_declaration", Visit::code(SymbolKind::Function, "body")),
    ("class_declaration", Visit::members(SymbolKind::Class, "body")),
    ("method_definition", Visit::Read(method)),
    ("class_static_block", Visit::Cut("body")),
    ("pair", Visit::Read(pair)),
    ("lexical_declaration variable_declaration", Visit::Read(variables)),
    ("variable_declarator", Visit::Read(declarator)),
    ("expression_statement", Visit::Read(statement)),
    ("return_statement", Visit::Read(visit_returned)),
    ("statement_block else_clause catch_clause finally_clause", Visit::Enter),
    ("if_statement for_in_statement try_statement", Visit::Read(visit_branch)),
];

/// Objects whose members have no owner.
const GLOBALS: [&str; 6] = ["window", "global", "globalThis", "self", "root", "exports"];

/// Calls whose function arguments contain the statements of a file or of a group.
const HOLDERS: [&str; 5] = ["define", "require", "requirejs", "$", "jQuery"];

/// Calls that contain tests.
const GROUPS: [&str; 7] = ["describe", "context", "suite", "fdescribe", "xdescribe", "xcontext", "module"];

/// Calls that contain the code of a test.
const TESTS: [&str; 7] = ["it", "test", "specify", "asyncTest", "fit", "xit", "xtest"];

fn statement<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(expression) = significant_children(node).into_iter().next() else { return };
    // TypeScript's grammar takes `await using a = b` for an assignment that is awaited.
    let awaited =
        find(expression, ".assignment_expression").filter(|_| expression.kind() == "await_expression");
    if let Some(assignment) = awaited.filter(|assignment| child_of_kind(*assignment, "using").is_some()) {
        return visit_assignment(walk, node, assignment);
    }
    match expression.kind() {
        // `"use strict";` is not shown; the comment above it is about the file.
        "string" => walk.use_comment_as_file_doc(),
        "assignment_expression" => visit_assignment(walk, node, expression),
        // TypeScript's `namespace A { … }`.
        "internal_module" => walk.visit_wrapped(node),
        _ => match unwrap_value(expression) {
            value if value.kind() == "call_expression" => visit_call(walk, node, value),
            _ => trim_value(walk, expression),
        },
    }
}

/// Reads a statement that contains others: only their functions, types and imports are shown.
fn visit_branch<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let before = walk.symbols.len();
    walk.visit_children(node);
    let mut at = 0;
    walk.symbols.retain(|symbol| {
        at += 1;
        let is_value = [SymbolKind::Constant, SymbolKind::Field, SymbolKind::Variable].contains(&symbol.kind);
        // Variables of a branch are steps of it; functions and types are declared for the rest of the file.
        at <= before || !is_value
    });
}

/// Reads `a.b = value`.
fn visit_assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, assignment: Node<'t>) {
    let (Some(left), Some(right)) = (find(assignment, "left"), find(assignment, "right")) else { return };
    if let Some(source) = required_module(walk, right) {
        return walk.add_import(source);
    }
    // TypeScript's grammar takes it for an assignment.
    if child_of_kind(assignment, "using").is_some() {
        return define_binding(walk, node, plain_name(SymbolKind::Variable, walk.text(left)), Some(right));
    }
    let path: Vec<&str> = walk.text(left).split('.').map(str::trim).collect();
    match binding(&path, unwrap_value(right)) {
        Some(binding) => define_binding(walk, node, binding, Some(right)),
        None => trim_value(walk, right),
    }
}

/// Returns what an assignment binds a name to, where that is worth showing.
fn binding<'t>(path: &[&str], value: Node<'t>) -> Option<SymbolDefinition<'t>> {
    // `this` has no name that a reader could ask for.
    if !path.iter().all(|part| is_name(part)) || path.first() == Some(&"this") {
        return None;
    }
    let is_structure = is_function(value) || value.kind() == "class" || has_functions(value);
    match path {
        ["module", "exports"] | ["exports"] => {
            let is_shown = is_structure || matches!(value.kind(), "call_expression" | "new_expression");
            is_shown.then(|| plain_name(SymbolKind::Constant, "module.exports"))
        }
        ["module", "exports", name] | ["exports", name] => {
            let is_passed_on =
                matches!(value.kind(), "identifier" | "member_expression" | "undefined" | "number");
            // Compilers set it to mark a translated module.
            let is_mark = *name == "__esModule";
            (!is_mark && (is_structure || !is_passed_on)).then(|| plain_name(SymbolKind::Constant, name))
        }
        [owner, "prototype"] if has_functions(value) => Some(plain_name(SymbolKind::Object, owner)),
        [.., "prototype"] | [] => None,
        [owner @ .., "prototype", name] => {
            let kind = if is_function(value) { SymbolKind::Method } else { SymbolKind::Field };
            Some(plain_name(kind, name).with_owner(&owner_name(owner)))
        }
        [owner @ .., name] => {
            let is_class = owner.last().is_some_and(|owner| owner.starts_with(char::is_uppercase));
            let kind = match (is_class, is_function(value)) {
                (true, true) => SymbolKind::Method,
                (true, false) => SymbolKind::Field,
                (false, _) => SymbolKind::Variable,
            };
            let is_shown = is_structure || is_class;
            is_shown.then(|| plain_name(kind, name).with_owner(&owner_name(owner)))
        }
    }
}

/// Returns the owner's name without the objects whose members have no owner.
fn owner_name(path: &[&str]) -> String {
    let mut path = path;
    while let Some((first, rest)) = path.split_first()
        && (GLOBALS.contains(first) || *first == "module")
    {
        path = rest;
    }
    path.join(".")
}

fn is_name(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

/// Reads a call: of a function that contains the file, of one that imports a file, or of any other.
fn visit_call<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, call: Node<'t>) {
    if let Some(source) = required_module(walk, call) {
        walk.use_comment_as_file_doc();
        return walk.add_import(source);
    }
    let Some(function) = find(call, "function").map(unwrap_value) else { return };
    let args = arguments(call);
    if let Some(invoked) = immediately_invoked_function(function) {
        enter_function(walk, invoked);
        return args.into_iter().map(unwrap_value).for_each(|argument| enter_function(walk, argument));
    }
    let name = walk.text(function);
    let names: Vec<&str> = name.split(|c: char| !(c.is_alphanumeric() || c == '$' || c == '_')).collect();
    if name == "Object.assign" {
        return assign_members(walk, call, &args);
    }
    // `$(document).ready(…)` holds the statements of a page as `$(…)` does.
    if names.first().is_some_and(|first| HOLDERS.contains(first)) || names.last() == Some(&"ready") {
        import_listed_files(walk, &args);
        return args.into_iter().map(unwrap_value).for_each(|argument| enter_function(walk, argument));
    }
    // `QUnit.test` is named after its method, like the calls of other frameworks.
    let word = names.iter().copied().find(|name| *name != "QUnit").unwrap_or_default();
    if GROUPS.contains(&word) || TESTS.contains(&word) {
        return define_test(walk, node, word, &args);
    }
    if let Some(members) = args.iter().copied().map(unwrap_value).find(|argument| has_functions(*argument)) {
        let name = args.first().filter(|first| first.kind() == "string");
        let name = name.map_or(called_name(&names), |name| unquoted(walk.text(*name)).to_owned());
        let definition = SymbolDefinition::new(SymbolKind::Object, name, SymbolBody::Members(members));
        return walk.define(node, definition);
    }
    match args.iter().copied().map(unwrap_value).find(|argument| holds_declarations(*argument)) {
        Some(function) => enter_function(walk, function),
        None => trim_value(walk, call),
    }
}

/// Returns the last word of what is called.
fn called_name(names: &[&str]) -> String {
    names.iter().rev().find(|name| !name.is_empty()).map_or("call", |name| name).to_owned()
}

/// Returns whether a function contains functions or classes of its own, as the file of a plugin does.
fn holds_declarations(function: Node<'_>) -> bool {
    let body = find(function, "body").filter(|_| is_function(function));
    let kinds = [".function_declaration", ".class_declaration"];
    body.is_some_and(|body| kinds.iter().any(|kind| find(body, kind).is_some()))
}

/// Reads a test or a group of tests, which are named by their titles: `describe frames`.
fn define_test<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, word: &str, args: &[Node<'t>]) {
    let title =
        args.first().filter(|title| matches!(title.kind(), "string" | "template_string" | "identifier"));
    let function = args.iter().copied().map(unwrap_value).find(|argument| is_function(*argument));
    let (Some(title), Some(body)) = (title, function.and_then(|function| find(function, "body"))) else {
        return trim_value(walk, node);
    };
    let name = one_line(&format!("{word} {}", unquoted(walk.text(*title))));
    let is_group = GROUPS.contains(&word) && body.kind() == "statement_block";
    let (kind, inside) = if is_group {
        (SymbolKind::Module, SymbolBody::Members(body))
    } else {
        (SymbolKind::Function, SymbolBody::Code(body))
    };
    walk.define(node, SymbolDefinition::new(kind, name, inside).with_signature_end(walk.range(body).start));
}

/// Reads what a function that contains the file returns: an object of functions, or a call with one as its argument.
fn visit_returned<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(value) = significant_children(node).into_iter().next().map(unwrap_value) else { return };
    match value.kind() {
        "call_expression" => visit_call(walk, node, value),
        "object" if has_functions(value) => walk.visit_children(value),
        _ => trim_value(walk, value),
    }
}

/// Returns the function in `(function () { … })()` and `(function () { … }).call(this)`.
fn immediately_invoked_function(function: Node<'_>) -> Option<Node<'_>> {
    let function = match function.kind() {
        "member_expression" => unwrap_value(find(function, "object")?),
        _ => function,
    };
    is_function(function).then_some(function)
}

/// Visits the statements of a function that contains some of the file's.
fn enter_function<'t>(walk: &mut OutlineWalk<'t>, function: Node<'t>) {
    if !is_function(function) {
        return trim_value(walk, function);
    }
    if let Some(body) = find(function, "body").filter(|body| body.kind() == "statement_block") {
        walk.visit_children(body);
    }
}

/// Reads the names of files in `define(["a", "b"], …)`.
fn import_listed_files<'t>(walk: &mut OutlineWalk<'t>, args: &[Node<'t>]) {
    for list in args.iter().filter(|argument| argument.kind() == "array") {
        for source in significant_children(*list).into_iter().filter(|source| source.kind() == "string") {
            walk.add_import(unquoted(walk.text(source)));
        }
    }
}

/// Reads `Object.assign(A.prototype, { … })`.
fn assign_members<'t>(walk: &mut OutlineWalk<'t>, call: Node<'t>, args: &[Node<'t>]) {
    let [target, members] = args else { return trim_value(walk, call) };
    let name = walk.text(*target).trim_end_matches(".prototype");
    if has_functions(*members) && name.split('.').all(is_name) {
        let name = name.to_owned();
        walk.define(call, SymbolDefinition::new(SymbolKind::Object, name, SymbolBody::Members(*members)));
    } else {
        trim_value(walk, call);
    }
}

/// Reads a method, a constructor, or an accessor of a property.
pub(in crate::syntax::languages) fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let is_accessor = ["get", "set"].iter().any(|word| child_of_kind(node, word).is_some());
    let name = member_name(walk, name);
    let kind = match name.as_str() {
        _ if is_accessor => SymbolKind::Property,
        "constructor" if walk.scope_kind() == Some(SymbolKind::Class) => SymbolKind::Constructor,
        _ => SymbolKind::Method,
    };
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::code(find(node, "body"))));
}

/// Reads a field of a class, which its value may make a method.
pub(in crate::syntax::languages) fn field<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "property|name") else { return };
    let name = member_name(walk, name);
    define_binding(walk, node, plain_name(SymbolKind::Field, &name), find(node, "value"));
}

/// Reads a member of an object that contains functions; one of data alone is not in the outline.
fn pair<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(key), Some(whole)) = (find(node, "key"), find(node, "value")) else { return };
    let value = unwrap_value(whole);
    if is_function(value) || value.kind() == "class" || has_functions(value) {
        let name = member_name(walk, key);
        define_binding(walk, node, plain_name(SymbolKind::Method, &name), Some(whole));
    } else {
        trim_value(walk, whole);
    }
}

/// Returns the name of a member without its quotation marks.
fn member_name(walk: &OutlineWalk<'_>, name: Node<'_>) -> String {
    walk.text(name).trim_matches(['"', '\'']).to_owned()
}
