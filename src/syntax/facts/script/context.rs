//! TypeScript: contextual types of functions and objects: an argument has the type of its parameter, a member of an
//! object that of the member with its name.

use tree_sitter::Node;

use super::syntax::unquoted;
use super::types::{declared_type, type_of_value, value_of};
use crate::model::{BindingValue, ExpressionFact, ExpressionId, ScopeKind};
use crate::syntax::facts::builder::{FactsBuilder, Visit, field};
use crate::syntax::outline::named_children;

/// Visits a node with an expression as its context; 0 means no context.
pub(super) fn visit_in_context<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    context: ExpressionId,
    visit: Visit<'t>,
) {
    facts.objects.context = context;
    facts.deeper(node, visit);
    facts.objects.context = 0;
}

/// Visits the value of a variable or a field in the context of its declared type.
pub(super) fn visit_declared<'t>(
    facts: &mut FactsBuilder<'t>,
    declared: Option<Node<'t>>,
    value: Option<Node<'t>>,
    visit: Visit<'t>,
) {
    if let Some(declared) = declared {
        facts.deeper(declared, visit);
    }
    let Some(value) = value else { return };
    let context = declared.filter(|_| is_contextual(value)).map_or(0, |declared| instance(facts, declared));
    visit_in_context(facts, value, context, visit);
}

/// Returns a value of a declared type.
pub(super) fn instance<'t>(facts: &mut FactsBuilder<'t>, declared: Node<'t>) -> ExpressionId {
    match facts.chained(Some(declared), declared_type) {
        0 => 0,
        declared => facts.expression(ExpressionFact::Instance(declared)),
    }
}

/// Visits the arguments of a call; the context of functions and objects among them are the parameters.
pub(super) fn visit_arguments<'t>(
    facts: &mut FactsBuilder<'t>,
    call: Node<'t>,
    callee: &str,
    visit: Visit<'t>,
) {
    let Some(arguments) = field(call, "arguments") else { return };
    if arguments.kind() != "arguments" {
        facts.deeper(arguments, visit);
        return;
    }
    let (mut known, mut at) = (None, 0);
    for node in named_children(arguments) {
        if node.kind() == "spread_element" {
            known = Some(0);
        }
        let mut context = 0;
        if is_contextual(node) {
            let callee = *known.get_or_insert_with(|| facts.chained(field(call, callee), value_of));
            if callee != 0 {
                context = facts.expression(ExpressionFact::Part(callee, at));
            }
        }
        visit_in_context(facts, node, context, visit);
        at += u32::from(node.kind() != "comment");
    }
}

/// Visits a JSX element: its attributes are members of the first parameter of the component.
pub(super) fn visit_element<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit<'t>) {
    let name = field(node, "name").filter(|name| facts.text_of(*name).starts_with(char::is_uppercase));
    let mut properties = None;
    for child in named_children(node) {
        let value = child.named_child(1).filter(|value| value.kind() == "jsx_expression");
        let value = value.and_then(|value| value.named_child(0)).filter(|value| is_contextual(*value));
        let (Some(name), Some(value), Some(key)) = (name, value, child.named_child(0)) else {
            facts.deeper(child, visit);
            continue;
        };
        let whole = *properties.get_or_insert_with(|| {
            let component = facts.chained(Some(name), value_of);
            facts.expression(ExpressionFact::Part(component, 0))
        });
        let key = facts.name_of(key);
        let context = facts.expression(ExpressionFact::Member(whole, key));
        visit_in_context(facts, value, context, visit);
    }
}

/// Visits an expression whose parts have the context of the whole; returns whether it is one.
pub(super) fn visit_parts<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    context: ExpressionId,
    visit: Visit<'t>,
) -> bool {
    match node.kind() {
        "object" => visit_object(facts, node, context, visit),
        "as_expression" | "satisfies_expression" => {
            visit_declared(facts, node.named_child(1), node.named_child(0), visit);
        }
        _ if context == 0 => return false,
        "parenthesized_expression" => {
            if let Some(inner) = node.named_child(0) {
                visit_in_context(facts, inner, context, visit);
            }
        }
        "ternary_expression" => {
            facts.visit_field(node, "condition", visit);
            for part in ["consequence", "alternative"] {
                if let Some(part) = field(node, part) {
                    visit_in_context(facts, part, context, visit);
                }
            }
        }
        "array" => {
            let item = facts.expression(ExpressionFact::Item(context));
            for child in named_children(node) {
                visit_in_context(facts, child, item, visit);
            }
        }
        _ => return false,
    }
    true
}

/// Visits the members of an object; its methods are bound in a scope of their own, in which no name is looked up.
fn visit_object<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, context: ExpressionId, visit: Visit<'t>) {
    let mut methods = None;
    for part in named_children(node) {
        if context == 0 && part.kind() != "method_definition" {
            facts.deeper(part, visit);
            continue;
        }
        let key = field(part, "key").or_else(|| field(part, "name"));
        let known = key.filter(|key| context != 0 && matches!(key.kind(), "property_identifier" | "string"));
        let member = known.map_or(0, |key| {
            let name = facts.name(unquoted(facts, key));
            facts.expression(ExpressionFact::Member(context, name))
        });
        match (part.kind(), field(part, "value")) {
            ("pair", Some(value)) => {
                if let Some(key) = key {
                    facts.deeper(key, visit);
                }
                visit_in_context(facts, value, member, visit);
            }
            ("method_definition", _) => {
                let outer = facts.scope;
                if let Some(methods) = methods {
                    facts.scope = methods;
                } else {
                    facts.open_scope(ScopeKind::Implementation, None);
                    methods = Some(facts.scope);
                }
                visit_in_context(facts, part, member, visit);
                facts.scope = outer;
            }
            _ => facts.deeper(part, visit),
        }
    }
}

/// Returns the value of a parameter without a declared type in a function with this context.
pub(super) fn parameter_in_context(
    facts: &mut FactsBuilder<'_>,
    context: ExpressionId,
    at: u32,
) -> BindingValue {
    if context == 0 {
        return BindingValue::Default(0);
    }
    let parameter = facts.expression(ExpressionFact::Part(context, at));
    BindingValue::Typed(type_of_value(facts, parameter))
}

/// Returns the result of a function, as far as its declaration or its context shows it.
pub(super) fn returned_in_context<'t>(
    facts: &mut FactsBuilder<'t>,
    function: Node<'t>,
    context: ExpressionId,
) -> ExpressionId {
    let returned = match field(function, "return_type") {
        Some(declared) => instance(facts, declared),
        None if context != 0 => facts.expression(ExpressionFact::Call(context)),
        None => 0,
    };
    let is_async = function.child(0).is_some_and(|first| first.kind() == "async");
    if is_async && returned != 0 { facts.expression(ExpressionFact::Inner(returned)) } else { returned }
}

/// Returns whether the context of a value affects the names in it.
fn is_contextual(value: Node<'_>) -> bool {
    matches!(
        value.kind(),
        "arrow_function"
            | "function_expression"
            | "generator_function"
            | "object"
            | "array"
            | "parenthesized_expression"
            | "ternary_expression"
    )
}

/// Visits both sides of an assignment; the left side is the context of the right.
pub(super) fn visit_assigned<'t>(
    facts: &mut FactsBuilder<'t>,
    left: Node<'t>,
    right: Node<'t>,
    visit: Visit<'t>,
) {
    facts.deeper(left, visit);
    let context = if is_contextual(right) { facts.chained(Some(left), value_of) } else { 0 };
    visit_in_context(facts, right, context, visit);
}
