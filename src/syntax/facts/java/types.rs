//! Java: values and declared types in their reduced form.

use tree_sitter::Node;

use super::reader::{called_name, inferred_parameters};
use crate::model::{ExpressionFact, ExpressionId};
use crate::syntax::facts::builder::{FactsBuilder, field};
use crate::syntax::outline::{child_of_kind, children, named_children};

/// Returns the expression that decides the type of a value.
pub(super) fn value_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "identifier" => {
            let name = facts.name_of(node);
            // The meaning of the name in a lambda that is being reduced.
            let element = facts.element_names.iter().rev().find(|(known, _)| *known == name);
            match element {
                Some((_, value)) => *value,
                None => facts.named(node),
            }
        }
        "type_identifier" => facts.named(node),
        "this" => facts.expression(ExpressionFact::Receiver),
        "super" => facts.expression(ExpressionFact::Super),
        "field_access" => {
            let object = field(node, "object");
            match field(node, "field") {
                // `Outer.this`
                Some(name) if name.kind() == "this" => {
                    facts.unary(ExpressionFact::Instance, object, declared_type)
                }
                Some(name) => facts.member(object, Some(name), value_of),
                None => 0,
            }
        }
        "method_invocation" => {
            let Some(name) = field(node, "name") else { return 0 };
            let called = called_name(facts, name, field(node, "arguments"));
            let function = match field(node, "object") {
                Some(object) => {
                    let object = facts.chained(Some(object), value_of);
                    facts.expression(ExpressionFact::Member(object, called))
                }
                None => facts.expression(ExpressionFact::Name(called)),
            };
            let function = applied(facts, function, node);
            facts.expression(ExpressionFact::Call(function))
        }
        "object_creation_expression" | "array_creation_expression" => {
            let mut declared = created_type(facts, node);
            for _ in 0..dimensions(node) {
                declared = array_of(facts, declared);
            }
            facts.expression(ExpressionFact::Instance(declared))
        }
        "cast_expression" => facts.unary(ExpressionFact::Instance, field(node, "type"), declared_type),
        "array_access" => facts.unary(ExpressionFact::Item, field(node, "array"), value_of),
        "parenthesized_expression" | "update_expression" => facts.chained(node.named_child(0), value_of),
        "assignment_expression" => facts.chained(field(node, "right"), value_of),
        "ternary_expression" => {
            let left = facts.chained(field(node, "consequence"), value_of);
            let right = facts.chained(field(node, "alternative"), value_of);
            facts.expression(ExpressionFact::Either(left, right))
        }
        "scoped_type_identifier" | "scoped_identifier" | "generic_type" => declared_type(facts, node),
        "class_literal" => {
            let declared = facts.chained(node.named_child(0), declared_type);
            let class = facts.named_type("(Class)");
            let class = facts.expression(ExpressionFact::Apply(class, declared));
            facts.expression(ExpressionFact::Instance(class))
        }
        "true" | "false" | "instanceof_expression" => of_language(facts, "(boolean)"),
        "unary_expression" => match child_of_kind(node, "!") {
            Some(_) => of_language(facts, "(boolean)"),
            None => facts.chained(field(node, "operand"), value_of),
        },
        "binary_expression" => operation(facts, node),
        "lambda_expression" => {
            let count = match field(node, "parameters") {
                Some(single) if single.kind() == "identifier" => 1,
                list => list.map_or(0, |list| list.named_child_count()),
            };
            of_language(facts, &format!("(->{count})"))
        }
        "method_reference" => method_reference(facts, node),
        kind if kind.ends_with("literal") => literal(facts, node),
        _ => 0,
    }
}

/// Returns the type that a declaration names.
pub(super) fn declared_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "type_identifier" | "identifier" => facts.named(node),
        "scoped_type_identifier" | "scoped_identifier" | "field_access" => {
            let parts: Vec<Node<'t>> = children(node)
                .into_iter()
                .filter(|part| part.kind().ends_with("identifier") || part.kind() == "generic_type")
                .collect();
            let [outer, name] = parts[..] else { return 0 };
            facts.member(Some(outer), Some(name), declared_type)
        }
        "generic_type" => {
            let generic = facts.chained(node.named_child(0), declared_type);
            let Some(arguments) = child_of_kind(node, "type_arguments") else { return generic };
            facts.applied(generic, named_children(arguments), declared_type)
        }
        "array_type" => {
            let mut declared = facts.chained(field(node, "element"), declared_type);
            let count = field(node, "dimensions").map_or(1, brackets);
            for _ in 0..count {
                declared = array_of(facts, declared);
            }
            declared
        }
        // `? extends T`
        "wildcard" | "annotated_type" => {
            let inner = node.named_children(&mut node.walk()).last();
            facts.chained(inner, declared_type)
        }
        "integral_type" | "floating_point_type" | "boolean_type" | "void_type" => {
            facts.named_type(&format!("({})", facts.text_of(node)))
        }
        _ => 0,
    }
}

/// Returns the type of arrays of a type: a generic type whose name cannot be written.
pub(super) fn array_of(facts: &mut FactsBuilder<'_>, item: ExpressionId) -> ExpressionId {
    let array = facts.name("[]");
    let array = facts.expression(ExpressionFact::Name(array));
    facts.expression(ExpressionFact::Apply(array, item))
}

/// Returns the type that `new` names; in `outer.new Inner()` it is a member of the value before.
fn created_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let declared = field(node, "type");
    let qualifier =
        node.named_child(0).filter(|first| node.child(0) == Some(*first) && Some(*first) != declared);
    let (Some(qualifier), Some(named)) =
        (qualifier, declared.filter(|named| named.kind() == "type_identifier"))
    else {
        return facts.chained(declared, declared_type);
    };
    facts.member(Some(qualifier), Some(named), value_of)
}

/// Returns the number of dimensions of a created array; 0 for an object.
fn dimensions(node: Node<'_>) -> usize {
    let parts = node.children_by_field_name("dimensions", &mut node.walk()).map(brackets).sum();
    if node.kind() == "array_creation_expression" { parts } else { 0 }
}

fn brackets(node: Node<'_>) -> usize {
    children(node).into_iter().filter(|part| part.kind() == "[").count()
}

/// Returns a value of a built-in type, whose name is in parentheses.
fn of_language(facts: &mut FactsBuilder<'_>, name: &str) -> ExpressionId {
    let declared = facts.named_type(name);
    facts.expression(ExpressionFact::Instance(declared))
}

fn literal<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let last = facts.text_of(node).chars().next_back().unwrap_or_default().to_ascii_lowercase();
    let name = match (node.kind(), last) {
        ("null_literal", _) => "(null)",
        ("character_literal", _) => "(char)",
        ("decimal_floating_point_literal" | "hex_floating_point_literal", 'f') => "(float)",
        ("decimal_floating_point_literal" | "hex_floating_point_literal", _) => "(double)",
        (kind, 'l') if kind.ends_with("integer_literal") => "(long)",
        (kind, _) if kind.ends_with("integer_literal") => "(int)",
        _ => "(String)",
    };
    of_language(facts, name)
}

/// Reduces an operation to the types of its operands, if these decide that of the result.
fn operation<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let operator = field(node, "operator").map_or("", |operator| facts.text_of(operator));
    if matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||") {
        return of_language(facts, "(boolean)");
    }
    let left = facts.chained(field(node, "left"), value_of);
    if matches!(operator, "<<" | ">>" | ">>>") {
        return left;
    }
    let right = facts.chained(field(node, "right"), value_of);
    let text = of_language(facts, "(String)");
    if operator == "+" && (left == text || right == text) {
        return text;
    }
    let sum = facts.named_type(if operator == "+" { "(+)" } else { "(*)" });
    let sum = facts.expression(ExpressionFact::Apply(sum, left));
    let sum = facts.expression(ExpressionFact::Apply(sum, right));
    facts.expression(ExpressionFact::Instance(sum))
}

/// `C::method`: a function, applied to the method.
fn method_reference<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let parts = children(node);
    let (Some(object), Some(name)) = (parts.first().copied(), parts.last().copied()) else { return 0 };
    let mut reference = facts.named_type("(::)");
    let object = facts.chained(Some(object), value_of);
    let called = if name.kind() == "identifier" {
        let called = facts.composed_name(&format!("{}(*)", facts.text_of(name)));
        facts.expression(ExpressionFact::Member(object, called))
    } else {
        facts.expression(ExpressionFact::Instance(object))
    };
    reference = facts.expression(ExpressionFact::Apply(reference, called));
    facts.expression(ExpressionFact::Instance(reference))
}

/// Returns a function applied to the arguments of a call. A lambda is reduced to its result, which may depend on its
/// parameters.
pub(super) fn applied<'t>(
    facts: &mut FactsBuilder<'t>,
    function: ExpressionId,
    call: Node<'t>,
) -> ExpressionId {
    let Some(list) = field(call, "arguments").filter(|list| 0 < list.named_child_count()) else {
        return function;
    };
    let nodes: Vec<Node<'t>> =
        named_children(list).into_iter().filter(|part| !part.kind().ends_with("comment")).collect();
    let mut values: Vec<ExpressionId> =
        nodes.iter().map(|node| facts.chained(Some(*node), value_of)).collect();
    let plain = apply_all(facts, function, &values);
    let mut has_lambda = false;
    for (at, node) in (0..).zip(&nodes) {
        let body = field(*node, "body").filter(|body| body.kind() != "block");
        let Some(body) = body.filter(|_| node.kind() == "lambda_expression") else { continue };
        let target = parameter(facts, plain, at);
        let outer = facts.element_names.len();
        for (at, name) in (0..).zip(inferred_parameters(*node)) {
            let value = facts.expression(ExpressionFact::Part(target, at));
            let name = facts.name_of(name);
            facts.element_names.push((name, value));
        }
        let result = facts.chained(Some(body), value_of);
        facts.element_names.truncate(outer);
        if let ExpressionFact::Instance(lambda) = facts.facts.expression(values[at as usize]) {
            let lambda = facts.expression(ExpressionFact::Apply(lambda, result));
            values[at as usize] = facts.expression(ExpressionFact::Instance(lambda));
            has_lambda = true;
        }
    }
    if has_lambda { apply_all(facts, function, &values) } else { plain }
}

fn apply_all(facts: &mut FactsBuilder<'_>, function: ExpressionId, values: &[ExpressionId]) -> ExpressionId {
    values.iter().fold(function, |all, value| facts.expression(ExpressionFact::Apply(all, *value)))
}

/// Returns the callee's parameter at a position.
fn parameter(facts: &mut FactsBuilder<'_>, function: ExpressionId, at: u32) -> ExpressionId {
    let all = facts.expression(ExpressionFact::Inner(function));
    facts.expression(ExpressionFact::Part(all, at))
}

/// Returns a value of the type that a lambda is expected to have where it is passed.
pub(super) fn lambda_target<'t>(facts: &mut FactsBuilder<'t>, lambda: Node<'t>) -> ExpressionId {
    let (mut inner, mut outer) = (lambda, lambda.parent());
    while let Some(node) = outer {
        match node.kind() {
            "parenthesized_expression" | "ternary_expression" => {}
            "argument_list" => return argument_target(facts, node, inner),
            "variable_declarator" => {
                let declared = node.parent().and_then(|declaration| field(declaration, "type"));
                return typed(facts, declared);
            }
            "cast_expression" => return typed(facts, field(node, "type")),
            "assignment_expression" => return facts.chained(field(node, "left"), value_of),
            "return_statement" => {
                let mut around = node.parent();
                while let Some(node) = around {
                    match node.kind() {
                        "method_declaration" => return typed(facts, field(node, "type")),
                        "lambda_expression" | "class_body" => return 0,
                        _ => around = node.parent(),
                    }
                }
                return 0;
            }
            _ => return 0,
        }
        (inner, outer) = (node, node.parent());
    }
    0
}

fn typed<'t>(facts: &mut FactsBuilder<'t>, declared: Option<Node<'t>>) -> ExpressionId {
    facts.unary(ExpressionFact::Instance, declared, declared_type)
}

/// Returns the parameter that an argument of a call is passed to.
fn argument_target<'t>(facts: &mut FactsBuilder<'t>, list: Node<'t>, argument: Node<'t>) -> ExpressionId {
    let Some(call) = list.parent().filter(|call| call.kind() == "method_invocation") else { return 0 };
    let arguments = named_children(list).into_iter().filter(|part| !part.kind().ends_with("comment"));
    let Some(at) = (0..).zip(arguments).find(|(_, part)| *part == argument).map(|(at, _)| at) else {
        return 0;
    };
    let called = value_of(facts, call);
    let ExpressionFact::Call(function) = facts.facts.expression(called) else { return 0 };
    parameter(facts, function, at)
}
