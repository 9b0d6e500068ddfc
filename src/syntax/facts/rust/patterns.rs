//! Rust: patterns, and the scopes of the names that they bind.
//!
//! A name is bound from its `let` on. If it hides a name that the same scope has used or bound before, it gets a new
//! scope, up to the end of the block.

use tree_sitter::Node;

use super::reader::{in_scope, path, visit};
use super::types::{declared_type, is_constant_name, path_of, value_of};
use crate::model::{BindingValue, ExpressionFact, ExpressionId, ScopeId, ScopeKind};
use crate::syntax::facts::builder::{FactsBuilder, field};
use crate::syntax::outline::{children, named_children};

/// Reads `let pattern: type = value else { … }`, or the same in a condition.
pub(super) fn bind_later<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let (declared, value) = (field(node, "type"), field(node, "value"));
    for part in [declared, value, field(node, "alternative")].into_iter().flatten() {
        facts.deeper(part, visit);
    }
    let bound = match (declared, value) {
        (Some(declared), _) => BindingValue::Typed(declared_type(facts, declared)),
        (None, Some(value)) => BindingValue::Value(value_of(facts, value)),
        (None, None) => BindingValue::Value(0),
    };
    let Some(pattern) = field(node, "pattern") else { return };
    let evaluated_in = facts.scope;
    let mut scope = evaluated_in;
    if hides(facts, pattern) && facts.can_hide() {
        facts.open_scope(ScopeKind::Block, None);
        scope = std::mem::replace(&mut facts.scope, evaluated_in);
    }
    bind_pattern(facts, scope, pattern, bound);
    facts.scope = scope;
}

/// Returns whether a pattern binds a name that the current scope has used or bound before.
fn hides<'t>(facts: &mut FactsBuilder<'t>, pattern: Node<'t>) -> bool {
    if matches!(pattern.kind(), "identifier" | "shorthand_field_identifier") {
        let name = facts.name_of(pattern);
        return facts.is_seen_here(name);
    }
    let mut found = false;
    facts.deeper(pattern, |facts, pattern| {
        found = children(pattern).into_iter().any(|child| child.is_named() && hides(facts, child));
    });
    found
}

pub(super) fn in_condition<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let outer = facts.open_scope(ScopeKind::Block, None);
    for part in ["condition", "consequence", "body"] {
        facts.visit_field(node, part, visit);
    }
    facts.scope = outer;
    facts.visit_field(node, "alternative", visit);
}

pub(super) fn match_arms<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    facts.visit_field(node, "value", visit);
    let whole = field(node, "value").map_or(0, |value| value_of(facts, value));
    let Some(body) = field(node, "body") else { return };
    for arm in children(body).into_iter().filter(|child| child.kind() == "match_arm") {
        in_scope(facts, arm, |facts, arm| {
            // The matched value is evaluated outside of the arm, whose names may hide those in it.
            let within = facts.scope;
            if let Some(pattern) = field(arm, "pattern") {
                let condition = field(pattern, "condition");
                for part in named_children(pattern) {
                    if Some(part) != condition {
                        facts.scope = facts.facts.scope(within).parent;
                        bind_pattern(facts, within, part, BindingValue::Value(whole));
                    }
                }
                facts.scope = within;
                facts.visit_field(pattern, "condition", visit);
            }
            facts.visit_field(arm, "value", visit);
        });
    }
}

pub(super) fn for_loop<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    facts.visit_field(node, "value", visit);
    let whole = field(node, "value").map_or(0, |value| value_of(facts, value));
    let item = facts.expression(ExpressionFact::Item(whole));
    let outer = facts.open_scope(ScopeKind::Block, None);
    let within = std::mem::replace(&mut facts.scope, outer);
    if let Some(pattern) = field(node, "pattern") {
        bind_pattern(facts, within, pattern, BindingValue::Value(item));
    }
    facts.scope = within;
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

/// Binds the names of a pattern in a scope to the parts of a value, and reads its paths.
pub(super) fn bind_pattern<'t>(
    facts: &mut FactsBuilder<'t>,
    scope: ScopeId,
    pattern: Node<'t>,
    value: BindingValue,
) {
    match pattern.kind() {
        "identifier" | "shorthand_field_identifier" => {
            if is_constant_name(facts.text_of(pattern)) {
                facts.use_name(pattern, None, false);
            } else {
                facts.bind_local(scope, pattern, value);
            }
        }
        "captured_pattern" | "or_pattern" | "mut_pattern" | "ref_pattern" | "reference_pattern" => {
            let parts = named_children(pattern).into_iter();
            for part in parts.filter(|part| part.kind() != "mutable_specifier") {
                bind_deeper(facts, scope, part, value);
            }
        }
        "tuple_pattern" => {
            let whole = value_bound(facts, value);
            for (at, part) in (0..).zip(named_children(pattern)) {
                let part_value = facts.expression(ExpressionFact::Part(whole, at));
                bind_deeper(facts, scope, part, BindingValue::Value(part_value));
            }
        }
        "slice_pattern" => {
            let whole = value_bound(facts, value);
            let item = facts.expression(ExpressionFact::Item(whole));
            for part in named_children(pattern) {
                bind_deeper(facts, scope, part, BindingValue::Value(item));
            }
        }
        "tuple_struct_pattern" => tuple_struct(facts, scope, pattern, value),
        "struct_pattern" => fields_of_struct(facts, scope, pattern),
        "scoped_identifier" => path(facts, pattern, false),
        "remaining_field_pattern" | "mutable_specifier" => {}
        _ => facts.deeper(pattern, visit),
    }
}

fn bind_deeper<'t>(facts: &mut FactsBuilder<'t>, scope: ScopeId, part: Node<'t>, value: BindingValue) {
    facts.deeper(part, |facts, part| bind_pattern(facts, scope, part, value));
}

/// Returns the expression of a bound value.
fn value_bound(facts: &mut FactsBuilder<'_>, value: BindingValue) -> ExpressionId {
    match value {
        BindingValue::Value(value) => value,
        BindingValue::Typed(declared) => facts.expression(ExpressionFact::Instance(declared)),
        _ => 0,
    }
}

fn tuple_struct<'t>(facts: &mut FactsBuilder<'t>, scope: ScopeId, pattern: Node<'t>, value: BindingValue) {
    let Some(name) = field(pattern, "type") else { return };
    let text = facts.text_of(name);
    facts.deeper(name, visit);
    let whole = value_bound(facts, value);
    let declared = path_of(facts, name);
    let parts = children(pattern).into_iter().filter(|part| part.is_named() && *part != name);
    for (part, position) in parts.zip(["0", "1", "2", "3", "4", "5", "6", "7"]) {
        let expression = match text {
            "Some" | "Ok" => ExpressionFact::Inner(whole),
            "Err" => ExpressionFact::Part(whole, 1),
            _ => {
                let position = facts.name(position);
                ExpressionFact::Field(declared, position)
            }
        };
        let expression = facts.expression(expression);
        bind_deeper(facts, scope, part, BindingValue::Value(expression));
    }
}

fn fields_of_struct<'t>(facts: &mut FactsBuilder<'t>, scope: ScopeId, pattern: Node<'t>) {
    let Some(name) = field(pattern, "type") else { return };
    facts.deeper(name, visit);
    let declared = path_of(facts, name);
    for part in children(pattern).into_iter().filter(|child| child.kind() == "field_pattern") {
        let Some(member) = field(part, "name") else { continue };
        let member_name = facts.name_of(member);
        let value = facts.expression(ExpressionFact::Field(declared, member_name));
        let bound = field(part, "pattern").unwrap_or(member);
        bind_deeper(facts, scope, bound, BindingValue::Value(value));
    }
}
