//! Java: packages, imports, and names that are members of the enclosing types.
//!
//! A bare name is looked up in the enclosing blocks, in each enclosing type with what it inherits, among the imports of
//! single names, in the package, and in star imports. Methods have a namespace of their own (`run(2)`, see
//! `syntax/facts/java/reader.rs`), so that fields and locals do not hide them, and overloads with other numbers of
//! parameters are not candidates. A type that inherits from outside of the project may inherit the method too: a match
//! further out is then `likely`.

use crate::model::{BindingValue, ExpressionFact, ExpressionId, ImportFact, ScopeKind};
use crate::references::evaluation::Evaluator;
use crate::references::project::{DefinitionKey, FileId, Site, shared_prefix};
use crate::references::values::{Value, ValueSet};

impl Evaluator<'_> {
    /// Returns the possible meanings of a name without a receiver.
    pub(in crate::references) fn java_name(&mut self, site: Site, name: &str) -> ValueSet {
        let facts = self.index.facts(site.file);
        let is_method = name.ends_with(')');
        let is_type = name.starts_with(char::is_uppercase);
        let id = facts.find_name(name);
        let mut is_certain = true;
        let mut at = site.scope;
        while at != 0 {
            let around = facts.scope(at);
            let found = match (around.kind, around.definition) {
                (ScopeKind::Class, Some(definition)) => {
                    let (found, is_complete) =
                        self.find_member(DefinitionKey { file: site.file, definition }, name, 0);
                    is_certain &= is_complete || is_type || found.is_some();
                    found
                }
                _ if is_method => None,
                _ => {
                    let bindings = id.map_or(&[][..], |id| facts.bindings_of(at, id));
                    (!bindings.is_empty()).then(|| self.bound(site.file, bindings))
                }
            };
            if let Some(mut found) = found {
                found.is_complete &= is_certain;
                return found;
            }
            at = around.parent.min(at - 1);
        }
        let mut found = self.java_import_of(site.file, name, is_method);
        found.is_complete &= is_certain || found.values.is_empty();
        found
    }

    /// Returns the meaning of a name that no enclosing type has: an import, a type of the same package, or the first
    /// component of a package's name.
    fn java_import_of(&mut self, file: FileId, name: &str, is_method: bool) -> ValueSet {
        let facts = self.index.facts(file);
        let plain = name.split('(').next().unwrap_or(name);
        let bound = if is_method { facts.find_name(&format!("{plain}(*)")) } else { facts.find_name(name) };
        let bindings = bound.map_or(&[][..], |id| facts.bindings_of(0, id));
        if is_method {
            let mut found = ValueSet::FOREIGN;
            for binding in bindings {
                let BindingValue::Import(import) = binding.value else { continue };
                let Some(fact) = facts.imports.get(import as usize) else { continue };
                if let Some(class) = self.java_path(file, facts.name(fact.module)) {
                    found.merge(self.member(class, name));
                }
            }
            // A single-name import hides what star imports bring.
            if !found.values.is_empty() || !bindings.is_empty() {
                return found;
            }
        } else if !bindings.is_empty() {
            return self.bound(file, bindings);
        }
        for import in facts.imports.iter().filter(|import| import.is_star) {
            let module = facts.name(import.module);
            let Some(value) = self.java_path(file, module) else { continue };
            let found = match value {
                Value::Package(_) if is_method => continue,
                Value::Package(package) => self.java_type_in(file, package, name),
                other => self.member(other, name),
            };
            if !found.values.is_empty() {
                return found;
            }
        }
        match self.modules.java.ids.get(name) {
            Some(package) if !name.is_empty() => ValueSet::one(Value::Package(*package)),
            _ => ValueSet::FOREIGN,
        }
    }

    /// Returns the type or the package that a dotted name means.
    fn java_path(&mut self, file: FileId, path: &str) -> Option<Value> {
        if let Some(package) = self.modules.java.ids.get(path) {
            return Some(Value::Package(*package));
        }
        let (outer, name) = path.rsplit_once('.')?;
        let outer = self.java_path(file, outer)?;
        let found = match outer {
            Value::Package(package) => self.java_type_in(file, package, name),
            other => self.member(other, name),
        };
        found.values.first().copied()
    }

    /// Returns a type of a package: of several with one name, those in the folders nearest to the file.
    fn java_type_in(&mut self, file: FileId, package: u32, name: &str) -> ValueSet {
        let types = &self.modules.java.packages[package as usize].1;
        let Some(candidates) = types.get(name) else { return ValueSet::FOREIGN };
        let path = &self.index.file(file).path;
        let near = |key: &DefinitionKey| shared_prefix(&self.index.file(key.file).path, path);
        let best = candidates.iter().map(near).max().unwrap_or_default();
        let nearest = candidates.iter().filter(|key| near(key) == best);
        ValueSet {
            values: nearest.take(4).map(|key| Value::Definition(*key)).collect(),
            is_complete: candidates.len() == 1,
        }
    }

    /// Returns a member of a package: a type, or a package in it.
    pub(in crate::references) fn java_member_of_package(&mut self, package: u32, name: &str) -> ValueSet {
        let found = self.java_type_in(0, package, name);
        if !found.values.is_empty() {
            return found;
        }
        let inner = format!("{}.{name}", self.modules.java.packages[package as usize].0);
        let inner = self.modules.java.ids.get(&inner);
        inner.map_or(ValueSet::FOREIGN, |inner| ValueSet::one(Value::Package(*inner)))
    }

    /// Returns the meaning of a single-name import: a type, or a static member of one.
    pub(in crate::references) fn java_import(&mut self, file: FileId, import: &ImportFact) -> ValueSet {
        let facts = self.index.facts(file);
        let module = self.java_path(file, facts.name(import.module));
        match (module, import.name) {
            (Some(Value::Package(package)), Some(name)) => self.java_type_in(file, package, facts.name(name)),
            (Some(class), Some(name)) => self.member(class, facts.name(name)),
            _ => ValueSet::FOREIGN,
        }
    }

    /// Returns the result of a call. The expression is the callee, applied to its arguments.
    pub(in crate::references) fn java_called(&mut self, site: Site, function: ExpressionId) -> ValueSet {
        let facts = self.index.facts(site.file);
        let typed = self.java_returned(site, function);
        let found = self.java_value(typed);
        if !found.is_unknown() {
            return found;
        }
        let (.., function) = self.generic_parts(site.file, function);
        if let ExpressionFact::Member(object, method) = facts.expression(function) {
            let object = self.value(site, object);
            if object.values.iter().any(|value| matches!(value, Value::Generic { .. })) {
                let method = facts.name(method);
                return object.flat_map(|object| self.call_of_container(object, method));
            }
        }
        let callee = self.value(site, function);
        if callee.values.is_empty() {
            return ValueSet::UNKNOWN;
        }
        if let Some(found) = self.java_self_typed(site, function, &callee) {
            return found;
        }
        callee.flat_map(|callee| self.call(callee))
    }

    /// Returns the result of a method whose return type is the `T` of `class A<T extends A<T>>`: the value that it is
    /// called on.
    pub(super) fn java_self_typed(
        &mut self,
        site: Site,
        function: ExpressionId,
        callee: &ValueSet,
    ) -> Option<ValueSet> {
        let [Value::Definition(method)] = callee.values[..] else { return None };
        if !self.returns_self_type(method) {
            return None;
        }
        if let ExpressionFact::Member(object, _) = self.index.facts(site.file).expression(function) {
            let mut object = self.value(site, object);
            object.values.retain(|value| matches!(value, Value::Instance(_)));
            if !object.values.is_empty() {
                return Some(object);
            }
        }
        let mut found = self.returned(method);
        found.is_complete = false;
        Some(found)
    }

    fn returns_self_type(&mut self, method: DefinitionKey) -> bool {
        let (facts, fact) = (self.index.facts(method.file), self.index.definition(method));
        let Some(ExpressionFact::Name(name)) = fact.returns.first().map(|found| facts.expression(*found))
        else {
            return false;
        };
        let is_own = fact.body.is_some_and(|body| !facts.bindings_of(body, name).is_empty());
        let Some(owner) = self.index.owner(method).filter(|_| !is_own) else { return false };
        facts.bindings_of(fact.scope, name).iter().any(|binding| match binding.value {
            BindingValue::Value(bound) => {
                self.value(method.at(binding.at), bound).values.contains(&Value::Definition(owner))
            }
            _ => false,
        })
    }

    /// Returns the result of a method of a container of another project.
    pub(in crate::references) fn java_container_call(
        &mut self,
        site: Site,
        expression: ExpressionId,
        method: &str,
    ) -> ValueSet {
        let (_, arguments, _) = self.generic_parts(site.file, expression);
        let argument = match method.split('(').next().unwrap_or_default() {
            "getKey" => arguments.first(),
            "get" | "next" | "previous" | "poll" | "peek" | "pop" | "remove" | "first" | "last"
            | "getFirst" | "getLast" | "take" | "element" | "orElse" | "orElseThrow" | "orElseGet"
            | "getValue" | "getOrDefault" | "computeIfAbsent" | "putIfAbsent" => arguments.last(),
            "iterator" | "listIterator" | "stream" | "values" | "filter" | "sorted" | "subList" => {
                return ValueSet::one(Value::Generic { site, expression });
            }
            _ => None,
        };
        argument.map_or(ValueSet::UNKNOWN, |argument| self.instance(site, *argument))
    }
}
