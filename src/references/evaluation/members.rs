//! Members of types, of what they inherit, and of modules.

use super::evaluate::Evaluator;
use super::modules::is_other_name;
use crate::model::{
    BindingFact, BindingValue, DefinitionFlags, DefinitionKind, ExpressionFact, ExpressionId,
    IMPLEMENTED_TRAIT, PARAMETER_TYPES, ScopeKind,
};
use crate::references::project::{DefinitionKey, FileId, NameRules, Site};
use crate::references::values::{Value, ValueSet};

/// The maximum number of bases that are considered.
const MAX_BASES: usize = 64;

impl<'a> Evaluator<'a> {
    /// Returns the result of reading an attribute of a value.
    pub(in crate::references) fn attribute(&mut self, object: Value, name: &str) -> ValueSet {
        let found = self.member(object, name);
        if !matches!(object, Value::Instance(_) | Value::Super(_)) {
            return found;
        }
        found.flat_map(|member| match member {
            Value::Definition(key) if self.index.definition(key).flags.has(DefinitionFlags::PROPERTY) => {
                if self.is_python(key.file) {
                    self.call_on(object, member)
                } else {
                    self.returned(key)
                }
            }
            _ => ValueSet::one(member),
        })
    }

    /// Returns the members of that name; for a property, the function that computes it.
    pub(in crate::references) fn member(&mut self, object: Value, name: &str) -> ValueSet {
        match object {
            Value::Instance(key) => self.member_of_type(key, name, 0),
            Value::Super(key) => self.member_of_type(key, name, 1),
            Value::Definition(key) => match self.index.definition(key).kind {
                DefinitionKind::Class | DefinitionKind::Interface => self.member_of_type(key, name, 0),
                DefinitionKind::Module => match self.member_of_object(key, name) {
                    Some(found) => found,
                    None => self.member_of_scope(key, name),
                },
                DefinitionKind::Alias => {
                    let target = self.alias(key);
                    target.flat_map(|target| match target {
                        Value::Definition(inner) if inner == key => ValueSet::UNKNOWN,
                        _ => self.deeper(|evaluator| evaluator.member(target, name)),
                    })
                }
                DefinitionKind::Function => {
                    if let Some(found) = self.member_of_object(key, name) {
                        return found;
                    }
                    let decorated = self.decorated(key);
                    decorated.flat_map(|value| self.deeper(|evaluator| evaluator.member(value, name)))
                }
                DefinitionKind::Macro => ValueSet::UNKNOWN,
            },
            Value::Module(file) => self.member_of_module(Site { file, scope: 0 }, name),
            Value::Folder(folder) => self.member_of_folder(folder, name),
            Value::Namespace(namespace) => self.cpp_member(0, namespace, name),
            Value::Package(package) => self.java_member_of_package(package, name),
            // In Java, a value of another project's type has only members of that project.
            Value::Generic { site, .. } if self.index.rules(site.file) == NameRules::Java => {
                ValueSet::FOREIGN
            }
            Value::Generic { site, .. } | Value::Entries { site, .. }
                if self.index.rules(site.file) == NameRules::Cpp =>
            {
                self.cpp_pair_member(object, name)
            }
            Value::Generic { .. } if self.is_display(object) || self.is_plain_of_rust(object) => {
                ValueSet::FOREIGN
            }
            Value::Generic { .. } => match self.definition_of_type(object) {
                Some(definitions) => definitions.flat_map(|definition| match definition {
                    Value::Definition(_) => self.member(definition, name),
                    _ => ValueSet::UNKNOWN,
                }),
                None => ValueSet::UNKNOWN,
            },
            Value::Entries { .. } => ValueSet::FOREIGN,
        }
    }

    fn member_of_scope(&mut self, key: DefinitionKey, name: &str) -> ValueSet {
        let Some(body) = self.index.definition(key).body else { return ValueSet::UNKNOWN };
        self.member_of_module(key.at(body), name)
    }

    /// Returns the bindings of a name in a scope of a file.
    pub(in crate::references) fn bound_in(&mut self, site: Site, name: &str) -> Option<ValueSet> {
        let facts = self.index.facts(site.file);
        let id = facts.find_name(name)?;
        let bindings = facts.bindings_of(site.scope, id);
        (!bindings.is_empty()).then(|| self.bound(site.file, bindings))
    }

    pub(in crate::references) fn member_of_type(
        &mut self,
        key: DefinitionKey,
        name: &str,
        skipped: usize,
    ) -> ValueSet {
        match self.find_member(key, name, skipped) {
            (Some(found), _) => found,
            (None, true) => ValueSet::FOREIGN,
            (None, false) => ValueSet::UNKNOWN,
        }
    }

    /// Returns the members of that name of a type and of what it inherits, and whether there can be no others.
    pub(in crate::references) fn find_member(
        &mut self,
        key: DefinitionKey,
        name: &str,
        skipped: usize,
    ) -> (Option<ValueSet>, bool) {
        let (types, is_complete) = self.linearization(key);
        for ancestor in types.iter().skip(skipped) {
            if let Some(mut found) = self.own_member(*ancestor, name) {
                // Without parameters there is nothing to overload.
                let is_overloadable = name.ends_with(')') && !name.ends_with("(0)");
                if is_overloadable && self.own_member(*ancestor, &format!("{name}!")).is_none() {
                    // A Java method without `@Override` may overload inherited methods of the same name.
                    let rest = types.iter().skip_while(|other| *other != ancestor).skip(1);
                    for other in rest {
                        let inherited = self.inherited_overloads(*other, name, &found);
                        found.merge(inherited);
                    }
                }
                if self.is_python(ancestor.file) && !self.is_informative(&found) {
                    let inherited = self.inherited_attribute(&types, *ancestor, name);
                    found = inherited.unwrap_or(found);
                }
                if found.values.is_empty() && *ancestor != key && self.is_python(ancestor.file) {
                    let here = self.attribute_on(key, *ancestor, name);
                    found = here.filter(|here| !here.values.is_empty()).unwrap_or(found);
                }
                if self.is_python(ancestor.file) && self.is_plain_method(&found) {
                    found = self.with_assignments_of_bases(found, &types, *ancestor, name);
                }
                return (Some(found), is_complete);
            }
        }
        // A variadic Java method.
        if let Some(plain) = name.strip_suffix(')').and_then(|name| name.split_once('(')).map(|parts| parts.0)
        {
            let variable = format!("{plain}(..)");
            for ancestor in types.iter().skip(skipped) {
                if let Some(found) = self.own_member(*ancestor, &variable) {
                    return (Some(found), is_complete);
                }
            }
        }
        let is_dynamic =
            types.iter().any(|known| self.index.definition(*known).flags.has(DefinitionFlags::DYNAMIC));
        (None, is_complete && !is_dynamic)
    }

    /// Returns the value of an attribute in the ancestors after `behind`, if they reveal more than its existence.
    fn inherited_attribute(
        &mut self,
        types: &[DefinitionKey],
        behind: DefinitionKey,
        name: &str,
    ) -> Option<ValueSet> {
        let rest = types.iter().skip_while(|other| **other != behind).skip(1);
        let found: Vec<ValueSet> = rest.filter_map(|other| self.own_member(*other, name)).collect();
        let mut found = found.into_iter();
        // The attribute replaces a method of that name.
        found.find(|found| {
            let is_method = |value: &Value| matches!(value, Value::Definition(_));
            self.is_informative(found) && !found.values.iter().any(is_method)
        })
    }

    fn is_plain_method(&self, found: &ValueSet) -> bool {
        let [Value::Definition(key)] = found.values[..] else { return false };
        let fact = self.index.definition(key);
        fact.kind == DefinitionKind::Function && !fact.flags.has(DefinitionFlags::PROPERTY)
    }

    /// Adds the values that the methods of bases assign to an attribute of `self`, which hide a method of a derived
    /// class.
    fn with_assignments_of_bases(
        &mut self,
        mut found: ValueSet,
        types: &[DefinitionKey],
        behind: DefinitionKey,
        name: &str,
    ) -> ValueSet {
        for base in types.iter().skip_while(|other| **other != behind).skip(1) {
            let facts = self.index.facts(base.file);
            let (Some(body), Some(name)) = (self.index.definition(*base).body, facts.find_name(name)) else {
                continue;
            };
            for (at, binding) in (0..).zip(facts.bindings_of(body, name)) {
                if facts.scope(binding.at).kind == ScopeKind::Function {
                    found.merge(self.binding(base.file, binding, at));
                }
            }
        }
        found
    }

    /// Returns whether a member of a Python module or type is another name for its value: `Old = New`.
    pub(in crate::references) fn is_alias_member(&mut self, object: Value, name: &str) -> bool {
        let scopes: Vec<Site> = match object {
            Value::Module(file) => vec![Site { file, scope: 0 }],
            Value::Instance(key) | Value::Definition(key) | Value::Super(key) => {
                let (types, _) = self.linearization(key);
                let bodies = types.into_iter().filter_map(|key| {
                    let body = self.index.definition(key).body?;
                    Some(key.at(body))
                });
                bodies.collect()
            }
            _ => Vec::new(),
        };
        let bindings = scopes.into_iter().find_map(|site| {
            let facts = self.index.facts(site.file);
            let bindings = facts.bindings_of(site.scope, facts.find_name(name)?);
            (!bindings.is_empty()).then_some((facts, bindings))
        });
        bindings.is_some_and(|(facts, bindings)| {
            bindings.iter().any(|binding| {
                is_other_name(facts, binding) || matches!(binding.value, BindingValue::Import(_))
            })
        })
    }

    /// Returns whether values are more specific than just any values, or a container of unknown elements.
    fn is_informative(&self, found: &ValueSet) -> bool {
        found.values.iter().any(|value| !self.is_display(*value))
            || found.values.is_empty() && found.is_complete
    }

    /// Returns the methods of that name that a Java type passes on in addition to those found nearer: without private
    /// ones, and without those with parameters of the same types, which are overridden.
    fn inherited_overloads(&mut self, key: DefinitionKey, name: &str, nearer: &ValueSet) -> ValueSet {
        let mut found = self.own_member(key, name).unwrap_or(ValueSet::FOREIGN);
        found.values.retain(|value| {
            let Value::Definition(method) = value else { return false };
            let types = self.parameter_types(*method);
            let is_overridden = nearer.values.iter().any(|other| match other {
                Value::Definition(other) => types.is_some() && types == self.parameter_types(*other),
                _ => false,
            });
            !is_overridden && !self.index.definition(*method).flags.has(DefinitionFlags::PRIVATE)
        });
        found
    }

    /// Returns the names of the types of a method's parameters, if it has any.
    fn parameter_types(&self, method: DefinitionKey) -> Option<&str> {
        let facts = self.index.facts(method.file);
        let body = self.index.definition(method).body?;
        let binding = facts.bindings_of(body, facts.find_name(PARAMETER_TYPES)?).first()?;
        match binding.value {
            BindingValue::Value(types) => match facts.expression(types) {
                ExpressionFact::Name(types) => Some(facts.name(types)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the type's own binding of the name, in its body or in one of its implementations.
    fn own_member(&mut self, key: DefinitionKey, name: &str) -> Option<ValueSet> {
        if self.index.rules(key.file) == NameRules::Rust {
            return self.own_member_of_rust(key, name);
        }
        let definition = self.index.definition(key);
        if let Some(body) = definition.body.filter(|_| definition.kind != DefinitionKind::Function)
            && let Some(found) = self.bound_in(key.at(body), name)
        {
            let is_cpp = self.index.rules(key.file) == NameRules::Cpp;
            return Some(if is_cpp { self.cpp_whole_types(found) } else { found });
        }
        let implementations = self.bound_in_implementations(key, name);
        // In Go, each file may have the method for one system.
        let count = if self.index.rules(key.file) == NameRules::Go { implementations.len() } else { 1 };
        let mut bound = implementations.into_iter().take(count);
        let (first, bindings) = bound.next()?;
        let mut found = self.bound(first.file, bindings);
        for (site, bindings) in bound {
            found.merge(self.bound(site.file, bindings));
        }
        Some(found)
    }

    /// Like [`Self::own_member`] for Rust: members of a struct or an enum come before those of traits, and a field is
    /// not a member.
    fn own_member_of_rust(&mut self, key: DefinitionKey, name: &str) -> Option<ValueSet> {
        let definition = self.index.definition(key);
        if let Some(body) = definition.body {
            let facts = self.index.facts(key.file);
            let bindings = facts.find_name(name).map_or(&[][..], |name| facts.bindings_of(body, name));
            let is_member = |binding: &BindingFact| {
                matches!(binding.value, BindingValue::Definition(_))
                    || definition.kind == DefinitionKind::Interface
            };
            if bindings.iter().any(is_member) {
                return Some(self.bound(key.file, bindings));
            }
        }
        let (mut own, mut of_traits) = (None::<ValueSet>, None::<ValueSet>);
        for (site, bindings) in self.bound_in_implementations(key, name) {
            let found = self.bound(site.file, bindings);
            let facts = self.index.facts(site.file);
            let is_of_trait = facts
                .find_name(IMPLEMENTED_TRAIT)
                .is_some_and(|name| !facts.bindings_of(site.scope, name).is_empty());
            let place = if is_of_trait { &mut of_traits } else { &mut own };
            match place {
                Some(known) => known.merge(found),
                None => *place = Some(found),
            }
        }
        own.or(of_traits)
    }

    /// Returns the bindings of a name in the implementations of a type, each with its scope.
    pub(in crate::references) fn bound_in_implementations(
        &self,
        key: DefinitionKey,
        name: &str,
    ) -> Vec<(Site, &'a [BindingFact])> {
        let implementations = self.modules.implementations.get(&key).map_or(&[][..], Vec::as_slice);
        let mut found = Vec::new();
        // Implementations in one file are consecutive.
        for of_file in implementations.chunk_by(|one, other| one.file == other.file) {
            let Some(first) = of_file.first() else { continue };
            let facts = self.index.facts(first.file);
            let Some(name) = facts.find_name(name) else { continue };
            for site in of_file {
                let bindings = facts.bindings_of(site.scope, name);
                if !bindings.is_empty() {
                    found.push((*site, bindings));
                }
            }
        }
        found
    }

    /// Returns a type and what it inherits, nearest first, and whether all of that is in the project.
    pub(in crate::references) fn linearization(&mut self, key: DefinitionKey) -> (Vec<DefinitionKey>, bool) {
        if let Some(known) = self.linear.get(&key) {
            return known.clone();
        }
        self.linear.insert(key, (vec![key], false));
        self.open += 1;
        let fact = self.index.definition(key);
        let (mut types, mut is_complete) = (vec![key], true);
        let own = fact.bases.iter().map(|base| (key.at(fact.scope), *base));
        let mut bases: Vec<(Site, ExpressionId)> = own.collect();
        bases.extend(self.modules.extra_bases.get(&key).into_iter().flatten());
        for (site, base) in bases.into_iter().take(MAX_BASES) {
            let found = self.value(site, base);
            let is_plain = self.is_plain_base(site.file, base);
            is_complete &= found.is_complete && !found.values.is_empty() || is_plain;
            for value in found.values {
                let Value::Definition(base) = value else {
                    is_complete &= is_plain;
                    continue;
                };
                if !self.may_inherit(key, base) {
                    continue;
                }
                let (inherited, is_known) = self.linearization(base);
                is_complete &= is_known;
                // A base that several types share comes after all of them.
                types.retain(|known| !inherited.contains(known));
                types.extend(inherited);
                types.truncate(MAX_BASES);
            }
        }
        self.open -= 1;
        self.linear.insert(key, (types.clone(), is_complete));
        (types, is_complete)
    }

    /// Returns whether a base adds no members that the project could define otherwise.
    fn is_plain_base(&self, file: FileId, base: u32) -> bool {
        let name = self.type_name(file, base);
        matches!(
            name,
            "object" | "Generic" | "Protocol" | "ABC" | "Exception" | "NamedTuple" | "Enum" | "TypedDict"
        )
    }
}
