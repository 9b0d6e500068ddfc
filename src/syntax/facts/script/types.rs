//! JavaScript and TypeScript: values and declared types in their reduced form.

use tree_sitter::Node;

use super::syntax::{
    has_receiver, is_own_exports, is_receiver_type, prototype_owner, required_value, unquoted,
};
use crate::model::{
    BindingValue, CALL_SIGNATURE, DefinitionId, DefinitionKind, ExpressionFact, ExpressionId, FUNCTION_TYPE,
    NameId, PARAMETER_TYPES, REST_TYPE, ScopeId, ScopeKind, TYPE_OF_VALUE,
};
use crate::syntax::facts::builder::{FactsBuilder, Visit, field, line_of};
use crate::syntax::outline::{child_of_kind, named_children};

/// Returns the expression that decides the type of a value.
pub(super) fn value_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    if let Some(module) = required_value(facts, node) {
        return module;
    }
    match node.kind() {
        "member_expression" if is_own_exports(facts, node) => {
            let name = facts.name("exports");
            facts.expression(ExpressionFact::Name(name))
        }
        // In the reduced form, members of a prototype belong to the function or the class.
        "member_expression" if prototype_owner(facts, node).is_some() => {
            let owner = prototype_owner(facts, node);
            facts.chained(owner, value_of)
        }
        "identifier" | "type_identifier" | "shorthand_property_identifier" => facts.named(node),
        "this" if has_receiver(facts) && is_receiver_type(facts) => {
            facts.expression(ExpressionFact::ReceiverType)
        }
        "this" if has_receiver(facts) => facts.expression(ExpressionFact::Receiver),
        "super" => facts.expression(ExpressionFact::Super),
        "member_expression" | "nested_identifier" => {
            facts.member(field(node, "object"), field(node, "property"), value_of)
        }
        "call_expression" => facts.unary(ExpressionFact::Call, field(node, "function"), value_of),
        "new_expression" => {
            let class = facts.chained(field(node, "constructor"), value_of);
            let class = applied(facts, class, field(node, "type_arguments"));
            facts.expression(ExpressionFact::Instance(class))
        }
        "arrow_function" | "function_expression" => {
            let function = function_type(facts, node);
            facts.expression(ExpressionFact::Instance(function))
        }
        "subscript_expression" => facts.unary(ExpressionFact::Item, field(node, "object"), value_of),
        "await_expression" => facts.unary(ExpressionFact::Inner, node.named_child(0), value_of),
        "parenthesized_expression" | "non_null_expression" | "satisfies_expression" => {
            facts.chained(node.named_child(0), value_of)
        }
        "as_expression" => match node.named_child(1) {
            Some(declared) => facts.unary(ExpressionFact::Instance, Some(declared), declared_type),
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
        "type_identifier" if facts.objects.own_types.contains(&facts.text_of(node)) => 0,
        "type_identifier" | "identifier" => facts.named(node),
        "nested_type_identifier" => facts.member(field(node, "module"), field(node, "name"), value_of),
        "generic_type" => {
            let generic = facts.chained(field(node, "name"), declared_type);
            applied(facts, generic, field(node, "type_arguments"))
        }
        "function_type" => function_type(facts, node),
        "object_type" => {
            let name = object_type_name(facts, node);
            facts.expression(ExpressionFact::Name(name))
        }
        "tuple_type" => {
            let name = facts.name("tuple");
            let whole = facts.expression(ExpressionFact::Name(name));
            let parts = named_children(node).into_iter().map(|part| field(part, "type").unwrap_or(part));
            facts.applied(whole, parts, declared_type)
        }
        "lookup_type" => lookup_type(facts, node),
        "array_type" => {
            let array = facts.name("Array");
            let array = facts.expression(ExpressionFact::Name(array));
            let item = facts.chained(node.named_child(0), declared_type);
            facts.expression(ExpressionFact::Apply(array, item))
        }
        "union_type" | "intersection_type" if node.named_child_count() == 1 => {
            facts.chained(node.named_child(0), declared_type)
        }
        "union_type" | "intersection_type" => {
            facts.either(node.named_child(0), node.named_child(1), declared_type)
        }
        "predefined_type" if !matches!(facts.text_of(node), "any" | "unknown" | "object") => {
            facts.expression(ExpressionFact::Literal)
        }
        "literal_type" => facts.expression(ExpressionFact::Literal),
        "this_type" => facts.expression(ExpressionFact::ReceiverType),
        "type_query" => {
            let value = facts.chained(node.named_child(0), value_of);
            type_of_value(facts, value)
        }
        _ => 0,
    }
}

/// Returns a type with arguments.
fn applied<'t>(
    facts: &mut FactsBuilder<'t>,
    generic: ExpressionId,
    arguments: Option<Node<'t>>,
) -> ExpressionId {
    let Some(arguments) = arguments else { return generic };
    facts.applied(generic, named_children(arguments), declared_type)
}

/// Returns the type of a value.
pub(super) fn type_of_value(facts: &mut FactsBuilder<'_>, value: ExpressionId) -> ExpressionId {
    if value == 0 {
        return 0;
    }
    let name = facts.name(TYPE_OF_VALUE);
    let name = facts.expression(ExpressionFact::Name(name));
    facts.expression(ExpressionFact::Apply(name, value))
}

/// Returns the type of a member: `T['member']`, or of an element: `T[number]`.
fn lookup_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let (Some(whole), Some(index)) = (node.named_child(0), node.named_child(1)) else { return 0 };
    let whole = match facts.chained(Some(whole), declared_type) {
        0 => return 0,
        whole => facts.expression(ExpressionFact::Instance(whole)),
    };
    let value = if facts.text_of(index) == "number" {
        ExpressionFact::Item(whole)
    } else if index.named_child(0).is_some_and(|literal| literal.kind() == "string") {
        ExpressionFact::Member(whole, facts.name(unquoted(facts, index)))
    } else {
        return 0;
    };
    let value = facts.expression(value);
    type_of_value(facts, value)
}

/// Returns the type of a function, a method or a call signature. Its own type parameters are unknown.
fn function_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let known = facts.objects.own_types.len();
    if let Some(parameters) = field(node, "type_parameters") {
        for parameter in named_children(parameters) {
            let name = field(parameter, "name").map_or("", |name| facts.text_of(name));
            facts.objects.own_types.push(name);
        }
    }
    let returned = facts.chained(field(node, "return_type"), declared_type);
    let function = with_parameters(facts, returned, field(node, "parameters"));
    facts.objects.own_types.truncate(known);
    function
}

fn with_parameters<'t>(
    facts: &mut FactsBuilder<'t>,
    returned: ExpressionId,
    parameters: Option<Node<'t>>,
) -> ExpressionId {
    let name = facts.name(FUNCTION_TYPE);
    let name = facts.expression(ExpressionFact::Name(name));
    let mut whole = facts.expression(ExpressionFact::Apply(name, returned));
    let Some(parameters) = parameters else { return whole };
    for parameter in named_children(parameters) {
        let pattern = field(parameter, "pattern").map_or("", |pattern| pattern.kind());
        if pattern == "this" || parameter.kind() == "comment" {
            continue;
        }
        let mut declared = facts.chained(field(parameter, "type"), declared_type);
        if pattern == "rest_pattern" {
            let rest = facts.name(REST_TYPE);
            let rest = facts.expression(ExpressionFact::Name(rest));
            declared = facts.expression(ExpressionFact::Apply(rest, declared));
        }
        whole = facts.expression(ExpressionFact::Apply(whole, declared));
    }
    whole
}

/// Binds the types of a function's parameters in its body, unless all of them are built-in types.
pub(super) fn parameter_types<'t>(facts: &mut FactsBuilder<'t>, parameters: Node<'t>) {
    let is_telling = parameters.named_children(&mut parameters.walk()).any(|parameter| {
        let declared = field(parameter, "type").and_then(|declared| declared.named_child(0));
        declared.is_some_and(|declared| !matches!(declared.kind(), "predefined_type" | "literal_type"))
    });
    if is_telling {
        let types = with_parameters(facts, 0, Some(parameters));
        let name = facts.name(PARAMETER_TYPES);
        facts.bind(facts.scope, name, BindingValue::Typed(types), line_of(parameters));
    }
}

/// Reads a call signature of a type.
pub(super) fn call_signature<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit<'t>) {
    let function = function_type(facts, node);
    let name = facts.name(CALL_SIGNATURE);
    facts.bind(facts.scope, name, BindingValue::Typed(function), line_of(node));
    facts.in_block(node, visit);
}

/// Reads a part of a type that introduces type names.
pub(super) fn naming_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit<'t>) {
    match node.kind() {
        "mapped_type_clause" => mapped_keys(facts, node, visit),
        "conditional_type" => conditional_type(facts, node, visit),
        _ => inferred_type(facts, node, visit),
    }
}

/// Reads `K in keyof T`, which introduces a name in the enclosing signature.
fn mapped_keys<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit<'t>) {
    if let Some(name) = field(node, "name") {
        facts.bind_node(facts.scope, name, BindingValue::Default(0));
    }
    facts.visit_field(node, "type", visit);
    facts.visit_field(node, "alias", visit);
}

/// Reads `A extends B ? C : D`: types that `B` infers are visible in `C`.
fn conditional_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit<'t>) {
    facts.visit_field(node, "left", visit);
    let outer = facts.open_scope(ScopeKind::Block, None);
    let around = facts.objects.inferred.replace(facts.scope);
    facts.visit_field(node, "right", visit);
    facts.objects.inferred = around;
    facts.visit_field(node, "consequence", visit);
    facts.scope = outer;
    facts.visit_field(node, "alternative", visit);
}

/// Reads `infer U extends V`, which introduces a name in the enclosing condition.
fn inferred_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit<'t>) {
    if let (Some(scope), Some(name)) = (facts.objects.inferred, node.named_child(0)) {
        facts.bind_node(scope, name, BindingValue::Default(0));
    }
    if let Some(bound) = node.named_child(1) {
        facts.deeper(bound, visit);
    }
}

/// Defines an unnamed type by its members, and binds it to a name that cannot be written.
pub(super) fn define_object_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit<'t>) {
    let definition = facts.define_unnamed(node, node, DefinitionKind::Interface);
    let name = object_type_name(facts, node);
    facts.bind(0, name, BindingValue::Definition(definition), line_of(node));
    let outer = facts.open_body(definition, ScopeKind::Class);
    facts.visit_children(node, visit);
    facts.scope = outer;
}

fn object_type_name(facts: &mut FactsBuilder<'_>, node: Node<'_>) -> NameId {
    facts.composed_name(&format!("(type {})", node.start_byte()))
}

/// Opens a scope for the type parameters of a declaration, if it has any or the scope is that of a definition; returns
/// the one to go back to.
pub(super) fn open_type_parameters<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    alias: Option<DefinitionId>,
    visit: Visit<'t>,
) -> ScopeId {
    let outer = facts.scope;
    let parameters = child_of_kind(node, "type_parameters");
    match alias {
        Some(alias) => {
            facts.open_body(alias, ScopeKind::Block);
        }
        None if parameters.is_some() => {
            facts.open_scope(ScopeKind::Block, None);
        }
        None => {}
    }
    if let Some(parameters) = parameters {
        facts.deeper(parameters, visit);
    }
    outer
}
