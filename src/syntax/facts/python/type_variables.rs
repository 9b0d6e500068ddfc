//! Type variables: `TypeVar("T", bound=A)`, and the parameters in brackets of classes and functions.

use tree_sitter::Node;

use super::types::declared_type;
use crate::model::{BindingValue, DefinitionId, ExpressionFact, ExpressionId, TYPE_VARIABLE_PREFIX};
use crate::syntax::facts::builder::{FactsBuilder, field, line_of};
use crate::syntax::outline::children;

/// Binds the bound of a type variable that is assigned to a name.
pub(super) fn bind_assigned_variable<'t>(
    facts: &mut FactsBuilder<'t>,
    target: Option<Node<'t>>,
    value: Option<Node<'t>>,
) {
    let (Some(target), Some(value)) = (target, value) else { return };
    let function = field(value, "function").map_or("", |function| facts.text_of(function));
    let is_variable = function.rsplit('.').next() == Some("TypeVar");
    if facts.scope != 0 || target.kind() != "identifier" || value.kind() != "call" || !is_variable {
        return;
    }
    let arguments = field(value, "arguments").map(children).unwrap_or_default();
    let is_bound =
        |argument: &&Node<'t>| field(**argument, "name").is_some_and(|name| facts.text_of(name) == "bound");
    let bound = arguments.iter().find(is_bound).and_then(|argument| field(*argument, "value"));
    let bound = match bound {
        Some(bound) => declared_type(facts, bound),
        None => constraints(facts, &arguments),
    };
    bind_variable(facts, target, bound);
}

/// Returns the types that a constrained type variable is one of: `TypeVar("T", A, B)`.
fn constraints<'t>(facts: &mut FactsBuilder<'t>, arguments: &[Node<'t>]) -> ExpressionId {
    let is_type = |argument: &&Node<'t>| argument.is_named() && argument.kind() != "comment";
    let types = arguments.iter().filter(is_type).skip(1);
    let mut found = None;
    for constraint in types.filter(|argument| argument.kind() != "keyword_argument").take(8) {
        let constraint = declared_type(facts, *constraint);
        found = Some(match found {
            Some(before) => facts.expression(ExpressionFact::Either(before, constraint)),
            None => constraint,
        });
    }
    found.unwrap_or(0)
}

/// Binds the bounds of the type parameters of a class or a function, and lists those of a class as `Generic[…]` does.
pub(super) fn bind_type_parameters<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    class: Option<DefinitionId>,
    visit: fn(&mut FactsBuilder<'t>, Node<'t>),
) {
    let Some(parameters) = field(node, "type_parameters") else { return };
    let name = facts.name("Generic");
    let mut generic = facts.expression(ExpressionFact::Name(name));
    for parameter in children(parameters).into_iter().filter(|child| child.kind() == "type") {
        let (name, bound) = match parameter.named_child(0) {
            Some(inner) if inner.kind() == "constrained_type" => {
                (inner.named_child(0).and_then(|name| name.named_child(0)), inner.named_child(1))
            }
            inner => (inner, None),
        };
        let Some(name) = name.filter(|name| name.kind() == "identifier") else { continue };
        let bound = bound.map_or(0, |bound| {
            visit(facts, bound);
            declared_type(facts, bound)
        });
        bind_variable(facts, name, bound);
        let id = facts.name_of(name);
        let argument = facts.expression(ExpressionFact::Name(id));
        generic = facts.expression(ExpressionFact::Apply(generic, argument));
    }
    if let Some(class) = class {
        facts.definition(class).bases.push(generic);
    }
}

fn bind_variable<'t>(facts: &mut FactsBuilder<'t>, name: Node<'t>, bound: ExpressionId) {
    let bound_name = facts.composed_name(&format!("{TYPE_VARIABLE_PREFIX}{}", facts.text_of(name)));
    facts.bind(0, bound_name, BindingValue::Default(bound), line_of(name));
}
