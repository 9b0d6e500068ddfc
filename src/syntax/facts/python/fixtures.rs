//! pytest fixtures: functions whose results tests request by the names of their parameters.

use tree_sitter::Node;

use crate::model::{
    AUTOUSE_FIXTURE, BindingValue, DefinitionFlags, DefinitionId, FIXTURE_MARK_PREFIX, FIXTURE_PLUGINS,
    FIXTURE_PREFIX, PARAMETRIZED_PREFIX, ScopeId,
};
use crate::syntax::facts::builder::{FactsBuilder, field, line_of};
use crate::syntax::outline::children;

/// Binds a decorated function under the name of its fixture, and binds the fixtures that a decorator requests like
/// parameters.
pub(super) fn bind_fixtures<'t>(facts: &mut FactsBuilder<'t>, decorated: Node<'t>, function: DefinitionId) {
    for decorator in children(decorated).into_iter().filter(|child| child.kind() == "decorator") {
        let Some(expression) = decorator.named_child(0) else { continue };
        let called = (expression.kind() == "call").then(|| field(expression, "function")).flatten();
        let name = facts.text_of(called.unwrap_or(expression)).rsplit('.').next().unwrap_or_default();
        let arguments = field(expression, "arguments").map(children).unwrap_or_default();
        match name {
            "fixture" => bind_fixture(facts, &arguments, function, line_of(decorator)),
            "usefixtures" => ask_for(facts, &arguments, function),
            "parametrize" => {
                if let Some(body) = facts.definition(function).body {
                    bind_parametrized(facts, &arguments, body);
                }
            }
            _ => {}
        }
    }
}

fn bind_fixture<'t>(facts: &mut FactsBuilder<'t>, arguments: &[Node<'t>], function: DefinitionId, line: u32) {
    let given = keyword(facts, arguments, "name").and_then(|value| string_of(facts, value));
    let own = facts.definition(function).name;
    let name = given.map_or_else(|| facts.facts.names[own as usize].clone(), str::to_owned);
    let bound = facts.composed_name(&format!("{FIXTURE_PREFIX}{name}"));
    facts.bind(0, bound, BindingValue::Definition(function), line);
    if keyword(facts, arguments, "autouse").is_some_and(|value| facts.text_of(value) == "True") {
        let bound = facts.composed_name(AUTOUSE_FIXTURE);
        facts.bind(0, bound, BindingValue::Definition(function), line);
    }
}

/// Returns the value of a keyword argument.
fn keyword<'t>(facts: &FactsBuilder<'t>, arguments: &[Node<'t>], name: &str) -> Option<Node<'t>> {
    let is_meant = |argument: &&Node<'t>| {
        field(**argument, "name").is_some_and(|keyword| facts.text_of(keyword) == name)
    };
    arguments.iter().find(is_meant).and_then(|argument| field(*argument, "value"))
}

/// Binds the parameters that `parametrize` names, unless it passes their values on to the fixtures of these names.
fn bind_parametrized<'t>(facts: &mut FactsBuilder<'t>, arguments: &[Node<'t>], scope: ScopeId) {
    if keyword(facts, arguments, "indirect").is_some_and(|value| facts.text_of(value) != "False") {
        return;
    }
    let first = arguments.iter().copied().find(Node::is_named);
    let positional = || first.filter(|first| first.kind() != "keyword_argument");
    let Some(given) = keyword(facts, arguments, "argnames").or_else(positional) else { return };
    let listed = if given.kind() == "string" { vec![given] } else { children(given) };
    for part in listed {
        let Some(names) = string_of(facts, part) else { continue };
        for name in names.split(',').map(str::trim) {
            let name = facts.composed_name(&format!("{PARAMETRIZED_PREFIX}{name}"));
            facts.bind(scope, name, BindingValue::Default(0), line_of(part));
        }
    }
}

fn ask_for<'t>(facts: &mut FactsBuilder<'t>, arguments: &[Node<'t>], function: DefinitionId) {
    let Some(body) = facts.definition(function).body else { return };
    for argument in arguments {
        if let Some(name) = string_of(facts, *argument) {
            let name = facts.name(name);
            facts.bind(body, name, BindingValue::Default(0), line_of(*argument));
        }
    }
}

/// Binds the fixtures and parameters that the decorators of a class name in its scope.
pub(super) fn mark_class<'t>(facts: &mut FactsBuilder<'t>, decorated: Node<'t>, class: DefinitionId) {
    let Some(body) = facts.definition(class).body else { return };
    for decorator in children(decorated).into_iter().filter(|child| child.kind() == "decorator") {
        bind_mark(facts, decorator.named_child(0), body);
    }
}

/// `pytestmark = pytest.mark.usefixtures("a")`, or a list of marks: binds the names in them in the current scope.
pub(super) fn bind_marks<'t>(facts: &mut FactsBuilder<'t>, marks: Option<Node<'t>>) {
    let scope = facts.function_scope();
    let Some(marks) = marks else { return };
    match marks.kind() {
        "list" | "tuple" => children(marks).into_iter().for_each(|mark| bind_mark(facts, Some(mark), scope)),
        _ => bind_mark(facts, Some(marks), scope),
    }
}

fn bind_mark<'t>(facts: &mut FactsBuilder<'t>, mark: Option<Node<'t>>, scope: ScopeId) {
    let Some(call) = mark.filter(|mark| mark.kind() == "call") else { return };
    let arguments = field(call, "arguments").map(children).unwrap_or_default();
    let name = field(call, "function").map_or("", |called| facts.text_of(called));
    match name.rsplit('.').next() {
        Some("usefixtures") => {
            for argument in arguments {
                if let Some(name) = string_of(facts, argument) {
                    let name = facts.composed_name(&format!("{FIXTURE_MARK_PREFIX}{name}"));
                    facts.bind(scope, name, BindingValue::Default(0), line_of(argument));
                }
            }
        }
        Some("parametrize") => bind_parametrized(facts, &arguments, scope),
        _ => {}
    }
}

/// `pytest_plugins = ["a.b"]`: binds the modules whose fixtures the tests of a folder can use.
pub(super) fn bind_plugins<'t>(facts: &mut FactsBuilder<'t>, plugins: Option<Node<'t>>) {
    let Some(plugins) = plugins else { return };
    let listed = if plugins.kind() == "string" { vec![plugins] } else { children(plugins) };
    for plugin in listed {
        if let Some(module) = string_of(facts, plugin) {
            let import = facts.import(module, None, false, line_of(plugin));
            let name = facts.composed_name(FIXTURE_PLUGINS);
            facts.bind(0, name, BindingValue::Import(import), line_of(plugin));
        }
    }
}

/// Returns the text of a plain string.
fn string_of<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> Option<&'t str> {
    let content = children(node).into_iter().find(|child| child.kind() == "string_content")?;
    (node.kind() == "string").then(|| facts.text_of(content))
}

/// Returns whether the walk is in the body of a fixture.
pub(super) fn is_in_fixture(facts: &FactsBuilder<'_>) -> bool {
    let scope = facts.function_scope();
    let function = facts.facts.scopes[scope as usize].definition;
    function.is_some_and(|function| {
        facts.facts.definitions[function as usize].flags.has(DefinitionFlags::TEST_ITEM)
    })
}
