//! Python: values and annotations in their reduced form.

use tree_sitter::Node;

use super::builder::{FactsBuilder, field};
use crate::model::{ExpressionFact, ExpressionId};

/// Annotations in quotes are read up to this length.
const MAX_QUOTED: usize = 200;

/// Returns what decides the type of a value.
pub(super) fn value_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "identifier" => facts.named(node),
        "attribute" => {
            let object = facts.chained(field(node, "object"), value_of);
            let Some(name) = field(node, "attribute") else { return 0 };
            let name = facts.name_of(name);
            facts.expression(ExpressionFact::Member(object, name))
        }
        "call" => value_of_call(facts, node),
        "subscript" => {
            let whole = facts.chained(field(node, "value"), value_of);
            facts.expression(ExpressionFact::Item(whole))
        }
        "await" => {
            let awaited = facts.chained(node.named_child(0), value_of);
            facts.expression(ExpressionFact::Inner(awaited))
        }
        "parenthesized_expression" => facts.chained(node.named_child(0), value_of),
        "named_expression" => facts.chained(field(node, "value"), value_of),
        "conditional_expression" => facts.either(node.named_child(0), node.named_child(2), value_of),
        "boolean_operator" => {
            let is_or = field(node, "operator").is_some_and(|operator| facts.text_of(operator) == "or");
            let left = if is_or { field(node, "left") } else { None };
            match left {
                Some(left) => facts.either(Some(left), field(node, "right"), value_of),
                None => facts.chained(field(node, "right"), value_of),
            }
        }
        "string"
        | "concatenated_string"
        | "integer"
        | "float"
        | "true"
        | "false"
        | "none"
        | "list"
        | "dictionary"
        | "set"
        | "tuple"
        | "list_comprehension"
        | "set_comprehension"
        | "dictionary_comprehension"
        | "generator_expression"
        | "comparison_operator"
        | "not_operator"
        | "expression_list" => facts.expression(ExpressionFact::Literal),
        _ => 0,
    }
}

fn value_of_call<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let Some(function) = field(node, "function") else { return 0 };
    let first = field(node, "arguments").and_then(|arguments| arguments.named_child(0));
    match (facts.text_of(function), first) {
        ("super", _) => facts.expression(ExpressionFact::Super),
        ("type", Some(value)) if matches!(facts.text_of(value), "self") => {
            facts.expression(ExpressionFact::ReceiverType)
        }
        ("cast" | "t.cast" | "typing.cast", Some(declared)) => {
            let declared = declared_type(facts, declared);
            facts.expression(ExpressionFact::Instance(declared))
        }
        ("copy" | "copy.copy" | "deepcopy" | "copy.deepcopy", Some(value)) => {
            facts.chained(Some(value), value_of)
        }
        _ => {
            let function = facts.chained(Some(function), value_of);
            facts.expression(ExpressionFact::Call(function))
        }
    }
}

/// Returns the type that an annotation names.
pub(super) fn declared_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "type" | "parenthesized_expression" => facts.chained(node.named_child(0), declared_type),
        "identifier" => facts.named(node),
        "attribute" | "member_type" | "call" => value_of(facts, node),
        "generic_type" => {
            let mut generic = facts.chained(node.named_child(0), declared_type);
            if let Some(arguments) = node.named_child(1) {
                let mut cursor = arguments.walk();
                for argument in arguments.named_children(&mut cursor) {
                    let argument = facts.chained(Some(argument), declared_type);
                    generic = facts.expression(ExpressionFact::Apply(generic, argument));
                }
            }
            generic
        }
        "subscript" => {
            let mut generic = facts.chained(field(node, "value"), declared_type);
            let mut cursor = node.walk();
            for argument in node.children_by_field_name("subscript", &mut cursor) {
                let argument = facts.chained(Some(argument), declared_type);
                generic = facts.expression(ExpressionFact::Apply(generic, argument));
            }
            generic
        }
        "union_type" => facts.either(node.named_child(0), node.named_child(1), declared_type),
        "binary_operator" => facts.either(field(node, "left"), field(node, "right"), declared_type),
        // The types of `isinstance` and `except`.
        "tuple" => {
            let mut types = None;
            let mut cursor = node.walk();
            for part in node.named_children(&mut cursor).take(8) {
                let part = facts.chained(Some(part), declared_type);
                types = Some(match types {
                    Some(before) => facts.expression(ExpressionFact::Either(before, part)),
                    None => part,
                });
            }
            types.unwrap_or(0)
        }
        "string" => {
            let quoted = facts.text_of(node).trim_matches(['"', '\'']);
            if MAX_QUOTED < quoted.len() { 0 } else { quoted_type(facts, quoted) }
        }
        "none" | "ellipsis" => facts.expression(ExpressionFact::Literal),
        _ => 0,
    }
}

/// Returns the type that an annotation in quotes names: dotted names, arguments in brackets, and alternatives.
fn quoted_type<'t>(facts: &mut FactsBuilder<'t>, text: &'t str) -> ExpressionId {
    let text = text.trim();
    if let Some((left, right)) = split_outside_brackets(text, '|') {
        let (left, right) = (quoted_type(facts, left), quoted_type(facts, right));
        return facts.expression(ExpressionFact::Either(left, right));
    }
    if let Some((name, rest)) = text.split_once('[') {
        let mut generic = quoted_type(facts, name);
        let mut arguments = rest.strip_suffix(']').unwrap_or(rest);
        while !arguments.is_empty() {
            let (first, after) = split_outside_brackets(arguments, ',').unwrap_or((arguments, ""));
            let argument = quoted_type(facts, first);
            generic = facts.expression(ExpressionFact::Apply(generic, argument));
            arguments = after;
        }
        return generic;
    }
    if text == "None" {
        return facts.expression(ExpressionFact::Literal);
    }
    let is_dotted = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    if text.is_empty() || !is_dotted(text) {
        return 0;
    }
    let mut expression = None;
    for part in text.split('.') {
        let name = facts.name(part);
        expression = Some(facts.expression(match expression {
            Some(object) => ExpressionFact::Member(object, name),
            None => ExpressionFact::Name(name),
        }));
    }
    expression.unwrap_or(0)
}

/// Splits a text at the first separator that is in no brackets.
fn split_outside_brackets(text: &str, separator: char) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if c == separator && depth == 0 => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}
