//! TypeScript: global declarations, and additions to modules and to types of other files.

use crate::model::{BindingFact, BindingValue, DefinitionKind, NameId};
use crate::references::evaluation::{Evaluator, filling};
use crate::references::lookup::bindings_in;
use crate::references::project::{DefinitionKey, FileId};
use crate::references::values::{Value, ValueSet};

impl Evaluator<'_> {
    /// Merges the members of interfaces that are declared more than once globally, or in a module and by `declare
    /// module`, into the first declaration.
    pub(in crate::references) fn merge_interfaces(&mut self) {
        let index = self.index;
        let interface = |file: FileId, binding: &BindingFact| match binding.value {
            BindingValue::Definition(definition) => {
                let key = DefinitionKey { file, definition };
                (index.definition(key).kind == DefinitionKind::Interface).then_some(key)
            }
            _ => None,
        };
        let mut added = Vec::new();
        for bindings in filling(&mut self.modules).globals.names.values_mut() {
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
            let modules = filling(&mut self.modules);
            if let Some(body) = fact.body {
                modules.implementations.entry(first).or_default().push(key.at(body));
            }
            let bases = fact.bases.iter().map(|base| (key.at(fact.scope), *base));
            modules.extra_bases.entry(first).or_default().extend(bases);
        }
    }

    /// Returns the meaning of a globally declared name.
    pub(in crate::references) fn script_global(&mut self, name: &str) -> ValueSet {
        let bindings = self.modules.globals.names.get(name).cloned().unwrap_or_default();
        let mut found = ValueSet::FOREIGN;
        for (file, binding) in bindings.into_iter().take(8) {
            found.merge(self.bound(file, std::slice::from_ref(binding)));
        }
        found
    }

    /// Returns what the components export that may be registered under a name. Only where they are registered says
    /// which of them is meant.
    pub(in crate::references) fn registered_component(&mut self, file: FileId, name: NameId) -> ValueSet {
        let mut found = ValueSet::FOREIGN;
        for file in self.modules.globals.components(self.index.facts(file).name(name)) {
            found.merge(self.deeper(|evaluator| evaluator.member(Value::Module(file), "default")));
        }
        found.is_complete &= found.values.is_empty();
        found
    }
}
