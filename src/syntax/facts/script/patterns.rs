//! JavaScript: the names that parameters and patterns bind.

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use super::context::parameter_in_context;
use super::types::{declared_type, value_of};
use crate::model::{BindingValue, ExpressionFact, ExpressionId, NameId, ScopeId};
use crate::syntax::facts::builder::{FactsBuilder, Visit, field};
use crate::syntax::outline::{child_of_kind, children, named_children};

/// Binds the names of a function's parameter at a position.
pub(super) fn bind_parameter<'t>(
    facts: &mut FactsBuilder<'t>,
    parameter: Node<'t>,
    context: ExpressionId,
    at: u32,
    visit: Visit<'t>,
) {
    let (pattern, declared, default) = match parameter.kind() {
        "required_parameter" | "optional_parameter" => {
            (field(parameter, "pattern"), field(parameter, "type"), field(parameter, "value"))
        }
        "assignment_pattern" => (field(parameter, "left"), None, field(parameter, "right")),
        _ => (Some(parameter), None, None),
    };
    let value = match (declared, default) {
        (Some(declared), _) => BindingValue::Typed(declared_type(facts, declared)),
        (None, Some(default)) if context == 0 => BindingValue::Default(value_of(facts, default)),
        (None, _) => parameter_in_context(facts, context, at),
    };
    bind_pattern(facts, facts.scope, pattern, value, visit);
    // `constructor(private a: A)` declares a field too.
    if let (Some(name), Some(class), Some(_)) =
        (pattern, facts.class_scope(), child_of_kind(parameter, "accessibility_modifier"))
    {
        facts.bind_node(class, name, value);
    }
    for part in [declared, default].into_iter().flatten() {
        facts.deeper(part, visit);
    }
}

/// Binds the names of a pattern; the parts of an object are its members.
pub(super) fn bind_pattern<'t>(
    facts: &mut FactsBuilder<'t>,
    scope: ScopeId,
    pattern: Option<Node<'t>>,
    value: BindingValue,
    visit: Visit<'t>,
) {
    let Some(pattern) = pattern else { return };
    match pattern.kind() {
        "identifier" | "shorthand_property_identifier_pattern" => facts.bind_node(scope, pattern, value),
        "object_pattern" => {
            let whole = match value {
                BindingValue::Value(whole) => whole,
                BindingValue::Typed(declared) => facts.expression(ExpressionFact::Instance(declared)),
                _ => 0,
            };
            for part in children(pattern) {
                let key = field(part, "key").or_else(|| field(part, "left")).unwrap_or(part);
                let name = facts.name_of(key);
                let member = facts.expression(ExpressionFact::Member(whole, name));
                let target = match part.kind() {
                    "pair_pattern" => field(part, "value"),
                    "object_assignment_pattern" => field(part, "left"),
                    _ => Some(part),
                };
                if whole != 0 && is_named_member(key) {
                    let variable = target.map_or(name, |target| facts.name_of(target));
                    facts.objects.parts.push((facts.facts.uses.len(), variable));
                    facts.use_name(key, Some(whole), false);
                }
                facts.deeper(part, |facts, part| {
                    bind_pattern(facts, scope, target, BindingValue::Value(member), visit);
                    facts.visit_field(part, "right", visit);
                });
            }
        }
        "assignment_pattern" => {
            facts.deeper(pattern, |facts, pattern| {
                bind_pattern(facts, scope, field(pattern, "left"), value, visit);
                facts.visit_field(pattern, "right", visit);
            });
        }
        "array_pattern" | "rest_pattern" => {
            let whole = match value {
                BindingValue::Value(whole) if pattern.kind() == "array_pattern" => whole,
                _ => 0,
            };
            for (at, part) in (0..).zip(named_children(pattern)) {
                let value = parameter_in_context(facts, whole, at);
                facts.deeper(part, |facts, part| bind_pattern(facts, scope, Some(part), value, visit));
            }
        }
        _ => {}
    }
}

/// Returns whether a part of an object pattern names a member of the object.
fn is_named_member(key: Node<'_>) -> bool {
    matches!(key.kind(), "property_identifier" | "shorthand_property_identifier_pattern")
}

/// Marks parts of objects as called if their variables are called.
pub(super) fn mark_called_parts(facts: &mut FactsBuilder<'_>) {
    let parts = std::mem::take(&mut facts.objects.parts);
    if parts.is_empty() {
        return;
    }
    let uses = facts.facts.uses.iter().filter(|usage| usage.is_call && usage.receiver.is_none());
    let called: FxHashSet<NameId> = uses.map(|usage| usage.name).collect();
    for (usage, variable) in parts {
        facts.facts.uses[usage].is_call = called.contains(&variable);
    }
}
