//! TypeScript: the tables of global declarations, and of the language's own generic types.

use rustc_hash::FxHashMap;

use crate::model::{AUGMENTED_MODULE, BindingFact, GLOBAL_FILE, ScopeId, ScopeKind, SourceFacts};
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectIndex};
use crate::references::values::Value;

/// Types of the language whose values contain others.
pub(in crate::references) const CONTAINERS: [&str; 16] = [
    "Array", "ReadonlyArray", "Set", "ReadonlySet", "WeakSet", "Map", "ReadonlyMap", "WeakMap", "Promise",
    "PromiseLike", "Iterable", "IterableIterator", "Iterator", "Generator", "AsyncIterable",
    "AsyncGenerator",
];

/// Declarations that no import names.
#[derive(Default)]
pub(in crate::references) struct ScriptGlobals<'a> {
    /// The bindings of each name; of several interfaces the first.
    pub(in crate::references) names: FxHashMap<&'a str, Vec<(FileId, &'a BindingFact)>>,
    /// The declarations of modules that may be of other projects.
    modules: FxHashMap<&'a str, DefinitionKey>,
    /// The bodies in which `declare module` adds to a module.
    pub(in crate::references) augmented: Vec<DefinitionKey>,
}

impl<'a> ScriptGlobals<'a> {
    /// Finds the declarations, and records which of them add members to another one.
    pub(in crate::references) fn new(index: &ProjectIndex<'a>) -> Self {
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
    pub(in crate::references) fn module(&self, name: &str) -> Option<Value> {
        self.modules.get(name).copied().map(Value::Definition)
    }
}

fn is_augmented(facts: &SourceFacts, scope: ScopeId) -> bool {
    facts.find_name(AUGMENTED_MODULE).is_some_and(|name| !facts.bindings_of(scope, name).is_empty())
}

/// Returns the bindings of a scope.
pub(in crate::references) fn bindings_in(facts: &SourceFacts, scope: ScopeId) -> &[BindingFact] {
    let first = facts.bindings.partition_point(|binding| binding.scope < scope);
    let count = facts.bindings[first..].partition_point(|binding| binding.scope == scope);
    &facts.bindings[first..first + count]
}
