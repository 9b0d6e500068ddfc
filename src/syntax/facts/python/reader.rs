//! Python: scopes of functions and classes, imports, assignments, and types declared by annotations and `isinstance`.

use tree_sitter::Node;

use super::alternatives::{in_branch, mark_alternatives, visit_body};
use super::fixtures::{bind_fixtures, bind_marks, bind_plugins, is_in_fixture, mark_class};
use super::narrowing::narrow_by;
use super::patterns::match_cases;
use super::type_variables::{bind_assigned_variable, bind_type_parameters};
use super::types::{declared_type, elements_of, is_alias_here, value_of};
use crate::model::{
    BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, END_OF_ASSIGNMENT, ExpressionFact, NameId,
    ScopeId, ScopeKind,
};
use crate::syntax::facts::builder::{FactsBuilder, NewDefinition, field, index, line_of};
use crate::syntax::outline::{child_of_kind, children, named_children};

/// Reads the facts of a file.
pub(in crate::syntax::facts) fn walk<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    facts.visit_children(root, visit);
}

fn visit<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    match node.kind() {
        "comment" | "integer" | "float" | "string_start" | "string_end" | "string_content" => {}
        "function_definition" => drop(define_function(facts, node, node, 0)),
        "class_definition" => drop(define_class(facts, node, node)),
        "decorated_definition" => decorated(facts, node),
        "import_statement" => import_modules(facts, node),
        "import_from_statement" => import_names(facts, node),
        "assignment" => assign(facts, node),
        "type_alias_statement" => name_type(facts, node),
        "named_expression" => {
            let value = field(node, "value").map_or(0, |value| value_of(facts, value));
            bind_names(facts, field(node, "name"), BindingValue::Value(value));
            facts.visit_field(node, "value", visit);
        }
        "for_statement" | "for_in_clause" => bind_loop(facts, node),
        "as_pattern" => bind_alias(facts, node),
        "except_clause" => bind_exception(facts, node),
        "global_statement" | "nonlocal_statement" => declare_outer(facts, node),
        "lambda"
        | "list_comprehension"
        | "set_comprehension"
        | "dictionary_comprehension"
        | "generator_expression" => visit_inner_scope(facts, node),
        "call" => call(facts, node),
        "attribute" => attribute(facts, node, false),
        "identifier" => facts.use_name(node, None, false),
        "keyword_argument" => facts.visit_field(node, "value", visit),
        "return_statement" => {
            returned(facts, node);
            facts.visit_children(node, visit);
        }
        // A test gets the value that a fixture yields.
        "yield" => {
            if is_in_fixture(facts) {
                returned(facts, node);
            }
            facts.visit_children(node, visit);
        }
        "if_statement" => branch(facts, node),
        "match_statement" => match_cases(facts, node, visit),
        "try_statement" => {
            for child in children(node) {
                in_branch(facts, node, child, visit);
            }
        }
        "assert_statement" => {
            facts.visit_children(node, visit);
            narrow_by(facts, node.named_child(0));
        }
        // A type that an assertion or an early return narrows holds to the end of its block.
        "block" => {
            let outer = facts.scope;
            facts.visit_children(node, visit);
            facts.scope = outer;
        }
        _ => facts.visit_children(node, visit),
    }
}

/// Visits a node that is reached by its field, with the same depth limit as a child.
fn visit_one<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    facts.deeper(node, visit);
}

fn decorated<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let mut flags = 0;
    let mut outermost = None;
    for decorator in children(node).into_iter().filter(|child| child.kind() == "decorator") {
        let text = facts.text_of(decorator).trim_start_matches('@').trim();
        let name = text.split('(').next().unwrap_or_default().rsplit('.').next().unwrap_or_default().trim();
        let flag = match name {
            "property" | "cached_property" | "setter" | "getter" | "deleter" | "abstractproperty" => {
                DefinitionFlags::PROPERTY
            }
            "staticmethod" => DefinitionFlags::STATIC,
            "classmethod" => DefinitionFlags::PRIVATE,
            "overload" => DefinitionFlags::PROTOTYPE,
            "fixture" => DefinitionFlags::TEST_ITEM,
            "abstractmethod"
            | "contextmanager"
            | "asynccontextmanager"
            | "final"
            | "override"
            | "dataclass"
            | "wraps"
            | "total_ordering" => 0,
            _ if name.ends_with("property") => DefinitionFlags::PROPERTY,
            _ => DefinitionFlags::DECORATED,
        };
        if flag == DefinitionFlags::DECORATED && outermost.is_none() {
            outermost = decorator.named_child(0).map(|decorator| value_of(facts, decorator));
        }
        flags |= flag;
        visit_one(facts, decorator);
    }
    match field(node, "definition") {
        Some(inner) if inner.kind() == "class_definition" => {
            if let Some(class) = define_class(facts, inner, node) {
                mark_class(facts, node, class);
            }
        }
        Some(inner) => {
            if let Some(function) = define_function(facts, inner, node, flags) {
                facts.definition(function).bases.extend(outermost);
                bind_fixtures(facts, node, function);
            }
        }
        None => {}
    }
}

fn define_class<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, whole: Node<'t>) -> Option<DefinitionId> {
    let name = field(node, "name")?;
    let class = facts.define(&NewDefinition { name, whole, kind: DefinitionKind::Class, flags: 0 });
    bind_definition(facts, name, class);
    if let Some(bases) = field(node, "superclasses") {
        for base in named_children(bases).into_iter().filter(|base| base.kind() != "comment") {
            if base.kind() != "keyword_argument" {
                let base = declared_type(facts, base);
                facts.definition(class).bases.push(base);
            }
        }
        facts.deeper(bases, visit_children_of);
    }
    bind_type_parameters(facts, node, Some(class), visit_one);
    let outer = facts.open_body(class, ScopeKind::Class);
    visit_body(facts, node, visit);
    facts.scope = outer;
    Some(class)
}

fn visit_children_of<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    facts.visit_children(node, visit);
}

fn bind_definition<'t>(facts: &mut FactsBuilder<'t>, name: Node<'t>, definition: DefinitionId) {
    let scope = bound_scope(facts, facts.text_of(name));
    let id = facts.name_of(name);
    mark_alternatives(facts, scope, id, Some(definition));
    facts.bind_node(scope, name, BindingValue::Definition(definition));
}

fn define_function<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    whole: Node<'t>,
    flags: u16,
) -> Option<DefinitionId> {
    let name = field(node, "name")?;
    // `PRIVATE` stands for `@classmethod` until the receiver is bound.
    let is_class_method = flags & DefinitionFlags::PRIVATE != 0
        || matches!(facts.text_of(name), "__new__" | "__init_subclass__" | "__class_getitem__");
    let flags = flags & !DefinitionFlags::PRIVATE;
    let function = facts.define(&NewDefinition { name, whole, kind: DefinitionKind::Function, flags });
    bind_definition(facts, name, function);
    let class = facts.facts.scopes[facts.function_scope() as usize];
    let is_method = class.kind == ScopeKind::Class;
    if let (true, "__getattr__" | "__getattribute__", Some(class)) =
        (is_method, facts.text_of(name), class.definition)
    {
        facts.definition(class).flags.0 |= DefinitionFlags::DYNAMIC;
    }
    // Annotations and defaults are evaluated outside of the function, but count as its uses.
    let outer = facts.open_scope(ScopeKind::Block, Some(function));
    let signature = facts.scope;
    facts.scope = outer;
    facts.open_body(function, ScopeKind::Function);
    let body = facts.scope;
    facts.scope = signature;
    let receiver = match (is_method && flags & DefinitionFlags::STATIC == 0, is_class_method) {
        (false, _) => None,
        (true, true) => Some(ExpressionFact::ReceiverType),
        (true, false) => Some(ExpressionFact::Receiver),
    };
    bind_type_parameters(facts, node, None, visit_one);
    if let Some(parameters) = field(node, "parameters") {
        bind_parameters(facts, parameters, receiver, body);
    }
    if let Some(declared) = field(node, "return_type") {
        let expression = declared_type(facts, declared);
        facts.definition(function).returns.push(expression);
        facts.definition(function).flags.0 |= DefinitionFlags::DECLARED;
        visit_one(facts, declared);
    }
    facts.scope = body;
    visit_body(facts, node, visit);
    facts.scope = outer;
    Some(function)
}

/// Binds the parameters in the scope of a body; their declared types are evaluated in the current one.
fn bind_parameters<'t>(
    facts: &mut FactsBuilder<'t>,
    parameters: Node<'t>,
    receiver: Option<ExpressionFact>,
    body: ScopeId,
) {
    let mut receiver = receiver;
    for parameter in named_children(parameters) {
        let name = match parameter.kind() {
            "identifier" => Some(parameter),
            "typed_parameter" => parameter.named_child(0),
            _ => field(parameter, "name"),
        };
        let declared = field(parameter, "type");
        let default = field(parameter, "value");
        for part in [declared, default].into_iter().flatten() {
            visit_one(facts, part);
        }
        let Some(name) = name else { continue };
        let is_plain = name.kind() == "identifier";
        let value = match (receiver.take().filter(|_| is_plain), declared, default) {
            (Some(receiver), ..) => BindingValue::Value(facts.expression(receiver)),
            (None, Some(declared), _) if is_plain => BindingValue::Typed(declared_type(facts, declared)),
            (None, None, Some(default)) => BindingValue::Default(value_of(facts, default)),
            _ => BindingValue::Default(0),
        };
        if is_plain {
            facts.bind_node(body, name, value);
        } else if let Some(inner) = name.named_child(0).filter(|inner| inner.kind() == "identifier") {
            facts.bind_node(body, inner, BindingValue::Default(0));
        }
    }
}

/// Returns the scope that an assignment here binds a name in.
pub(super) fn bound_scope<'t>(facts: &mut FactsBuilder<'t>, name: &'t str) -> ScopeId {
    let scope = facts.function_scope();
    let name = facts.name(name);
    let declared =
        facts.declared_outer.iter().rev().find(|(inner, declared, _)| (*inner, *declared) == (scope, name));
    declared.map_or(scope, |(.., outer)| *outer)
}

fn declare_outer<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let scope = facts.function_scope();
    let outer = match node.kind() {
        "global_statement" => 0,
        _ => facts.facts.scopes[scope as usize].parent,
    };
    for name in named_children(node) {
        let name: NameId = facts.name_of(name);
        facts.declared_outer.push((scope, name, outer));
    }
}

fn import_modules<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let mut cursor = node.walk();
    for item in node.children_by_field_name("name", &mut cursor) {
        let (path, alias) = match item.kind() {
            "aliased_import" => (field(item, "name"), field(item, "alias")),
            _ => (Some(item), None),
        };
        let Some(path) = path else { continue };
        let text = facts.text_of(path);
        if let Some(alias) = alias {
            let import = facts.import(text, None, false, line_of(path));
            let scope = bound_scope(facts, facts.text_of(alias));
            facts.bind_node(scope, alias, BindingValue::Import(import));
            continue;
        }
        // `import a.b` binds `a`, which then has the member `b`.
        let first = text.split('.').next().unwrap_or_default();
        let import = facts.import(first, None, false, line_of(path));
        let scope = bound_scope(facts, first);
        let name = facts.name(first);
        facts.bind(scope, name, BindingValue::Import(import), line_of(path));
        if first != text {
            facts.import(text, None, false, line_of(path));
        }
    }
}

fn import_names<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(module) = field(node, "module_name") else { return };
    let (module, line) = (facts.text_of(module), line_of(node));
    if child_of_kind(node, "wildcard_import").is_some() {
        let import = facts.import(module, None, true, line);
        facts.facts.imports[import as usize].branch_end = branch_end(node);
    }
    let mut cursor = node.walk();
    for item in node.children_by_field_name("name", &mut cursor) {
        let (name, alias) = match item.kind() {
            "aliased_import" => (field(item, "name"), field(item, "alias")),
            _ => (Some(item), None),
        };
        let Some(name) = name else { continue };
        let import = facts.import(module, Some(facts.text_of(name)), false, line_of(name));
        let alias = alias.unwrap_or(name);
        let scope = bound_scope(facts, facts.text_of(alias));
        let id = facts.name_of(alias);
        mark_alternatives(facts, scope, id, None);
        facts.bind_node(scope, alias, BindingValue::Import(import));
    }
}

/// Returns the last line of the outermost statement around a module-level statement.
fn branch_end(statement: Node<'_>) -> Option<u32> {
    let parents = std::iter::successors(statement.parent(), Node::parent);
    let outermost = parents.take_while(|parent| parent.parent().is_some()).last()?;
    Some(index(outermost.end_position().row + 1))
}

fn assign<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let declared = field(node, "type");
    let (left, right) = (field(node, "left"), field(node, "right"));
    let is_alias = right.is_some_and(|right| is_alias_here(facts, left, declared, right));
    // `NAME: Final = value` has the type of the value.
    let is_qualifier = |declared: &Node<'_>| {
        matches!(facts.text_of(*declared).rsplit('.').next(), Some("Final" | "ClassVar"))
    };
    let typed = declared.filter(|declared| right.is_none() || !is_qualifier(declared));
    let value = match (typed, right) {
        (_, Some(right)) if is_alias => BindingValue::Value(declared_type(facts, right)),
        (Some(declared), _) => BindingValue::Typed(declared_type(facts, declared)),
        (None, Some(right)) => BindingValue::Value(value_of(facts, right)),
        (None, None) => return,
    };
    bind_names(facts, left, value);
    bind_assigned_variable(facts, left, right);
    let last = index(node.end_position().row) + 1;
    if facts.scope == 0 && line_of(node) < last {
        let name = facts.composed_name(END_OF_ASSIGNMENT);
        facts.bind(0, name, BindingValue::Value(0), last);
    }
    match left.map(|left| facts.text_of(left)) {
        Some("pytestmark") => bind_marks(facts, right),
        Some("pytest_plugins") => bind_plugins(facts, right),
        _ => {}
    }
    for part in [declared, right].into_iter().flatten() {
        visit_one(facts, part);
    }
}

/// `type Names = dict[str, A]`
fn name_type<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return };
    if let Some(name) = left.named_child(0).filter(|name| name.kind() == "identifier") {
        let meant = declared_type(facts, right);
        bind_names(facts, Some(name), BindingValue::Value(meant));
    }
    visit_one(facts, right);
}

/// Binds the names of a target, and visits its other parts.
fn bind_names<'t>(facts: &mut FactsBuilder<'t>, target: Option<Node<'t>>, value: BindingValue) {
    let Some(target) = target else { return };
    match target.kind() {
        "identifier" => {
            let scope = bound_scope(facts, facts.text_of(target));
            facts.bind_node(scope, target, value);
        }
        "attribute" => bind_attribute(facts, target, value),
        "pattern_list" | "tuple_pattern" | "list_pattern" | "tuple" => {
            let mut cursor = target.walk();
            let mut is_counted = true;
            for (at, part) in (0..).zip(target.named_children(&mut cursor)) {
                let is_rest = part.kind() == "list_splat_pattern";
                is_counted &= !is_rest;
                let part_value = match value {
                    BindingValue::Value(whole) if whole != 0 && is_counted => {
                        facts.expression(ExpressionFact::Part(whole, at))
                    }
                    BindingValue::Value(whole) if whole != 0 && is_rest => elements_of(facts, whole),
                    // The number of parts before it is not known.
                    BindingValue::Value(whole) if whole != 0 => facts.expression(ExpressionFact::Item(whole)),
                    _ => 0,
                };
                facts.deeper(part, |facts, part| {
                    bind_names(facts, Some(part), BindingValue::Value(part_value));
                });
            }
        }
        "list_splat_pattern" => bind_names(facts, target.named_child(0), value),
        _ => visit_one(facts, target),
    }
}

/// Binds an attribute of `self` in the scope of the enclosing class.
fn bind_attribute<'t>(facts: &mut FactsBuilder<'t>, target: Node<'t>, value: BindingValue) {
    let (Some(object), Some(name)) = (field(target, "object"), field(target, "attribute")) else { return };
    if matches!(facts.text_of(object), "self" | "cls")
        && let Some(class) = facts.class_scope()
    {
        facts.bind_node(class, name, value);
    }
    visit_one(facts, object);
}

fn bind_loop<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let (left, right) = (field(node, "left"), field(node, "right"));
    let whole = right.map_or(0, |right| value_of(facts, right));
    let item = facts.expression(ExpressionFact::Item(whole));
    if node.kind() == "for_in_clause" {
        bind_in_scope(facts, left, BindingValue::Value(item));
    } else {
        bind_names(facts, left, BindingValue::Value(item));
    }
    for part in [right, field(node, "body"), field(node, "alternative")].into_iter().flatten() {
        visit_one(facts, part);
    }
}

/// Binds the targets of a comprehension, which are names of its own scope.
fn bind_in_scope<'t>(facts: &mut FactsBuilder<'t>, target: Option<Node<'t>>, value: BindingValue) {
    let Some(target) = target else { return };
    if target.kind() == "identifier" {
        facts.bind_node(facts.scope, target, value);
        return;
    }
    for (at, part) in (0..).zip(named_children(target)) {
        let part_value = match value {
            BindingValue::Value(whole) if whole != 0 => facts.expression(ExpressionFact::Part(whole, at)),
            _ => 0,
        };
        facts.deeper(part, |facts, part| {
            bind_in_scope(facts, Some(part), BindingValue::Value(part_value));
        });
    }
}

/// `… as name` of a `with` statement.
fn bind_alias<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let value = node.named_child(0).map_or(0, |value| value_of(facts, value));
    let is_entered = node.parent().is_some_and(|parent| parent.kind() == "with_item");
    let entered = if is_entered { facts.expression(ExpressionFact::Inner(value)) } else { 0 };
    let target = field(node, "alias").and_then(|alias| alias.named_child(0).or(Some(alias)));
    bind_names(facts, target, BindingValue::Value(entered));
    if let Some(value) = node.named_child(0) {
        visit_one(facts, value);
    }
}

fn bind_exception<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let alias = child_of_kind(node, "as_pattern");
    let (kind, target) = match alias {
        Some(alias) => (alias.named_child(0), field(alias, "alias").and_then(|alias| alias.named_child(0))),
        None => (field(node, "value"), field(node, "alias")),
    };
    if let (Some(kind), Some(target)) = (kind, target) {
        let declared = declared_type(facts, kind);
        bind_names(facts, Some(target), BindingValue::Typed(declared));
    }
    for child in named_children(node) {
        match alias {
            Some(alias) if child == alias => {
                if let Some(kind) = kind {
                    visit_one(facts, kind);
                }
            }
            _ if Some(child) == target => {}
            _ => visit_one(facts, child),
        }
    }
}

fn visit_inner_scope<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let outer = facts.open_scope(ScopeKind::Block, None);
    if node.kind() == "lambda" {
        let body = facts.scope;
        if let Some(parameters) = field(node, "parameters") {
            facts.scope = outer;
            bind_parameters(facts, parameters, None, body);
            facts.scope = body;
        }
        facts.visit_field(node, "body", visit);
    } else {
        facts.visit_children(node, visit);
    }
    facts.scope = outer;
}

fn call<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    match field(node, "function") {
        Some(function) if function.kind() == "identifier" => facts.use_name(function, None, true),
        Some(function) if function.kind() == "attribute" => facts.deeper(function, |facts, function| {
            attribute(facts, function, true);
        }),
        Some(function) => visit_one(facts, function),
        None => {}
    }
    if let Some(arguments) = field(node, "arguments") {
        facts.deeper(arguments, visit);
    }
}

fn attribute<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, is_call: bool) {
    facts.use_member(node, ["object", "attribute"], is_call, value_of, visit);
}

fn returned<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let scope = facts.function_scope();
    let Some(function) = facts.facts.scopes[scope as usize].definition else { return };
    let fact = facts.definition(function);
    let is_enough = fact.flags.has(DefinitionFlags::DECLARED) || 8 <= fact.returns.len();
    if let (false, Some(value)) = (is_enough, node.named_child(0)) {
        let value = value_of(facts, value);
        // Block scopes narrow the meaning of a name, so the function's own scope may see less; that is the safe side.
        facts.definition(function).returns.push(value);
    }
}

/// Visits an `if` statement; an `isinstance` test narrows the name that it tests.
fn branch<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let condition = field(node, "condition");
    let consequence = field(node, "consequence");
    let outer = facts.scope;
    // A branch for type checkers only declares what the other branch defines.
    let is_for_checkers =
        condition.is_some_and(|condition| facts.text_of(condition).contains("TYPE_CHECKING"));
    for child in named_children(node) {
        if Some(child) == consequence {
            narrow_by(facts, condition);
        }
        if is_for_checkers {
            visit_one(facts, child);
        } else {
            in_branch(facts, node, child, visit);
        }
        facts.scope = outer;
    }
    // After `if not isinstance(…): return` the rest of the block is narrowed.
    let negated = condition.filter(|condition| condition.kind() == "not_operator");
    if let (Some(negated), Some(body), None) = (negated, consequence, field(node, "alternative"))
        && body.named_children(&mut body.walk()).last().is_some_and(|last| {
            matches!(last.kind(), "return_statement" | "raise_statement" | "continue_statement")
        })
    {
        narrow_by(facts, field(negated, "argument"));
    }
}
