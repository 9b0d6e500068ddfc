//! What the values of JavaScript are, and what a skeleton leaves out of them.

use tree_sitter::Node;

use crate::syntax::nodes::is_trivia;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::walk::Walk;
use crate::syntax::walk::count_lines;

/// The value of an arrow function that is no longer than this is told.
const SHORT_ARROW: usize = 80;

/// A template of more bytes than this is a text of its own: its size is told.
const LARGE_TEMPLATE: usize = 400;

/// Objects within objects are asked for functions no deeper than this.
const MOST_OBJECTS: usize = 3;

/// Returns a value without what only stands around it: brackets, types, `await`, and names that it is given on the way.
pub(super) fn plain(value: Node<'_>) -> Node<'_> {
    let mut value = value;
    loop {
        let inner = match value.kind() {
            "parenthesized_expression"
            | "as_expression"
            | "satisfies_expression"
            | "non_null_expression"
            | "type_assertion"
            | "await_expression"
            | "unary_expression" => named(value).into_iter().find(|inner| inner.kind() != "type_arguments"),
            "assignment_expression" => find(value, "right"),
            _ => None,
        };
        match inner {
            Some(inner) => value = inner,
            None => return value,
        }
    }
}

/// Returns the children that mean something.
pub(super) fn named(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| !is_trivia(*child)).collect()
}

/// Says whether a node is a function without being a declaration.
pub(super) fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function")
}

/// Says whether an object holds functions or classes, so that it is more than data.
pub(super) fn has_functions(object: Node<'_>) -> bool {
    object.kind() == "object" && has_functions_within(object, MOST_OBJECTS)
}

fn has_functions_within(object: Node<'_>, depth: usize) -> bool {
    named(object).into_iter().any(|member| match member.kind() {
        "method_definition" => true,
        "pair" => find(member, "value").map(plain).is_some_and(|value| {
            is_function(value)
                || value.kind() == "class"
                || (value.kind() == "object" && 0 < depth && has_functions_within(value, depth - 1))
        }),
        _ => false,
    })
}

/// Returns the body of a function that a skeleton leaves out; nothing where it is a short value.
pub(super) fn body<'t>(walk: &Walk<'t>, function: Node<'t>) -> Option<Node<'t>> {
    let body = find(function, "body")?;
    let text = walk.text(body);
    let is_short = body.kind() != "statement_block" && text.len() <= SHORT_ARROW && !text.contains('\n');
    (!is_short).then_some(body)
}

/// Returns the function that a call is handed, where it has a body to leave out: `memo(function () { … })`.
pub(super) fn handed_function<'t>(walk: &Walk<'t>, call: Node<'t>) -> Option<Node<'t>> {
    let handed = arguments(call).into_iter().map(plain);
    let mut functions = handed.filter(|argument| is_function(*argument));
    functions.find(|function| body(walk, *function).is_some())
}

/// Returns the object with functions that a call is handed: `View.extend({ render() { … } })`.
pub(super) fn handed_object(call: Node<'_>) -> Option<Node<'_>> {
    arguments(call).into_iter().map(plain).find(|argument| has_functions(*argument))
}

/// Returns what a call is handed.
pub(super) fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    find_all(call, "arguments")
        .into_iter()
        .filter(|list| list.kind() == "arguments")
        .flat_map(named)
        .collect()
}

/// Takes out of a skeleton what is code or data within a value: bodies of functions, and large literals that hold none.
pub(super) fn trim<'t>(walk: &mut Walk<'t>, value: Node<'t>) {
    let mut functions = Vec::new();
    visit(value, &mut |node| {
        let is_code = is_function(node) || node.kind() == "method_definition";
        if is_code {
            functions.push(node.start_byte());
            if let Some(body) = body(walk, node) {
                walk.cut_code(body);
            }
        }
        is_code
    });
    visit(value, &mut |node| {
        let next = functions.partition_point(|&start| start < node.start_byte());
        let has_function = functions.get(next).is_some_and(|&start| start < node.end_byte());
        if !has_function {
            trim_literal(walk, node);
        }
        !has_function
    });
}

fn trim_literal<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    match node.kind() {
        "array" | "object" => walk.cut_rows(node),
        "template_string" => trim_template(walk, node),
        _ => visit(node, &mut |inner| match inner.kind() {
            "array" | "object" => {
                walk.cut_rows(inner);
                true
            }
            "template_string" => {
                trim_template(walk, inner);
                true
            }
            _ => false,
        }),
    }
}

fn trim_template<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let range = walk.range(node);
    if LARGE_TEMPLATE <= range.len() && !node.has_error() {
        let size = count_lines(walk.text(node).lines().count());
        walk.cut(range.start + 1..range.end - 1, format!(" /* {size} */ "));
    }
}

/// Calls `look` with each node from `top` down; what it says yes to is not looked into.
fn visit<'t>(top: Node<'t>, look: &mut dyn FnMut(Node<'t>) -> bool) {
    let mut cursor = top.walk();
    loop {
        if !look(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}
