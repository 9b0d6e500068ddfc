//! Names that JavaScript gives to values: `const a = …`, `exports.a = …`.

use tree_sitter::Node;

use super::imports::required;
use super::values::body;
use super::values::handed_function;
use super::values::handed_object;
use super::values::has_functions;
use super::values::is_function;
use super::values::plain;
use super::values::trim;
use crate::model::SymbolKind;
use crate::syntax::define::Definition;
use crate::syntax::define::Inside;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::rule::first;
use crate::syntax::walk::Walk;

/// What is given to a value: its name, and what that belongs to beside the scopes around it.
#[derive(Clone)]
pub(super) struct Binding {
    /// What it is where its value does not say so.
    pub(super) kind: SymbolKind,
    /// Its name alone.
    pub(super) name: String,
    /// What it belongs to; mostly nothing.
    pub(super) owner: String,
}

impl Binding {
    /// Returns a name that belongs to nothing but the scopes around it.
    pub(super) fn new(kind: SymbolKind, name: &str) -> Self {
        Self { kind, name: name.to_owned(), owner: String::new() }
    }

    fn define<'t>(self, walk: &mut Walk<'t>, node: Node<'t>, kind: SymbolKind, inside: Inside<'t>) {
        walk.define(node, Definition::new(kind, self.name, inside).owned_by(&self.owner));
    }
}

/// Reads `const a = 1;`, which is a symbol with all of its line, and `var a, b;`, where each name is one of its own.
pub(super) fn variables<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let declarators = find_all(node, ".variable_declarator");
    let is_constant = child_of_kind(node, "const").is_some();
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Variable };
    match declarators[..] {
        [single] => declare(walk, node, single, kind),
        _ => walk.enter(node),
    }
}

/// Reads one of several names that are declared at once; those are of old code, in which capitals mark what is constant.
pub(super) fn declarator<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let name = find(node, "name").map_or("", |name| walk.text(name));
    let is_constant = name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Variable };
    declare(walk, node, node, kind);
}

fn declare<'t>(walk: &mut Walk<'t>, holder: Node<'t>, declarator: Node<'t>, kind: SymbolKind) {
    let Some(name) = find(declarator, "name") else { return };
    let value = find(declarator, "value");
    if let Some(source) = value.and_then(|value| required(walk, value)) {
        walk.comment_is_about_file();
        walk.import(source);
        return;
    }
    if name.kind() == "identifier" {
        return bind(walk, holder, Binding::new(kind, walk.text(name)), value);
    }
    let Some(value) = value else { return };
    for name in names_in(name) {
        bind_value(walk, holder, Binding::new(kind, walk.text(name)), value);
    }
}

/// Returns the names in `{ a, b: c }` and `[a, b]`.
fn names_in(pattern: Node<'_>) -> Vec<Node<'_>> {
    let kinds = [".shorthand_property_identifier_pattern", ".identifier"];
    let mut names: Vec<_> = kinds.into_iter().flat_map(|kind| find_all(pattern, kind)).collect();
    let renamed = find_all(pattern, ".pair_pattern").into_iter().filter_map(|pair| find(pair, "value"));
    names.extend(renamed.filter(|name| name.kind() == "identifier"));
    let defaults = find_all(pattern, ".object_assignment_pattern").into_iter();
    names.extend(defaults.filter_map(|with_default| find(with_default, "left")));
    names.retain(|name| matches!(name.kind(), "identifier" | "shorthand_property_identifier_pattern"));
    names
}

/// Takes a name into the outline as what its value is; `holder` is all that gives it.
pub(super) fn bind<'t>(walk: &mut Walk<'t>, holder: Node<'t>, binding: Binding, value: Option<Node<'t>>) {
    let Some(whole) = value else {
        let kind = binding.kind;
        return binding.define(walk, holder, kind, Inside::Nothing);
    };
    let value = plain(whole);
    if is_function(value) {
        let kind = function_kind(walk, &binding);
        let inside = body(walk, value).map_or(Inside::Nothing, Inside::Code);
        return binding.define(walk, holder, kind, inside);
    }
    match value.kind() {
        "class" => {
            let inside = first(value, &["body"]).map_or(Inside::Nothing, Inside::Members);
            binding.define(walk, holder, SymbolKind::Class, inside);
        }
        "object" if has_functions(value) => {
            binding.define(walk, holder, SymbolKind::Object, Inside::Members(value));
        }
        "call_expression" => bind_call(walk, holder, binding, value),
        _ => bind_value(walk, holder, binding, whole),
    }
}

/// Takes in a value that has no structure: a short one is told, of a long one what is code or data is left out.
fn bind_value<'t>(walk: &mut Walk<'t>, holder: Node<'t>, binding: Binding, value: Node<'t>) {
    let start = walk.range(value).start;
    let mut definition =
        Definition::new(binding.kind, binding.name, Inside::Nothing).owned_by(&binding.owner);
    if !walk.is_short(walk.start(holder)..walk.range(value).end) {
        definition = definition.with_head_end(start);
    }
    walk.define(holder, definition);
    trim(walk, value);
}

/// Takes in what a call makes: of the functions that it is handed, or of an object of them.
fn bind_call<'t>(walk: &mut Walk<'t>, holder: Node<'t>, binding: Binding, call: Node<'t>) {
    let kind = binding.kind;
    if let Some(object) = handed_object(call) {
        binding.define(walk, holder, SymbolKind::Object, Inside::Members(object));
        return;
    }
    let innermost = first(call, &["function"]).map(plain).filter(|function| is_function(*function));
    if let Some(body) = innermost.and_then(|function| find(function, "body")) {
        // A function that is called at once, for what it returns.
        binding.define(walk, holder, kind, Inside::Members(body));
        return;
    }
    match handed_function(walk, call).and_then(|function| body(walk, function)) {
        Some(body) => {
            binding.define(walk, holder, kind, Inside::Code(body));
            trim(walk, call);
        }
        None => bind_value(walk, holder, binding, call),
    }
}

fn function_kind(walk: &Walk<'_>, binding: &Binding) -> SymbolKind {
    let is_in_type = walk.scope_kind().is_some_and(SymbolKind::is_type);
    if is_in_type || binding.kind == SymbolKind::Method { SymbolKind::Method } else { SymbolKind::Function }
}
