//! Java: values and declared types in their reduced form.

use tree_sitter::Node;

use super::builder::{FactsBuilder, field};
use super::java::called_name;
use crate::model::{ExpressionFact, ExpressionId};
use crate::syntax::outline::{child_of_kind, children};

/// Returns what decides the type of a value.
pub(super) fn value_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "identifier" | "type_identifier" => facts.named(node),
        "this" => facts.expression(ExpressionFact::Receiver),
        "super" => facts.expression(ExpressionFact::Super),
        "field_access" => {
            let object = field(node, "object");
            match field(node, "field") {
                // `Outer.this`
                Some(name) if name.kind() == "this" => {
                    let outer = facts.chained(object, declared_type);
                    facts.expression(ExpressionFact::Instance(outer))
                }
                Some(name) => {
                    let object = facts.chained(object, value_of);
                    let name = facts.name_of(name);
                    facts.expression(ExpressionFact::Member(object, name))
                }
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
            facts.expression(ExpressionFact::Call(function))
        }
        "object_creation_expression" | "array_creation_expression" => {
            let declared = facts.chained(field(node, "type"), declared_type);
            let is_array = node.kind() == "array_creation_expression";
            let declared = if is_array { array_of(facts, declared) } else { declared };
            facts.expression(ExpressionFact::Instance(declared))
        }
        "cast_expression" => {
            let declared = facts.chained(field(node, "type"), declared_type);
            facts.expression(ExpressionFact::Instance(declared))
        }
        "array_access" => {
            let array = facts.chained(field(node, "array"), value_of);
            facts.expression(ExpressionFact::Item(array))
        }
        "parenthesized_expression" => facts.chained(node.named_child(0), value_of),
        "assignment_expression" => facts.chained(field(node, "right"), value_of),
        "ternary_expression" => {
            let left = facts.chained(field(node, "consequence"), value_of);
            let right = facts.chained(field(node, "alternative"), value_of);
            facts.expression(ExpressionFact::Either(left, right))
        }
        "scoped_type_identifier" | "scoped_identifier" | "generic_type" => declared_type(facts, node),
        kind if kind.ends_with("literal")
            || matches!(
                kind,
                "true"
                    | "false"
                    | "binary_expression"
                    | "unary_expression"
                    | "update_expression"
                    | "instanceof_expression"
            ) =>
        {
            facts.expression(ExpressionFact::Literal)
        }
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
            let outer = facts.chained(Some(outer), declared_type);
            let name = facts.name_of(name);
            facts.expression(ExpressionFact::Member(outer, name))
        }
        "generic_type" => {
            let mut generic = facts.chained(node.named_child(0), declared_type);
            if let Some(arguments) = child_of_kind(node, "type_arguments") {
                for argument in arguments.named_children(&mut arguments.walk()) {
                    let argument = facts.chained(Some(argument), declared_type);
                    generic = facts.expression(ExpressionFact::Apply(generic, argument));
                }
            }
            generic
        }
        // `? extends T`
        "wildcard" => facts.chained(node.named_child(0), declared_type),
        "array_type" => {
            let item = facts.chained(field(node, "element"), declared_type);
            array_of(facts, item)
        }
        "annotated_type" => {
            let inner = node.named_children(&mut node.walk()).last();
            facts.chained(inner, declared_type)
        }
        "integral_type" | "floating_point_type" | "boolean_type" | "void_type" => {
            facts.expression(ExpressionFact::Literal)
        }
        _ => 0,
    }
}

/// Returns the type of arrays of a type: a generic type whose name nothing can have.
pub(super) fn array_of(facts: &mut FactsBuilder<'_>, item: ExpressionId) -> ExpressionId {
    let array = facts.name("[]");
    let array = facts.expression(ExpressionFact::Name(array));
    facts.expression(ExpressionFact::Apply(array, item))
}
