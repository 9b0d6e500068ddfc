//! TypeScript: what files declare for the whole project, and what they add to modules and to types of others.

use rustc_hash::FxHashMap;

use super::evaluate::Evaluator;
use super::project::{DefinitionKey, FileId, NameRules, ProjectIndex};
use super::script_types::CONTAINERS;
use super::values::{Value, ValueSet};
use crate::model::{
    AUGMENTED_MODULE, BindingFact, BindingValue, DefinitionKind, GLOBAL_FILE, ScopeId, ScopeKind, SourceFacts,
};

/// Declarations that no import names.
#[derive(Default)]
pub(super) struct ScriptGlobals<'a> {
    /// What each name is bound to; of several interfaces the first.
    names: FxHashMap<&'a str, Vec<(FileId, &'a BindingFact)>>,
    /// The declarations of modules that may be of other projects.
    modules: FxHashMap<&'a str, DefinitionKey>,
    /// The bodies in which `declare module` adds to a module.
    augmented: Vec<DefinitionKey>,
}

impl<'a> ScriptGlobals<'a> {
    /// Finds the declarations, and records which of them add members to another one.
    pub(super) fn new(index: &ProjectIndex<'a>) -> Self {
        let mut globals = Self::default();
        for (id, file) in (0..).zip(index.files) {
            if index.rules[id as usize] != Some(NameRules::Script) {
                continue;
            }
            let facts = &*file.facts;
            let is_declaration = [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| file.path.ends_with(end));
            let is_global = is_declaration && facts.find_name(GLOBAL_FILE).is_some();
            for (scope, fact) in (0..).zip(&facts.scopes) {
                if fact.kind != ScopeKind::Module {
                    continue;
                }
                match fact.definition {
                    Some(definition) if is_augmented(facts, scope) => {
                        let key = DefinitionKey { file: id, definition };
                        globals.modules.entry(index.name(key)).or_insert(key);
                        globals.augmented.push(key);
                    }
                    None if scope != 0 || is_global => globals.add_scope(id, facts, scope),
                    _ => {}
                }
            }
        }
        globals
    }

    fn add_scope(&mut self, file: FileId, facts: &'a SourceFacts, scope: ScopeId) {
        for binding in bindings_in(facts, scope) {
            let name = facts.name(binding.name);
            // A container of the language is known by its arguments.
            if !name.starts_with('(') && !CONTAINERS.contains(&name) {
                self.names.entry(name).or_default().push((file, binding));
            }
        }
    }

    /// Returns the declaration of a module.
    pub(super) fn module(&self, name: &str) -> Option<Value> {
        self.modules.get(name).copied().map(Value::Definition)
    }
}

impl Evaluator<'_> {
    /// Adds the members of interfaces that are declared more than once for the whole project, or in a module and by
    /// `declare module`, to the first of them.
    pub(super) fn merge_interfaces(&mut self) {
        let index = self.index;
        let interface = |file: FileId, binding: &BindingFact| match binding.value {
            BindingValue::Definition(definition) => {
                let key = DefinitionKey { file, definition };
                (index.definition(key).kind == DefinitionKind::Interface).then_some(key)
            }
            _ => None,
        };
        let mut added = Vec::new();
        for bindings in self.modules.globals.names.values_mut() {
            let mut first = None;
            bindings.retain(|(file, binding)| match (interface(*file, binding), first) {
                (Some(key), Some(first)) => {
                    added.push((first, key));
                    false
                }
                (found, _) => {
                    first = first.or(found);
                    true
                }
            });
        }
        for augmented in self.modules.globals.augmented.clone() {
            let facts = index.facts(augmented.file);
            let Some(body) = index.definition(augmented).body else { continue };
            let name = index.name(augmented);
            let module = self.modules.script_module(augmented.file, name).values;
            for binding in bindings_in(facts, body) {
                let Some(key) = interface(augmented.file, binding) else { continue };
                let known = module.iter().flat_map(|module| self.member(*module, index.name(key)).values);
                let known: Vec<Value> = known.collect();
                added.extend(known.iter().filter_map(|value| match value {
                    Value::Definition(known) if *known != key => Some((*known, key)),
                    _ => None,
                }));
            }
        }
        added.sort_unstable();
        for (first, key) in added {
            let fact = index.definition(key);
            if let Some(body) = fact.body {
                self.modules.implementations.entry(first).or_default().push((key.file, body));
            }
            let bases = fact.bases.iter().map(|base| (key.file, fact.scope, *base));
            self.modules.extra_bases.entry(first).or_default().extend(bases);
        }
    }

    /// Returns what a name means that is declared for the whole project.
    pub(super) fn script_global(&mut self, name: &str) -> ValueSet {
        let bindings = self.modules.globals.names.get(name).cloned().unwrap_or_default();
        let mut found = ValueSet::FOREIGN;
        for (file, binding) in bindings.into_iter().take(8) {
            found.merge(self.bound(file, std::slice::from_ref(binding)));
        }
        found
    }
}

fn is_augmented(facts: &SourceFacts, scope: ScopeId) -> bool {
    facts.find_name(AUGMENTED_MODULE).is_some_and(|name| !facts.bindings_of(scope, name).is_empty())
}

/// Returns what a scope binds.
fn bindings_in(facts: &SourceFacts, scope: ScopeId) -> &[BindingFact] {
    let first = facts.bindings.partition_point(|binding| binding.scope < scope);
    let count = facts.bindings[first..].partition_point(|binding| binding.scope == scope);
    &facts.bindings[first..first + count]
}
