//! Which types and members stand in for others: a type for what it inherits, a member for the one that it overrides.

use super::evaluate::Evaluator;
use super::project::{DefinitionKey, FileId, NameRules};
use crate::model::{BindingValue, DefinitionKind, ScopeId};

/// A definition that may be what is meant where another one is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InheritedDefinition {
    /// The file of the type or member that inherits.
    pub file: u32,
    /// The type or member that inherits, as an index of its file's.
    pub definition: u32,
    /// The file of the base or of the overridden member.
    pub base_file: u32,
    /// The base or the overridden member, as an index of its file's.
    pub base_definition: u32,
}

impl<'a> Evaluator<'a> {
    /// Returns what the types of all files inherit, by file and definition.
    pub(super) fn inheritance(&mut self) -> Vec<InheritedDefinition> {
        let mut found = Vec::new();
        for (file, project_file) in (0..).zip(self.index.files) {
            if !matches!(
                self.index.rules[file as usize],
                Some(NameRules::Python | NameRules::Script | NameRules::Java | NameRules::Rust)
            ) {
                continue;
            }
            for (definition, fact) in (0..).zip(&project_file.facts.definitions) {
                if matches!(fact.kind, DefinitionKind::Class | DefinitionKind::Interface) {
                    self.inherited_by(DefinitionKey { file, definition }, &mut found);
                }
            }
        }
        found
    }

    fn inherited_by(&mut self, key: DefinitionKey, found: &mut Vec<InheritedDefinition>) {
        let (types, _) = self.linearization(key);
        let bases = types.get(1..).unwrap_or_default();
        if bases.is_empty() {
            return;
        }
        let mut add = |own: DefinitionKey, base: DefinitionKey| {
            found.push(InheritedDefinition {
                file: own.file,
                definition: own.definition,
                base_file: base.file,
                base_definition: base.definition,
            });
        };
        for base in bases {
            add(key, *base);
        }
        for (file, scope) in self.member_scopes(key) {
            for (name, member) in self.members_in(file, scope) {
                let own = DefinitionKey { file, definition: member };
                let overridden = bases.iter().find_map(|base| self.own_definition(*base, name));
                if let Some(overridden) = overridden.filter(|overridden| *overridden != own) {
                    add(own, overridden);
                }
            }
        }
    }

    /// Returns the scopes that have the members of a type.
    fn member_scopes(&self, key: DefinitionKey) -> Vec<(FileId, ScopeId)> {
        let body = self.index.definition(key).body.map(|body| (key.file, body));
        body.into_iter()
            .chain(self.modules.implementations.get(&key).into_iter().flatten().copied())
            .collect()
    }

    /// Returns the functions and types that a scope binds, with the names that they are bound to.
    pub(super) fn members_in(
        &self,
        file: FileId,
        scope: ScopeId,
    ) -> impl Iterator<Item = (&'a str, u32)> + use<'a> {
        let facts = self.index.facts(file);
        let first = facts.bindings.partition_point(|binding| binding.scope < scope);
        let bindings = facts.bindings[first..].iter().take_while(move |binding| binding.scope == scope);
        bindings.filter_map(|binding| match binding.value {
            BindingValue::Definition(definition) => Some((facts.name(binding.name), definition)),
            _ => None,
        })
    }

    fn own_definition(&self, key: DefinitionKey, name: &str) -> Option<DefinitionKey> {
        let body = self.index.definition(key).body?;
        let facts = self.index.facts(key.file);
        let bindings = facts.bindings_of(body, facts.find_name(name)?);
        bindings.iter().find_map(|binding| match binding.value {
            BindingValue::Definition(definition) => Some(DefinitionKey { file: key.file, definition }),
            _ => None,
        })
    }
}
