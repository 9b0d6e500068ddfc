//! Go: declared types and values in their reduced form. A pointer is reduced to its target.

use tree_sitter::Node;

use super::reader::names;
use crate::model::{BindingValue, DefinitionId, DefinitionKind, ExpressionFact, ExpressionId, ScopeKind};
use crate::syntax::facts::builder::{FactsBuilder, field, line_of};
use crate::syntax::outline::{child_of_kind, children, named_children};

/// Returns the expression of a type in the text.
pub(super) fn declared_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "type_identifier" | "identifier" => {
            let name = facts.name_of(node);
            facts.expression(ExpressionFact::TypeName(name))
        }
        "qualified_type" => facts.member(field(node, "package"), field(node, "name"), FactsBuilder::named),
        "selector_expression" => value_of(facts, node),
        "pointer_type"
        | "parenthesized_type"
        | "type_elem"
        | "type_constraint"
        | "parenthesized_expression"
        | "unary_expression" => facts.chained(node.named_child(0), declared_type),
        "generic_type" | "index_expression" | "type_instantiation_expression" => {
            let inner = field(node, "type").or_else(|| field(node, "operand"));
            let generic = facts.chained(inner, declared_type);
            let arguments = field(node, "type_arguments").map(children).unwrap_or_default();
            facts.applied(generic, arguments.into_iter().filter(Node::is_named), declared_type)
        }
        "slice_type" | "array_type" | "implicit_length_array_type" => {
            container(facts, "[]", &[field(node, "element")])
        }
        "map_type" => container(facts, "map", &[field(node, "key"), field(node, "value")]),
        "channel_type" => container(facts, "chan", &[field(node, "value")]),
        "function_type" | "func_literal" => {
            let returned = field(node, "result").map_or(0, |result| result_type(facts, result));
            let function = facts.named_type("func");
            facts.expression(ExpressionFact::Apply(function, returned))
        }
        "struct_type" => unnamed_struct(facts, node),
        "interface_type" => facts.expression(ExpressionFact::Literal),
        _ => 0,
    }
}

/// Defines an unnamed struct in the file's scope under a name that cannot be written; returns that.
fn unnamed_struct<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let name = facts.composed_name(&format!("(struct) {}", node.start_byte()));
    if facts.struct_types.insert(node.start_byte())
        && let Some(keyword) = node.child(0)
    {
        let definition = facts.define_unnamed(keyword, node, DefinitionKind::Class);
        facts.bind(0, name, BindingValue::Definition(definition), line_of(node));
        let outer = facts.open_body(definition, ScopeKind::Class);
        facts.deeper(node, |facts, node| bind_fields(facts, node, definition));
        facts.scope = outer;
    }
    facts.expression(ExpressionFact::TypeName(name))
}

/// Binds the fields of a struct.
pub(super) fn bind_fields<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, definition: DefinitionId) {
    let Some(list) = child_of_kind(node, "field_declaration_list") else { return };
    for found in children(list).into_iter().filter(|child| child.kind() == "field_declaration") {
        let Some(declared) = field(found, "type") else { continue };
        let expression = declared_type(facts, declared);
        let names = names(found, "name");
        for name in &names {
            facts.bind_node(facts.scope, *name, BindingValue::Typed(expression));
        }
        if !names.is_empty() {
            continue;
        }
        facts.definition(definition).bases.push(expression);
        let inner = if declared.kind() == "generic_type" { field(declared, "type") } else { Some(declared) };
        let name = inner.and_then(|inner| match inner.kind() {
            "qualified_type" => field(inner, "name"),
            _ => Some(inner),
        });
        if let Some(name) = name {
            facts.bind_node(facts.scope, name, BindingValue::Typed(expression));
        }
    }
}

/// Returns a built-in type with arguments. Its name is a keyword or a sign, so that nothing can define it.
fn container<'t>(
    facts: &mut FactsBuilder<'t>,
    name: &'static str,
    arguments: &[Option<Node<'t>>],
) -> ExpressionId {
    let mut found = facts.named_type(name);
    for argument in arguments {
        let argument = facts.chained(*argument, declared_type);
        found = facts.expression(ExpressionFact::Apply(found, argument));
    }
    found
}

/// Returns the result type of a function; several results are the arguments of an unnamed type.
pub(super) fn result_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    if node.kind() != "parameter_list" {
        return declared_type(facts, node);
    }
    let mut types = Vec::new();
    for parameter in named_children(node) {
        let mut cursor = parameter.walk();
        let names = parameter.children_by_field_name("name", &mut cursor).count();
        let declared = field(parameter, "type").map_or(0, |declared| declared_type(facts, declared));
        types.extend(std::iter::repeat_n(declared, names.max(1)));
    }
    match types.as_slice() {
        [only] => *only,
        several => {
            several.iter().fold(0, |tuple, part| facts.expression(ExpressionFact::Apply(tuple, *part)))
        }
    }
}

/// Returns the expression that decides the type of a value.
pub(super) fn value_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    match node.kind() {
        "identifier" | "package_identifier" | "type_identifier" => facts.named(node),
        "selector_expression" => facts.member(field(node, "operand"), field(node, "field"), value_of),
        "call_expression" => called(facts, node),
        "composite_literal" | "type_assertion_expression" | "type_conversion_expression" => {
            facts.unary(ExpressionFact::Instance, field(node, "type"), declared_type)
        }
        "func_literal" => {
            let declared = declared_type(facts, node);
            facts.expression(ExpressionFact::Instance(declared))
        }
        "unary_expression" => {
            let operand = facts.chained(field(node, "operand"), value_of);
            match field(node, "operator").map(|operator| facts.text_of(operator)) {
                Some("&" | "*") => operand,
                Some("<-") => facts.expression(ExpressionFact::Item(operand)),
                _ => facts.expression(ExpressionFact::Literal),
            }
        }
        "parenthesized_expression" => facts.chained(node.named_child(0), value_of),
        "index_expression" => facts.unary(ExpressionFact::Item, field(node, "operand"), value_of),
        "slice_expression" => facts.chained(field(node, "operand"), value_of),
        "interpreted_string_literal"
        | "raw_string_literal"
        | "int_literal"
        | "float_literal"
        | "rune_literal"
        | "true"
        | "false"
        | "nil"
        | "binary_expression" => facts.expression(ExpressionFact::Literal),
        _ => 0,
    }
}

fn called<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> ExpressionId {
    let Some(function) = field(node, "function") else { return 0 };
    let first = field(node, "arguments").and_then(|arguments| arguments.named_child(0));
    let expression = match (function.kind(), facts.text_of(function)) {
        ("identifier", "new" | "make") => {
            ExpressionFact::Instance(first.map_or(0, |declared| declared_type(facts, declared)))
        }
        ("identifier", "append") => return facts.chained(first, value_of),
        ("identifier", "len" | "cap" | "string") => ExpressionFact::Literal,
        // A conversion: `(*T)(x)`, `[]T(x)`.
        ("parenthesized_expression", _) if is_pointer(function) => {
            ExpressionFact::Instance(declared_type(facts, function))
        }
        _ => ExpressionFact::Call(facts.chained(Some(function), value_of)),
    };
    facts.expression(expression)
}

fn is_pointer(node: Node<'_>) -> bool {
    node.named_child(0).is_some_and(|inner| inner.kind() == "unary_expression")
}
