//! The results of calls to functions, types and members of values.

use super::evaluate::Evaluator;
use crate::model::{DefinitionFlags, DefinitionKind, ExpressionFact, ExpressionId, NameId};
use crate::references::project::{DefinitionKey, FileId, NameRules, Site};
use crate::references::values::{Value, ValueSet};

impl Evaluator<'_> {
    /// Returns the result of calling the value of an expression.
    pub(in crate::references) fn call_expression(&mut self, site: Site, function: ExpressionId) -> ValueSet {
        if self.index.rules(site.file) == NameRules::Java {
            return self.java_called(site, function);
        }
        if self.index.rules(site.file) == NameRules::Cpp
            && let Some(made) = self.cpp_made_pointer(site, function)
        {
            return made;
        }
        let mut receivers = Vec::new();
        let callee = if let ExpressionFact::Member(object, method) =
            self.index.facts(site.file).expression(function)
        {
            let object = self.value(site, object);
            let name = self.index.facts(site.file).name(method);
            if self.index.rules(site.file) == NameRules::Rust {
                return self.call_of_rust_method(site, function, object, name);
            }
            if object.values.iter().any(|value| matches!(value, Value::Generic { .. })) {
                return object.flat_map(|object| self.call_of_container(object, name));
            }
            // Not the value of the whole expression: a chain of calls would be followed twice at each of its links.
            if self.is_python(site.file) {
                return self.call_of_members(site.file, object, method);
            }
            if self.is_script(site.file)
                && !object.values.iter().any(|value| matches!(value, Value::Super(_)))
            {
                receivers.clone_from(&object.values);
            }
            self.attributes(site.file, object, method)
        } else {
            self.value(site, function)
        };
        if callee.values.is_empty() {
            // A Go package returns its own types and those that it imports, and so does a Python class.
            let is_foreign = callee.is_complete
                && match self.index.facts(site.file).expression(function) {
                    ExpressionFact::Name(name) if self.is_python(site.file) => {
                        self.is_named_as_class(site.file, name)
                    }
                    _ => self.index.rules(site.file) == NameRules::Go,
                };
            return if is_foreign { callee } else { ValueSet::UNKNOWN };
        }
        let mut is_partly_foreign = false;
        let mut found = callee.flat_map(|callee| {
            let is_chained = !receivers.is_empty() && self.returns_receiver(callee);
            let returned = if is_chained {
                ValueSet { values: receivers.clone(), is_complete: true }
            } else {
                self.call(callee)
            };
            is_partly_foreign |= returned.values.is_empty();
            returned
        });
        // The arguments select one of the overloads.
        found.is_complete &= !is_partly_foreign || self.index.rules(site.file) != NameRules::Cpp;
        found
    }

    /// Returns the results of calling the members of that name on some Python values.
    pub(in crate::references) fn call_of_members(
        &mut self,
        file: FileId,
        objects: ValueSet,
        name: NameId,
    ) -> ValueSet {
        let text = self.index.facts(file).name(name);
        let (mut found, mut is_any) =
            (ValueSet { values: Vec::new(), is_complete: objects.is_complete }, false);
        let mut is_foreign = objects.is_complete;
        for object in objects.values {
            let callees = self.attribute(object, text);
            is_any |= !callees.values.is_empty();
            is_foreign &= callees.is_complete;
            found.merge(callees.flat_map(|callee| self.call_on(object, callee)));
        }
        match is_any {
            true => found,
            // A class of another project.
            false if is_foreign && self.is_named_as_class(file, name) => ValueSet::FOREIGN,
            false => ValueSet::UNKNOWN,
        }
    }

    /// Returns whether a name is capitalized like a Python class.
    fn is_named_as_class(&self, file: FileId, name: NameId) -> bool {
        let name = self.index.facts(file).name(name);
        name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
    }

    /// Returns the result of calling a value.
    pub(in crate::references) fn call(&mut self, callee: Value) -> ValueSet {
        if let Some(definitions) = self.definition_of_type(callee) {
            return definitions.flat_map(|definition| match definition {
                Value::Definition(_) => self.call(definition),
                _ => ValueSet::UNKNOWN,
            });
        }
        match callee {
            Value::Definition(key) => match self.index.definition(key).kind {
                DefinitionKind::Class | DefinitionKind::Interface => ValueSet::one(Value::Instance(key)),
                DefinitionKind::Function => self.returned(key),
                DefinitionKind::Alias => {
                    let target = self.alias(key);
                    target.flat_map(|target| self.deeper(|evaluator| evaluator.call(target)))
                }
                DefinitionKind::Macro | DefinitionKind::Module => ValueSet::UNKNOWN,
            },
            Value::Instance(key) if self.is_script(key.file) => {
                self.deeper(|evaluator| evaluator.call_of_instance(key))
            }
            Value::Instance(_) => self.attribute(callee, "__call__").flat_map(|method| match method {
                Value::Definition(key) => self.returned(key),
                _ => ValueSet::UNKNOWN,
            }),
            Value::Generic { site, expression } if self.index.rules(site.file) == NameRules::Go => {
                match self.generic_parts(site.file, expression) {
                    ("func", arguments, _) => self.instance(site, arguments.first().copied().unwrap_or(0)),
                    _ => ValueSet::UNKNOWN,
                }
            }
            Value::Generic { site, expression } if self.index.rules(site.file) == NameRules::Rust => {
                self.call_of_closure(site, expression)
            }
            Value::Generic { site, expression }
                if self.is_python(site.file) && self.type_name(site.file, expression) == "Callable" =>
            {
                let (_, arguments, _) = self.generic_parts(site.file, expression);
                self.instance(site, arguments.last().copied().unwrap_or(0))
            }
            Value::Generic { site, expression } if self.is_function_type(callee) => {
                let (_, arguments, _) = self.generic_parts(site.file, expression);
                self.instance(site, arguments.first().copied().unwrap_or(0))
            }
            Value::Super(_)
            | Value::Module(_)
            | Value::Folder(_)
            | Value::Package(_)
            | Value::Namespace(_)
            | Value::Entries { .. }
            | Value::Generic { .. } => ValueSet::UNKNOWN,
        }
    }

    /// Returns the value that a function returns.
    pub(in crate::references) fn returned(&mut self, key: DefinitionKey) -> ValueSet {
        if let Some(known) = self.returns.get(&key) {
            return known.clone();
        }
        self.returns.insert(key, ValueSet::UNKNOWN);
        self.open += 1;
        let fact = self.index.definition(key);
        // In Python the declaration does not see the names of the body.
        let is_outside = fact.flags.has(DefinitionFlags::DECLARED) && self.is_python(key.file);
        let scope = fact.body.filter(|_| !is_outside).unwrap_or(fact.scope);
        let mut found = if fact.returns.is_empty() { ValueSet::UNKNOWN } else { ValueSet::FOREIGN };
        for expression in &fact.returns {
            found.merge(if fact.flags.has(DefinitionFlags::DECLARED) {
                self.instance(key.at(scope), *expression)
            } else {
                self.value(key.at(scope), *expression)
            });
        }
        if fact.flags.has(DefinitionFlags::DECORATED) {
            found.is_complete = false;
        }
        self.open -= 1;
        self.returns.insert(key, found.clone());
        found
    }

    /// Returns the value of a decorated Python function: the result of its outermost decorator, as far as that is
    /// known.
    pub(super) fn decorated(&mut self, key: DefinitionKey) -> ValueSet {
        if let Some(known) = self.decorated.get(&key) {
            return known.clone();
        }
        let fact = self.index.definition(key);
        let Some(decorator) = fact.bases.first().filter(|_| self.is_python(key.file)) else {
            return ValueSet::UNKNOWN;
        };
        self.decorated.insert(key, ValueSet::UNKNOWN);
        self.open += 1;
        let decorator = self.value(key.at(fact.scope), *decorator);
        let mut found = decorator.flat_map(|decorator| self.call(decorator));
        // Reading the attribute gives the result of the descriptor.
        found.values.retain(|value| match value {
            Value::Instance(class) => self.find_member(*class, "__get__", 0).0.is_none(),
            _ => true,
        });
        found.is_complete = false;
        self.open -= 1;
        self.decorated.insert(key, found.clone());
        found
    }
}
