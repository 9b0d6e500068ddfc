//! Rust: paths, declared types and values in their reduced form.
//!
//! A borrow is reduced to its value, and `Some(x)`, `Ok(x)` and `Box::new(x)` to `x`: a method that is called on them
//! is usually, after one more step that makes no difference here, called on `x`.

use tree_sitter::Node;

use crate::model::{ANY_INTEGER, ExpressionFact, ExpressionId};
use crate::syntax::facts::builder::{FactsBuilder, field};
use crate::syntax::outline::{children, named_children};

/// The maximum number of arms of a `match` that are read.
const MAX_ARMS: usize = 6;

/// Returns whether a name in a pattern is a constant or a variant, judging by its case, which the compiler enforces
/// with warnings.
pub(super) fn is_constant_name(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Returns whether a call of that function returns its argument, as far as methods are concerned.
pub(super) fn constructs_inner(function: &str) -> bool {
    matches!(
        function,
        "Some" | "Ok" | "Box::new" | "Arc::new" | "Rc::new" | "Box::pin" | "Arc::clone" | "Rc::clone"
    )
}

/// Returns the type or module that the path before a name means.
pub(super) fn path_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "identifier" | "type_identifier" | "crate" | "self" | "super" => type_named(facts, node),
        "scoped_identifier" | "scoped_type_identifier" => {
            let Some(name) = field(node, "name") else { return 0 };
            let Some(path) = field(node, "path") else { return type_named(facts, name) };
            facts.member(Some(path), Some(name), path_of)
        }
        "generic_type" | "generic_type_with_turbofish" | "generic_pattern" | "generic_function" => {
            let inner = field(node, "type").or_else(|| field(node, "function")).or(node.named_child(0));
            facts.chained(inner, path_of)
        }
        "bracketed_type" => facts.chained(node.named_child(0), path_of),
        "qualified_type" => facts.chained(field(node, "type"), path_of),
        "reference_type" | "dynamic_type" => declared_type(facts, node),
        _ => 0,
    }
}

fn type_named<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    if facts.text_of(node) == "Self" {
        return facts.expression(ExpressionFact::ReceiverType);
    }
    // The compiler infers it.
    if facts.text_of(node) == "_" {
        return 0;
    }
    let name = facts.name_of(node);
    facts.expression(ExpressionFact::TypeName(name))
}

/// Returns the expression of a type in the text.
pub(super) fn declared_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "type_identifier" | "identifier" | "scoped_type_identifier" | "scoped_identifier" => {
            path_of(facts, node)
        }
        "primitive_type" => {
            let name = facts.name_of(node);
            facts.expression(ExpressionFact::TypeName(name))
        }
        "unit_type" => facts.named_type("()"),
        "never_type" => facts.expression(ExpressionFact::Literal),
        "generic_type" => {
            let mut generic = facts.chained(field(node, "type"), path_of);
            let Some(arguments) = field(node, "type_arguments") else { return generic };
            for argument in named_children(arguments) {
                let argument = match argument.kind() {
                    "lifetime" => continue,
                    "type_binding" => facts.chained(field(argument, "type"), declared_type),
                    _ => facts.chained(Some(argument), declared_type),
                };
                generic = facts.expression(ExpressionFact::Apply(generic, argument));
            }
            generic
        }
        "reference_type" | "pointer_type" | "higher_ranked_trait_bound" => {
            facts.chained(field(node, "type"), declared_type)
        }
        "dynamic_type" | "abstract_type" => facts.chained(field(node, "trait"), declared_type),
        "bracketed_type" => facts.chained(node.named_child(0), declared_type),
        "bounded_type" | "trait_bounds" => bounds_of(facts, node),
        "tuple_type" => {
            let mut tuple = 0;
            for part in named_children(node) {
                let part = facts.chained(Some(part), declared_type);
                tuple = facts.expression(ExpressionFact::Apply(tuple, part));
            }
            tuple
        }
        "array_type" => {
            let array = facts.named_type("[]");
            let item = facts.chained(field(node, "element"), declared_type);
            facts.expression(ExpressionFact::Apply(array, item))
        }
        _ => 0,
    }
}

/// Returns the trait bounds of a type, as alternatives.
pub(super) fn bounds_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let mut bounds = None;
    for bound in named_children(node) {
        if matches!(bound.kind(), "lifetime" | "removed_trait_bound" | "use_bounds") {
            continue;
        }
        let bound = facts.chained(Some(bound), declared_type);
        bounds = Some(match bounds {
            Some(before) => facts.expression(ExpressionFact::Either(before, bound)),
            None => bound,
        });
    }
    bounds.unwrap_or(0)
}

/// Returns the expression that decides the type of a value.
pub(super) fn value_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "identifier" => facts.named(node),
        "self" => facts.expression(ExpressionFact::Receiver),
        "scoped_identifier" => path_of(facts, node),
        "call_expression" => called(facts, node),
        "field_expression" => {
            let object = facts.chained(field(node, "value"), value_of);
            let Some(name) = field(node, "field") else { return 0 };
            let name = facts.name_of(name);
            facts.expression(ExpressionFact::Field(object, name))
        }
        "struct_expression" => facts.unary(ExpressionFact::Instance, field(node, "name"), path_of),
        "reference_expression" => facts.chained(field(node, "value"), value_of),
        "unary_expression" if is_target_of_own_type(facts, node) => 0,
        // A negation has the type of its operand.
        "parenthesized_expression" | "unary_expression" => facts.chained(node.named_child(0), value_of),
        "await_expression" => {
            let awaited = facts.chained(node.named_child(0), value_of);
            awaited_value(facts, awaited)
        }
        "binary_expression" => operation(facts, node),
        "closure_expression" => closure_value(facts, node),
        "macro_invocation" => match macro_name(node) {
            Some(name) => macro_value(facts, name),
            None => 0,
        },
        "tuple_expression" => {
            let mut tuple = 0;
            for part in named_children(node).into_iter().take(MAX_ARMS) {
                let part = facts.chained(Some(part), value_of);
                tuple = facts.expression(ExpressionFact::Apply(tuple, part));
            }
            tuple
        }
        "array_expression" => {
            let array = facts.named_type("[]");
            let item = children(node).into_iter().find(|child| {
                child.is_named()
                    && !matches!(child.kind(), "attribute_item" | "line_comment" | "block_comment")
            });
            let item = facts.chained(item, value_of);
            facts.expression(ExpressionFact::Apply(array, item))
        }
        "try_expression" => facts.unary(ExpressionFact::Inner, node.named_child(0), value_of),
        "index_expression" => facts.unary(ExpressionFact::Item, node.named_child(0), value_of),
        "type_cast_expression" => facts.unary(ExpressionFact::Instance, field(node, "type"), declared_type),
        "if_expression" => {
            let alternative = field(node, "alternative").and_then(|clause| clause.named_child(0));
            let arms = [field(node, "consequence"), alternative];
            let is_bound =
                field(node, "condition").is_some_and(|condition| condition.kind().starts_with("let"));
            if is_bound { 0 } else { one_of(facts, arms.into_iter().flatten()) }
        }
        "match_expression" => match_value(facts, node),
        "block" | "unsafe_block" => match (node.named_child_count(), node.named_child(0)) {
            (1, Some(only)) if only.kind() == "expression_statement" => 0,
            (1, Some(only)) => facts.chained(Some(only), value_of),
            _ => 0,
        },
        "unit_expression" => literal(facts, "()"),
        "assignment_expression" => facts.expression(ExpressionFact::Literal),
        kind => match literal_type(kind, facts.text_of(node)) {
            Some(name) => literal(facts, name),
            None => 0,
        },
    }
}

/// Returns whether an expression is `**self` in an implementation for a type that is neither a reference nor a pointer
/// of the standard library: what the type dereferences to.
fn is_target_of_own_type<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> bool {
    if facts.text_of(node) != "**self" {
        return false;
    }
    let around =
        std::iter::successors(node.parent(), Node::parent).find(|around| around.kind() == "impl_item");
    let Some(implemented) = around.and_then(|around| field(around, "type")) else { return false };
    let named = field(implemented, "type").unwrap_or(implemented);
    implemented.kind() != "reference_type" && !matches!(facts.text_of(named), "Box" | "Rc" | "Arc" | "Pin")
}

/// Returns the name of a literal's type; for a number without a suffix, [`ANY_INTEGER`] or `f64`.
pub(super) fn literal_type(kind: &str, text: &str) -> Option<&'static str> {
    match kind {
        "string_literal" | "raw_string_literal" => Some("str"),
        "char_literal" => Some("char"),
        "boolean_literal" => Some("bool"),
        "float_literal" => Some(if text.ends_with("f32") { "f32" } else { "f64" }),
        "integer_literal" => {
            let named = INTEGERS.into_iter().find(|name| text.ends_with(name));
            Some(named.unwrap_or(ANY_INTEGER))
        }
        _ => None,
    }
}

const INTEGERS: [&str; 12] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

/// Returns a value of a built-in type.
pub(super) fn literal(facts: &mut FactsBuilder<'_>, type_name: &'static str) -> ExpressionId {
    let declared = facts.named_type(type_name);
    facts.expression(ExpressionFact::Instance(declared))
}

/// Returns the result of awaiting a value: no method can be named `await`.
pub(super) fn awaited_value(facts: &mut FactsBuilder<'_>, awaited: ExpressionId) -> ExpressionId {
    let name = facts.name("await");
    let method = facts.expression(ExpressionFact::Member(awaited, name));
    facts.expression(ExpressionFact::Call(method))
}

/// Returns the name of the called macro.
pub(super) fn macro_name(node: Node<'_>) -> Option<Node<'_>> {
    let name = field(node, "macro")?;
    if name.kind() == "scoped_identifier" { field(name, "name") } else { Some(name) }
}

/// Returns the value of a macro call: with the `!`, the name cannot be mistaken for another.
pub(super) fn macro_value<'t>(facts: &mut FactsBuilder<'t>, name: Node<'t>) -> ExpressionId {
    let name = facts.composed_name(&format!("{}!", facts.text_of(name)));
    facts.expression(ExpressionFact::Name(name))
}

/// Returns the value of an operation, which calls a method of the left operand.
fn operation<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let method = match field(node, "operator").map_or("", |operator| operator.kind()) {
        "+" => "add",
        "-" => "sub",
        "*" => "mul",
        "/" => "div",
        "%" => "rem",
        "|" => "bitor",
        "&" => "bitand",
        _ => return literal(facts, "bool"),
    };
    let left = facts.chained(field(node, "left"), value_of);
    let name = facts.name(method);
    let method = facts.expression(ExpressionFact::Member(left, name));
    facts.expression(ExpressionFact::Call(method))
}

/// Returns a closure with its result, unless that depends on a parameter.
fn closure_value<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let Some(body) = field(node, "body") else { return 0 };
    let returned = match field(node, "return_type") {
        Some(declared) => facts.unary(ExpressionFact::Instance, Some(declared), declared_type),
        None if is_made_of_parameter(facts, node, body) => 0,
        None => facts.chained(Some(body), value_of),
    };
    if returned == 0 {
        return 0;
    }
    let closure = facts.named_type("||");
    facts.expression(ExpressionFact::Apply(closure, returned))
}

fn is_made_of_parameter<'t>(facts: &FactsBuilder<'t>, closure: Node<'t>, body: Node<'t>) -> bool {
    let mut first = body;
    while first.kind() != "identifier" {
        // A wrapper depends on its argument.
        let wraps =
            field(first, "function").is_some_and(|function| constructs_inner(facts.text_of(function)));
        let inner = if wraps { field(first, "arguments") } else { None };
        let Some(inner) = inner.or_else(|| first.named_child(0)) else { return false };
        first = inner;
    }
    let name = facts.text_of(first);
    let parameters = field(closure, "parameters").map_or("", |parameters| facts.text_of(parameters));
    parameters.split(|c: char| c != '_' && !c.is_alphanumeric()).any(|word| word == name)
}

fn called<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let Some(mut function) = field(node, "function") else { return 0 };
    if function.kind() == "generic_function" {
        function = field(function, "function").unwrap_or(function);
    }
    let arguments = field(node, "arguments");
    if constructs_inner(facts.text_of(function)) {
        return facts.chained(arguments.and_then(|arguments| arguments.named_child(0)), value_of);
    }
    let callee = if function.kind() == "field_expression" {
        let object = facts.chained(field(function, "value"), value_of);
        let Some(name) = field(function, "field") else { return 0 };
        let name = facts.name_of(name);
        facts.expression(ExpressionFact::Member(object, name))
    } else {
        facts.chained(Some(function), value_of)
    };
    facts.expression(ExpressionFact::Call(callee))
}

/// Returns the value of those arms of a `match` that bind no name: names of an arm are unknown outside of it.
fn match_value<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let Some(body) = field(node, "body") else { return 0 };
    let (mut arms, mut unwraps) = (Vec::new(), false);
    for arm in children(body).into_iter().filter(|child| child.kind() == "match_arm").take(MAX_ARMS) {
        let (Some(pattern), Some(value)) = (field(arm, "pattern"), field(arm, "value")) else { continue };
        unwraps |= is_unwrapping(facts, pattern, value);
        let is_plain = pattern.named_child(0).is_none_or(|pattern| {
            pattern.kind() == "scoped_identifier"
                || pattern.kind().ends_with("literal")
                || pattern.kind() == "identifier" && is_constant_name(facts.text_of(pattern))
        });
        if is_plain || is_diverging(value) {
            arms.push(value);
        }
    }
    if unwraps {
        let whole = facts.chained(field(node, "value"), value_of);
        return facts.expression(ExpressionFact::Inner(whole));
    }
    one_of(facts, arms.into_iter())
}

/// Returns whether an arm is `Some(x) => x` or `Ok(x) => x`.
fn is_unwrapping<'t>(facts: &FactsBuilder<'t>, pattern: Node<'t>, value: Node<'t>) -> bool {
    let Some(inner) = pattern.named_child(0).filter(|inner| inner.kind() == "tuple_struct_pattern") else {
        return false;
    };
    let (Some(name), Some(bound)) = (field(inner, "type"), inner.named_child(1)) else { return false };
    matches!(facts.text_of(name), "Some" | "Ok")
        && bound.kind() == "identifier"
        && facts.text_of(bound) == facts.text_of(value)
}

fn is_diverging(node: Node<'_>) -> bool {
    matches!(node.kind(), "return_expression" | "continue_expression" | "break_expression")
}

fn one_of<'t>(facts: &mut FactsBuilder<'t>, arms: impl Iterator<Item = Node<'t>>) -> ExpressionId {
    let mut found = None;
    for arm in arms.filter(|arm| !is_diverging(*arm)) {
        let value = facts.chained(Some(arm), value_of);
        found = Some(match found {
            Some(before) => facts.expression(ExpressionFact::Either(before, value)),
            None => value,
        });
    }
    found.unwrap_or(0)
}
