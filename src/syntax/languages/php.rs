//! PHP, with the HTML around it.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NamedScope, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, ValueTrimmer, Visit,
    child_of_kind, find, find_all,
};
use crate::syntax::text::format_line_count;

/// PHP, up to what the grammar knows of 8.4.
pub(super) static PHP: Language = Language {
    separator: "::",
    cuts_detached_comments: true,
    signature_excludes: &["attribute_list"],
    ..Language::new("php", tree_sitter_php::LANGUAGE_PHP, "tree-sitter-php 0.25.1", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("namespace_definition", Visit::Preamble(namespace)),
    ("namespace_use_declaration", Visit::Preamble(import)),
    ("declare_statement", Visit::FileHead),
    ("function_definition", Visit::code(SymbolKind::Function, "body")),
    ("class_declaration", Visit::members(SymbolKind::Class, "body")),
    ("interface_declaration trait_declaration", Visit::members(SymbolKind::Interface, "body")),
    ("enum_declaration", Visit::members(SymbolKind::Enum, "body")),
    ("enum_case", Visit::leaf(SymbolKind::EnumMember)),
    (
        "const_declaration",
        Visit::value(SymbolKind::Constant, ".array_creation_expression")
            .each(".const_element")
            .named(".name"),
    ),
    ("property_declaration", Visit::Read(property)),
    ("method_declaration", Visit::Read(method)),
    ("expression_statement", Visit::Read(statement)),
    ("return_statement", Visit::Read(file_return_value)),
    ("if_statement else_clause compound_statement colon_block", Visit::Enter),
];

/// A function of one expression that is no longer than this is shown.
const SHORT_ARROW: usize = 80;

/// An array of more bytes than this is a table: its size is shown, not its rows.
const LARGE_ARRAY: usize = 400;

/// How many symbols back to search for a variable that is already shown.
const MAX_SYMBOLS_BACK: usize = 100;

/// How PHP's values are trimmed.
const VALUES: ValueTrimmer = ValueTrimmer { cut_function, cut_literal };

/// Reads a method; a constructor's parameters may declare properties.
fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    // The names of methods are not case-sensitive.
    let kind = match name.to_ascii_lowercase().as_str() {
        "__construct" => SymbolKind::Constructor,
        "__destruct" => SymbolKind::Destructor,
        _ => SymbolKind::Method,
    };
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::code(find(node, "body"))));
    for parameter in find_all(node, "parameters/.property_promotion_parameter") {
        let Some(name) = find(parameter, "name/.variable_name|name") else { continue };
        let name = walk.text(name).to_owned();
        let hooks = find(parameter, ".property_hook_list");
        define_property(walk, parameter, name, hooks, SymbolBody::Nothing);
    }
}

/// Reads `public int $a = 1, $b;` and `public int $a { get => 1; }`.
fn property<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let hooks = find(node, ".property_hook_list");
    for element in find_all(node, ".property_element") {
        let Some(name) = walk.name_at(element, "name") else { continue };
        let value = SymbolBody::value(find(element, "default_value"));
        define_property(walk, node, name, hooks, value);
    }
}

fn define_property<'t>(
    walk: &mut OutlineWalk<'t>,
    node: Node<'t>,
    name: String,
    hooks: Option<Node<'t>>,
    inside: SymbolBody<'t>,
) {
    let kind = if hooks.is_some() { SymbolKind::Property } else { SymbolKind::Field };
    let mut definition = SymbolDefinition::new(kind, name, inside);
    if let Some(hooks) = hooks {
        definition = definition.with_signature_end(walk.range(hooks).start);
        for body in find_all(hooks, ".property_hook").into_iter().filter_map(|hook| find(hook, "body")) {
            if body.kind() == "compound_statement" {
                walk.cut_code(body);
            }
        }
    }
    walk.define(node, definition);
}

fn statement<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(expression) = node.named_child(0) else { return };
    match expression.kind() {
        "include_expression"
        | "include_once_expression"
        | "require_expression"
        | "require_once_expression" => {
            add_required_file(walk, expression);
        }
        "assignment_expression" => assignment(walk, node, expression),
        "function_call_expression" if is_define(walk, expression) => constant(walk, node, expression),
        _ => VALUES.trim_value(walk, expression),
    }
}

/// Reads `return …;` of a file that is included for its return value.
fn file_return_value<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(value) = node.named_child(0) else { return };
    // Frameworks load such files for the object: `return new class extends Migration { … };`.
    let class = if value.kind() == "object_creation_expression" {
        child_of_kind(value, "anonymous_class")
    } else {
        None
    };
    match class.and_then(|class| find(class, "body")) {
        Some(body) => {
            let name = "class@anonymous".to_owned();
            walk.define(node, SymbolDefinition::new(SymbolKind::Class, name, SymbolBody::Members(body)));
        }
        None => VALUES.trim_value(walk, value),
    }
}

/// Reads `require 'a.php'`: the literal in it, because the rest is usually a folder.
fn add_required_file<'t>(walk: &mut OutlineWalk<'t>, expression: Node<'t>) {
    walk.use_comment_as_file_doc();
    let text = walk.text(expression);
    // Every other part is between quotes.
    let parts = text.split(['"', '\'']).skip(1).step_by(2).filter(|part| !part.is_empty());
    if let Some(last) = parts.last() {
        walk.add_import(last.trim_start_matches('/'));
    }
}

fn is_define(walk: &OutlineWalk<'_>, call: Node<'_>) -> bool {
    find(call, "function")
        .is_some_and(|name| walk.text(name).trim_start_matches('\\').eq_ignore_ascii_case("define"))
}

/// Reads `define('NAME', value)`.
fn constant<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, call: Node<'t>) {
    let name =
        find(call, "arguments/.argument/.string").map(|name| walk.text(name).trim_matches(['"', '\'']));
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        let definition = SymbolDefinition::new(SymbolKind::Constant, name, SymbolBody::Value(call));
        define_globally(walk, node, definition);
    }
}

/// Reads `$name = value;`, which is shown the first time.
fn assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, assignment: Node<'t>) {
    let (Some(left), Some(right)) = (find(assignment, "left"), find(assignment, "right")) else { return };
    let name = walk.text(left);
    // Among the last ones only, so that the time for many assignments does not grow with their square.
    let is_known = walk.symbols.iter().rev().take(MAX_SYMBOLS_BACK).any(|symbol| symbol.name == name);
    if left.kind() == "variable_name" && !is_known {
        let kind = if is_function(right) { SymbolKind::Function } else { SymbolKind::Variable };
        let mut definition = SymbolDefinition::new(kind, name, SymbolBody::Nothing);
        let body = find(right, "body").filter(|_| is_function(right));
        if let Some(body) = body {
            definition = definition.with_signature_end(walk.range(body).start);
        } else if !walk.is_short(walk.range(node)) {
            definition = definition.with_signature_end(walk.range(right).start);
        }
        define_globally(walk, node, definition);
    }
    VALUES.trim_value(walk, right);
}

/// Adds a symbol that belongs to no namespace, wherever it is.
fn define_globally<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, definition: SymbolDefinition<'t>) {
    // A namespace applies neither to variables nor to the constants of `define`.
    let scopes = std::mem::take(&mut walk.scopes);
    walk.define(node, definition);
    walk.scopes = scopes;
}

fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "anonymous_function" | "arrow_function")
}

fn cut_function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) -> bool {
    let Some(body) = find(node, "body") else { return false };
    match node.kind() {
        "anonymous_function" | "method_declaration" => walk.cut_code(body),
        "arrow_function" => cut_arrow(walk, body),
        _ => return false,
    }
    true
}

/// A value must be replaced with a value.
fn cut_arrow<'t>(walk: &mut OutlineWalk<'t>, body: Node<'t>) {
    let text = walk.text(body);
    if !body.has_error() && (SHORT_ARROW < text.len() || text.contains('\n')) {
        let size = format_line_count(text.lines().count());
        walk.replace_with_mark(walk.range(body), format!("null /* {size} */"));
    }
}

fn cut_literal<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) -> bool {
    match node.kind() {
        "array_creation_expression" => cut_array(walk, node),
        "heredoc" | "nowdoc" => {
            for text in find_all(node, "value") {
                walk.cut_text(text, 0, 0);
            }
        }
        _ => return false,
    }
    true
}

fn cut_array<'t>(walk: &mut OutlineWalk<'t>, array: Node<'t>) {
    let range = walk.range(array);
    let open = child_of_kind(array, "[").or_else(|| child_of_kind(array, "("));
    let Some(open) = open.filter(|_| LARGE_ARRAY <= range.len() && !array.has_error()) else { return };
    let size = format_line_count(walk.text(array).lines().count());
    // Both `[…]` and `array(…)` end with one byte.
    walk.replace_with_mark(walk.range(open).end..range.end - 1, format!(" /* {size} */ "));
}

/// Reads `namespace A\B { … }`, and `namespace A\B;`, which contains everything up to the next one.
fn namespace<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let body = find(node, "body");
    // One ends where the next begins.
    if walk.scopes.iter().all(|scope| scope.kind == SymbolKind::Namespace) {
        walk.scopes.clear();
    }
    if let Some(name) = find(node, "name") {
        let (head_end, name) = (walk.range(name).end, walk.text(name).to_owned());
        let definition = SymbolDefinition::new(SymbolKind::Namespace, name, SymbolBody::Nothing);
        walk.define(node, definition.with_signature_end(head_end));
    }
    // What is in it is joined to it by another sign than members to their class.
    let name = find(node, "name").map_or(String::new(), |name| format!("{}\\", walk.text(name)));
    let scope = NamedScope { name, kind: SymbolKind::Namespace };
    let Some(body) = body else {
        if walk.scopes.is_empty() {
            walk.scopes.push(scope);
        }
        return;
    };
    let within = walk.visit_scope(scope, body);
    match walk.symbols.last_mut() {
        Some(namespace) if find(node, "name").is_some() => namespace.children = within,
        Some(_) | None => walk.symbols.extend(within),
    }
}

/// Reads `use A\B as C, D;` and `use A\{B, C};`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    for clause in find_all(node, ".namespace_use_clause") {
        if let Some(name) = find(clause, ".qualified_name|.name") {
            walk.add_import(walk.text(name).trim_start_matches('\\'));
        }
    }
    let prefix = find(node, ".namespace_name").map_or("", |prefix| walk.text(prefix));
    for clause in find_all(node, "body/.namespace_use_clause") {
        if let Some(name) = find(clause, ".qualified_name|.namespace_name|.name") {
            walk.add_import(&format!("{prefix}\\{}", walk.text(name)));
        }
    }
}
