//! The values of JavaScript, and what a skeleton cuts of them.

use tree_sitter::Node;

use crate::syntax::outline::{OutlineWalk, ValueTrimmer, find, find_all, is_trivia};

/// The value of an arrow function that is no longer than this is shown.
const SHORT_ARROW: usize = 80;

/// Objects within objects are asked for functions no deeper than this.
const MOST_OBJECTS: usize = 3;

/// Calls within calls are asked for functions no deeper than this.
const MOST_CALLS: usize = 4;

/// Returns a value without what only wraps it: parentheses, types, `await`, and names that are assigned to on the way.
pub(super) fn unwrap_value(value: Node<'_>) -> Node<'_> {
    let mut value = value;
    loop {
        let inner = match value.kind() {
            "parenthesized_expression"
            | "as_expression"
            | "satisfies_expression"
            | "non_null_expression"
            | "type_assertion"
            | "await_expression"
            | "unary_expression" => {
                significant_children(value).into_iter().find(|inner| inner.kind() != "type_arguments")
            }
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
pub(super) fn significant_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| !is_trivia(*child)).collect()
}

/// Returns whether a node is a function that is not a declaration.
pub(super) fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function")
}

/// Returns whether an object contains functions or classes, so that it is more than data.
pub(super) fn has_functions(object: Node<'_>) -> bool {
    object.kind() == "object" && has_functions_within(object, MOST_OBJECTS)
}

fn has_functions_within(object: Node<'_>, depth: usize) -> bool {
    significant_children(object).into_iter().any(|member| match member.kind() {
        "method_definition" => true,
        "pair" => find(member, "value").map(unwrap_value).is_some_and(|value| {
            is_function(value)
                || value.kind() == "class"
                || (value.kind() == "object" && 0 < depth && has_functions_within(value, depth - 1))
        }),
        _ => false,
    })
}

/// Returns the body of a function that a skeleton cuts; `None` where it is a short value.
pub(super) fn elidable_body<'t>(walk: &OutlineWalk<'t>, function: Node<'t>) -> Option<Node<'t>> {
    let body = find(function, "body")?;
    let text = walk.text(body);
    let is_short = body.kind() != "statement_block" && text.len() <= SHORT_ARROW && !text.contains('\n');
    (!is_short).then_some(body)
}

/// Returns the function among the arguments of a call, where it has a body to cut: `memo(function () { … })`. It may be
/// an argument of a call among the arguments.
pub(super) fn function_argument<'t>(walk: &OutlineWalk<'t>, call: Node<'t>) -> Option<Node<'t>> {
    let mut call = call;
    for _ in 0..MOST_CALLS {
        let args: Vec<_> = arguments(call).into_iter().map(unwrap_value).collect();
        let function = args.iter().find(|argument| is_function(**argument));
        if let Some(function) = function.filter(|function| elidable_body(walk, **function).is_some()) {
            return Some(*function);
        }
        call = *args.iter().find(|argument| argument.kind() == "call_expression")?;
    }
    None
}

/// Returns the object with functions among the arguments of a call: `View.extend({ render() { … } })`.
pub(super) fn object_argument(call: Node<'_>) -> Option<Node<'_>> {
    arguments(call).into_iter().map(unwrap_value).find(|argument| has_functions(*argument))
}

/// Returns the arguments of a call.
pub(super) fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    find_all(call, "arguments")
        .into_iter()
        .filter(|list| list.kind() == "arguments")
        .flat_map(significant_children)
        .collect()
}

/// How JavaScript's values are trimmed.
const VALUES: ValueTrimmer = ValueTrimmer { cut_function, cut_literal };

/// Cuts code and data within a value.
pub(super) fn trim_value<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    VALUES.trim_value(walk, value);
}

fn cut_function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) -> bool {
    let is_code = is_function(node) || node.kind() == "method_definition";
    if let Some(body) = elidable_body(walk, node).filter(|_| is_code) {
        walk.cut_code(body);
    }
    is_code
}

fn cut_literal<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) -> bool {
    match node.kind() {
        "array" | "object" => walk.cut_rows(node),
        "template_string" => walk.cut_text(node, 1, 1),
        _ => return false,
    }
    true
}
