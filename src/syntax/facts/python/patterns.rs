//! Python: the names that the patterns of `match` bind.

use tree_sitter::Node;

use super::reader::bound_scope;
use super::types::{elements_of, value_of};
use crate::model::{BindingValue, ExpressionFact, ExpressionId, ScopeKind};
use crate::syntax::facts::builder::{FactsBuilder, Visit, field, line_of};
use crate::syntax::outline::{child_of_kind, named_children};

/// Classes whose only positional pattern matches the whole value.
const MATCHED_AS_WHOLE: [&str; 11] =
    ["bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"];

/// The names that a pattern binds, with their values.
type Captures<'t> = Vec<(Node<'t>, ExpressionId)>;

/// Visits a `match` statement.
pub(super) fn match_cases<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit<'t>) {
    let subjects: Vec<Node<'t>> = node.children_by_field_name("subject", &mut node.walk()).collect();
    for subject in &subjects {
        facts.deeper(*subject, visit);
    }
    let whole = match subjects.as_slice() {
        [only] => value_of(facts, *only),
        _ => 0,
    };
    for case in field(node, "body").map(named_children).unwrap_or_default() {
        facts.deeper(case, |facts, case| match_case(facts, case, whole, visit));
    }
}

/// Visits a `case`. A name that its pattern binds has that value in the whole case, unless it is bound again there, and
/// is also a name of the function.
fn match_case<'t>(facts: &mut FactsBuilder<'t>, case: Node<'t>, whole: ExpressionId, visit: Visit<'t>) {
    let mut captures = Captures::new();
    let parts = named_children(case);
    let (patterns, rest): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|part| part.kind() == "case_pattern");
    let whole = if patterns.len() == 1 { whole } else { 0 };
    for pattern in patterns {
        read_pattern(facts, pattern, whole, &mut captures, visit);
    }
    let outer = facts.scope;
    if !captures.is_empty() {
        facts.open_scope(ScopeKind::Block, None);
    }
    let within = std::mem::replace(&mut facts.scope, outer);
    let first = facts.facts.bindings.len();
    for (name, value) in &captures {
        facts.bind_node(within, *name, BindingValue::Value(*value));
    }
    let last = facts.facts.bindings.len();
    facts.scope = within;
    for part in rest {
        facts.deeper(part, visit);
    }
    facts.scope = outer;
    for (name, value) in captures {
        let scope = bound_scope(facts, facts.text_of(name));
        let id = facts.name_of(name);
        let bindings = &mut facts.facts.bindings;
        if bindings[last..].iter().any(|binding| (binding.scope, binding.name) == (scope, id)) {
            // Bound in the function only, where the values are merged.
            for binding in bindings[first..last].iter_mut().filter(|binding| binding.name == id) {
                binding.scope = scope;
            }
        } else {
            facts.bind(scope, id, BindingValue::Value(value), line_of(name));
        }
    }
}

/// Reads a pattern that a value is matched with: adds the names that it binds to `captures`, and the uses in it.
fn read_pattern<'t>(
    facts: &mut FactsBuilder<'t>,
    pattern: Node<'t>,
    whole: ExpressionId,
    captures: &mut Captures<'t>,
    visit: Visit<'t>,
) {
    let read_one =
        |facts: &mut FactsBuilder<'t>, part: Node<'t>, whole: ExpressionId, captures: &mut Captures<'t>| {
            facts.deeper(part, |facts, part| read_pattern(facts, part, whole, captures, visit));
        };
    let parts: Vec<Node<'t>> =
        named_children(pattern).into_iter().filter(|part| part.kind() != "comment").collect();
    match pattern.kind() {
        "as_pattern" => {
            let value = parts.first().map_or(0, |inner| value_of_pattern(facts, *inner, whole));
            captures.extend(parts.get(1).map(|name| (*name, value)));
            if let Some(inner) = parts.first() {
                read_one(facts, *inner, whole, captures);
            }
        }
        "dotted_name" => match parts.as_slice() {
            [name] => captures.push((*name, whole)),
            _ => use_path(facts, &parts),
        },
        "splat_pattern" => captures.extend(parts.first().map(|name| (*name, whole))),
        "class_pattern" => {
            let Some((class, parts)) = parts.split_first() else { return };
            use_path(facts, &named_children(*class));
            let value = instance_of(facts, *class);
            for part in parts {
                let keyword = child_of_kind(*part, "keyword_pattern");
                let value = match keyword.and_then(|keyword| keyword.named_child(0)) {
                    Some(name) => {
                        facts.use_name(name, Some(value), false);
                        let name = facts.name_of(name);
                        facts.expression(ExpressionFact::Member(value, name))
                    }
                    None if MATCHED_AS_WHOLE.contains(&facts.text_of(*class)) => value,
                    None => 0,
                };
                read_one(facts, *part, value, captures);
            }
        }
        "keyword_pattern" => {
            if let Some(inner) = parts.get(1) {
                read_one(facts, *inner, whole, captures);
            }
        }
        "list_pattern" | "tuple_pattern" if !is_parenthesized(pattern) => {
            let mut is_counted = whole != 0;
            for (at, part) in (0..).zip(parts) {
                let is_rest = child_of_kind(part, "splat_pattern").is_some();
                is_counted &= !is_rest;
                let value = match (whole, is_rest) {
                    (0, _) => 0,
                    (_, true) => elements_of(facts, whole),
                    _ if is_counted => facts.expression(ExpressionFact::Part(whole, at)),
                    // The number of parts before it is not known.
                    _ => facts.expression(ExpressionFact::Item(whole)),
                };
                read_one(facts, part, value, captures);
            }
        }
        "dict_pattern" => {
            let item = if whole == 0 { 0 } else { facts.expression(ExpressionFact::Item(whole)) };
            for part in parts {
                let value = if part.kind() == "case_pattern" { item } else { 0 };
                read_one(facts, part, value, captures);
            }
        }
        "case_pattern" | "union_pattern" | "tuple_pattern" => {
            for part in parts {
                read_one(facts, part, whole, captures);
            }
        }
        _ => visit(facts, pattern),
    }
}

/// Returns the value that a pattern matches.
fn value_of_pattern<'t>(
    facts: &mut FactsBuilder<'t>,
    pattern: Node<'t>,
    whole: ExpressionId,
) -> ExpressionId {
    match pattern.kind() {
        "class_pattern" => pattern.named_child(0).map_or(0, |class| instance_of(facts, class)),
        "list_pattern" | "tuple_pattern" if !is_parenthesized(pattern) => whole,
        "case_pattern" | "as_pattern" | "tuple_pattern" => {
            let mut value = whole;
            if let Some(inner) = pattern.named_child(0) {
                facts.deeper(inner, |facts, inner| value = value_of_pattern(facts, inner, whole));
            }
            value
        }
        "union_pattern" => {
            let mut values = None;
            for part in named_children(pattern) {
                let mut value = 0;
                facts.deeper(part, |facts, part| value = value_of_pattern(facts, part, whole));
                values = Some(match values {
                    Some(before) => facts.expression(ExpressionFact::Either(before, value)),
                    None => value,
                });
            }
            values.unwrap_or(0)
        }
        "string" | "concatenated_string" | "integer" | "float" | "true" | "false" | "none" => {
            facts.expression(ExpressionFact::Literal)
        }
        _ => whole,
    }
}

/// Returns whether a pattern is another one in parentheses: a tuple of one part has a comma.
fn is_parenthesized(pattern: Node<'_>) -> bool {
    pattern.kind() == "tuple_pattern"
        && pattern.named_child_count() == 1
        && child_of_kind(pattern, ",").is_none()
}

fn instance_of<'t>(facts: &mut FactsBuilder<'t>, class: Node<'t>) -> ExpressionId {
    let class = path_value(facts, &named_children(class));
    facts.expression(ExpressionFact::Instance(class))
}

/// Returns the value of a dotted name.
fn path_value<'t>(facts: &mut FactsBuilder<'t>, parts: &[Node<'t>]) -> ExpressionId {
    let Some((first, rest)) = parts.split_first() else { return 0 };
    rest.iter().fold(facts.named(*first), |object, name| {
        let name = facts.name_of(*name);
        facts.expression(ExpressionFact::Member(object, name))
    })
}

/// Adds the uses of the parts of a dotted name.
fn use_path<'t>(facts: &mut FactsBuilder<'t>, parts: &[Node<'t>]) {
    let mut object = None;
    for name in parts {
        facts.use_name(*name, object, false);
        let name = facts.name_of(*name);
        object = Some(facts.expression(match object {
            Some(object) => ExpressionFact::Member(object, name),
            None => ExpressionFact::Name(name),
        }));
    }
}
