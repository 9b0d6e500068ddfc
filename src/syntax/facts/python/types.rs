//! Python: values and annotations in their reduced form.

use tree_sitter::Node;

use crate::model::{ExpressionFact, ExpressionId, ScopeKind};
use crate::syntax::facts::builder::{FactsBuilder, field};
use crate::syntax::outline::named_children;

/// With more elements than this, none is read.
const MAX_ELEMENTS: usize = 8;
/// The maximum length of a quoted annotation that is read.
const MAX_QUOTED: usize = 200;

/// Returns the expression that decides the type of a value.
pub(super) fn value_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "identifier" => {
            let name = facts.name_of(node);
            match facts.element_names.iter().rev().find(|(known, _)| *known == name) {
                Some((_, element)) => *element,
                None => facts.expression(ExpressionFact::Name(name)),
            }
        }
        "attribute" => facts.member(field(node, "object"), field(node, "attribute"), value_of),
        "call" => value_of_call(facts, node),
        "subscript" => {
            let whole = facts.chained(field(node, "value"), value_of);
            let index = field(node, "subscript");
            match index.map(|index| (index.kind(), facts.text_of(index).parse())) {
                Some(("slice", _)) => whole,
                Some((_, Ok(at))) => facts.expression(ExpressionFact::Part(whole, at)),
                _ => facts.expression(ExpressionFact::Item(whole)),
            }
        }
        "await" => facts.unary(ExpressionFact::Awaited, node.named_child(0), value_of),
        "parenthesized_expression" => facts.chained(node.named_child(0), value_of),
        "named_expression" => facts.chained(field(node, "value"), value_of),
        "assignment" => facts.chained(field(node, "right"), value_of),
        "list" | "set" | "tuple" | "expression_list" | "dictionary" => display(facts, node),
        "list_comprehension" | "set_comprehension" | "dictionary_comprehension" | "generator_expression" => {
            comprehension(facts, node)
        }
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
        | "comparison_operator"
        | "not_operator" => facts.expression(ExpressionFact::Literal),
        _ => 0,
    }
}

/// Returns a container of these elements: a generic type whose name is a literal, and whose arguments are values.
fn container(facts: &mut FactsBuilder<'_>, elements: &[ExpressionId]) -> ExpressionId {
    let literal = facts.expression(ExpressionFact::Literal);
    if elements.iter().all(|element| *element == literal) {
        return literal;
    }
    elements.iter().fold(literal, |before, element| facts.expression(ExpressionFact::Apply(before, *element)))
}

/// Returns a container of the elements of another one.
pub(super) fn elements_of(facts: &mut FactsBuilder<'_>, whole: ExpressionId) -> ExpressionId {
    let item = facts.expression(ExpressionFact::Item(whole));
    container(facts, &[item])
}

/// Returns the value of a list, set, tuple or dictionary display; of a dictionary only the values count.
fn display<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let parts = named_children(node).into_iter().filter(|part| part.kind() != "comment");
    let parts: Vec<Node<'t>> = parts.take(MAX_ELEMENTS + 1).collect();
    let is_ordered = !matches!(node.kind(), "set" | "dictionary")
        && parts.iter().all(|part| part.kind() != "list_splat")
        && parts.len() <= MAX_ELEMENTS;
    let mut elements: Vec<ExpressionId> = parts.iter().map(|part| element(facts, *part)).collect();
    if MAX_ELEMENTS < elements.len() {
        elements[MAX_ELEMENTS] = 0;
    }
    if elements.is_empty() && matches!(node.kind(), "list" | "set" | "dictionary") {
        // Elements that are added later are not known.
        elements.push(0);
    }
    if !is_ordered {
        let all = elements
            .into_iter()
            .reduce(|a, b| if a == b { a } else { facts.expression(ExpressionFact::Either(a, b)) });
        elements = all.into_iter().collect();
    }
    container(facts, &elements)
}

fn element<'t>(facts: &mut FactsBuilder<'t>, part: Node<'t>) -> ExpressionId {
    match part.kind() {
        "list_splat" | "dictionary_splat" => facts.unary(ExpressionFact::Item, part.named_child(0), value_of),
        "pair" => facts.chained(field(part, "value"), value_of),
        _ => facts.chained(Some(part), value_of),
    }
}

/// Returns a container of the results of a comprehension.
fn comprehension<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let outer = facts.element_names.len();
    for clause in named_children(node).into_iter().filter(|clause| clause.kind() == "for_in_clause") {
        let whole = facts.chained(field(clause, "right"), value_of);
        let item = facts.expression(ExpressionFact::Item(whole));
        if let Some(target) = field(clause, "left") {
            name_elements(facts, target, item);
        }
    }
    let element = field(node, "body").map_or(0, |body| element(facts, body));
    facts.element_names.truncate(outer);
    container(facts, &[element])
}

fn name_elements<'t>(facts: &mut FactsBuilder<'t>, target: Node<'t>, value: ExpressionId) {
    if target.kind() == "identifier" {
        let name = facts.name_of(target);
        facts.element_names.push((name, value));
        return;
    }
    for (at, part) in (0..).zip(named_children(target)) {
        let value = facts.expression(ExpressionFact::Part(value, at));
        facts.deeper(part, |facts, part| name_elements(facts, part, value));
    }
}

fn value_of_call<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let Some(function) = field(node, "function") else { return 0 };
    let arguments = positional_arguments(node);
    let first = arguments.first().copied();
    let name = facts.text_of(function);
    match (name.strip_prefix("contextlib.").unwrap_or(name), first) {
        ("super", _) => facts.expression(ExpressionFact::Super),
        ("type", Some(value)) if matches!(facts.text_of(value), "self") => {
            facts.expression(ExpressionFact::ReceiverType)
        }
        ("cast" | "t.cast" | "typing.cast", Some(declared)) => {
            let declared = declared_type(facts, declared);
            facts.expression(ExpressionFact::Instance(declared))
        }
        (
            "copy" | "copy.copy" | "deepcopy" | "copy.deepcopy" | "closing" | "aclosing" | "nullcontext"
            | "staticmethod" | "classmethod",
            Some(value),
        ) => facts.chained(Some(value), value_of),
        ("list" | "sorted" | "reversed" | "iter" | "tuple" | "set" | "frozenset", Some(whole)) => {
            let whole = facts.chained(Some(whole), value_of);
            elements_of(facts, whole)
        }
        ("list" | "set" | "dict", None) if is_without_arguments(node) => container(facts, &[0]),
        ("next", Some(whole)) => facts.unary(ExpressionFact::Item, Some(whole), value_of),
        ("max" | "min", Some(whole)) if arguments.len() == 1 => {
            facts.unary(ExpressionFact::Item, Some(whole), value_of)
        }
        ("max" | "min", Some(first)) if arguments.len() == 2 => {
            facts.either(Some(first), Some(arguments[1]), value_of)
        }
        ("enumerate", Some(_)) => pairs(facts, &arguments[..1], true),
        ("zip", Some(_)) => pairs(facts, &arguments, false),
        _ => facts.unary(ExpressionFact::Call, Some(function), value_of),
    }
}

/// Returns the positional arguments of a call; a single comprehension needs no brackets of its own.
fn positional_arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let Some(arguments) = field(call, "arguments") else { return Vec::new() };
    if arguments.kind() == "generator_expression" {
        return vec![arguments];
    }
    let plain = named_children(arguments).into_iter().filter(|argument| {
        !matches!(argument.kind(), "comment" | "keyword_argument" | "list_splat" | "dictionary_splat")
    });
    plain.take(MAX_ELEMENTS).collect()
}

fn is_without_arguments(call: Node<'_>) -> bool {
    field(call, "arguments").is_some_and(|arguments| arguments.named_child_count() == 0)
}

/// Returns a container of tuples with one element of each argument, preceded by a number if they are counted.
fn pairs<'t>(facts: &mut FactsBuilder<'t>, wholes: &[Node<'t>], is_counted: bool) -> ExpressionId {
    let number = is_counted.then(|| facts.expression(ExpressionFact::Literal));
    let mut elements: Vec<ExpressionId> = number.into_iter().collect();
    for whole in wholes {
        let whole = facts.chained(Some(*whole), value_of);
        elements.push(facts.expression(ExpressionFact::Item(whole)));
    }
    let tuple = container(facts, &elements);
    container(facts, &[tuple])
}

/// Returns whether an assignment gives a type another name: `Names = dict[str, A]`.
pub(super) fn is_alias_here<'t>(
    facts: &FactsBuilder<'t>,
    left: Option<Node<'t>>,
    declared: Option<Node<'t>>,
    right: Node<'t>,
) -> bool {
    if let Some(declared) = declared {
        return facts.text_of(declared).ends_with("TypeAlias");
    }
    let scope = facts.facts.scopes[facts.function_scope() as usize];
    scope.kind != ScopeKind::Function
        && left.is_some_and(|left| left.kind() == "identifier")
        && is_type_alias(facts, right)
}

/// Returns whether a value is a type with arguments, or alternatives of types, judging by the spelling of the names.
fn is_type_alias<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> bool {
    match node.kind() {
        "subscript" => field(node, "value").is_some_and(|generic| is_type_name(facts, generic)),
        "binary_operator" => {
            let is_type = |side: &str| {
                field(node, side).is_some_and(|side| {
                    is_type_name(facts, side) || side.kind() == "none" || is_type_alias(facts, side)
                })
            };
            field(node, "operator").is_some_and(|operator| facts.text_of(operator) == "|")
                && is_type("left")
                && is_type("right")
        }
        _ => false,
    }
}

fn is_type_name<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> bool {
    let name = facts.text_of(node).rsplit('.').next().unwrap_or_default();
    matches!(node.kind(), "identifier" | "attribute")
        && (matches!(
            name,
            "list" | "dict" | "tuple" | "set" | "frozenset" | "type" | "str" | "bytes" | "int"
        ) || name.starts_with(char::is_uppercase)
            && (name.len() == 1 || name.contains(char::is_lowercase)))
}

/// Returns the type that an annotation names.
pub(super) fn declared_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "type" | "parenthesized_expression" => facts.chained(node.named_child(0), declared_type),
        "identifier" => facts.named(node),
        "attribute" | "member_type" | "call" => value_of(facts, node),
        "generic_type" => {
            let generic = facts.chained(node.named_child(0), declared_type);
            let Some(arguments) = node.named_child(1) else { return generic };
            let arguments = named_children(arguments).into_iter().filter(|argument| !is_ellipsis(*argument));
            facts.applied(generic, arguments, declared_type)
        }
        "subscript" => {
            let generic = facts.chained(field(node, "value"), declared_type);
            let mut cursor = node.walk();
            let arguments = node.children_by_field_name("subscript", &mut cursor);
            facts.applied(generic, arguments.filter(|argument| !is_ellipsis(*argument)), declared_type)
        }
        "union_type" => facts.either(node.named_child(0), node.named_child(1), declared_type),
        "binary_operator" => facts.either(field(node, "left"), field(node, "right"), declared_type),
        // The types of `isinstance` and `except`.
        "tuple" => {
            let mut types = None;
            for part in named_children(node).into_iter().take(8) {
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

/// Returns whether an argument is the `...` of `tuple[A, ...]`, which repeats the one before it.
fn is_ellipsis(argument: Node<'_>) -> bool {
    let inner = if argument.kind() == "type" { argument.named_child(0) } else { Some(argument) };
    inner.is_some_and(|inner| inner.kind() == "ellipsis")
}

/// Returns the type that a quoted annotation names: dotted names, arguments in brackets, and alternatives.
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
            if first.trim() != "..." {
                let argument = quoted_type(facts, first);
                generic = facts.expression(ExpressionFact::Apply(generic, argument));
            }
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

/// Splits a text at the first separator outside of brackets.
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
