//! Go: declared types and values in their reduced form. A pointer is what it points to.

use tree_sitter::Node;

use super::builder::{FactsBuilder, field};
use crate::model::{ExpressionFact, ExpressionId};
use crate::syntax::outline::children;

/// Returns the type that is written.
pub(super) fn declared_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "type_identifier" | "identifier" => {
            let name = facts.name_of(node);
            facts.expression(ExpressionFact::TypeName(name))
        }
        "qualified_type" => {
            let package = facts.chained(field(node, "package"), declared_package);
            let Some(name) = field(node, "name") else { return 0 };
            let name = facts.name_of(name);
            facts.expression(ExpressionFact::Member(package, name))
        }
        "selector_expression" => value_of(facts, node),
        "pointer_type"
        | "parenthesized_type"
        | "type_elem"
        | "type_constraint"
        | "parenthesized_expression"
        | "unary_expression" => facts.chained(node.named_child(0), declared_type),
        "generic_type" | "index_expression" | "type_instantiation_expression" => {
            let inner = field(node, "type").or_else(|| field(node, "operand"));
            let mut generic = facts.chained(inner, declared_type);
            for argument in field(node, "type_arguments").map(children).unwrap_or_default() {
                if argument.is_named() {
                    let argument = facts.chained(Some(argument), declared_type);
                    generic = facts.expression(ExpressionFact::Apply(generic, argument));
                }
            }
            generic
        }
        "slice_type" | "array_type" | "implicit_length_array_type" => {
            container(facts, "[]", &[field(node, "element")])
        }
        "map_type" => container(facts, "map", &[field(node, "key"), field(node, "value")]),
        "channel_type" => container(facts, "chan", &[field(node, "value")]),
        "function_type" => {
            let returned = field(node, "result").map_or(0, |result| result_type(facts, result));
            let function = facts.name("func");
            let function = facts.expression(ExpressionFact::TypeName(function));
            facts.expression(ExpressionFact::Apply(function, returned))
        }
        "struct_type" | "interface_type" => facts.expression(ExpressionFact::Literal),
        _ => 0,
    }
}

fn declared_package<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    facts.named(node)
}

/// Returns a type of the language that has arguments. Its name is a keyword or a sign, so that nothing can define it.
fn container<'t>(
    facts: &mut FactsBuilder<'t>,
    name: &'static str,
    arguments: &[Option<Node<'t>>],
) -> ExpressionId {
    let name = facts.name(name);
    let mut found = facts.expression(ExpressionFact::TypeName(name));
    for argument in arguments {
        let argument = facts.chained(*argument, declared_type);
        found = facts.expression(ExpressionFact::Apply(found, argument));
    }
    found
}

/// Returns what a function returns: a type, or several as the arguments of a type without a name.
pub(super) fn result_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    if node.kind() != "parameter_list" {
        return declared_type(facts, node);
    }
    let mut types = Vec::new();
    for parameter in children(node).into_iter().filter(Node::is_named) {
        let mut cursor = parameter.walk();
        let names = parameter.children_by_field_name("name", &mut cursor).count();
        let declared = field(parameter, "type").map_or(0, |declared| declared_type(facts, declared));
        types.extend(std::iter::repeat_n(declared, names.max(1)));
    }
    match types.as_slice() {
        [only] => *only,
        several => {
            several.iter().fold(0, |tuple, part| facts.expression(ExpressionFact::Apply(tuple, *part)))
        }
    }
}

/// Returns what decides the type of a value.
pub(super) fn value_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "identifier" | "package_identifier" | "type_identifier" => facts.named(node),
        "selector_expression" => {
            let object = facts.chained(field(node, "operand"), value_of);
            let Some(name) = field(node, "field") else { return 0 };
            let name = facts.name_of(name);
            facts.expression(ExpressionFact::Member(object, name))
        }
        "call_expression" => called(facts, node),
        "composite_literal" | "type_assertion_expression" | "type_conversion_expression" => {
            let declared = facts.chained(field(node, "type"), declared_type);
            facts.expression(ExpressionFact::Instance(declared))
        }
        "unary_expression" => {
            let operand = facts.chained(field(node, "operand"), value_of);
            match field(node, "operator").map(|operator| facts.text_of(operator)) {
                Some("&" | "*") => operand,
                Some("<-") => facts.expression(ExpressionFact::Item(operand)),
                _ => facts.expression(ExpressionFact::Literal),
            }
        }
        "parenthesized_expression" => facts.chained(node.named_child(0), value_of),
        "index_expression" => {
            let whole = facts.chained(field(node, "operand"), value_of);
            facts.expression(ExpressionFact::Item(whole))
        }
        "slice_expression" => facts.chained(field(node, "operand"), value_of),
        "interpreted_string_literal"
        | "raw_string_literal"
        | "int_literal"
        | "float_literal"
        | "rune_literal"
        | "true"
        | "false"
        | "nil"
        | "binary_expression" => facts.expression(ExpressionFact::Literal),
        _ => 0,
    }
}

fn called<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let Some(function) = field(node, "function") else { return 0 };
    let first = field(node, "arguments").and_then(|arguments| arguments.named_child(0));
    let expression = match (function.kind(), facts.text_of(function)) {
        ("identifier", "new" | "make") => {
            ExpressionFact::Instance(first.map_or(0, |declared| declared_type(facts, declared)))
        }
        ("identifier", "append") => return facts.chained(first, value_of),
        ("identifier", "len" | "cap" | "string") => ExpressionFact::Literal,
        // A conversion: `(*T)(x)`, `[]T(x)`.
        ("parenthesized_expression", _) if is_pointer(function) => {
            ExpressionFact::Instance(declared_type(facts, function))
        }
        _ => ExpressionFact::Call(facts.chained(Some(function), value_of)),
    };
    facts.expression(expression)
}

fn is_pointer(node: Node<'_>) -> bool {
    node.named_child(0).is_some_and(|inner| inner.kind() == "unary_expression")
}
