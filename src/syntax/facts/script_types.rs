//! JavaScript and TypeScript: values and declared types in their reduced form.

use tree_sitter::Node;

use super::builder::{FactsBuilder, field};
use super::script_syntax::{has_receiver, is_own_exports, prototype_owner, required_value};
use crate::model::{ExpressionFact, ExpressionId};

/// Returns what decides the type of a value.
pub(super) fn value_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    if let Some(module) = required_value(facts, node) {
        return module;
    }
    match node.kind() {
        "member_expression" if is_own_exports(facts, node) => {
            let name = facts.name("exports");
            facts.expression(ExpressionFact::Name(name))
        }
        // What a prototype has, the function or the class has in the reduced form.
        "member_expression" if prototype_owner(facts, node).is_some() => {
            let owner = prototype_owner(facts, node);
            facts.chained(owner, value_of)
        }
        "identifier" | "type_identifier" | "shorthand_property_identifier" => facts.named(node),
        "this" if has_receiver(facts) => facts.expression(ExpressionFact::Receiver),
        "super" => facts.expression(ExpressionFact::Super),
        "member_expression" | "nested_identifier" => {
            let object = facts.chained(field(node, "object"), value_of);
            let Some(name) = field(node, "property") else { return 0 };
            let name = facts.name_of(name);
            facts.expression(ExpressionFact::Member(object, name))
        }
        "call_expression" => {
            let function = facts.chained(field(node, "function"), value_of);
            facts.expression(ExpressionFact::Call(function))
        }
        "new_expression" => {
            let class = facts.chained(field(node, "constructor"), value_of);
            facts.expression(ExpressionFact::Instance(class))
        }
        "subscript_expression" => {
            let whole = facts.chained(field(node, "object"), value_of);
            facts.expression(ExpressionFact::Item(whole))
        }
        "await_expression" => {
            let awaited = facts.chained(node.named_child(0), value_of);
            facts.expression(ExpressionFact::Inner(awaited))
        }
        "parenthesized_expression" | "non_null_expression" | "satisfies_expression" => {
            facts.chained(node.named_child(0), value_of)
        }
        "as_expression" => match node.named_child(1) {
            Some(declared) => {
                let declared = facts.chained(Some(declared), declared_type);
                facts.expression(ExpressionFact::Instance(declared))
            }
            // `as const`
            None => facts.chained(node.named_child(0), value_of),
        },
        "ternary_expression" => {
            facts.either(field(node, "consequence"), field(node, "alternative"), value_of)
        }
        "binary_expression" => {
            let operator = field(node, "operator").map(|operator| facts.text_of(operator));
            match operator {
                Some("||" | "??") => facts.either(field(node, "left"), field(node, "right"), value_of),
                Some("&&") => facts.chained(field(node, "right"), value_of),
                _ => facts.expression(ExpressionFact::Literal),
            }
        }
        "string" | "template_string" | "number" | "true" | "false" | "null" | "undefined" | "array"
        | "regex" | "unary_expression" => facts.expression(ExpressionFact::Literal),
        _ => 0,
    }
}

/// Returns the type that an annotation names.
pub(super) fn declared_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "type_annotation" | "parenthesized_type" | "readonly_type" => {
            facts.chained(node.named_child(0), declared_type)
        }
        "type_identifier" | "identifier" => facts.named(node),
        "nested_type_identifier" => {
            let module = facts.chained(field(node, "module"), value_of);
            let Some(name) = field(node, "name") else { return 0 };
            let name = facts.name_of(name);
            facts.expression(ExpressionFact::Member(module, name))
        }
        "generic_type" => {
            let mut generic = facts.chained(field(node, "name"), declared_type);
            if let Some(arguments) = field(node, "type_arguments") {
                let mut cursor = arguments.walk();
                for argument in arguments.named_children(&mut cursor) {
                    let argument = facts.chained(Some(argument), declared_type);
                    generic = facts.expression(ExpressionFact::Apply(generic, argument));
                }
            }
            generic
        }
        "array_type" => {
            let array = facts.name("Array");
            let array = facts.expression(ExpressionFact::Name(array));
            let item = facts.chained(node.named_child(0), declared_type);
            facts.expression(ExpressionFact::Apply(array, item))
        }
        "union_type" | "intersection_type" => {
            facts.either(node.named_child(0), node.named_child(1), declared_type)
        }
        "predefined_type" if !matches!(facts.text_of(node), "any" | "unknown" | "object") => {
            facts.expression(ExpressionFact::Literal)
        }
        "literal_type" => facts.expression(ExpressionFact::Literal),
        "this_type" => facts.expression(ExpressionFact::ReceiverType),
        "type_query" => facts.chained(node.named_child(0), value_of),
        _ => 0,
    }
}
