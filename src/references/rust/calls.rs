//! Rust: the results of calls of methods, closures and macros, and the implementation that a call means by its first
//! argument.

use super::extensions::is_same_type;
use crate::model::{
    ANY_INTEGER, BindingValue, DefinitionFlags, DefinitionKind, ExpressionFact, ExpressionId,
    IMPLEMENTED_TRAIT, IMPLEMENTED_TYPE, ScopeKind, UseFact,
};
use crate::references::evaluation::Evaluator;
use crate::references::project::{DefinitionKey, FileId, NameRules, Site};
use crate::references::values::{Value, ValueSet};

/// A type, as far as implementations for it can be distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TypeKind<'a> {
    Own(DefinitionKey),
    Foreign(&'a str),
}

impl<'a> Evaluator<'a> {
    /// Like [`Self::call_expression`], evaluated once: in a chain of calls, each is part of the next.
    pub(in crate::references) fn call_of_rust(&mut self, site: Site, function: ExpressionId) -> ValueSet {
        let key = (site, function);
        if let Some(known) = self.calls.get(&key) {
            return known.clone();
        }
        let cuts = self.cuts;
        let found = self.call_expression(site, function);
        // A result that was found on the way to something else, or with too little depth, may be incomplete because of
        // that.
        if self.open == 0 && self.open_globs.is_empty() && self.cuts == cuts {
            self.calls.insert(key, found.clone());
        }
        found
    }

    /// Returns the result of a method call.
    pub(in crate::references) fn call_of_rust_method(
        &mut self,
        site: Site,
        function: ExpressionId,
        object: ValueSet,
        method: &str,
    ) -> ValueSet {
        let is_plain = object.values.iter().all(|value| self.is_plain_of_rust(*value));
        let found = if is_plain {
            ValueSet::UNKNOWN
        } else {
            object.clone().flat_map(|object| self.rust_method(object, method))
        };
        if found != ValueSet::UNKNOWN {
            return found;
        }
        let extended = if self.is_extension(method) { self.extension(site, &object, method) } else { None };
        if let Some(extended) = extended.filter(|extended| extended.values.len() == 1) {
            return extended.flat_map(|method| self.call(method));
        }
        if !is_plain {
            return found;
        }
        if method == "clone" && !object.values.is_empty() {
            return object;
        }
        let foreign = ValueSet { values: Vec::new(), is_complete: object.is_complete };
        self.foreign_method(site.file, function, &foreign, method)
    }

    /// Returns the result of awaiting a value of one of the project's types.
    pub(in crate::references) fn awaited(&mut self, object: Value) -> ValueSet {
        let (Value::Instance(key) | Value::Definition(key)) = object else { return ValueSet::one(object) };
        let scopes = self.modules.implementations.get(&key).cloned().unwrap_or_default();
        for site in scopes {
            let Some((added, _)) = self.implementation_part(site, IMPLEMENTED_TRAIT) else { continue };
            if matches!(self.type_name(site.file, added), "IntoFuture" | "Future")
                && let Some(output) = self.bound_in(site, "Output")
            {
                return output.flat_map(|output| self.instance_of_value(output));
            }
        }
        ValueSet::one(object)
    }

    /// Returns the result of calling a closure.
    pub(in crate::references) fn call_of_closure(
        &mut self,
        site: Site,
        expression: ExpressionId,
    ) -> ValueSet {
        match self.generic_parts(site.file, expression) {
            ("||", arguments, _) => self.value(site, arguments.first().copied().unwrap_or(0)),
            _ => ValueSet::UNKNOWN,
        }
    }

    /// Returns the result of a macro call, as far as the macro's rules show it.
    pub(in crate::references) fn value_of_macro(&mut self, file: FileId, name: &str) -> ValueSet {
        let mut found = ValueSet::UNKNOWN;
        for key in self.macros_by_name(file, name) {
            let fact = self.index.definition(key);
            for value in &fact.bases {
                let value = self.value(key.at(fact.scope), *value);
                found.merge(ValueSet { is_complete: false, ..value });
            }
        }
        found
    }

    /// Returns the receiver of a method that is added to a type of another project.
    pub(in crate::references) fn foreign_receiver(&mut self, mut site: Site) -> ValueSet {
        let facts = self.index.facts(site.file);
        if self.index.rules(site.file) != NameRules::Rust {
            return ValueSet::UNKNOWN;
        }
        while facts.scope(site.scope).kind != ScopeKind::Implementation {
            if site.scope == 0 {
                return ValueSet::UNKNOWN;
            }
            site.scope = facts.scope(site.scope).parent.min(site.scope - 1);
        }
        match self.implementation_part(site, IMPLEMENTED_TYPE) {
            Some((implemented, at)) => self.instance(site.at(at), implemented),
            None => ValueSet::UNKNOWN,
        }
    }

    /// Returns whether a value is of another project's type without arguments.
    pub(in crate::references) fn is_plain_of_rust(&self, value: Value) -> bool {
        let Value::Generic { site, expression } = value else { return false };
        self.index.rules(site.file) == NameRules::Rust
            && !matches!(self.index.facts(site.file).expression(expression), ExpressionFact::Apply(..))
    }

    /// Returns whether a Rust expression is a tuple, an array or a closure, whose parts are values.
    pub(in crate::references) fn is_rust_aggregate(&self, file: FileId, expression: ExpressionId) -> bool {
        let facts = self.index.facts(file);
        let root = self.generic_root(file, expression);
        self.index.rules(file) == NameRules::Rust
            && match facts.expression(root) {
                ExpressionFact::TypeName(name) => matches!(facts.name(name), "[]" | "||"),
                _ => root == 0,
            }
    }

    /// Returns whether a declared type is a Rust primitive.
    pub(in crate::references) fn is_primitive_of_rust(&self, file: FileId, declared: ExpressionId) -> bool {
        let facts = self.index.facts(file);
        let ExpressionFact::TypeName(name) = facts.expression(declared) else { return false };
        let name = facts.name(name);
        name.starts_with(|first: char| first.is_ascii_lowercase() || matches!(first, '{' | '('))
            && self.index.rules(file) == NameRules::Rust
            && (PRIMITIVES.contains(&name) || name == ANY_INTEGER)
    }

    /// Returns whether a declared Rust type is a name or a path.
    pub(in crate::references) fn is_type_name_of_rust(&self, file: FileId, declared: ExpressionId) -> bool {
        let declared = self.index.facts(file).expression(declared);
        self.index.rules(file) == NameRules::Rust
            && matches!(declared, ExpressionFact::TypeName(_) | ExpressionFact::Member(..))
    }

    /// Returns whether a type may have the members of a base: of the derives of a Rust type, only traits count.
    pub(in crate::references) fn may_inherit(&self, key: DefinitionKey, base: DefinitionKey) -> bool {
        let fact = self.index.definition(key);
        self.index.rules(key.file) != NameRules::Rust
            || fact.flags.has(DefinitionFlags::PROTOTYPE)
            || self.index.definition(base).kind != DefinitionKind::Class
    }

    /// Returns the second argument of an alias of `Result`, where a use of it has only one.
    pub(in crate::references) fn error_of_alias(&mut self, site: Site, expression: ExpressionId) -> ValueSet {
        let generic = self.generic_root(site.file, expression);
        self.value(site, generic).flat_map(|alias| match alias {
            Value::Definition(key) if self.index.definition(key).kind == DefinitionKind::Alias => {
                let fact = self.index.definition(key);
                let target = fact.bases.first().copied().unwrap_or(0);
                let declared = self.generic_parts(key.file, target).1.get(1).copied();
                match fact.bases.get(1).copied().or(declared) {
                    Some(error) => self.instance(key.at(fact.scope), error),
                    None => ValueSet::UNKNOWN,
                }
            }
            _ => ValueSet::UNKNOWN,
        })
    }

    /// Returns whether an alias is a `Result` or an `Option` of its own argument.
    pub(super) fn is_result_alias(&self, alias: Value) -> bool {
        let Value::Definition(key) = alias else { return false };
        let Some(target) = self.index.definition(key).bases.first() else { return false };
        let (name, arguments, _) = self.generic_parts(key.file, *target);
        let facts = self.index.facts(key.file);
        let is_parameter = arguments.first().is_some_and(|first| match facts.expression(*first) {
            ExpressionFact::TypeName(name) => facts.name(name).len() == 1,
            _ => false,
        });
        is_parameter && (name.ends_with("Result") || name == "Option")
    }

    /// Returns those members of the receiver's own type that a call may mean: by its first argument, or by the traits
    /// in scope.
    pub(in crate::references) fn rust_members(
        &mut self,
        file: FileId,
        usage: &UseFact,
        members: ValueSet,
    ) -> ValueSet {
        let is_call = usage.is_call && self.index.rules(file) == NameRules::Rust;
        let Some(receiver) = usage.receiver.filter(|_| is_call) else { return members };
        let facts = self.index.facts(file);
        let site = Site { file, scope: usage.scope };
        let name = facts.name(usage.name);
        let (path, argument) = match facts.expression(receiver) {
            ExpressionFact::Apply(path, argument) => (path, Some(argument)),
            _ => (receiver, None),
        };
        if let Some(argument) = argument
            && let Some(found) = self.by_argument(site, [path, argument], name, &members)
        {
            return found;
        }
        if !members.values.is_empty() || !self.is_extension(name) {
            return members;
        }
        let mut object = self.value(site, path);
        if object == ValueSet::FOREIGN && self.is_type_name_of_rust(file, path) {
            object = ValueSet::one(Value::Generic { site, expression: path });
        }
        self.extension(site, &object, name).unwrap_or(members)
    }

    /// Returns the function of the implementation that the first argument determines: of several of `From`, or of a
    /// named trait.
    fn by_argument(
        &mut self,
        site: Site,
        [path, argument]: [ExpressionId; 2],
        name: &str,
        members: &ValueSet,
    ) -> Option<ValueSet> {
        // Most functions have only one candidate type, and need no argument to be chosen.
        if let [Value::Definition(key)] = members.values.as_slice() {
            let of_trait = self
                .index
                .owner(*key)
                .is_some_and(|owner| self.index.definition(owner).kind == DefinitionKind::Interface);
            if !of_trait {
                return None;
            }
        }
        let owner = self.value(site, path);
        let is_trait = owner.values.iter().any(|value| match value {
            Value::Definition(key) => self.index.definition(*key).kind == DefinitionKind::Interface,
            _ => false,
        });
        let is_foreign = owner == ValueSet::FOREIGN;
        if !is_trait && !is_foreign && members.values.len() < 2 {
            return None;
        }
        let argument = self.value(site, argument);
        let kinds = self.kinds_of(&argument);
        if kinds.is_empty() {
            return None;
        }
        let mut found = Vec::new();
        if is_trait || is_foreign {
            let trait_name = self.type_name(site.file, path);
            for kind in &kinds {
                if let TypeKind::Own(key) = kind {
                    found.extend(self.implemented_by(*key, trait_name, name));
                }
            }
        }
        let mut functions = Vec::new();
        for value in &owner.values {
            if let Value::Definition(key) = value {
                functions.extend(self.functions_of(*key, name));
            }
        }
        if is_foreign {
            functions.extend(self.conversions(self.type_name(site.file, path), name));
        }
        if !is_trait && found.is_empty() {
            for key in functions {
                if let Some(given) = self.trait_argument(key)
                    && kinds.iter().any(|kind| given.iter().any(|given| is_kind(*kind, *given)))
                {
                    found.push(Value::Definition(key));
                }
            }
        }
        (found.len() == 1).then_some(ValueSet { values: found, is_complete: false })
    }

    /// Returns the functions of that name in all implementations of a type.
    fn functions_of(&self, key: DefinitionKey, name: &str) -> Vec<DefinitionKey> {
        let bound = self.bound_in_implementations(key, name).into_iter();
        let functions = bound.flat_map(|(site, bindings)| {
            bindings.iter().filter_map(move |binding| match binding.value {
                BindingValue::Definition(definition) => Some(DefinitionKey { file: site.file, definition }),
                _ => None,
            })
        });
        functions.collect()
    }

    /// Returns a member of a type's implementation of a trait.
    fn implemented_by(&mut self, key: DefinitionKey, trait_name: &str, name: &str) -> Vec<Value> {
        let scopes = self.modules.implementations.get(&key).cloned().unwrap_or_default();
        let mut found = Vec::new();
        for site in scopes {
            let added = self.implementation_part(site, IMPLEMENTED_TRAIT);
            if added.is_some_and(|(added, _)| self.type_name(site.file, added) == trait_name)
                && let Some(bound) = self.bound_in(site, name)
            {
                found.extend(bound.values);
            }
        }
        found
    }

    /// Returns the first argument of the trait that the implementation around a function implements: `A` of `From<A>`.
    fn trait_argument(&mut self, function: DefinitionKey) -> Option<Vec<TypeKind<'a>>> {
        let scope = self.index.definition(function).scope;
        let (added, at) = self.implementation_part(function.at(scope), IMPLEMENTED_TRAIT)?;
        let first = *self.generic_parts(function.file, added).1.first()?;
        let given = self.instance(function.at(at), first);
        Some(self.kinds_of(&given))
    }

    fn kinds_of(&self, values: &ValueSet) -> Vec<TypeKind<'a>> {
        let kind = |value: &Value| match *value {
            Value::Instance(key) | Value::Definition(key) => Some(TypeKind::Own(self.whole_type(key))),
            Value::Generic { site, expression } => {
                Some(TypeKind::Foreign(self.type_name(site.file, expression)))
            }
            _ => None,
        };
        values.values.iter().filter_map(kind).collect()
    }

    /// Returns the enum of a variant, and any other type unchanged.
    fn whole_type(&self, key: DefinitionKey) -> DefinitionKey {
        let is_part = self.index.definition(key).flags.has(DefinitionFlags::PROTOTYPE);
        self.index.owner(key).filter(|_| is_part).unwrap_or(key)
    }
}

fn is_kind(kind: TypeKind<'_>, given: TypeKind<'_>) -> bool {
    match (kind, given) {
        (TypeKind::Foreign(kind), TypeKind::Foreign(given)) => is_same_type(kind, given),
        _ => kind == given,
    }
}

const PRIMITIVES: [&str; 18] = [
    "()", "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
    "u32", "u64", "u128", "usize",
];
