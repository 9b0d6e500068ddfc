//! Converts types to their values, for declarations and annotations.

use super::evaluate::Evaluator;
use crate::model::{DefinitionKind, ExpressionFact, ExpressionId};
use crate::references::project::{NameRules, Site};
use crate::references::values::{Value, ValueSet};

impl Evaluator<'_> {
    /// Returns the values of the type that an expression names.
    pub(in crate::references) fn instance(&mut self, site: Site, declared: ExpressionId) -> ValueSet {
        self.deeper(|evaluator| evaluator.instance_of(site, declared))
    }

    fn instance_of(&mut self, site: Site, declared: ExpressionId) -> ValueSet {
        let facts = self.index.facts(site.file);
        match facts.expression(declared) {
            ExpressionFact::Either(left, right) => {
                let mut found = self.instance(site, left);
                found.merge(self.instance(site, right));
                found
            }
            ExpressionFact::Apply(..) => self.generic_instance(site, declared),
            ExpressionFact::Name(name) | ExpressionFact::Member(_, name)
                if matches!(facts.name(name), "Self" | "this") =>
            {
                self.receiver(site).map_or(ValueSet::UNKNOWN, |key| ValueSet::one(Value::Instance(key)))
            }
            ExpressionFact::Name(name) | ExpressionFact::Member(_, name)
                if matches!(facts.name(name), "Any" | "any" | "object" | "unknown" | "Object") =>
            {
                ValueSet::UNKNOWN
            }
            ExpressionFact::Name(name)
                if self.is_python(site.file)
                    && let Some(found) = self.instance_of_variable(site.file, name) =>
            {
                found
            }
            ExpressionFact::ReceiverType => {
                self.receiver(site).map_or(ValueSet::UNKNOWN, |key| ValueSet::one(Value::Instance(key)))
            }
            _ if self.is_primitive_of_rust(site.file, declared) => {
                ValueSet::one(Value::Generic { site, expression: declared })
            }
            _ => {
                if let Some(found) = self.cpp_iterator(site, declared) {
                    return found;
                }
                let named = self.value(site, declared);
                if named == ValueSet::FOREIGN && self.is_type_name_of_rust(site.file, declared) {
                    return ValueSet::one(Value::Generic { site, expression: declared });
                }
                // A type is named only by its definition, even if a package has a value of that name.
                named.flat_map(|named| self.instance_of_value(named))
            }
        }
    }

    pub(in crate::references) fn instance_of_value(&mut self, named: Value) -> ValueSet {
        match named {
            Value::Definition(key) => match self.index.definition(key).kind {
                DefinitionKind::Class | DefinitionKind::Interface => ValueSet::one(Value::Instance(key)),
                DefinitionKind::Alias => {
                    let fact = self.index.definition(key);
                    // A TypeScript alias has a scope with its type parameters.
                    let body = fact.body.filter(|_| self.is_script(key.file));
                    match fact.bases.first() {
                        Some(base) => self.instance(key.at(body.unwrap_or(fact.scope)), *base),
                        None => ValueSet::UNKNOWN,
                    }
                }
                // A function with type arguments, parsed as a type.
                DefinitionKind::Function if self.index.rules(key.file) == NameRules::Go => self.returned(key),
                DefinitionKind::Function if self.is_constructing(key) => ValueSet::one(Value::Instance(key)),
                _ => ValueSet::UNKNOWN,
            },
            Value::Generic { site, expression } if self.is_python(site.file) => {
                self.instance_of_alias(site, expression)
            }
            // The parts of a Rust tuple are values.
            Value::Generic { site, .. } if self.index.rules(site.file) == NameRules::Rust => {
                ValueSet::one(named)
            }
            Value::Instance(key) if self.index.rules(key.file) == NameRules::Rust => ValueSet::one(named),
            _ => ValueSet::UNKNOWN,
        }
    }

    /// Returns the values of the types that a Python name is bound to: a type with arguments, or a tuple of types.
    fn instance_of_alias(&mut self, site: Site, expression: ExpressionId) -> ValueSet {
        if let Some(known) = self.aliases.get(&(site, expression)) {
            return known.clone();
        }
        // An alternative that is the whole again adds nothing.
        self.aliases.insert((site, expression), ValueSet::FOREIGN);
        let whole = Value::Generic { site, expression };
        let found = if self.is_display(whole) {
            let types = self.item(whole);
            types.flat_map(|named| self.instance_of_value(named))
        } else {
            self.instance(site, expression)
        };
        self.aliases.insert((site, expression), found.clone());
        found
    }

    fn generic_instance(&mut self, site: Site, declared: ExpressionId) -> ValueSet {
        if self.index.rules(site.file) == NameRules::Rust {
            return self.rust_generic(site, declared);
        }
        if self.is_script(site.file)
            && let Some(found) = self.script_generic(site, declared)
        {
            return found;
        }
        let (name, arguments, generic) = self.generic_parts(site.file, declared);
        let is_go = self.index.rules(site.file) == NameRules::Go;
        let first = arguments.first().copied().unwrap_or(0);
        match name {
            _ if is_go => {
                let found = self.value(site, generic);
                if found.values.is_empty() {
                    return ValueSet::one(Value::Generic { site, expression: declared });
                }
                found.flat_map(|named| self.instance_of_value(named))
            }
            "Optional" | "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" | "ReadOnly"
            | "Readonly" | "Partial" | "NonNullable" | "Box" | "Rc" | "Arc" | "Cow" | "TypeGuard" => {
                self.instance(site, first)
            }
            "Union" => {
                let mut found = ValueSet::FOREIGN;
                for argument in arguments {
                    found.merge(self.instance(site, argument));
                }
                found
            }
            "Type" | "type" => self.value(site, first),
            _ => {
                let found = self.value(site, generic);
                if found.values.is_empty() {
                    return ValueSet::one(Value::Generic { site, expression: declared });
                }
                found.flat_map(|named| self.instance_of_value(named))
            }
        }
    }
}
