//! Inheritance: the bases of a type, and the members that a member overrides.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::evaluate::Evaluator;
use crate::model::{BindingValue, DefinitionKind, IMPLEMENTED_INTERFACE};
use crate::references::project::{DefinitionKey, NameRules, Site};
use crate::references::values::Value;

/// A definition that may be meant where another one is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InheritedDefinition {
    /// The file of the type or member that inherits.
    pub file: u32,
    /// The type or member that inherits, as an index into its file's definitions.
    pub definition: u32,
    /// The file of the base or of the overridden member.
    pub base_file: u32,
    /// The base or the overridden member, as an index into its file's definitions.
    pub base_definition: u32,
}

/// The name of a method, and the number of types that it returns.
type MethodShape<'a> = (&'a str, usize);

const fn pair(own: DefinitionKey, base: DefinitionKey) -> InheritedDefinition {
    InheritedDefinition {
        file: own.file,
        definition: own.definition,
        base_file: base.file,
        base_definition: base.definition,
    }
}

impl<'a> Evaluator<'a> {
    /// Returns what the types of all files inherit, by file and definition.
    pub(in crate::references) fn inheritance(&mut self) -> Vec<InheritedDefinition> {
        let mut found = Vec::new();
        for (file, project_file) in (0..).zip(self.index.files) {
            if !matches!(
                self.index.rules[file as usize],
                Some(
                    NameRules::Python
                        | NameRules::Script
                        | NameRules::Java
                        | NameRules::Rust
                        | NameRules::Cpp
                )
            ) {
                continue;
            }
            for (definition, fact) in (0..).zip(&project_file.facts.definitions) {
                if matches!(fact.kind, DefinitionKind::Class | DefinitionKind::Interface) {
                    self.inherited_by(DefinitionKey { file, definition }, &mut found);
                }
            }
        }
        self.implemented_in_go(&mut found);
        found
    }

    /// Adds the methods of Go types that have all methods of an interface, by their names and by the number of their
    /// results.
    fn implemented_in_go(&mut self, found: &mut Vec<InheritedDefinition>) {
        let (mut interfaces, mut types) = (Vec::new(), Vec::new());
        let mut types_with: FxHashMap<MethodShape<'a>, Vec<usize>> = FxHashMap::default();
        for key in self.types_of_go() {
            let methods = self.methods_of_go(key);
            if self.index.definition(key).kind == DefinitionKind::Interface {
                interfaces.push(methods);
                continue;
            }
            for shape in methods.keys() {
                types_with.entry(*shape).or_default().push(types.len());
            }
            types.push((key, methods));
        }
        for interface in interfaces {
            let having = interface.keys().map(|shape| types_with.get(shape).map_or(&[][..], Vec::as_slice));
            let rarest = having.min_by_key(|types| types.len()).unwrap_or_default();
            for (_, methods) in rarest.iter().map(|at| &types[*at]) {
                if interface.keys().all(|shape| methods.contains_key(shape)) {
                    found.extend(interface.iter().map(|(shape, base)| pair(methods[shape], *base)));
                }
            }
        }
        found.retain(|pair| (pair.file, pair.definition) != (pair.base_file, pair.base_definition));
        found.sort_by_key(|pair| (pair.file, pair.definition, pair.base_file, pair.base_definition));
        found.dedup();
    }

    fn types_of_go(&self) -> Vec<DefinitionKey> {
        let mut found = Vec::new();
        for (file, project_file) in (0..).zip(self.index.files) {
            if self.index.rules[file as usize] == Some(NameRules::Go) {
                let is_type = |kind| matches!(kind, DefinitionKind::Class | DefinitionKind::Interface);
                let facts = (0..).zip(&project_file.facts.definitions);
                let types = facts.filter(|(_, fact)| is_type(fact.kind));
                found.extend(types.map(|(definition, _)| DefinitionKey { file, definition }));
            }
        }
        found
    }

    /// Returns the methods of a Go type or interface, including those of embedded types.
    fn methods_of_go(&mut self, key: DefinitionKey) -> BTreeMap<MethodShape<'a>, DefinitionKey> {
        let mut methods = BTreeMap::new();
        for of in self.linearization(key).0 {
            for site in self.member_scopes(of) {
                for (name, definition) in self.members_in(site) {
                    let key = DefinitionKey { file: site.file, definition };
                    let returned = self.index.definition(key).returns.len();
                    methods.entry((name, returned)).or_insert(key);
                }
            }
        }
        methods
    }

    fn inherited_by(&mut self, key: DefinitionKey, found: &mut Vec<InheritedDefinition>) {
        let (mut bases, _) = self.linearization(key);
        bases.remove(0);
        bases.extend(self.implemented_interfaces(key));
        found.extend(bases.iter().map(|base| pair(key, *base)));
        if bases.is_empty() {
            return;
        }
        let is_cpp = self.index.rules(key.file) == NameRules::Cpp;
        for site in self.member_scopes(key) {
            for (name, member) in self.members_in(site) {
                let own = DefinitionKey { file: site.file, definition: member };
                let overridden = bases.iter().find_map(|base| self.own_definition(*base, name));
                let Some(overridden) = overridden.filter(|overridden| *overridden != own) else { continue };
                if !is_cpp {
                    found.push(pair(own, overridden));
                    continue;
                }
                // C++ members are defined outside of the body of their class.
                let all = self.cpp_definitions(overridden.file, &[overridden]);
                for own in self.cpp_definitions(site.file, &[own]) {
                    found.extend(all.iter().map(|overridden| pair(own, *overridden)));
                }
            }
        }
    }

    /// Returns the interfaces that a TypeScript class implements, with those that they extend.
    fn implemented_interfaces(&mut self, key: DefinitionKey) -> Vec<DefinitionKey> {
        let facts = self.index.facts(key.file);
        let (Some(body), Some(name)) =
            (self.index.definition(key).body, facts.find_name(IMPLEMENTED_INTERFACE))
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for binding in facts.bindings_of(body, name) {
            let BindingValue::Value(interface) = binding.value else { continue };
            for value in self.value(key.at(body), interface).values {
                if let Value::Definition(interface) = value {
                    found.extend(self.linearization(interface).0);
                }
            }
        }
        found
    }

    /// Returns the scopes that contain the members of a type.
    fn member_scopes(&self, key: DefinitionKey) -> Vec<Site> {
        let body = self.index.definition(key).body.map(|body| key.at(body));
        body.into_iter()
            .chain(self.modules.implementations.get(&key).into_iter().flatten().copied())
            .collect()
    }

    /// Returns the functions and types that a scope binds, with the names that they are bound to.
    pub(in crate::references) fn members_in(
        &self,
        site: Site,
    ) -> impl Iterator<Item = (&'a str, u32)> + use<'a> {
        let facts = self.index.facts(site.file);
        let first = facts.bindings.partition_point(|binding| binding.scope < site.scope);
        let bindings = facts.bindings[first..].iter().take_while(move |binding| binding.scope == site.scope);
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
