//! Components of Vue, Svelte and Astro: what the file exports, and the options of Vue.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use tree_sitter::Node;

use super::reader::walk;
use super::syntax::unquoted;
use crate::model::{
    BindingValue, DefinitionFact, DefinitionFlags, DefinitionId, DefinitionKind, IMPLEMENTED_TYPE, NameId,
    ScopeId, ScopeKind,
};
use crate::syntax::facts::builder::{FactsBuilder, field, index, line_of};
use crate::syntax::outline::{child_of_kind, named_children};

/// Reads the facts of the scripts and the template of a component, which is what its file exports by default. What they
/// use outside of functions is used by the component.
pub(in crate::syntax::facts) fn walk_component<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    facts.objects.is_component = true;
    walk(facts, root);
    let name = facts.name("default");
    facts.facts.bindings.retain(|binding| binding.scope != 0 || binding.name != name);
    facts.facts.definitions.push(DefinitionFact {
        name,
        kind: DefinitionKind::Class,
        scope: 0,
        body: None,
        first_line: 1,
        name_line: 1,
        last_line: index(facts.text.lines().count().max(1)),
        flags: DefinitionFlags::default(),
        bases: Vec::new(),
        returns: Vec::new(),
    });
    let component = index(facts.facts.definitions.len() - 1);
    facts.facts.scopes[0].definition = Some(component);
    facts.bind(0, name, BindingValue::Definition(component), 1);
    if let Some(options) = exported_object(root) {
        bind_options(facts, options, component);
    }
}

/// Returns the object that a script exports by default, perhaps as the argument of a function.
fn exported_object(root: Node<'_>) -> Option<Node<'_>> {
    let exports = named_children(root).into_iter().filter(|node| node.kind() == "export_statement");
    let value = exports.filter_map(|export| field(export, "value")).next_back()?;
    if value.kind() == "object" {
        return Some(value);
    }
    child_of_kind(field(value, "arguments")?, "object")
}

/// Makes the methods of a Vue component's options members of the component, and known in its template.
fn bind_options<'t>(facts: &mut FactsBuilder<'t>, options: Node<'t>, component: DefinitionId) {
    let lines = line_of(options)..=index(options.end_position().row + 1);
    // A watcher has the name of what it watches.
    let is_watch =
        |option: &Node<'_>| field(*option, "key").is_some_and(|key| unquoted(facts, key) == "watch");
    let watchers: Vec<RangeInclusive<u32>> = named_children(options)
        .into_iter()
        .filter(is_watch)
        .map(|option| line_of(option)..=index(option.end_position().row + 1))
        .collect();
    let own = &facts.facts;
    let is_method = |definition: &&DefinitionFact| {
        let scope = own.scopes[definition.scope as usize];
        scope.kind == ScopeKind::Implementation
            && scope.parent == 0
            && lines.contains(&definition.name_line)
            && !watchers.iter().any(|watcher| watcher.contains(&definition.name_line))
    };
    let methods: Vec<(DefinitionId, NameId, ScopeId)> = (0..)
        .zip(&own.definitions)
        .filter(|(_, definition)| is_method(definition))
        .map(|(at, definition)| (at, definition.name, definition.scope))
        .collect();
    let implemented = facts.name(IMPLEMENTED_TYPE);
    let scopes: BTreeSet<ScopeId> = methods.iter().map(|(.., scope)| *scope).collect();
    for scope in scopes {
        facts.bind(scope, implemented, BindingValue::Definition(component), 1);
    }
    for (definition, name, _) in methods {
        let is_bound = facts.facts.bindings.iter().any(|binding| binding.scope == 0 && binding.name == name);
        if !is_bound {
            let line = facts.definition(definition).name_line;
            facts.bind(0, name, BindingValue::Definition(definition), line);
        }
    }
}
