//! Java: packages, imports, nested and anonymous classes, fields, locals, and methods by their number of arguments.
//!
//! Methods, fields and types have separate namespaces, and methods are overloaded. A method is therefore bound under
//! names that no field can have: `run(2)` by the number of its parameters, `run(..)` if that number varies, and always
//! `run(*)`; a method with `@Override` also as `run(2)!`. A call uses `run(2)`, and a method reference, whose arguments
//! are unknown, `run(*)`. Definitions have the plain name. The package of the file is its first star import, because it
//! makes the same names visible.

use tree_sitter::Node;

use super::types::{applied, array_of, declared_type, lambda_target, value_of};
use crate::model::{
    BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, ExpressionFact, ExpressionId,
    PARAMETER_TYPES, ScopeKind, TYPE_PARAMETERS,
};
use crate::syntax::facts::builder::{FactsBuilder, NewDefinition, field, line_of};
use crate::syntax::outline::{child_of_kind, children, named_children};

/// Reads the facts of a file.
pub(in crate::syntax::facts) fn walk<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    let package = child_of_kind(root, "package_declaration");
    let name = package.and_then(|package| package.named_children(&mut package.walk()).last());
    let (module, line) = name.map_or(("", 1), |name| (facts.text_of(name), line_of(name)));
    facts.import(module, None, true, line);
    facts.visit_children(root, visit);
}

pub(super) fn visit<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    match node.kind() {
        "package_declaration"
        | "line_comment"
        | "block_comment"
        | "break_statement"
        | "continue_statement" => {}
        "import_declaration" => import(facts, node),
        "class_declaration" | "enum_declaration" | "record_declaration" => {
            define_type(facts, node, DefinitionKind::Class);
        }
        "interface_declaration" | "annotation_type_declaration" => {
            define_type(facts, node, DefinitionKind::Interface);
        }
        "method_declaration"
        | "constructor_declaration"
        | "compact_constructor_declaration"
        | "annotation_type_element_declaration" => define_method(facts, node),
        "field_declaration" | "constant_declaration" | "local_variable_declaration" => declare(facts, node),
        "enum_constant" => enum_constant(facts, node),
        "block"
        | "constructor_body"
        | "for_statement"
        | "try_with_resources_statement"
        | "catch_clause"
        | "switch_block"
        | "if_statement"
        | "while_statement"
        | "static_initializer" => facts.in_block(node, visit),
        "enhanced_for_statement" => for_each(facts, node),
        "resource"
        | "catch_formal_parameter"
        | "instanceof_expression"
        | "type_pattern"
        | "record_pattern_component" => bind_declared(facts, node),
        "lambda_expression" => lambda(facts, node),
        "method_invocation" => call(facts, node),
        "object_creation_expression" => construct(facts, node),
        "explicit_constructor_invocation" => {
            call_super_constructor(facts, node);
            facts.visit_children(node, visit);
        }
        "method_reference" => method_reference(facts, node),
        "field_access" => {
            if let (Some(object), Some(name)) = (field(node, "object"), field(node, "field")) {
                if name.kind() == "identifier" {
                    let receiver = value_of(facts, object);
                    facts.use_name(name, Some(receiver), false);
                }
                facts.deeper(object, visit);
            }
        }
        "scoped_type_identifier" | "scoped_identifier" => scoped_type(facts, node),
        "type_identifier" => facts.use_type(node, None),
        "marker_annotation" | "annotation" => {
            match field(node, "name") {
                Some(name) if name.kind() == "identifier" => facts.use_type(name, None),
                Some(name) => facts.deeper(name, visit),
                None => {}
            }
            facts.visit_field(node, "arguments", visit);
        }
        "element_value_pair" => facts.visit_field(node, "value", visit),
        "labeled_statement" => {
            if let Some(statement) = node.named_children(&mut node.walk()).last() {
                facts.deeper(statement, visit);
            }
        }
        "identifier" => facts.use_name(node, None, false),
        _ => facts.visit_children(node, visit),
    }
}

/// `import a.b.C`, `import static a.b.C.name`, and both with a star.
fn import<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let (is_static, is_star) =
        (child_of_kind(node, "static").is_some(), child_of_kind(node, "asterisk").is_some());
    let path = children(node).into_iter().find(|part| part.kind().ends_with("identifier"));
    let Some(path) = path else { return };
    let line = line_of(node);
    if is_star {
        facts.import(facts.text_of(path), None, true, line);
        return;
    }
    let (Some(module), Some(name)) = (field(path, "scope"), field(path, "name")) else { return };
    let import = facts.import(facts.text_of(module), Some(facts.text_of(name)), false, line);
    facts.bind_node(0, name, BindingValue::Import(import));
    if is_static {
        let name = facts.composed_name(&format!("{}(*)", facts.text_of(name)));
        facts.bind(0, name, BindingValue::Import(import), line);
    }
}

fn define_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, kind: DefinitionKind) {
    let Some(name) = field(node, "name") else { return };
    let class = facts.define(&NewDefinition { name, whole: node, kind, flags: 0 });
    facts.bind_node(facts.scope, name, BindingValue::Definition(class));
    if let Some(modifiers) = child_of_kind(node, "modifiers") {
        facts.deeper(modifiers, visit);
    }
    for heritage in ["superclass", "super_interfaces", "extends_interfaces"] {
        let Some(heritage) = child_of_kind(node, heritage) else { continue };
        let list = child_of_kind(heritage, "type_list").unwrap_or(heritage);
        for base in named_children(list) {
            let expression = declared_type(facts, base);
            facts.definition(class).bases.push(expression);
        }
    }
    let outer = facts.open_body(class, ScopeKind::Class);
    type_parameters(facts, node);
    for heritage in ["superclass", "super_interfaces", "extends_interfaces", "permits"] {
        if let Some(heritage) = child_of_kind(node, heritage) {
            facts.deeper(heritage, visit);
        }
    }
    // The components of a record are its fields.
    if let Some(components) = field(node, "parameters") {
        parameters(facts, components);
    }
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

/// Binds type parameters to their first bounds.
fn type_parameters<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(list) = child_of_kind(node, "type_parameters") else { return };
    let mut all = 0;
    for parameter in named_children(list) {
        let Some(name) = child_of_kind(parameter, "type_identifier") else { continue };
        let bound = child_of_kind(parameter, "type_bound");
        let value = match bound.and_then(|bound| bound.named_child(0)) {
            Some(first) => BindingValue::Value(declared_type(facts, first)),
            None => BindingValue::Default(0),
        };
        facts.bind_node(facts.scope, name, value);
        let named = facts.named(name);
        all = facts.expression(ExpressionFact::Apply(all, named));
        if let Some(bound) = bound {
            facts.deeper(bound, visit);
        }
    }
    let types = facts.name(TYPE_PARAMETERS);
    facts.bind(facts.scope, types, BindingValue::Value(all), line_of(list));
}

/// Returns whether a modifier is an annotation that marks a test.
fn is_test<'t>(facts: &FactsBuilder<'t>, modifier: Node<'t>) -> bool {
    let name = field(modifier, "name").map_or("", |name| facts.text_of(name));
    let name = name.rsplit('.').next().unwrap_or_default();
    matches!(name, "Test" | "ParameterizedTest" | "RepeatedTest" | "TestFactory" | "TestTemplate")
}

fn define_method<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(name) = field(node, "name") else { return };
    let is_constructor = node.kind().contains("constructor");
    let mut flags = DefinitionFlags::DECLARED;
    if field(node, "body").is_none() {
        flags |= DefinitionFlags::PROTOTYPE;
    }
    let modifiers = child_of_kind(node, "modifiers");
    if modifiers.is_some_and(|modifiers| child_of_kind(modifiers, "private").is_some()) {
        flags |= DefinitionFlags::PRIVATE;
    }
    if modifiers.is_some_and(|modifiers| children(modifiers).into_iter().any(|part| is_test(facts, part))) {
        flags |= DefinitionFlags::TEST_ITEM;
    }
    let method = facts.define(&NewDefinition { name, whole: node, kind: DefinitionKind::Function, flags });
    let list = field(node, "parameters");
    if !is_constructor {
        let is_override =
            |part: Node<'t>| field(part, "name").is_some_and(|name| facts.text_of(name) == "Override");
        let overrides = modifiers.is_some_and(|modifiers| children(modifiers).into_iter().any(is_override));
        bind_method(facts, name, list, method, overrides);
    }
    if let Some(modifiers) = modifiers {
        facts.deeper(modifiers, visit);
    }
    let outer = facts.open_body(method, ScopeKind::Function);
    type_parameters(facts, node);
    if let Some(list) = list.filter(|list| 0 < list.named_child_count()) {
        bind_signature(facts, list);
    }
    if let Some(declared) = field(node, "type") {
        let returned = declared_type(facts, declared);
        facts.definition(method).returns.push(returned);
        facts.deeper(declared, visit);
    }
    if let Some(list) = list {
        parameters(facts, list);
    }
    if let Some(thrown) = child_of_kind(node, "throws") {
        facts.deeper(thrown, visit);
    }
    facts.visit_field(node, "body", visit);
    facts.visit_field(node, "value", visit);
    facts.scope = outer;
}

/// Binds a method under the names by which calls look it up.
fn bind_method<'t>(
    facts: &mut FactsBuilder<'t>,
    name: Node<'t>,
    list: Option<Node<'t>>,
    method: DefinitionId,
    overrides: bool,
) {
    let (text, line) = (facts.text_of(name), line_of(name));
    let mut count = 0;
    let mut is_variable = false;
    if let Some(list) = list {
        for parameter in named_children(list) {
            count += usize::from(parameter.kind() == "formal_parameter");
            is_variable |= parameter.kind() == "spread_parameter";
        }
    }
    let exact = if is_variable { format!("{text}(..)") } else { format!("{text}({count})") };
    let overriding = overrides.then(|| format!("{exact}!"));
    for bound in [exact, format!("{text}(*)")].into_iter().chain(overriding) {
        let bound = facts.composed_name(&bound);
        facts.bind(facts.scope, bound, BindingValue::Definition(method), line);
    }
}

/// Binds [`PARAMETER_TYPES`] to the names of the parameters' types without type arguments, applied to these types.
fn bind_signature<'t>(facts: &mut FactsBuilder<'t>, list: Node<'t>) {
    let mut written = String::new();
    let mut all = Vec::new();
    for parameter in named_children(list) {
        if !matches!(parameter.kind(), "formal_parameter" | "spread_parameter") {
            continue;
        }
        all.push(parameter_type(facts, parameter));
        let declared = match parameter.kind() {
            "spread_parameter" => spread_type(parameter),
            _ => field(parameter, "type"),
        };
        let declared = declared.map_or("", |declared| facts.text_of(declared));
        let plain = declared.split('<').next().unwrap_or_default();
        written.push_str(plain.rsplit('.').next().unwrap_or_default().trim());
        written.extend(declared.matches("[]"));
        written.push_str(if parameter.kind() == "spread_parameter" { "...," } else { "," });
    }
    let types = facts.composed_name(&written);
    let mut types = facts.expression(ExpressionFact::Name(types));
    for declared in all {
        types = facts.expression(ExpressionFact::Apply(types, declared));
    }
    let name = facts.name(PARAMETER_TYPES);
    facts.bind(facts.scope, name, BindingValue::Value(types), line_of(list));
}

/// Returns the type of a parameter; for a variadic one, that of an array.
fn parameter_type<'t>(facts: &mut FactsBuilder<'t>, parameter: Node<'t>) -> ExpressionId {
    let declared = match parameter.kind() {
        "spread_parameter" => spread_type(parameter),
        _ => field(parameter, "type"),
    };
    let declared = facts.chained(declared, declared_type);
    let is_array = parameter.kind() == "spread_parameter" || field(parameter, "dimensions").is_some();
    if is_array { array_of(facts, declared) } else { declared }
}

/// Returns the element type of a variadic parameter.
fn spread_type(parameter: Node<'_>) -> Option<Node<'_>> {
    let is_type = |part: &Node<'_>| {
        part.is_named() && part.kind() != "modifiers" && part.kind() != "variable_declarator"
    };
    children(parameter).into_iter().find(is_type)
}

fn parameters<'t>(facts: &mut FactsBuilder<'t>, list: Node<'t>) {
    for parameter in named_children(list) {
        match parameter.kind() {
            "formal_parameter" => bind_declared(facts, parameter),
            "spread_parameter" => {
                let declared = spread_type(parameter);
                let name =
                    child_of_kind(parameter, "variable_declarator").and_then(|part| field(part, "name"));
                let (Some(declared), Some(name)) = (declared, name) else { continue };
                let array = parameter_type(facts, parameter);
                facts.bind_node(facts.scope, name, BindingValue::Typed(array));
                facts.deeper(declared, visit);
            }
            _ => {}
        }
    }
}

/// Binds the name of a parameter, resource or pattern to its type, and visits the other parts.
fn bind_declared<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let declared = field(node, "type")
        .or_else(|| field(node, "right"))
        .or_else(|| child_of_kind(node, "catch_type").and_then(|types| types.named_child(0)))
        .or_else(|| {
            children(node)
                .into_iter()
                .find(|part| part.kind().ends_with("type_identifier") || part.kind() == "generic_type")
        });
    let name = field(node, "name")
        .or_else(|| {
            children(node).into_iter().rev().find(|part| part.kind() == "identifier" && declared.is_some())
        })
        .filter(|name| name.kind() == "identifier" && Some(*name) != field(node, "left"));
    if let (Some(name), Some(declared)) = (name, declared) {
        let is_inferred = facts.text_of(declared) == "var";
        let value = match field(node, "value") {
            Some(value) if is_inferred => BindingValue::Value(value_of(facts, value)),
            _ => BindingValue::Typed(declared_type(facts, declared)),
        };
        facts.bind_node(facts.scope, name, value);
    }
    for part in children(node).into_iter().filter(|part| part.is_named() && Some(*part) != name) {
        facts.deeper(part, visit);
    }
}

/// Fields and locals.
fn declare<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(declared) = field(node, "type") else { return };
    let is_inferred = facts.text_of(declared) == "var";
    let of_type = declared_type(facts, declared);
    if let Some(modifiers) = child_of_kind(node, "modifiers") {
        facts.deeper(modifiers, visit);
    }
    if !is_inferred {
        facts.deeper(declared, visit);
    }
    for declarator in node.children_by_field_name("declarator", &mut node.walk()) {
        let Some(name) = field(declarator, "name") else { continue };
        let value = match field(declarator, "value") {
            Some(value) if is_inferred => BindingValue::Value(value_of(facts, value)),
            _ if field(declarator, "dimensions").is_some() => BindingValue::Typed(array_of(facts, of_type)),
            _ => BindingValue::Typed(of_type),
        };
        facts.bind_node(facts.scope, name, value);
        facts.visit_field(declarator, "value", visit);
    }
}

fn enum_constant<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(name) = field(node, "name") else { return };
    let around = facts.expression(ExpressionFact::ReceiverType);
    facts.bind_node(facts.scope, name, BindingValue::Typed(around));
    // Without a constructor of its own, no code of the project runs.
    let enclosing = node.parent().and_then(|body| Some((body.parent()?, has_constructor(body))));
    if let Some((declaration, true)) = enclosing
        && let Some(type_name) = field(declaration, "name")
    {
        let type_name = facts.name_of(type_name);
        facts.use_implied_constructor(name, type_name);
    }
    facts.visit_field(node, "arguments", visit);
    if let Some(body) = field(node, "body") {
        anonymous_class(facts, name, body, around);
    }
}

/// Returns whether the body of an enum declares a constructor.
fn has_constructor(body: Node<'_>) -> bool {
    let declarations = child_of_kind(body, "enum_body_declarations");
    declarations.is_some_and(|list| child_of_kind(list, "constructor_declaration").is_some())
}

/// Defines an anonymous class that extends or implements `base`, and reads its body.
fn anonymous_class<'t>(facts: &mut FactsBuilder<'t>, at: Node<'t>, body: Node<'t>, base: u32) {
    let class = facts.define_unnamed(at, body, DefinitionKind::Class);
    facts.definition(class).bases.push(base);
    let outer = facts.open_body(class, ScopeKind::Class);
    facts.deeper(body, |facts, body| facts.visit_children(body, visit));
    facts.scope = outer;
}

fn for_each<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let outer = facts.open_scope(ScopeKind::Block, None);
    if let (Some(declared), Some(name), Some(value)) =
        (field(node, "type"), field(node, "name"), field(node, "value"))
    {
        let bound = if facts.text_of(declared) == "var" {
            let whole = value_of(facts, value);
            BindingValue::Value(facts.expression(ExpressionFact::Item(whole)))
        } else {
            facts.deeper(declared, visit);
            BindingValue::Typed(declared_type(facts, declared))
        };
        facts.deeper(value, visit);
        facts.bind_node(facts.scope, name, bound);
    }
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

fn lambda<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let names = inferred_parameters(node);
    let target = if names.is_empty() { 0 } else { lambda_target(facts, node) };
    let outer = facts.open_scope(ScopeKind::Block, None);
    for (at, name) in (0..).zip(names) {
        let value = if target == 0 { 0 } else { facts.expression(ExpressionFact::Part(target, at)) };
        facts.bind_node(facts.scope, name, BindingValue::Value(value));
    }
    if let Some(list) = field(node, "parameters").filter(|list| list.kind() == "formal_parameters") {
        parameters(facts, list);
    }
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

/// Returns the names of the lambda parameters without declared types.
pub(super) fn inferred_parameters(lambda: Node<'_>) -> Vec<Node<'_>> {
    match field(lambda, "parameters") {
        Some(single) if single.kind() == "identifier" => vec![single],
        Some(list) if list.kind() == "inferred_parameters" => named_children(list),
        _ => Vec::new(),
    }
}

/// Returns the name that a call with these arguments looks up.
pub(super) fn called_name<'t>(
    facts: &mut FactsBuilder<'t>,
    name: Node<'t>,
    arguments: Option<Node<'t>>,
) -> u32 {
    let count = arguments.map_or(0, |list| {
        named_children(list).into_iter().filter(|part| !part.kind().ends_with("comment")).count()
    });
    facts.composed_name(&format!("{}({count})", facts.text_of(name)))
}

fn call<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(name) = field(node, "name") else { return };
    let object = field(node, "object");
    let is_super =
        child_of_kind(node, "super").is_some() || object.is_some_and(|object| object.kind() == "super");
    let receiver = match object {
        _ if is_super => Some(facts.expression(ExpressionFact::Super)),
        Some(object) => Some(value_of(facts, object)),
        None => None,
    };
    let called = called_name(facts, name, field(node, "arguments"));
    let function = match receiver {
        Some(receiver) => facts.expression(ExpressionFact::Member(receiver, called)),
        None => facts.expression(ExpressionFact::Name(called)),
    };
    let function = applied(facts, function, node);
    facts.use_composed(name, called, receiver, true);
    facts.apply_last_use(function);
    if let Some(object) = object {
        facts.deeper(object, visit);
    }
    facts.visit_field(node, "type_arguments", visit);
    facts.visit_field(node, "arguments", visit);
}

/// `C::method`, `value::method`, `C::new`.
fn method_reference<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let parts = children(node);
    let (Some(object), Some(name)) = (parts.first().copied(), parts.last().copied()) else { return };
    if name.kind() == "identifier" && object != name {
        let receiver = value_of(facts, object);
        let called = facts.composed_name(&format!("{}(*)", facts.text_of(name)));
        facts.use_composed(name, called, Some(receiver), false);
    }
    facts.deeper(object, visit);
}

fn construct<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(declared) = field(node, "type") else { return };
    // `outer.new Inner()`
    let qualifier =
        node.named_child(0).filter(|first| *first != declared && first.kind() != "type_arguments");
    let named = if declared.kind() == "generic_type" { declared.named_child(0) } else { Some(declared) };
    let expression = if let (Some(qualifier), Some(name)) = (qualifier, named) {
        let outer = value_of(facts, qualifier);
        facts.use_constructor(|facts| facts.use_type(name, Some(outer)));
        facts.deeper(qualifier, visit);
        let name = facts.name_of(name);
        facts.expression(ExpressionFact::Member(outer, name))
    } else {
        facts.use_constructor(|facts| facts.deeper(declared, visit));
        declared_type(facts, declared)
    };
    facts.visit_field(node, "arguments", visit);
    if let Some(body) = child_of_kind(node, "class_body") {
        anonymous_class(facts, declared, body, expression);
    }
}

/// `super(…)` in a constructor: the use of the name of the class that the class around it extends.
fn call_super_constructor<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(called) = field(node, "constructor").filter(|called| called.kind() == "super") else { return };
    let class = std::iter::successors(node.parent(), Node::parent)
        .find(|around| around.kind() == "class_declaration");
    let base =
        class.and_then(|class| child_of_kind(class, "superclass")).and_then(|base| base.named_child(0));
    let Some(base) = base else { return };
    let base = if base.kind() == "generic_type" { base.named_child(0).unwrap_or(base) } else { base };
    // The uses in a qualified name would be on another line.
    if base.kind() == "type_identifier" {
        let name = facts.name_of(base);
        facts.use_implied_constructor(called, name);
    }
}

/// `Outer.Inner` or `package.Type`, where a type is expected.
fn scoped_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let parts: Vec<Node<'t>> = children(node)
        .into_iter()
        .filter(|part| part.is_named() && part.kind().ends_with("identifier"))
        .collect();
    let [outer, name] = parts[..] else { return };
    let receiver = declared_type(facts, outer);
    facts.use_type(name, Some(receiver));
    facts.deeper(outer, visit);
}
