//! Rust: the methods that traits of the project add to types of other projects, or to any type.
//!
//! A trait counts only where its name, or an import of it as `_`, is in scope, as the compiler requires.

use rustc_hash::FxHashSet;

use crate::model::{
    ANY_INTEGER, BindingFact, BindingValue, DefinitionId, DefinitionKind, ExpressionFact, ExpressionId,
    IMPLEMENTED_TRAIT, IMPLEMENTED_TYPE, ScopeId, ScopeKind, SourceFacts,
};
use crate::references::common_members::{COMMON_MEMBERS, COMMON_RUST_MEMBERS, DELEGATED_RUST_MEMBERS};
use crate::references::evaluation::{Evaluator, filling};
use crate::references::lookup::{Extension, ExtensionPlace, Namespace};
use crate::references::project::{DefinitionKey, NameRules, Site};
use crate::references::values::{Value, ValueSet};

impl<'a> Evaluator<'a> {
    /// Finds the methods of all traits, and of their implementations for foreign types.
    pub(in crate::references) fn add_extensions(&mut self) {
        for (id, file) in (0..).zip(self.index.files) {
            if self.index.rules[id as usize] != Some(NameRules::Rust) {
                continue;
            }
            for (definition, fact) in (0..).zip(&file.facts.definitions) {
                if let (DefinitionKind::Interface, Some(body)) = (fact.kind, fact.body) {
                    let of_trait = DefinitionKey { file: id, definition };
                    self.add_extension(Site { file: id, scope: body }, of_trait, ExtensionPlace::Trait);
                }
            }
            for (scope, fact) in (0..).zip(&file.facts.scopes) {
                if fact.kind == ScopeKind::Implementation {
                    self.add_implemented_extension(Site { file: id, scope });
                }
            }
        }
    }

    fn add_implemented_extension(&mut self, site: Site) {
        let Some((implemented, at)) = self.implementation_part(site, IMPLEMENTED_TYPE) else { return };
        let Some((added, trait_at)) = self.implementation_part(site, IMPLEMENTED_TRAIT) else {
            return;
        };
        let of_traits = self.value(site.at(trait_at), added).values;
        let (name, arguments, _) = self.generic_parts(site.file, implemented);
        let place = if self.is_type_parameter(site.at(at), implemented) {
            // `impl<R: Read> Read for &R` delegates to the trait itself.
            let bounds = self.value(site.at(at), implemented).values;
            if bounds.iter().any(|bound| of_traits.contains(bound)) {
                return;
            }
            ExtensionPlace::Blanket
        } else if matches!(name, "Box" | "Rc" | "Arc" | "Pin") {
            // It usually delegates to its content.
            let is_passed_on =
                arguments.first().is_some_and(|content| self.is_type_parameter(site.at(at), *content));
            if is_passed_on {
                return;
            }
            ExtensionPlace::Foreign(name)
        } else {
            match self.foreign_type(site.at(at), implemented) {
                Some(name) => ExtensionPlace::Foreign(name),
                None => return self.note_own(&of_traits),
            }
        };
        if let (ExtensionPlace::Foreign(name), true) = (place, of_traits.is_empty()) {
            self.add_conversions(site, name);
        }
        for value in of_traits {
            if let Value::Definition(of_trait) = value
                && self.index.definition(of_trait).kind == DefinitionKind::Interface
            {
                self.add_extension(site, of_trait, place);
            }
        }
    }

    /// Records that traits are implemented for types of the project, which have those methods as members.
    fn note_own(&mut self, of_traits: &[Value]) {
        for value in of_traits {
            if let Value::Definition(of_trait) = value {
                filling(&mut self.extensions).implemented.entry(*of_trait).or_default();
            }
        }
    }

    fn add_conversions(&mut self, site: Site, of_type: &'a str) {
        let facts = self.index.facts(site.file);
        for (name, definition) in functions_in(facts, site.scope) {
            let found = (DefinitionKey { file: site.file, definition }, of_type);
            filling(&mut self.extensions).conversions.entry(name).or_default().push(found);
        }
    }

    /// Returns the functions of that name in the project's implementations of foreign traits for a foreign type.
    pub(in crate::references) fn conversions(&self, of_type: &str, name: &str) -> Vec<DefinitionKey> {
        let all = self.extensions.conversions.get(name).map_or(&[][..], Vec::as_slice);
        all.iter().filter(|(_, known)| *known == of_type).map(|(key, _)| *key).collect()
    }

    /// Returns the name of a type of another project, which may be renamed here.
    fn foreign_type(&mut self, site: Site, declared: ExpressionId) -> Option<&'a str> {
        let found = self.instance(site, declared);
        match found.values.first() {
            Some(Value::Generic { site, expression }) => Some(self.type_name(site.file, *expression)),
            Some(_) => None,
            None => Some(self.type_name(site.file, declared)),
        }
    }

    fn add_extension(&mut self, site: Site, of_trait: DefinitionKey, place: ExtensionPlace<'a>) {
        let facts = self.index.facts(site.file);
        let of_type = match place {
            ExtensionPlace::Trait => None,
            ExtensionPlace::Foreign(name) => Some(name),
            ExtensionPlace::Blanket => Some("*"),
        };
        if let Some(of_type) = of_type {
            filling(&mut self.extensions).implemented.entry(of_trait).or_default().insert(of_type);
        }
        for (name, definition) in functions_in(facts, site.scope) {
            let method = DefinitionKey { file: site.file, definition };
            let found = Extension { method, of_trait, place };
            filling(&mut self.extensions).by_name.entry(name).or_default().push(found);
        }
    }

    /// Returns the type or the trait of an implementation, and the scope that it is evaluated in.
    pub(super) fn implementation_part(&self, site: Site, part: &str) -> Option<(ExpressionId, ScopeId)> {
        let facts = self.index.facts(site.file);
        let binding = facts.bindings_of(site.scope, facts.find_name(part)?).first()?;
        match binding.value {
            BindingValue::Value(value) => Some((value, binding.at)),
            _ => None,
        }
    }

    fn is_type_parameter(&self, site: Site, expression: ExpressionId) -> bool {
        let facts = self.index.facts(site.file);
        let ExpressionFact::TypeName(name) = facts.expression(expression) else { return false };
        let is_parameter = |binding: &BindingFact| matches!(binding.value, BindingValue::Default(_));
        facts.bindings_of(site.scope, name).iter().any(is_parameter)
    }

    /// Returns whether a trait of the project has a method of that name.
    pub(super) fn is_extension(&self, name: &str) -> bool {
        self.extensions.by_name.contains_key(name)
    }

    /// Returns the methods of that name that traits in scope add to a value whose own type has none; `None` if no trait
    /// does.
    pub(in crate::references) fn extension(
        &mut self,
        site: Site,
        object: &ValueSet,
        name: &str,
    ) -> Option<ValueSet> {
        let is_common = COMMON_MEMBERS.contains(&name)
            || COMMON_RUST_MEMBERS.contains(&name)
            || DELEGATED_RUST_MEMBERS.contains(&name);
        if is_common {
            return None;
        }
        let all = self.extensions.by_name.get(name)?.clone();
        if object.values.is_empty() && self.has_other_owner(name, &all) {
            return None;
        }
        let mut traits: Vec<DefinitionKey> = Vec::new();
        for extension in &all {
            if !traits.contains(&extension.of_trait) && self.is_trait_in_scope(site, extension.of_trait) {
                traits.push(extension.of_trait);
            }
        }
        let mut found = ValueSet::UNKNOWN;
        for of_trait in traits {
            let of_trait: Vec<Extension<'a>> =
                all.iter().copied().filter(|extension| extension.of_trait == of_trait).collect();
            for method in self.methods_for(object, &of_trait) {
                found.merge(ValueSet { values: vec![Value::Definition(method)], is_complete: false });
            }
        }
        (!found.values.is_empty()).then_some(found)
    }

    /// Returns whether a type of the project has another method of that name.
    fn has_other_owner(&self, name: &str, known: &[Extension<'a>]) -> bool {
        let all = self.index.by_name.get(name).map_or(&[][..], Vec::as_slice);
        all.iter().any(|key| {
            self.index.rules(key.file) == NameRules::Rust
                && self.index.definition(*key).kind == DefinitionKind::Function
                && self.index.owner(*key).is_some()
                && !known.iter().any(|extension| extension.method == *key)
        })
    }

    /// Returns those methods of one name and one trait that apply to a value.
    fn methods_for(&self, object: &ValueSet, of_trait: &[Extension<'a>]) -> Vec<DefinitionKey> {
        let with = |place: fn(ExtensionPlace<'a>) -> bool| -> Vec<DefinitionKey> {
            of_trait.iter().filter(|known| place(known.place)).map(|known| known.method).collect()
        };
        let declared = with(|place| place == ExtensionPlace::Trait);
        let any = with(|place| place == ExtensionPlace::Blanket);
        let Some(first) = of_trait.first() else { return Vec::new() };
        let implemented = self.extensions.implemented.get(&first.of_trait);
        let any_or_declared = if any.is_empty() { declared } else { any.clone() };
        let Some(value) = object.values.first() else {
            let foreign = with(|place| matches!(place, ExtensionPlace::Foreign(_)));
            return match (foreign.len(), any.len()) {
                // It is implemented only for types of the project.
                (0, 0) if implemented.is_some_and(FxHashSet::is_empty) => Vec::new(),
                (0, _) => any_or_declared,
                (1, 0) => foreign,
                // Several implementations, and nothing to choose one by.
                _ => foreign.into_iter().chain(any_or_declared).collect(),
            };
        };
        let Value::Generic { site, expression } = *value else {
            let is_for_any = implemented.is_some_and(|names| names.contains("*"));
            return if is_for_any { any_or_declared } else { Vec::new() };
        };
        let head = self.type_name(site.file, expression);
        let own: Vec<DefinitionKey> = of_trait
            .iter()
            .filter(|known| matches!(known.place, ExtensionPlace::Foreign(name) if is_same_type(head, name)))
            .map(|known| known.method)
            .collect();
        if !own.is_empty() {
            return own;
        }
        // If no implementation for such a type is known, a macro may generate it.
        let may_be = implemented
            .is_none_or(|names| names.contains("*") || names.iter().any(|name| is_same_type(head, name)));
        if may_be { any_or_declared } else { Vec::new() }
    }

    fn is_trait_in_scope(&mut self, site: Site, of_trait: DefinitionKey) -> bool {
        let facts = self.index.facts(site.file);
        let name = self.index.name(of_trait);
        // A name that the file does not contain has the same meaning in all of a module.
        let site = if facts.find_name(name).is_some() { site } else { self.module_around(site) };
        let key = (site, of_trait);
        if let Some(known) = self.traits_in_scope.get(&key) {
            return *known;
        }
        let is_named = self.rust_visible(site, name, Namespace::Types).contains(&Value::Definition(of_trait));
        let found = is_named || self.is_imported_without_name(site, of_trait);
        self.traits_in_scope.insert(key, found);
        found
    }

    /// Returns whether a trait is imported as `_`.
    fn is_imported_without_name(&mut self, mut site: Site, of_trait: DefinitionKey) -> bool {
        let facts = self.index.facts(site.file);
        let Some(unnamed) = facts.find_name("_") else { return false };
        loop {
            for binding in facts.bindings_of(site.scope, unnamed) {
                if let BindingValue::Import(import) = binding.value
                    && self.import(site.file, import).values.contains(&Value::Definition(of_trait))
                {
                    return true;
                }
            }
            if site.scope == 0 || facts.scope(site.scope).kind == ScopeKind::Module {
                return false;
            }
            site.scope = facts.scope(site.scope).parent.min(site.scope - 1);
        }
    }
}

/// Returns the functions that a scope binds, with their names.
fn functions_in(facts: &SourceFacts, scope: ScopeId) -> impl Iterator<Item = (&str, DefinitionId)> {
    let first = facts.bindings.partition_point(|binding| binding.scope < scope);
    let bindings = facts.bindings[first..].iter().take_while(move |binding| binding.scope == scope);
    bindings.filter_map(|binding| match binding.value {
        BindingValue::Definition(definition) => {
            let is_function = facts.definitions[definition as usize].kind == DefinitionKind::Function;
            is_function.then(|| (facts.name(binding.name), definition))
        }
        _ => None,
    })
}

/// Returns whether a value whose type has one name may be of the type with the other name.
pub(in crate::references) fn is_same_type(head: &str, implemented: &str) -> bool {
    head == implemented || head == ANY_INTEGER && is_integer(implemented)
}

fn is_integer(name: &str) -> bool {
    let digits = name.strip_prefix(['i', 'u']).unwrap_or_default();
    digits == "size" || !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
