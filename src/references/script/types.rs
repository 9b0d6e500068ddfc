//! TypeScript: types of functions, parameters whose types depend on where a function is passed, and types that are
//! computed from others.

use crate::model::{
    BindingFact, BindingValue, CALL_SIGNATURE, DefinitionKind, ExpressionFact, ExpressionId, FUNCTION_TYPE,
    PARAMETER_TYPES, REST_TYPE, TYPE_OF_VALUE,
};
use crate::references::evaluation::Evaluator;
use crate::references::lookup::CONTAINERS;
use crate::references::project::{DefinitionKey, FileId, NameRules, Site};
use crate::references::values::{Value, ValueSet};

impl Evaluator<'_> {
    pub(in crate::references) fn is_script(&self, file: FileId) -> bool {
        self.index.rules(file) == NameRules::Script
    }

    /// Returns the parameter of a function or the part of a tuple at a position.
    pub(in crate::references) fn script_part(
        &mut self,
        site: Site,
        whole: ExpressionId,
        at: u32,
    ) -> ValueSet {
        let key = (site, whole, at);
        if let Some(known) = self.parts.get(&key) {
            return known.clone();
        }
        // A value that depends on itself is unknown.
        self.parts.insert(key, ValueSet::UNKNOWN);
        let found = self.part_of_script(site, whole, at);
        self.parts.insert(key, found.clone());
        found
    }

    fn part_of_script(&mut self, site: Site, whole: ExpressionId, at: u32) -> ValueSet {
        if let ExpressionFact::Part(callee, 0) = self.index.facts(site.file).expression(whole)
            && let Some(found) = self.callback_parameter(site, callee, at)
        {
            return found;
        }
        let whole = self.value(site, whole);
        if whole.values.is_empty() {
            return ValueSet::UNKNOWN;
        }
        whole.flat_map(|whole| self.parameter(whole, at))
    }

    /// Returns what a method of a container passes to a callback: `list.forEach((item) => …)`.
    fn callback_parameter(&mut self, site: Site, callee: ExpressionId, at: u32) -> Option<ValueSet> {
        let facts = self.index.facts(site.file);
        let ExpressionFact::Member(object, method) = facts.expression(callee) else { return None };
        let position = match facts.name(method) {
            "forEach" | "map" | "filter" | "find" | "findLast" | "findIndex" | "some" | "every"
            | "flatMap" | "then" => 0,
            "reduce" | "reduceRight" => 1,
            "sort" | "toSorted" => at,
            _ => return None,
        };
        let is_awaited = facts.name(method) == "then";
        let object = self.value(site, object);
        if position != at || !object.values.iter().any(|value| self.is_container(*value)) {
            return None;
        }
        Some(object.flat_map(|object| match object {
            _ if !self.is_container(object) => ValueSet::UNKNOWN,
            _ if is_awaited => self.inner(object),
            _ => self.item(object),
        }))
    }

    fn is_container(&self, value: Value) -> bool {
        let Value::Generic { site, expression } = value else { return false };
        self.is_script(site.file) && CONTAINERS.contains(&self.type_name(site.file, expression))
    }

    /// Returns whether a binding of JavaScript is a variable that holds a member of a value: the member is used where
    /// it is bound. Members of modules count as imports.
    pub(in crate::references) fn is_taken_member(&mut self, file: FileId, binding: &BindingFact) -> bool {
        let BindingValue::Value(value) = binding.value else { return false };
        let ExpressionFact::Member(whole, _) = self.index.facts(file).expression(value) else { return false };
        if !self.is_script(file) {
            return false;
        }
        let whole = self.value(Site { file, scope: binding.at }, whole);
        !whole.values.iter().any(|whole| match whole {
            Value::Module(_) | Value::Folder(_) => true,
            Value::Definition(key) => self.index.definition(*key).kind == DefinitionKind::Module,
            _ => false,
        })
    }

    /// Returns whether a value is a function of a declared type.
    pub(in crate::references) fn is_function_type(&self, value: Value) -> bool {
        let Value::Generic { site, expression } = value else { return false };
        self.is_script(site.file) && self.type_name(site.file, expression) == FUNCTION_TYPE
    }

    fn parameter(&mut self, whole: Value, at: u32) -> ValueSet {
        if let Some(definitions) = self.definition_of_type(whole) {
            return definitions.flat_map(|definition| match definition {
                Value::Definition(_) => self.parameter(definition, at),
                _ => ValueSet::UNKNOWN,
            });
        }
        match whole {
            Value::Definition(key) if self.is_script(key.file) => match self.index.definition(key).kind {
                DefinitionKind::Function => self.parameter_of_function(key, at),
                DefinitionKind::Class => {
                    let constructor = self.member(whole, "constructor");
                    constructor.flat_map(|constructor| match constructor {
                        Value::Definition(key) => self.parameter_of_function(key, at),
                        _ => ValueSet::UNKNOWN,
                    })
                }
                _ => ValueSet::UNKNOWN,
            },
            Value::Instance(key) if self.is_script(key.file) => {
                let signatures = self.call_signatures(key);
                signatures.flat_map(|signature| self.parameter(signature, at))
            }
            Value::Generic { site, expression } if self.is_script(site.file) => {
                let (name, arguments, _) = self.generic_parts(site.file, expression);
                let declared = match name {
                    FUNCTION_TYPE => {
                        self.declared_parameter(site.file, arguments.get(1..).unwrap_or_default(), at)
                    }
                    "tuple" => arguments.get(at as usize).copied().map(|declared| (declared, false)),
                    _ => return self.item(whole),
                };
                let Some((declared, is_rest)) = declared else { return ValueSet::UNKNOWN };
                let found = self.instance(site, declared);
                if is_rest { found.flat_map(|found| self.item(found)) } else { found }
            }
            _ => ValueSet::UNKNOWN,
        }
    }

    fn parameter_of_function(&mut self, key: DefinitionKey, at: u32) -> ValueSet {
        let body = self.index.definition(key).body;
        let types = body.and_then(|body| self.bound_in(key.at(body), PARAMETER_TYPES));
        types.map_or(ValueSet::UNKNOWN, |types| types.flat_map(|types| self.parameter(types, at)))
    }

    /// Returns the declared type of a parameter, and whether it is a rest parameter.
    fn declared_parameter(
        &self,
        file: FileId,
        declared: &[ExpressionId],
        at: u32,
    ) -> Option<(ExpressionId, bool)> {
        let last = declared.len().checked_sub(1)?;
        let declared = declared[last.min(at as usize)];
        match self.generic_parts(file, declared) {
            (REST_TYPE, arguments, _) => Some((*arguments.first()?, true)),
            _ => (at as usize <= last).then_some((declared, false)),
        }
    }

    /// Returns the function types of the values of a type, by its call signatures.
    fn call_signatures(&mut self, key: DefinitionKey) -> ValueSet {
        self.find_member(key, CALL_SIGNATURE, 0).0.unwrap_or(ValueSet::UNKNOWN)
    }

    /// Returns the definitions whose type a value has: those of `x` if it is declared as `typeof x`.
    pub(in crate::references) fn definition_of_type(&mut self, value: Value) -> Option<ValueSet> {
        let Value::Generic { site, expression } = value else { return None };
        if !self.is_script(site.file) || self.type_name(site.file, expression) != TYPE_OF_VALUE {
            return None;
        }
        let value = *self.generic_parts(site.file, expression).1.first()?;
        Some(self.deeper(|evaluator| evaluator.value(site, value)))
    }

    /// Returns whether a callee is a method that returns the value that it is called on, which may be of a derived type.
    pub(in crate::references) fn returns_receiver(&self, callee: Value) -> bool {
        let Value::Definition(method) = callee else { return false };
        let (facts, fact) = (self.index.facts(method.file), self.index.definition(method));
        let is_receiver = |returned: &ExpressionId| {
            matches!(facts.expression(*returned), ExpressionFact::Receiver | ExpressionFact::ReceiverType)
        };
        fact.kind == DefinitionKind::Function
            && self.index.owner(method).is_some()
            && !fact.returns.is_empty()
            && fact.returns.iter().all(is_receiver)
    }

    /// Returns the result of calling a value of a type.
    pub(in crate::references) fn call_of_instance(&mut self, key: DefinitionKey) -> ValueSet {
        let signatures = self.call_signatures(key);
        signatures.flat_map(|signature| self.call(signature))
    }

    /// Returns the values of a generic type that the language defines; `None` if it defines no such type.
    pub(in crate::references) fn script_generic(
        &mut self,
        site: Site,
        declared: ExpressionId,
    ) -> Option<ValueSet> {
        let (name, arguments, _) = self.generic_parts(site.file, declared);
        let first = arguments.first().copied().unwrap_or(0);
        Some(match name {
            FUNCTION_TYPE | "tuple" => ValueSet::one(Value::Generic { site, expression: declared }),
            // The definition itself is meant only by its name.
            TYPE_OF_VALUE => self.value(site, first).flat_map(|value| match value {
                Value::Definition(_) => ValueSet::one(Value::Generic { site, expression: declared }),
                _ => ValueSet::one(value),
            }),
            "ReturnType" => self.instance(site, first).flat_map(|function| self.call(function)),
            "InstanceType" => {
                let class = self.instance(site, first);
                class.flat_map(|class| match self.definition_of_type(class) {
                    Some(classes) => classes.flat_map(|class| self.instance_of_value(class)),
                    None => ValueSet::UNKNOWN,
                })
            }
            "Awaited" => self.instance(site, first).flat_map(|value| self.inner(value)),
            "Omit" | "Pick" | "Extract" | "Exclude" => self.instance(site, first),
            _ => return None,
        })
    }
}
