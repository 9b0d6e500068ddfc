//! JavaScript and TypeScript: block scopes, classes, imports and exports, declared and constructed types.

use tree_sitter::Node;

use super::common_js;
use super::context::{
    instance, parameter_in_context, returned_in_context, visit_arguments, visit_assigned, visit_declared,
    visit_element, visit_in_context, visit_parts,
};
use super::modules::{augment, export, import, mark_global, mark_private};
use super::patterns::{bind_parameter, bind_pattern, mark_called_parts};
use super::syntax::{declare_required, mark_function, receiver_scope, required_value, without_assertions};
use super::types::{
    call_signature, declared_type, define_object_type, naming_type, open_type_parameters, parameter_types,
    type_of_value, value_of,
};
use crate::model::{
    BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, ExpressionFact, IMPLEMENTED_INTERFACE,
    ScopeKind,
};
use crate::syntax::facts::builder::{FactsBuilder, NewDefinition, field, line_of};
use crate::syntax::outline::{child_of_kind, named_children};

/// Reads the facts of a file.
pub(in crate::syntax::facts) fn walk<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    common_js::find_objects(facts, root);
    mark_global(facts, root);
    facts.visit_children(root, visit);
    mark_private(facts, root);
    mark_called_parts(facts);
}

pub(super) fn visit<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let context = facts.objects.take_context();
    match node.kind() {
        "comment" | "string" | "number" | "regex" | "property_identifier" | "predefined_type" => {}
        "function_declaration"
        | "generator_function_declaration"
        | "function_signature"
        | "method_definition"
        | "abstract_method_signature"
        | "method_signature" => {
            facts.objects.context = context;
            define_function(facts, node, node, field(node, "name"), node);
        }
        "function_expression" | "arrow_function" | "generator_function" => {
            let outer = facts.open_scope(ScopeKind::Function, None);
            mark_function(facts, node);
            facts.objects.context = context;
            function_parts(facts, node, None);
            facts.scope = outer;
        }
        "object"
        | "as_expression"
        | "satisfies_expression"
        | "parenthesized_expression"
        | "ternary_expression"
        | "array"
            if visit_parts(facts, node, context, visit) => {}
        "class_declaration" | "abstract_class_declaration" | "class" => define_class(facts, node),
        "interface_declaration" => define_interface(facts, node),
        "object_type" => define_object_type(facts, node, visit),
        "call_signature" => call_signature(facts, node, visit),
        // Part of a type: the parameters of functions are bound with the function.
        "required_parameter" | "optional_parameter" => {
            facts.visit_field(node, "type", visit);
            facts.visit_field(node, "value", visit);
        }
        "internal_module" | "module" => define_namespace(facts, node),
        "ambient_declaration" if child_of_kind(node, "global").is_some() => {
            let outer = facts.open_scope(ScopeKind::Module, None);
            if let Some(body) = child_of_kind(node, "statement_block") {
                facts.visit_children(body, visit);
            }
            facts.scope = outer;
        }
        "type_alias_declaration" => define_alias(facts, node),
        "enum_declaration" => define_enum(facts, node),
        "public_field_definition" | "field_definition" | "property_signature" => define_field(facts, node),
        "variable_declarator" => declare(facts, node),
        "import_statement" => import(facts, node),
        "export_statement" => {
            if child_of_kind(node, "=").is_some() {
                common_js::export_whole(facts, node);
            }
            if !common_js::export_default(facts, node) && export(facts, node) {
                facts.visit_children(node, visit);
            }
        }
        "statement_block" | "for_statement" | "switch_body" | "function_type" | "construct_signature" => {
            facts.in_block(node, visit);
        }
        "for_in_statement" => for_each(facts, node),
        "catch_clause" => {
            let outer = facts.open_scope(ScopeKind::Block, None);
            bind_pattern(facts, facts.scope, field(node, "parameter"), BindingValue::Value(0), visit);
            facts.visit_field(node, "body", visit);
            facts.scope = outer;
        }
        "assignment_expression" => assign(facts, node),
        "call_expression" => call(facts, node),
        "new_expression" => {
            match field(node, "constructor") {
                Some(class) if class.kind() == "identifier" => facts.use_name(class, None, true),
                Some(class) if class.kind() == "member_expression" => member(facts, class, true),
                _ => facts.visit_field(node, "constructor", visit),
            }
            visit_arguments(facts, node, "constructor", visit);
            facts.visit_field(node, "type_arguments", visit);
        }
        "jsx_opening_element" | "jsx_self_closing_element" => visit_element(facts, node, visit),
        "member_expression" => member(facts, node, false),
        "nested_type_identifier" => {
            if let Some(name) = field(node, "name") {
                let module = value_of_field(facts, node, "module");
                facts.use_type(name, Some(module));
            }
            facts.visit_field(node, "module", visit);
        }
        "identifier" | "shorthand_property_identifier" => facts.use_name(node, None, false),
        "type_identifier" => facts.use_type(node, None),
        "return_statement" => {
            let value = node.named_child(0);
            returned(facts, value);
            if let Some(value) = value {
                visit_in_context(facts, value, facts.objects.returned, visit);
            }
        }
        "type_parameter" => type_parameter(facts, node),
        "index_signature" => facts.in_block(node, visit),
        "mapped_type_clause" | "conditional_type" | "infer_type" => naming_type(facts, node, visit),
        _ => facts.visit_children(node, visit),
    }
}

/// Binds a type parameter to its constraint.
fn type_parameter<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    if let Some(name) = field(node, "name") {
        let constraint = field(node, "constraint").and_then(|constraint| constraint.named_child(0));
        let bound = facts.chained(constraint, declared_type);
        facts.bind_node(facts.scope, name, BindingValue::Default(bound));
    }
    facts.visit_field(node, "constraint", visit);
    facts.visit_field(node, "value", visit);
}

fn value_of_field<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, name: &str) -> u32 {
    field(node, name).map_or(0, |child| value_of(facts, child))
}

/// `namespace a {}`: its declarations are members of it.
fn define_namespace<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let name = field(node, "name").filter(|name| matches!(name.kind(), "identifier" | "string"));
    let (Some(name), Some(body)) = (name, field(node, "body")) else {
        facts.visit_children(node, visit);
        return;
    };
    let whole = exported(node);
    let module = facts.define(&NewDefinition { name, whole, kind: DefinitionKind::Module, flags: 0 });
    let outer = if name.kind() == "string" {
        augment(facts, name, module)
    } else {
        facts.bind_node(facts.scope, name, BindingValue::Definition(module));
        facts.open_body(module, ScopeKind::Module)
    };
    facts.visit_children(body, visit);
    facts.scope = outer;
}

/// Defines a function under that name, and reads its parts.
fn define_function<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    whole: Node<'t>,
    name: Option<Node<'t>>,
    declaration: Node<'t>,
) {
    let Some(name) = name else {
        facts.visit_children(node, visit);
        return;
    };
    let mut flags = 0;
    if field(node, "body").is_none() && node.kind() != "method_signature" {
        flags |= DefinitionFlags::PROTOTYPE;
    }
    if child_of_kind(node, "get").is_some() || child_of_kind(node, "set").is_some() {
        flags |= DefinitionFlags::PROPERTY;
    }
    let function = define_function_of(facts, name, exported(whole), declaration, flags);
    facts.bind_node(facts.scope, name, BindingValue::Definition(function));
}

/// Defines a function without binding its name.
pub(super) fn define_function_of<'t>(
    facts: &mut FactsBuilder<'t>,
    name: Node<'t>,
    whole: Node<'t>,
    declaration: Node<'t>,
    flags: u16,
) -> DefinitionId {
    let function = facts.define(&NewDefinition { name, whole, kind: DefinitionKind::Function, flags });
    common_js::open_members(facts, name, function);
    let outer = facts.open_body(function, ScopeKind::Function);
    mark_function(facts, declaration);
    function_parts(facts, declaration, Some(function));
    facts.scope = outer;
    function
}

/// Returns the `export` around a declaration, which is part of it.
fn exported(node: Node<'_>) -> Node<'_> {
    match node.parent() {
        Some(parent) if matches!(parent.kind(), "export_statement") => parent,
        _ => node,
    }
}

/// Reads the parameters, the return type and the body of a function.
fn function_parts<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, function: Option<DefinitionId>) {
    let context = facts.objects.take_context();
    facts.visit_field(node, "type_parameters", visit);
    if let Some(single) = field(node, "parameter") {
        let value = parameter_in_context(facts, context, 0);
        bind_pattern(facts, facts.scope, Some(single), value, visit);
    }
    if let Some(parameters) = field(node, "parameters") {
        let mut at = 0;
        for parameter in named_children(parameters) {
            bind_parameter(facts, parameter, context, at, visit);
            let is_receiver = field(parameter, "pattern").is_some_and(|pattern| pattern.kind() == "this");
            at += u32::from(parameter.kind() != "comment" && !is_receiver);
        }
        if function.is_some() {
            parameter_types(facts, parameters);
        }
    }
    let returned_there = returned_in_context(facts, node, context);
    if let Some(declared) = field(node, "return_type") {
        if let Some(function) = function {
            let expression = declared_type(facts, declared);
            let fact = facts.definition(function);
            fact.returns.push(expression);
            fact.flags.0 |= DefinitionFlags::DECLARED;
        }
        facts.deeper(declared, visit);
    } else if let Some(function) = function.filter(|_| context != 0 && node.kind() != "method_definition") {
        let called = facts.expression(ExpressionFact::Call(context));
        let expression = type_of_value(facts, called);
        let fact = facts.definition(function);
        fact.returns.push(expression);
        fact.flags.0 |= DefinitionFlags::DECLARED;
    }
    let Some(body) = field(node, "body") else { return };
    let outer = std::mem::replace(&mut facts.objects.returned, returned_there);
    if body.kind() == "statement_block" {
        facts.deeper(body, visit);
    } else {
        returned(facts, Some(body));
        visit_in_context(facts, body, returned_there, visit);
    }
    facts.objects.returned = outer;
}

fn define_class<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(name) = field(node, "name") else {
        let outer = facts.open_scope(ScopeKind::Block, None);
        facts.visit_children(node, visit);
        facts.scope = outer;
        return;
    };
    let class = define_class_of(facts, name, exported(node), node);
    facts.bind_node(facts.scope, name, BindingValue::Definition(class));
}

/// Defines a class without binding its name.
pub(super) fn define_class_of<'t>(
    facts: &mut FactsBuilder<'t>,
    name: Node<'t>,
    whole: Node<'t>,
    node: Node<'t>,
) -> DefinitionId {
    let class = facts.define(&NewDefinition { name, whole, kind: DefinitionKind::Class, flags: 0 });
    common_js::open_members(facts, name, class);
    if let Some(heritage) = child_of_kind(node, "class_heritage") {
        // In JavaScript the heritage is the expression itself.
        for clause in named_children(heritage) {
            let bases: Vec<Node<'t>> = match clause.kind() {
                "extends_clause" => clause.children_by_field_name("value", &mut clause.walk()).collect(),
                "implements_clause" => Vec::new(),
                _ => vec![clause],
            };
            for base in bases {
                let base = value_of(facts, base);
                facts.definition(class).bases.push(base);
            }
        }
        facts.deeper(heritage, |facts, heritage| facts.visit_children(heritage, visit));
    }
    let outer = open_type_parameters(facts, node, None, visit);
    facts.open_body(class, ScopeKind::Class);
    bind_implemented(facts, node);
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
    class
}

/// Binds the interfaces that a class implements. It does not inherit their members, so they are not bases.
fn bind_implemented<'t>(facts: &mut FactsBuilder<'t>, class: Node<'t>) {
    let clause =
        child_of_kind(class, "class_heritage").and_then(|node| child_of_kind(node, "implements_clause"));
    let Some(clause) = clause else { return };
    let name = facts.name(IMPLEMENTED_INTERFACE);
    for interface in named_children(clause) {
        let value = declared_type(facts, interface);
        facts.bind(facts.scope, name, BindingValue::Value(value), line_of(interface));
    }
}

fn define_interface<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(name) = field(node, "name") else { return };
    let whole = exported(node);
    let interface = facts.define(&NewDefinition { name, whole, kind: DefinitionKind::Interface, flags: 0 });
    facts.bind_node(facts.scope, name, BindingValue::Definition(interface));
    if let Some(clause) = child_of_kind(node, "extends_type_clause") {
        for base in clause.children_by_field_name("type", &mut clause.walk()) {
            let base = declared_type(facts, base);
            facts.definition(interface).bases.push(base);
        }
        facts.deeper(clause, visit);
    }
    let outer = open_type_parameters(facts, node, None, visit);
    facts.open_body(interface, ScopeKind::Class);
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

fn define_alias<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let (Some(name), Some(value)) = (field(node, "name"), field(node, "value")) else { return };
    let whole = exported(node);
    // An alias of an object type has members like an interface.
    let is_object = value.kind() == "object_type";
    let kind = if is_object { DefinitionKind::Interface } else { DefinitionKind::Alias };
    let alias = facts.define(&NewDefinition { name, whole, kind, flags: 0 });
    facts.bind_node(facts.scope, name, BindingValue::Definition(alias));
    if is_object {
        let outer = open_type_parameters(facts, node, None, visit);
        facts.open_body(alias, ScopeKind::Class);
        facts.deeper(value, |facts, value| facts.visit_children(value, visit));
        facts.scope = outer;
        return;
    }
    let target = declared_type(facts, value);
    facts.definition(alias).bases.push(target);
    let outer = open_type_parameters(facts, node, Some(alias), visit);
    facts.deeper(value, visit);
    facts.scope = outer;
}

fn define_enum<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(name) = field(node, "name") else { return };
    let whole = exported(node);
    let kind = facts.define(&NewDefinition { name, whole, kind: DefinitionKind::Class, flags: 0 });
    facts.bind_node(facts.scope, name, BindingValue::Definition(kind));
    facts.visit_field(node, "body", visit);
}

/// A field of a class; if its value is a function, it is a method.
fn define_field<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(name) = field(node, "name").or_else(|| field(node, "property")) else { return };
    let declared = field(node, "type");
    if let Some(value) = field(node, "value").filter(|value| value.kind() == "arrow_function") {
        if let Some(declared) = declared {
            facts.deeper(declared, visit);
        }
        facts.objects.context = declared.map_or(0, |declared| instance(facts, declared));
        define_function(facts, value, node, Some(name), value);
        return;
    }
    let value = match (declared, field(node, "value")) {
        (Some(declared), _) => BindingValue::Typed(declared_type(facts, declared)),
        (None, Some(value)) => BindingValue::Value(value_of(facts, value)),
        (None, None) => BindingValue::Value(0),
    };
    facts.bind_node(facts.scope, name, value);
    visit_declared(facts, declared, field(node, "value"), visit);
}

fn declare<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let (name, declared, mut value) = (field(node, "name"), field(node, "type"), field(node, "value"));
    let is_plain = name.is_some_and(|name| name.kind() == "identifier");
    if let (Some(name), None, Some(assigned)) = (name, declared, value) {
        let assigned = common_js::declared_value(facts, name, assigned);
        let whole = node.parent().unwrap_or(node);
        if declare_required(facts, name, assigned)
            || is_plain && common_js::declare_object(facts, name, whole, assigned)
        {
            return;
        }
        value = Some(assigned);
    }
    if let Some((value, types)) = value.map(without_assertions).filter(|(value, _)| {
        is_plain && matches!(value.kind(), "arrow_function" | "function_expression" | "generator_function")
    }) {
        for said in declared.into_iter().chain(types.iter().copied()) {
            facts.deeper(said, visit);
        }
        let said = declared.or(types.first().copied());
        facts.objects.context = said.map_or(0, |said| instance(facts, said));
        let whole = node.parent().unwrap_or(node);
        define_function(facts, value, whole, name, value);
        return;
    }
    let bound = match (declared, value) {
        (Some(declared), _) => BindingValue::Typed(declared_type(facts, declared)),
        (None, Some(value)) => BindingValue::Value(value_of(facts, value)),
        (None, None) => BindingValue::Value(0),
    };
    bind_pattern(facts, facts.scope, name, bound, visit);
    visit_declared(facts, declared, value, visit);
}

fn for_each<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let outer = facts.open_scope(ScopeKind::Block, None);
    let whole = value_of_field(facts, node, "right");
    let item = facts.expression(ExpressionFact::Item(whole));
    bind_pattern(facts, facts.scope, field(node, "left"), BindingValue::Value(item), visit);
    facts.visit_field(node, "right", visit);
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

fn assign<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let (left, right) = (field(node, "left"), field(node, "right"));
    if let (Some(left), Some(right)) = (left, right)
        && left.kind() == "member_expression"
        && field(left, "object").is_some_and(|object| object.kind() == "this")
        && let (Some(name), Some(class)) = (field(left, "property"), receiver_scope(facts))
    {
        let value = value_of(facts, right);
        facts.bind_node(class, name, BindingValue::Value(value));
    } else if common_js::assign(facts, node) {
        return;
    }
    match (left, right) {
        (Some(left), Some(right)) => visit_assigned(facts, left, right, visit),
        _ => facts.visit_children(node, visit),
    }
}

fn call<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    if required_value(facts, node).is_some() {
        facts.use_name(node, None, false);
        return;
    }
    common_js::inherit(facts, node);
    match field(node, "function") {
        Some(function) if required_value(facts, function).is_some() => {
            facts.use_name(function, None, true);
        }
        Some(function) if function.kind() == "identifier" => facts.use_name(function, None, true),
        Some(function) if function.kind() == "member_expression" => {
            facts.deeper(function, |facts, function| member(facts, function, true));
        }
        _ => facts.visit_field(node, "function", visit),
    }
    facts.visit_field(node, "type_arguments", visit);
    visit_arguments(facts, node, "function", visit);
}

fn member<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, is_call: bool) {
    facts.use_member(node, ["object", "property"], is_call, value_of, visit);
}

fn returned<'t>(facts: &mut FactsBuilder<'t>, value: Option<Node<'t>>) {
    let scope = facts.function_scope();
    let (Some(function), Some(value)) = (facts.facts.scopes[scope as usize].definition, value) else {
        return;
    };
    if facts.facts.scopes[scope as usize].kind != ScopeKind::Function {
        return;
    }
    let fact = facts.definition(function);
    if !fact.flags.has(DefinitionFlags::DECLARED) && fact.returns.len() < 8 {
        let value = value_of(facts, value);
        facts.definition(function).returns.push(value);
    }
}
