//! PHP's statements outside of functions: constants, functions with a name of a variable, files that are drawn in, and
//! what a file hands back.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::trim::ValueTrimmer;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::walk::format_line_count;

/// A function of one expression that is no longer than this is told.
const SHORT_ARROW: usize = 80;

/// An array of more bytes than this is a table: its size is told, not its rows.
const LARGE_ARRAY: usize = 400;

/// How many symbols back a variable is looked for that has been told.
const NEAR: usize = 100;

/// What PHP's values are made of.
const VALUES: ValueTrimmer = ValueTrimmer { cut_function, cut_literal };

/// Reads an expression that stands for itself.
pub(super) fn statement<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
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

/// Reads `return …;` of a file that is drawn in for what it hands back.
pub(super) fn file_return_value<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(value) = node.named_child(0) else { return };
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

/// Reads `require 'a.php'`: the text in it, for what stands around that is a folder as a rule.
fn add_required_file<'t>(walk: &mut OutlineWalk<'t>, expression: Node<'t>) {
    walk.use_comment_as_file_doc();
    let text = walk.text(expression);
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
        let definition =
            SymbolDefinition::new(SymbolKind::Constant, name.to_owned(), SymbolBody::Value(call));
        define_globally(walk, node, definition);
    }
}

/// Reads `$name = value;`, which gives a name the first time.
fn assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, assignment: Node<'t>) {
    let (Some(left), Some(right)) = (find(assignment, "left"), find(assignment, "right")) else { return };
    let name = walk.text(left);
    let is_known = walk.symbols.iter().rev().take(NEAR).any(|symbol| symbol.name == name);
    if left.kind() == "variable_name" && !is_known {
        let kind = if is_function(right) { SymbolKind::Function } else { SymbolKind::Variable };
        let mut definition = SymbolDefinition::new(kind, name.to_owned(), SymbolBody::Nothing);
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

/// Takes in what belongs to no namespace, wherever it stands.
fn define_globally<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, definition: SymbolDefinition<'t>) {
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

/// A value must stand where one stood.
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
    walk.replace_with_mark(walk.range(open).end..range.end - 1, format!(" /* {size} */ "));
}
