//! Rust: modules, `use`, types with their implementations, traits, functions, and locals with their values.
//!
//! The conventions that the room `references` relies on:
//! - A field is bound in the scope of its type by `Typed`, and read by [`ExpressionFact::Field`], because a method may
//!   have the same name. Every other member is a definition.
//! - A type parameter is bound by `Default` to its trait bounds.
//! - A variant of an enum is a type that extends the enum. It has the flag `PROTOTYPE`, because it is not a separate
//!   type.
//! - An `impl` is a scope of kind `Implementation`, in which `(type)` is bound to the type and `(trait)` to the trait.
//!   The scope's definition is that of the type or, if another file has it, a placeholder of the same name with the
//!   flag `PROTOTYPE`.
//! - `mod x;` is an import without a name. In `use a::b::c`, `a::b` is the module and `c` the name.
//! - The use of a macro is both a call and a type, unlike any other use. Its value is that of its name with `!`, and
//!   the bases of its definition are the results of its rules.
//! - A closure is the type `||` with its result as its argument. The arguments that a function passes to its parameter
//!   `n` are bound to `(closure n)` in its body, as a tuple.
//! - The receiver of a function that is called by a path has the first argument of the call as its argument: the
//!   implementation that `Error::from(x)` means depends on it.

use tree_sitter::Node;

use super::imports::{extern_crate, import};
use super::items::{
    attributes_before, define_alias, define_bound, define_enum, define_macro, define_struct, define_trait,
    implementation, macro_call, type_parameters,
};
use super::patterns::{bind_later, bind_pattern, for_loop, in_condition, match_arms};
use super::types::{declared_type, path_of, value_of};
use crate::model::{BindingValue, DefinitionFlags, DefinitionKind, ExpressionFact, ExpressionId, ScopeKind};
use crate::syntax::facts::builder::{FactsBuilder, field, line_of};
use crate::syntax::outline::{child_of_kind, children, named_children};

/// Reads the facts of a file.
pub(in crate::syntax::facts) fn walk<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    facts.visit_children(root, visit);
}

pub(super) fn visit<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    match node.kind() {
        "attribute_item" => facts.attribute_at = facts.attribute_at.or(Some(line_of(node))),
        "line_comment" | "block_comment" => {}
        "function_item" | "function_signature_item" => define_function(facts, node),
        "struct_item" | "union_item" => define_struct(facts, node, visit),
        "enum_item" => define_enum(facts, node, visit),
        "trait_item" => define_trait(facts, node, visit),
        "impl_item" => implementation(facts, node, visit),
        "mod_item" => module(facts, node),
        "type_item" | "associated_type" => define_alias(facts, node, visit),
        "const_item" | "static_item" => constant(facts, node),
        "macro_definition" => define_macro(facts, node, visit),
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

/// Visits nodes other than items.
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
        // The implemented type is known where it is needed.
        "type_identifier" if facts.text_of(node) == "Self" => {}
        "macro_invocation" => macro_call(facts, node, visit),
        "block" => in_scope(facts, node, |facts, node| facts.visit_children(node, visit)),
        "let_declaration" | "let_condition" => bind_later(facts, node),
        "if_expression" | "while_expression" => in_condition(facts, node),
        "match_expression" => match_arms(facts, node),
        "for_expression" => for_loop(facts, node),
        "closure_expression" => closure(facts, node, ClosureArguments::default()),
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

/// Reads a part in a new scope.
pub(super) fn in_scope<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    read: impl FnOnce(&mut FactsBuilder<'t>, Node<'t>),
) {
    let outer = facts.open_scope(ScopeKind::Block, None);
    facts.deeper(node, read);
    facts.scope = outer;
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
    type_parameters(facts, node, visit);
    if let Some(parameters) = parameters {
        bind_parameters(facts, parameters);
        bind_callables(facts, node, parameters);
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

/// Returns the name that the argument types of a function parameter at this position are bound to.
fn callable_name(at: usize) -> String {
    format!("(closure {at})")
}

/// Binds the argument types of the function parameters of a function, as tuples.
fn bind_callables<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, parameters: Node<'t>) {
    let declared = children(parameters).into_iter().filter(|child| child.kind() == "parameter");
    for (at, parameter) in declared.enumerate() {
        let function = field(parameter, "type").and_then(|declared| function_type(facts, node, declared));
        let Some(types) = function.and_then(|function| field(function, "parameters")) else { continue };
        let mut tuple = 0;
        for part in named_children(types) {
            let part = facts.chained(Some(part), declared_type);
            tuple = facts.expression(ExpressionFact::Apply(tuple, part));
        }
        let name = facts.composed_name(&callable_name(at));
        facts.bind(facts.scope, name, BindingValue::Typed(tuple), line_of(parameter));
    }
}

/// Returns the function type that a parameter is declared with, directly or by the bounds of its type.
fn function_type<'t>(facts: &FactsBuilder<'t>, item: Node<'t>, mut declared: Node<'t>) -> Option<Node<'t>> {
    loop {
        declared = match declared.kind() {
            "function_type" => return Some(declared),
            "reference_type" => field(declared, "type")?,
            "dynamic_type" | "abstract_type" => field(declared, "trait")?,
            "bounded_type" => child_of_kind(declared, "function_type")?,
            "type_identifier" => break,
            _ => return None,
        };
    }
    let name = facts.text_of(declared);
    let parameters = field(item, "type_parameters").map(children).unwrap_or_default();
    let predicates = child_of_kind(item, "where_clause").map(children).unwrap_or_default();
    let mut bounds = parameters.into_iter().chain(predicates).filter(|bound| {
        let left = field(*bound, "name").or_else(|| field(*bound, "left"));
        left.is_some_and(|left| facts.text_of(left) == name)
    });
    bounds.find_map(|bound| child_of_kind(field(bound, "bounds")?, "function_type"))
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

/// Returns whether an attribute marks a test: `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[test_case(…)]`.
fn is_test_attribute(text: &str) -> bool {
    let path = text.trim_start_matches("#[").split(['(', ']', '=']).next().unwrap_or_default();
    matches!(path.rsplit("::").next().unwrap_or_default().trim(), "test" | "rstest" | "test_case")
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

fn call<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(mut function) = field(node, "function") else { return };
    if function.kind() == "generic_function" {
        facts.visit_field(function, "type_arguments", visit);
        function = field(function, "function").unwrap_or(function);
    }
    let arguments = field(node, "arguments");
    let mut item = 0;
    let mut is_folding = false;
    match function.kind() {
        "identifier" => facts.use_name(function, None, true),
        "scoped_identifier" => call_of_path(facts, function, arguments),
        "field_expression" => {
            if let (Some(object), Some(name)) = (field(function, "value"), field(function, "field")) {
                let receiver = value_of(facts, object);
                facts.deeper(object, visit);
                facts.use_name(name, Some(receiver), true);
                is_folding = matches!(facts.text_of(name), "fold" | "try_fold" | "scan");
                item = facts.expression(match facts.text_of(name) {
                    "map_err" | "or_else" | "unwrap_or_else" | "inspect_err" | "map_or_else"
                    | "is_err_and" => ExpressionFact::Part(receiver, 1),
                    _ => ExpressionFact::Item(receiver),
                });
            }
        }
        _ => facts.deeper(function, visit),
    }
    let Some(arguments) = arguments else { return };
    facts.deeper(arguments, |facts, arguments| {
        for (at, argument) in named_children(arguments).into_iter().enumerate() {
            match argument.kind() {
                "closure_expression" => {
                    let callable = called_with(facts, function, at);
                    let given = ClosureArguments { item, is_folding, callable };
                    facts.deeper(argument, |facts, argument| closure(facts, argument, given));
                }
                _ => facts.deeper(argument, visit),
            }
        }
    });
}

/// Returns the arguments that the callee passes to its parameter at that position, as far as it declares them.
fn called_with<'t>(facts: &mut FactsBuilder<'t>, function: Node<'t>, at: usize) -> ExpressionId {
    let callee = match function.kind() {
        "field_expression" => {
            let Some(name) = field(function, "field") else { return 0 };
            facts.member(field(function, "value"), Some(name), value_of)
        }
        "identifier" | "scoped_identifier" => facts.chained(Some(function), value_of),
        _ => return 0,
    };
    let name = facts.composed_name(&callable_name(at));
    facts.expression(ExpressionFact::Field(callee, name))
}

/// Reads the path of a called function. The first argument may decide which implementation is meant, as in
/// `Error::from(x)` and `Display::fmt(x, f)`, so it becomes an argument of the receiver.
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

/// The possible values of closure parameters without types.
#[derive(Debug, Clone, Copy, Default)]
struct ClosureArguments {
    /// The content of the receiver: a method usually calls its closure with that.
    item: ExpressionId,
    /// Whether the first parameter is an initial value of the call.
    is_folding: bool,
    /// The tuple that the callee declares.
    callable: ExpressionId,
}

impl ClosureArguments {
    fn at(self, facts: &mut FactsBuilder<'_>, at: u32) -> ExpressionId {
        let item = if self.is_folding && at == 0 { 0 } else { self.item };
        if self.callable == 0 {
            return item;
        }
        let declared = facts.expression(ExpressionFact::Part(self.callable, at));
        if item == 0 { declared } else { facts.expression(ExpressionFact::Either(item, declared)) }
    }
}

fn closure<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, given: ClosureArguments) {
    // Arguments are evaluated outside of the closure, whose parameters may hide names in them.
    let evaluated_in = facts.scope;
    let outer = facts.open_scope(ScopeKind::Function, None);
    let parameters = field(node, "parameters").map(children).unwrap_or_default();
    for (at, parameter) in (0..).zip(parameters.into_iter().filter(Node::is_named)) {
        let (pattern, declared) = match parameter.kind() {
            "parameter" => (field(parameter, "pattern"), field(parameter, "type")),
            _ => (Some(parameter), None),
        };
        let value = match declared {
            Some(declared) => BindingValue::Typed(declared_type(facts, declared)),
            None => BindingValue::Value(given.at(facts, at)),
        };
        if let Some(pattern) = pattern {
            let within = facts.scope;
            if declared.is_none() {
                facts.scope = evaluated_in;
            }
            bind_pattern(facts, within, pattern, value);
            facts.scope = within;
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

/// Reads the uses in the path before the last name, which are types and modules.
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
