//! Types that `isinstance` tests declare.

use tree_sitter::Node;

use super::types::declared_type;
use crate::model::{BindingValue, ExpressionId, ScopeKind};
use crate::syntax::facts::builder::{FactsBuilder, field};

/// Opens a scope in which the name that `isinstance(name, types)` tests has these types.
pub(super) fn narrow_by<'t>(facts: &mut FactsBuilder<'t>, condition: Option<Node<'t>>) {
    let Some(mut condition) = condition else { return };
    // `isinstance(a, B) and …`: the first operand decides.
    for _ in 0..8 {
        match condition.kind() {
            "boolean_operator"
                if field(condition, "operator").is_some_and(|operator| facts.text_of(operator) == "and") => {}
            "parenthesized_expression" => {}
            _ => break,
        }
        let Some(first) = condition.named_child(0) else { return };
        condition = first;
    }
    let Some((name, types)) = instance_test(facts, condition) else { return };
    let declared: ExpressionId = declared_type(facts, types);
    facts.open_scope(ScopeKind::Block, None);
    facts.bind_node(facts.scope, name, BindingValue::Typed(declared));
}

fn instance_test<'t>(facts: &FactsBuilder<'t>, condition: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
    if condition.kind() != "call" || facts.text_of(field(condition, "function")?) != "isinstance" {
        return None;
    }
    let arguments = field(condition, "arguments")?;
    let (name, types) = (arguments.named_child(0)?, arguments.named_child(1)?);
    (name.kind() == "identifier").then_some((name, types))
}
