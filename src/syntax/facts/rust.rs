//! Rust: modules, `use`, types with their implementations, traits, functions, and locals with what they are made of.
//!
//! What the room `references` has to know of the form:
//! - A field is bound in the scope of its type by `Typed`, and read by [`ExpressionFact::Field`], because a method may have
//!   the same name. Every other member is a definition.
//! - A type parameter is bound by `Default` to the traits that it has to have.
//! - A variant of an enum is a type that extends the enum. It has the flag `PROTOTYPE`, because it is no type of its own.
//! - An `impl` is a scope of the kind `Implementation`, in which [`IMPLEMENTED_TYPE`] is bound to the type and
//!   [`IMPLEMENTED_TRAIT`] to the trait. Its definition is that of the type, or where another file has it, a stand-in of
//!   the same name with the flag `PROTOTYPE`.
//! - `mod x;` is an import without a name. Of `use a::b::c`, `a::b` is the module and `c` the name.
//! - The use of a macro is both a call and a type, which no other use is.

use tree_sitter::Node;

use super::builder::{FactsBuilder, IMPLEMENTED_TRAIT, IMPLEMENTED_TYPE, NewDefinition, field, line_of};
use super::rust_imports::{extern_crate, import};
use super::rust_macros::{items_within, macro_values, made_functions, pieces_of_call};
use super::rust_patterns::{bind_later, bind_pattern, for_loop, in_condition, match_arms};
use super::rust_tokens::macro_use;
use super::rust_types::{bounds_of, declared_type, macro_name, path_of, value_of};
use crate::model::{
    BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, ExpressionFact, ExpressionId,
    FOLDER_OF_MODULES, ScopeKind,
};
use crate::syntax::outline::{child_of_kind, children};

/// Reads the facts of a file.
pub(super) fn walk<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    facts.visit_children(root, visit);
}

pub(super) fn visit<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    match node.kind() {
        "attribute_item" => facts.attribute_at = facts.attribute_at.or(Some(line_of(node))),
        "line_comment" | "block_comment" => {}
        "function_item" | "function_signature_item" => define_function(facts, node),
        "struct_item" | "union_item" => define_struct(facts, node),
        "enum_item" => define_enum(facts, node),
        "trait_item" => define_trait(facts, node),
        "impl_item" => implementation(facts, node),
        "mod_item" => module(facts, node),
        "type_item" | "associated_type" => define_alias(facts, node),
        "const_item" | "static_item" => constant(facts, node),
        "macro_definition" => define_macro(facts, node),
        "use_declaration" => {
            facts.attribute_at = None;
            if let Some(argument) = field(node, "argument") {
                import(facts, argument, "");
            }
        }
        "extern_crate_declaration" => extern_crate(facts, node),
        _ => visit_inner(facts, node),
    }
}

/// Visits what is no item.
fn visit_inner<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    facts.attribute_at = None;
    match node.kind() {
        "string_literal"
        | "raw_string_literal"
        | "char_literal"
        | "integer_literal"
        | "float_literal"
        | "boolean_literal"
        | "primitive_type"
        | "lifetime"
        | "visibility_modifier"
        | "label"
        | "self"
        | "super"
        | "crate"
        | "inner_attribute_item"
        | "field_identifier"
        | "metavariable" => {}
        // The type that is implemented is known where it is needed.
        "type_identifier" if facts.text_of(node) == "Self" => {}
        "macro_invocation" => macro_call(facts, node),
        "block" => in_scope(facts, node, |facts, node| facts.visit_children(node, visit)),
        "let_declaration" | "let_condition" => bind_later(facts, node),
        "if_expression" | "while_expression" => in_condition(facts, node),
        "match_expression" => match_arms(facts, node),
        "for_expression" => for_loop(facts, node),
        "closure_expression" => closure(facts, node, 0),
        "call_expression" => call(facts, node),
        "field_expression" | "field_initializer" => facts.visit_field(node, "value", visit),
        "identifier" => facts.use_name(node, None, false),
        "type_identifier" => facts.use_type(node, None),
        "scoped_identifier" => path(facts, node, false),
        "scoped_type_identifier" => {
            if let Some(name) = field(node, "name") {
                let receiver = field(node, "path").map(|path| path_of(facts, path));
                facts.use_type(name, receiver);
            }
            path_head(facts, node);
        }
        "type_binding" => facts.visit_field(node, "type", visit),
        _ => facts.visit_children(node, visit),
    }
}

/// Reads the call of a macro: what is between its brackets may be items, and the macro may define functions by names that it
/// is given.
fn macro_call<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    if let Some(items) = items_within(facts, node) {
        if let Some(name) = macro_name(node) {
            facts.use_macro(name);
        }
        return facts.visit_children(items, visit);
    }
    match macro_name(node) {
        Some(name) if facts.text_of(name) == "dir" => modules_of_folder(facts, node),
        Some(name) => define_made_functions(facts, name, node),
        None => {}
    }
    macro_use(facts, node);
}

/// Reads a part in a scope of its own.
pub(super) fn in_scope<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    read: impl FnOnce(&mut FactsBuilder<'t>, Node<'t>),
) {
    let outer = facts.open_scope(ScopeKind::Block, None);
    facts.deeper(node, read);
    facts.scope = outer;
}

fn define<'t>(
    facts: &mut FactsBuilder<'t>,
    name: Node<'t>,
    whole: Node<'t>,
    kind: DefinitionKind,
    flags: u8,
) -> DefinitionId {
    let first_line = facts.attribute_at.take();
    let definition = facts.define(&NewDefinition { name, whole, kind, flags });
    if let Some(first_line) = first_line {
        facts.definition(definition).first_line = first_line;
    }
    definition
}

fn define_bound<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    kind: DefinitionKind,
    flags: u8,
) -> Option<DefinitionId> {
    let name = field(node, "name")?;
    let definition = define(facts, name, node, kind, flags);
    facts.bind_node(facts.scope, name, BindingValue::Definition(definition));
    if matches!(kind, DefinitionKind::Class | DefinitionKind::Interface) {
        let name = facts.name_of(name);
        facts.types.insert((facts.scope, name), definition);
    }
    Some(definition)
}

fn define_function<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let parameters = field(node, "parameters");
    let has_receiver =
        parameters.is_some_and(|parameters| child_of_kind(parameters, "self_parameter").is_some());
    let is_test = attributes_before(facts, node).any(is_test_attribute);
    let flags = DefinitionFlags::DECLARED
        | if has_receiver { 0 } else { DefinitionFlags::STATIC }
        | if is_test { DefinitionFlags::TEST_ITEM } else { 0 };
    let Some(function) = define_bound(facts, node, DefinitionKind::Function, flags) else { return };
    let outer = facts.open_body(function, ScopeKind::Function);
    type_parameters(facts, node);
    if let Some(parameters) = parameters {
        bind_parameters(facts, parameters);
    }
    let returned = match field(node, "return_type") {
        Some(declared) => {
            facts.deeper(declared, visit);
            declared_type(facts, declared)
        }
        None => facts.expression(ExpressionFact::Literal),
    };
    facts.definition(function).returns.push(returned);
    if let Some(body) = field(node, "body") {
        facts.deeper(body, |facts, body| facts.visit_children(body, visit));
    }
    facts.scope = outer;
}

pub(super) fn bind_parameters<'t>(facts: &mut FactsBuilder<'t>, parameters: Node<'t>) {
    for parameter in children(parameters).into_iter().filter(|child| child.kind() == "parameter") {
        let (Some(pattern), Some(declared)) = (field(parameter, "pattern"), field(parameter, "type")) else {
            continue;
        };
        facts.deeper(declared, visit);
        let declared = declared_type(facts, declared);
        bind_pattern(facts, facts.scope, pattern, BindingValue::Typed(declared));
    }
}

/// Binds the type parameters of an item to their bounds, those of its `where` clause too.
fn type_parameters<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    if let Some(parameters) = field(node, "type_parameters") {
        for parameter in children(parameters) {
            let Some(name) = field(parameter, "name").filter(|_| parameter.kind() == "type_parameter") else {
                continue;
            };
            let bounds = field(parameter, "bounds");
            let bound = bounds.map_or(0, |bounds| bounds_of(facts, bounds));
            facts.bind_node(facts.scope, name, BindingValue::Default(bound));
            for part in [bounds, field(parameter, "default_type")].into_iter().flatten() {
                facts.deeper(part, visit);
            }
        }
    }
    let Some(clause) = child_of_kind(node, "where_clause") else { return };
    for predicate in children(clause).into_iter().filter(|child| child.kind() == "where_predicate") {
        let (Some(left), Some(bounds)) = (field(predicate, "left"), field(predicate, "bounds")) else {
            continue;
        };
        if left.kind() == "type_identifier" {
            let bound = bounds_of(facts, bounds);
            facts.bind_node(facts.scope, left, BindingValue::Default(bound));
        } else {
            facts.deeper(left, visit);
        }
        facts.deeper(bounds, visit);
    }
}

fn define_struct<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let derived = derived_traits(facts, node);
    let Some(class) = define_bound(facts, node, DefinitionKind::Class, 0) else { return };
    facts.definition(class).bases.extend(derived);
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node);
    facts.open_body(class, ScopeKind::Class);
    if let Some(body) = field(node, "body") {
        fields(facts, body);
    }
    facts.scope = outer;
}

const POSITIONS: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];

/// Binds the fields of a struct or of a variant.
fn fields<'t>(facts: &mut FactsBuilder<'t>, body: Node<'t>) {
    let mut cursor = body.walk();
    if body.kind() == "ordered_field_declaration_list" {
        let types = body.children_by_field_name("type", &mut cursor);
        for (declared, position) in types.zip(POSITIONS) {
            let name = facts.name(position);
            let expression = declared_type(facts, declared);
            facts.bind(facts.scope, name, BindingValue::Typed(expression), line_of(declared));
            facts.deeper(declared, visit);
        }
        return;
    }
    for found in body.named_children(&mut cursor).filter(|child| child.kind() == "field_declaration") {
        let (Some(name), Some(declared)) = (field(found, "name"), field(found, "type")) else { continue };
        let expression = declared_type(facts, declared);
        facts.bind_node(facts.scope, name, BindingValue::Typed(expression));
        facts.deeper(declared, visit);
    }
}

fn define_enum<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let derived = derived_traits(facts, node);
    let Some(kind) = define_bound(facts, node, DefinitionKind::Class, 0) else { return };
    facts.definition(kind).bases.extend(derived);
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node);
    facts.open_body(kind, ScopeKind::Class);
    let whole = facts.expression(ExpressionFact::ReceiverType);
    let variants = field(node, "body").map(children).unwrap_or_default();
    for variant in variants.into_iter().filter(|child| child.kind() == "enum_variant") {
        let flags = DefinitionFlags::PROTOTYPE;
        let Some(definition) = define_bound(facts, variant, DefinitionKind::Class, flags) else { continue };
        facts.definition(definition).bases.push(whole);
        let within = facts.open_body(definition, ScopeKind::Class);
        if let Some(body) = field(variant, "body") {
            fields(facts, body);
        }
        facts.scope = within;
        facts.visit_field(variant, "value", visit);
    }
    facts.scope = outer;
}

fn define_trait<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(interface) = define_bound(facts, node, DefinitionKind::Interface, 0) else { return };
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node);
    if let Some(bounds) = field(node, "bounds") {
        for bound in
            children(bounds).into_iter().filter(|bound| bound.is_named() && bound.kind() != "lifetime")
        {
            let base = declared_type(facts, bound);
            facts.definition(interface).bases.push(base);
        }
        facts.deeper(bounds, visit);
    }
    facts.open_body(interface, ScopeKind::Class);
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

fn implementation<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(implemented) = field(node, "type") else { return };
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node);
    let declared = declared_type(facts, implemented);
    let implemented_trait = field(node, "trait");
    let (name, line) = (type_name(implemented), line_of(node));
    let first_line = facts.attribute_at.take();
    let known = local_type(facts, outer, name);
    let definition = known.unwrap_or_else(|| {
        let inner = std::mem::replace(&mut facts.scope, outer);
        let kind = DefinitionKind::Class;
        let stand_in = NewDefinition { name, whole: node, kind, flags: DefinitionFlags::PROTOTYPE };
        let definition = facts.define(&stand_in);
        facts.definition(definition).first_line = first_line.unwrap_or(line);
        facts.scope = inner;
        definition
    });
    for part in [implemented_trait, Some(implemented)].into_iter().flatten() {
        facts.deeper(part, visit);
    }
    let within = facts.scope;
    let added = implemented_trait.map(|found| declared_type(facts, found));
    facts.open_scope(ScopeKind::Implementation, Some(definition));
    if known.is_none() {
        facts.definition(definition).body = Some(facts.scope);
    }
    let body = std::mem::replace(&mut facts.scope, within);
    let name = facts.name(IMPLEMENTED_TYPE);
    facts.bind(body, name, BindingValue::Value(declared), line);
    if let Some(added) = added {
        let name = facts.name(IMPLEMENTED_TRAIT);
        facts.bind(body, name, BindingValue::Value(added), line);
    }
    facts.scope = body;
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

/// Returns the node of a type's own name: of `a::Name`, of `&Name<T>`.
fn type_name(mut node: Node<'_>) -> Node<'_> {
    loop {
        let inner = match node.kind() {
            "generic_type" | "reference_type" | "pointer_type" => field(node, "type"),
            "scoped_type_identifier" => field(node, "name"),
            "dynamic_type" => field(node, "trait"),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}

/// Returns the type of that name that this scope defines before.
fn local_type<'t>(facts: &mut FactsBuilder<'t>, scope: u32, name: Node<'t>) -> Option<DefinitionId> {
    let name = facts.name_of(name);
    facts.types.get(&(scope, name)).copied()
}

fn module<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(name) = field(node, "name") else { return };
    let Some(body) = field(node, "body") else {
        let path = path_attribute(facts, node);
        facts.attribute_at = None;
        let import = facts.import(path.unwrap_or(facts.text_of(name)), None, false, line_of(name));
        facts.bind_node(facts.scope, name, BindingValue::Import(import));
        return;
    };
    let Some(module) = define_bound(facts, node, DefinitionKind::Module, 0) else { return };
    let outer = facts.open_body(module, ScopeKind::Module);
    facts.deeper(body, visit);
    facts.scope = outer;
}

/// Returns the path in the `#[path = "…"]` before a module.
fn path_attribute<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> Option<&'t str> {
    attributes_before(facts, node).find_map(|text| text.strip_prefix("#[path")?.split('"').nth(1))
}

/// Returns the texts of the attributes of an item, the last one first.
fn attributes_before<'t>(facts: &FactsBuilder<'t>, item: Node<'t>) -> impl Iterator<Item = &'t str> {
    let last = item.prev_sibling().filter(|_| facts.attribute_at.is_some());
    let text = facts.text;
    std::iter::successors(last, Node::prev_sibling)
        .take_while(|found| found.kind() == "attribute_item")
        .map(move |found| text.get(found.byte_range()).unwrap_or_default())
}

/// Traits of the standard library whose derivation adds no member of the project.
const STANDARD_DERIVES: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// Returns the traits that the attributes of a type derive.
fn derived_traits<'t>(facts: &mut FactsBuilder<'t>, item: Node<'t>) -> Vec<ExpressionId> {
    let lists = attributes_before(facts, item).filter_map(|text| {
        let list = text.strip_prefix("#[derive")?.trim_start();
        list.strip_prefix('(')?.split(')').next()
    });
    let paths = lists.flat_map(|list| list.split(',').map(str::trim));
    let paths: Vec<&'t str> = paths.filter(|path| !path.is_empty() && !STANDARD_DERIVES.contains(path)).collect();
    paths.into_iter().map(|path| path_in_text(facts, path)).collect()
}

/// Returns the expression of a path as it is written.
fn path_in_text<'t>(facts: &mut FactsBuilder<'t>, path: &'t str) -> ExpressionId {
    let mut found = None;
    for part in path.split("::").map(str::trim).filter(|part| !part.is_empty()) {
        let name = facts.name(part);
        found = Some(facts.expression(match found {
            Some(before) => ExpressionFact::Member(before, name),
            None => ExpressionFact::TypeName(name),
        }));
    }
    found.unwrap_or(0)
}

/// Returns whether an attribute marks a test: `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[test_case(…)]`.
fn is_test_attribute(text: &str) -> bool {
    let path = text.trim_start_matches("#[").split(['(', ']', '=']).next().unwrap_or_default();
    matches!(path.rsplit("::").next().unwrap_or_default().trim(), "test" | "rstest" | "test_case")
}

fn define_alias<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(alias) = define_bound(facts, node, DefinitionKind::Alias, 0) else { return };
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node);
    let (declared, bounds) = (field(node, "type"), field(node, "bounds"));
    let target = match (declared, bounds) {
        (Some(declared), _) => declared_type(facts, declared),
        (None, Some(bounds)) => bounds_of(facts, bounds),
        (None, None) => 0,
    };
    facts.definition(alias).bases.push(target);
    // `type Result<T, E = Error>`: what the second argument is where it is not given.
    let parameters = field(node, "type_parameters").map(children).unwrap_or_default();
    let defaults: Vec<Node<'t>> =
        parameters.into_iter().filter_map(|parameter| field(parameter, "default_type")).collect();
    if let [default] = defaults.as_slice() {
        let default = declared_type(facts, *default);
        facts.definition(alias).bases.push(default);
    }
    for part in [declared, bounds].into_iter().flatten() {
        facts.deeper(part, visit);
    }
    facts.scope = outer;
}

fn constant<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    facts.attribute_at = None;
    if let (Some(name), Some(declared)) = (field(node, "name"), field(node, "type")) {
        let expression = declared_type(facts, declared);
        facts.bind_node(facts.scope, name, BindingValue::Typed(expression));
        facts.deeper(declared, visit);
    }
    facts.visit_field(node, "value", visit);
}

fn define_macro<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(defined) = define_bound(facts, node, DefinitionKind::Macro, 0) else { return };
    let values = macro_values(facts, node);
    facts.definition(defined).bases.extend(values);
    if let Some(name) = field(node, "name") {
        let made = made_functions(facts, node);
        facts.made_functions.insert(facts.text_of(name), made);
    }
}

/// Defines the functions that the call of a macro of this file defines.
fn define_made_functions<'t>(facts: &mut FactsBuilder<'t>, macro_name: Node<'t>, node: Node<'t>) {
    let is_item = matches!(
        facts.facts.scope(facts.scope).kind,
        ScopeKind::Module | ScopeKind::Class | ScopeKind::Implementation
    );
    let Some(made) = facts.made_functions.get(facts.text_of(macro_name)).filter(|_| is_item).cloned() else {
        return;
    };
    let pieces = pieces_of_call(node);
    for function in made {
        for name in function.names(&pieces) {
            let flags = DefinitionFlags::DECLARED | if function.has_receiver { 0 } else { DefinitionFlags::STATIC };
            let kind = DefinitionKind::Function;
            let definition = facts.define(&NewDefinition { name, whole: name, kind, flags });
            facts.bind_node(facts.scope, name, BindingValue::Definition(definition));
            let outer = facts.open_body(definition, ScopeKind::Function);
            let returned = function.returned(facts);
            facts.definition(definition).returns.push(returned);
            facts.scope = outer;
        }
    }
}

/// Reads `automod::dir!("tests/suite")`, which declares a module for each file of a folder.
fn modules_of_folder<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let text = facts.text_of(node);
    let Some(folder) = text.strip_prefix("automod::dir!").and_then(|rest| rest.split('"').nth(1)) else { return };
    let module = facts.composed_name(&format!("{FOLDER_OF_MODULES}{folder}"));
    facts.import_named(module, None, true, line_of(node));
}

fn call<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(mut function) = field(node, "function") else { return };
    if function.kind() == "generic_function" {
        facts.visit_field(function, "type_arguments", visit);
        function = field(function, "function").unwrap_or(function);
    }
    let arguments = field(node, "arguments");
    let mut item = 0;
    match function.kind() {
        "identifier" => facts.use_name(function, None, true),
        "scoped_identifier" => call_of_path(facts, function, arguments),
        "field_expression" => {
            if let (Some(object), Some(name)) = (field(function, "value"), field(function, "field")) {
                let receiver = value_of(facts, object);
                facts.deeper(object, visit);
                facts.use_name(name, Some(receiver), true);
                item = facts.expression(match facts.text_of(name) {
                    "map_err" | "or_else" | "unwrap_or_else" | "inspect_err" | "map_or_else" | "is_err_and" => {
                        ExpressionFact::Part(receiver, 1)
                    }
                    _ => ExpressionFact::Item(receiver),
                });
            }
        }
        _ => facts.deeper(function, visit),
    }
    let Some(arguments) = arguments else { return };
    facts.deeper(arguments, |facts, arguments| {
        for argument in children(arguments).into_iter().filter(Node::is_named) {
            // As a rule, the closure that a method gets is called with what the receiver contains.
            match argument.kind() {
                "closure_expression" => {
                    facts.deeper(argument, |facts, argument| closure(facts, argument, item));
                }
                _ => facts.deeper(argument, visit),
            }
        }
    });
}

/// Reads the path of a function that is called. Which implementation is meant may depend on the first argument, as with
/// `Error::from(x)` and `Display::fmt(x, f)`: it is an argument of the receiver.
fn call_of_path<'t>(facts: &mut FactsBuilder<'t>, function: Node<'t>, arguments: Option<Node<'t>>) {
    let (Some(name), Some(head)) = (field(function, "name"), field(function, "path")) else {
        return path(facts, function, true);
    };
    let is_type = !matches!(head.kind(), "crate" | "self" | "super")
        && field(head, "name").unwrap_or(head).kind().ends_with("identifier")
        && facts.text_of(field(head, "name").unwrap_or(head)).starts_with(char::is_uppercase);
    let first = arguments.filter(|_| is_type).and_then(|arguments| arguments.named_child(0));
    let mut receiver = path_of(facts, head);
    let argument = first.map_or(0, |first| value_of(facts, first));
    if argument != 0 {
        receiver = facts.expression(ExpressionFact::Apply(receiver, argument));
    }
    facts.use_name(name, Some(receiver), true);
    path_head(facts, function);
}

/// Reads a closure whose parameter without a type is this expression.
fn closure<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, item: ExpressionId) {
    let outer = facts.open_scope(ScopeKind::Function, None);
    for parameter in field(node, "parameters").map(children).unwrap_or_default() {
        if !parameter.is_named() {
            continue;
        }
        let (pattern, declared) = match parameter.kind() {
            "parameter" => (field(parameter, "pattern"), field(parameter, "type")),
            _ => (Some(parameter), None),
        };
        let value = match declared {
            Some(declared) => BindingValue::Typed(declared_type(facts, declared)),
            None => BindingValue::Value(item),
        };
        if let Some(pattern) = pattern {
            bind_pattern(facts, facts.scope, pattern, value);
        }
        if let Some(declared) = declared {
            facts.deeper(declared, visit);
        }
    }
    facts.visit_field(node, "return_type", visit);
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

/// Reads the uses in a path.
pub(super) fn path<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, is_call: bool) {
    if let Some(name) = field(node, "name").filter(|name| name.kind() != "super") {
        let receiver = field(node, "path").map(|path| path_of(facts, path));
        facts.use_name(name, receiver, is_call);
    }
    path_head(facts, node);
}

/// Reads the uses in what is before the last name of a path, which are types and modules.
fn path_head<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(head) = field(node, "path") else { return };
    facts.deeper(head, |facts, head| match head.kind() {
        "identifier" if facts.text_of(head) != "Self" => facts.use_type(head, None),
        "identifier" => {}
        "scoped_identifier" => {
            if let Some(name) = field(head, "name").filter(|name| name.kind() != "super") {
                let receiver = field(head, "path").map(|path| path_of(facts, path));
                facts.use_type(name, receiver);
            }
            path_head(facts, head);
        }
        _ => visit(facts, head),
    });
}
