//! Go: packages, imports, types with their methods, and locals with their values.
//!
//! The conventions that the room `references` relies on:
//! - The name of the package is bound in the file's scope, as [`PACKAGE`].
//! - The methods of one type in one file are in a scope of kind `Implementation`, in which `(type)` is bound to the
//!   type. The scope's definition is that of the type or, if another file has it, a placeholder of the same name with
//!   the flag `PROTOTYPE`.
//! - Fields are bound in the scope of their struct; embedded ones are also its bases.
//! - A type parameter is bound by `Default` to its constraint.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::constraints::needs_tag;
use super::types::{bind_fields, declared_type, result_type, value_of};
use crate::model::{
    BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, ExpressionFact, ExpressionId,
    IMPLEMENTED_TYPE, LOOP_ELEMENT, ScopeId, ScopeKind, TAGGED_FILE,
};
use crate::syntax::facts::builder::{FactsBuilder, NewDefinition, field, line_of};
use crate::syntax::outline::{child_of_kind, children, named_children};

/// The name that the package's name is bound to. The parentheses keep it apart from real names.
const PACKAGE: &str = "(package)";

/// Reads the facts of a file.
pub(in crate::syntax::facts) fn walk<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    facts.visit_children(root, visit);
    own_methods(facts);
    if needs_tag(facts.text) {
        let tagged = facts.name(TAGGED_FILE);
        facts.bind(0, tagged, BindingValue::Value(0), 1);
    }
}

/// Assigns the scopes of methods the types that the file defines after them.
fn own_methods(facts: &mut FactsBuilder<'_>) {
    let types: FxHashMap<u32, DefinitionId> = facts
        .types
        .iter()
        .filter(|((scope, _), _)| *scope == 0)
        .map(|((_, name), at)| (*name, *at))
        .collect();
    for scope in &mut facts.facts.scopes {
        if scope.kind != ScopeKind::Implementation {
            continue;
        }
        let Some(stand_in) = scope.definition.map(|at| &facts.facts.definitions[at as usize]) else {
            continue;
        };
        if stand_in.flags.has(DefinitionFlags::PROTOTYPE)
            && let Some(defined) = types.get(&stand_in.name)
        {
            scope.definition = Some(*defined);
        }
    }
}

fn visit<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    match node.kind() {
        "comment"
        | "interpreted_string_literal"
        | "raw_string_literal"
        | "int_literal"
        | "float_literal"
        | "rune_literal"
        | "nil"
        | "true"
        | "false"
        | "iota"
        | "field_identifier"
        | "package_identifier"
        | "label_name"
        | "blank_identifier" => {}
        "package_clause" => {
            if let Some(name) = node.named_child(0) {
                let package = facts.name(PACKAGE);
                let value = facts.named(name);
                facts.bind(0, package, BindingValue::Value(value), line_of(name));
            }
        }
        "import_spec" => import(facts, node),
        "function_declaration" => define_function(facts, node),
        "method_declaration" => define_method(facts, node),
        "type_spec" | "type_alias" => define_type(facts, node),
        "var_spec" | "const_spec" => declare(facts, node),
        "short_var_declaration" => define_locals(facts, node),
        "func_literal" => {
            let outer = facts.open_scope(ScopeKind::Function, None);
            function_parts(facts, node);
            facts.scope = outer;
        }
        "block"
        | "if_statement"
        | "expression_switch_statement"
        | "expression_case"
        | "default_case"
        | "communication_case"
        | "select_statement"
        | "for_statement" => facts.in_block(node, visit),
        "range_clause" => range(facts, node),
        "receive_statement" => receive(facts, node),
        "type_switch_statement" => type_switch(facts, node),
        "call_expression" => call(facts, node),
        "selector_expression" => selector(facts, node, false),
        "qualified_type" => {
            if let (Some(package), Some(name)) = (field(node, "package"), field(node, "name")) {
                let receiver = facts.named(package);
                facts.use_type(name, Some(receiver));
            }
        }
        "identifier" => facts.use_name(node, None, false),
        "type_identifier" => facts.use_type(node, None),
        "keyed_element" => keyed(facts, node),
        "function_type" | "method_elem" => signature(facts, node),
        _ => facts.visit_children(node, visit),
    }
}

pub(super) fn names<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    node.children_by_field_name(name, &mut node.walk()).filter(Node::is_named).collect()
}

fn import<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(path) = field(node, "path") else { return };
    let module = facts.text_of(path).trim_matches(['"', '`']);
    let alias = field(node, "name").map(|alias| facts.text_of(alias));
    let line = line_of(node);
    match alias {
        Some("_") => {}
        Some(".") => {
            facts.import(module, None, true, line);
        }
        _ => {
            let import = facts.import(module, None, false, line);
            let name = facts.name(alias.unwrap_or_else(|| package_of(module)));
            facts.bind(0, name, BindingValue::Import(import), line);
        }
    }
}

/// Returns the usual name of the package with a path: `b` for `a/b/v2` and for `gopkg.in/b.v3`.
fn package_of(path: &str) -> &str {
    let is_version = |name: &str| {
        name.strip_prefix('v')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or_default();
    let name = if is_version(last) { parts.next().unwrap_or(last) } else { last };
    match name.rsplit_once('.') {
        Some((name, version)) if is_version(version) => name,
        _ => name.strip_prefix("go-").unwrap_or(name),
    }
}

fn define<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    kind: DefinitionKind,
    flags: u16,
) -> Option<DefinitionId> {
    let name = field(node, "name")?;
    let definition = facts.define(&NewDefinition { name, whole: node, kind, flags });
    facts.bind_node(facts.scope, name, BindingValue::Definition(definition));
    Some(definition)
}

fn define_function<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let flags = DefinitionFlags::DECLARED | DefinitionFlags::STATIC;
    let Some(function) = define(facts, node, DefinitionKind::Function, flags) else { return };
    function_body(facts, node, function);
}

fn function_body<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, function: DefinitionId) {
    let outer = facts.open_body(function, ScopeKind::Function);
    type_parameters(facts, node);
    bind_receiver_types(facts, node);
    let returned = match field(node, "result") {
        Some(result) => result_type(facts, result),
        None => facts.expression(ExpressionFact::Literal),
    };
    facts.definition(function).returns.push(returned);
    function_parts(facts, node);
    facts.scope = outer;
}

/// Reads the parameters, the results and the body of a function. The types of parameters see its type parameters, but
/// no parameters: those are bound in a block within the current scope.
fn function_parts<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let mut parameters = Vec::new();
    for part in ["receiver", "parameters", "result"].into_iter().filter_map(|name| field(node, name)) {
        if part.kind() == "parameter_list" {
            read_parameters(facts, part, &mut parameters);
        } else {
            facts.deeper(part, visit);
        }
    }
    let signature = facts.open_scope(ScopeKind::Block, None);
    let body_scope = std::mem::replace(&mut facts.scope, signature);
    for (name, declared) in parameters {
        facts.bind_local(body_scope, name, BindingValue::Typed(declared));
    }
    facts.scope = body_scope;
    if let Some(body) = field(node, "body") {
        facts.deeper(body, |facts, body| facts.visit_children(body, visit));
    }
    facts.scope = signature;
}

/// Reads the types of a function without a body.
fn signature<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    if node.kind() == "method_elem" {
        let flags = DefinitionFlags::DECLARED;
        if let Some(method) = define(facts, node, DefinitionKind::Function, flags) {
            function_body(facts, node, method);
        }
        return;
    }
    let outer = facts.open_scope(ScopeKind::Function, None);
    function_parts(facts, node);
    facts.scope = outer;
}

/// Reads the types of a list of parameters, and adds the parameters to `found`.
fn read_parameters<'t>(
    facts: &mut FactsBuilder<'t>,
    parameters: Node<'t>,
    found: &mut Vec<(Node<'t>, ExpressionId)>,
) {
    for parameter in named_children(parameters) {
        let Some(declared) = field(parameter, "type") else { continue };
        facts.deeper(declared, visit);
        let mut declared = declared_type(facts, declared);
        if parameter.kind() == "variadic_parameter_declaration" {
            let slice = facts.named_type("[]");
            declared = facts.expression(ExpressionFact::Apply(slice, declared));
        }
        found.extend(names(parameter, "name").into_iter().map(|name| (name, declared)));
    }
}

fn type_parameters<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    for parameter in field(node, "type_parameters").map(children).unwrap_or_default() {
        let Some(constraint) = field(parameter, "type") else { continue };
        let bound = declared_type(facts, constraint);
        for name in names(parameter, "name") {
            facts.bind_node(facts.scope, name, BindingValue::Default(bound));
        }
        facts.deeper(constraint, visit);
    }
}

/// Returns the type of a method's receiver, without its pointer.
fn receiver_type(method: Node<'_>) -> Option<Node<'_>> {
    let receiver = child_of_kind(field(method, "receiver")?, "parameter_declaration")?;
    let mut declared = field(receiver, "type")?;
    while matches!(declared.kind(), "pointer_type" | "parenthesized_type") {
        declared = declared.named_child(0)?;
    }
    Some(declared)
}

/// Binds a method's names for the type parameters of its receiver: `func (s *Stack[T]) …`.
fn bind_receiver_types<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let arguments = receiver_type(node).and_then(|receiver| field(receiver, "type_arguments"));
    for argument in arguments.map(children).unwrap_or_default() {
        if let Some(name) = argument.named_child(0).filter(|name| name.kind() == "type_identifier") {
            facts.bind_node(facts.scope, name, BindingValue::Default(0));
        }
    }
}

fn define_method<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(receiver) = receiver_type(node) else { return };
    let owner = field(receiver, "type").filter(|_| receiver.kind() == "generic_type").unwrap_or(receiver);
    let scope = methods_of(facts, owner, node);
    let outer = std::mem::replace(&mut facts.scope, scope);
    let method = define(facts, node, DefinitionKind::Function, DefinitionFlags::DECLARED);
    if let Some(method) = method {
        function_body(facts, node, method);
    }
    facts.scope = outer;
}

/// Returns the scope of the methods of a type in this file.
fn methods_of<'t>(facts: &mut FactsBuilder<'t>, owner: Node<'t>, method: Node<'t>) -> ScopeId {
    let name = facts.name_of(owner);
    if let Some(known) = facts.method_scopes.get(&name) {
        return *known;
    }
    let known = facts.types.get(&(0, name)).copied();
    let definition = known.unwrap_or_else(|| {
        let (kind, flags) = (DefinitionKind::Class, DefinitionFlags::PROTOTYPE);
        facts.define(&NewDefinition { name: owner, whole: method, kind, flags })
    });
    let outer = facts.open_scope(ScopeKind::Implementation, Some(definition));
    let scope = std::mem::replace(&mut facts.scope, outer);
    let declared = facts.expression(ExpressionFact::TypeName(name));
    let key = facts.name(IMPLEMENTED_TYPE);
    facts.bind(scope, key, BindingValue::Value(declared), line_of(owner));
    facts.method_scopes.insert(name, scope);
    scope
}

fn define_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let (Some(name), Some(declared)) = (field(node, "name"), field(node, "type")) else { return };
    let kind = match (node.kind(), declared.kind()) {
        (_, "interface_type") => DefinitionKind::Interface,
        ("type_alias", _) => DefinitionKind::Alias,
        _ => DefinitionKind::Class,
    };
    let Some(definition) = define(facts, node, kind, 0) else { return };
    let name = facts.name_of(name);
    facts.types.insert((facts.scope, name), definition);
    // A type's declaration begins at the keyword, unless it is one of several in parentheses.
    if let Some(parent) = node.parent().filter(|parent| child_of_kind(*parent, "(").is_none()) {
        facts.definition(definition).first_line = line_of(parent);
    }
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node);
    match declared.kind() {
        "struct_type" => {
            facts.open_body(definition, ScopeKind::Class);
            bind_fields(facts, declared, definition);
            facts.deeper(declared, visit);
        }
        "interface_type" => {
            facts.open_body(definition, ScopeKind::Class);
            for element in children(declared).into_iter().filter(|child| child.kind() == "type_elem") {
                let base = declared_type(facts, element);
                facts.definition(definition).bases.push(base);
            }
            facts.deeper(declared, |facts, declared| facts.visit_children(declared, visit));
        }
        _ => {
            // A function type has nothing to inherit, and it is called like the function.
            let base = declared_type(facts, declared);
            facts.definition(definition).bases.push(base);
            facts.deeper(declared, visit);
        }
    }
    facts.scope = outer;
}

/// Reads `var a, b T = c, d` and `const a = b`.
fn declare<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let declared = field(node, "type");
    let values = field(node, "value");
    for part in [declared, values].into_iter().flatten() {
        facts.deeper(part, visit);
    }
    let targets = names(node, "name");
    if let Some(declared) = declared {
        let declared = declared_type(facts, declared);
        for name in targets {
            bind_here(facts, name, BindingValue::Typed(declared));
        }
        return;
    }
    let values = values.map(children).unwrap_or_default();
    bind_all(facts, &targets, &values);
}

/// Reads `a, b := c, d`, or `a, b := c()`.
fn define_locals<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    facts.visit_field(node, "right", visit);
    let targets: Vec<Node<'t>> = field(node, "left").map(named_children).unwrap_or_default();
    let values = field(node, "right").map(children).unwrap_or_default();
    bind_all(facts, &targets, &values);
}

fn bind_all<'t>(facts: &mut FactsBuilder<'t>, targets: &[Node<'t>], values: &[Node<'t>]) {
    let values: Vec<Node<'t>> = values.iter().copied().filter(Node::is_named).collect();
    let mut bound = Vec::new();
    for (at, target) in targets.iter().enumerate() {
        let value = match (values.get(at), values.first()) {
            (Some(value), _) if values.len() == targets.len() => value_of(facts, *value),
            (_, Some(call)) if call.kind() == "call_expression" => {
                let whole = value_of(facts, *call);
                facts.expression(ExpressionFact::Part(whole, u32::try_from(at).unwrap_or(0)))
            }
            // `value, ok := m[key]`, `value, ok := x.(T)`, `value, ok := <-c`
            (_, Some(value)) if at == 0 => value_of(facts, *value),
            _ => facts.expression(ExpressionFact::Literal),
        };
        bound.push((*target, value));
    }
    for (target, value) in bound {
        bind_here(facts, target, BindingValue::Value(value));
    }
}

/// Binds a name from here on; if the scope has used the name before, in a new scope.
fn bind_here<'t>(facts: &mut FactsBuilder<'t>, name: Node<'t>, value: BindingValue) {
    if name.kind() != "identifier" {
        return;
    }
    let id = facts.name_of(name);
    if facts.scope == 0 || !facts.is_seen_here(id) || !facts.can_hide() {
        facts.bind_local(facts.scope, name, value);
        return;
    }
    let before = facts.scope;
    facts.open_scope(ScopeKind::Block, None);
    let within = std::mem::replace(&mut facts.scope, before);
    facts.bind_local(within, name, value);
    facts.scope = within;
}

fn range<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    facts.visit_field(node, "right", visit);
    let Some(left) = field(node, "left") else { return };
    if child_of_kind(node, ":=").is_none() {
        facts.deeper(left, visit);
        return;
    }
    let whole = field(node, "right").map_or(0, |right| value_of(facts, right));
    let item = facts.expression(ExpressionFact::Item(whole));
    let key = facts.expression(ExpressionFact::Part(whole, LOOP_ELEMENT));
    let targets: Vec<Node<'t>> = named_children(left);
    // A single name is that of the key, except for a channel.
    for (target, value) in targets.into_iter().zip([key, item]) {
        bind_here(facts, target, BindingValue::Value(value));
    }
}

/// Reads `a := <-c` in a `select`.
fn receive<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    facts.visit_field(node, "right", visit);
    let value = field(node, "right").map_or(0, |right| value_of(facts, right));
    let Some(left) = field(node, "left") else { return };
    let mut value = Some(value);
    for target in named_children(left) {
        bind_here(facts, target, BindingValue::Value(value.take().unwrap_or(0)));
    }
}

/// Reads `switch a := b.(type) { case T: … }`.
fn type_switch<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let outer = facts.open_scope(ScopeKind::Block, None);
    facts.visit_field(node, "initializer", visit);
    facts.visit_field(node, "value", visit);
    let whole = field(node, "value").map_or(0, |value| value_of(facts, value));
    let alias = field(node, "alias").and_then(|alias| alias.named_child(0));
    for case in children(node) {
        if !matches!(case.kind(), "type_case" | "default_case") {
            continue;
        }
        let inner = facts.open_scope(ScopeKind::Block, None);
        let types = names(case, "type");
        if let Some(alias) = alias {
            let value = match types.as_slice() {
                [declared] => BindingValue::Typed(declared_type(facts, *declared)),
                _ => BindingValue::Value(whole),
            };
            facts.bind_local(facts.scope, alias, value);
        }
        facts.deeper(case, |facts, case| facts.visit_children(case, visit));
        facts.scope = inner;
    }
    facts.scope = outer;
}

fn call<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    match field(node, "function") {
        Some(function) if function.kind() == "identifier" => facts.use_name(function, None, true),
        Some(function) if function.kind() == "selector_expression" => {
            facts.deeper(function, |facts, function| selector(facts, function, true));
        }
        _ => facts.visit_field(node, "function", visit),
    }
    facts.visit_field(node, "type_arguments", visit);
    facts.visit_field(node, "arguments", visit);
}

fn selector<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, is_call: bool) {
    facts.use_member(node, ["operand", "field"], is_call, value_of, visit);
}

/// Reads an element of a composite literal. A key that is a plain name is a field's name.
fn keyed<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    if let Some(key) = field(node, "key").and_then(|key| key.named_child(0))
        && key.kind() != "identifier"
    {
        facts.deeper(key, visit);
    }
    facts.visit_field(node, "value", visit);
}
