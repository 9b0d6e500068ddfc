//! Types to their values: what a declaration or an annotation says that something is.

use super::evaluate::Evaluator;
use super::project::{FileId, NameRules};
use super::values::{Value, ValueSet};
use crate::model::{DefinitionKind, ExpressionFact, ExpressionId, ScopeId};

impl Evaluator<'_> {
    /// Returns the values of the type that an expression names.
    pub(super) fn instance(&mut self, file: FileId, scope: ScopeId, declared: ExpressionId) -> ValueSet {
        self.deeper(|evaluator| evaluator.instance_of(file, scope, declared))
    }

    fn instance_of(&mut self, file: FileId, scope: ScopeId, declared: ExpressionId) -> ValueSet {
        let facts = self.index.facts(file);
        match facts.expression(declared) {
            ExpressionFact::Either(left, right) => {
                let mut found = self.instance(file, scope, left);
                found.merge(self.instance(file, scope, right));
                found
            }
            ExpressionFact::Apply(..) => self.generic_instance(file, scope, declared),
            ExpressionFact::Name(name) | ExpressionFact::Member(_, name)
                if matches!(facts.name(name), "Self" | "this") =>
            {
                self.receiver(file, scope)
                    .map_or(ValueSet::UNKNOWN, |key| ValueSet::one(Value::Instance(key)))
            }
            ExpressionFact::Name(name) | ExpressionFact::Member(_, name)
                if matches!(facts.name(name), "Any" | "any" | "object" | "unknown" | "Object") =>
            {
                ValueSet::UNKNOWN
            }
            ExpressionFact::Name(name)
                if self.is_python(file)
                    && let Some(found) = self.instance_of_variable(file, name) =>
            {
                found
            }
            ExpressionFact::ReceiverType => self
                .receiver(file, scope)
                .map_or(ValueSet::UNKNOWN, |key| ValueSet::one(Value::Instance(key))),
            _ if self.is_primitive_of_rust(file, declared) => {
                ValueSet::one(Value::Generic { file, scope, expression: declared })
            }
            _ => {
                let named = self.value(file, scope, declared);
                if named == ValueSet::FOREIGN && self.is_type_name_of_rust(file, declared) {
                    return ValueSet::one(Value::Generic { file, scope, expression: declared });
                }
                // A type is named by its definition alone, also where a package has a value of that name.
                named.flat_map(|named| self.instance_of_value(named))
            }
        }
    }

    pub(super) fn instance_of_value(&mut self, named: Value) -> ValueSet {
        match named {
            Value::Definition(key) => match self.index.definition(key).kind {
                DefinitionKind::Class | DefinitionKind::Interface => ValueSet::one(Value::Instance(key)),
                DefinitionKind::Alias => {
                    let fact = self.index.definition(key);
                    // An alias of TypeScript has a scope with its type parameters.
                    let body = fact.body.filter(|_| self.is_script(key.file));
                    match fact.bases.first() {
                        Some(base) => self.instance(key.file, body.unwrap_or(fact.scope), *base),
                        None => ValueSet::UNKNOWN,
                    }
                }
                // A function with type arguments, read as a type.
                DefinitionKind::Function if self.index.rules(key.file) == NameRules::Go => self.returned(key),
                DefinitionKind::Function if self.is_constructing(key) => ValueSet::one(Value::Instance(key)),
                _ => ValueSet::UNKNOWN,
            },
            Value::Generic { file, scope, expression } if self.is_python(file) => {
                self.instance_of_alias(file, scope, expression)
            }
            // The parts of a tuple of Rust are values.
            Value::Generic { file, .. } if self.index.rules(file) == NameRules::Rust => ValueSet::one(named),
            Value::Instance(key) if self.index.rules(key.file) == NameRules::Rust => ValueSet::one(named),
            _ => ValueSet::UNKNOWN,
        }
    }

    /// Returns the values of what a name of Python is bound to: a type with arguments, or the types of a tuple.
    fn instance_of_alias(&mut self, file: FileId, scope: ScopeId, expression: ExpressionId) -> ValueSet {
        if let Some(known) = self.aliases.get(&(file, scope, expression)) {
            return known.clone();
        }
        // An alternative that is the whole again adds nothing.
        self.aliases.insert((file, scope, expression), ValueSet::FOREIGN);
        let whole = Value::Generic { file, scope, expression };
        let found = if self.is_display(whole) {
            let types = self.item(whole);
            types.flat_map(|named| self.instance_of_value(named))
        } else {
            self.instance(file, scope, expression)
        };
        self.aliases.insert((file, scope, expression), found.clone());
        found
    }

    fn generic_instance(&mut self, file: FileId, scope: ScopeId, declared: ExpressionId) -> ValueSet {
        if self.index.rules(file) == NameRules::Rust {
            return self.rust_generic(file, scope, declared);
        }
        if self.is_script(file)
            && let Some(found) = self.script_generic(file, scope, declared)
        {
            return found;
        }
        let (name, arguments, generic) = self.generic_parts(file, declared);
        let is_go = self.index.rules(file) == NameRules::Go;
        let first = arguments.first().copied().unwrap_or(0);
        match name {
            _ if is_go => {
                let found = self.value(file, scope, generic);
                if found.values.is_empty() {
                    return ValueSet::one(Value::Generic { file, scope, expression: declared });
                }
                found.flat_map(|named| self.instance_of_value(named))
            }
            "Optional" | "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" | "ReadOnly"
            | "Readonly" | "Partial" | "NonNullable" | "Box" | "Rc" | "Arc" | "Cow" | "TypeGuard" => {
                self.instance(file, scope, first)
            }
            "Union" => {
                let mut found = ValueSet::FOREIGN;
                for argument in arguments {
                    found.merge(self.instance(file, scope, argument));
                }
                found
            }
            "Type" | "type" => self.value(file, scope, first),
            _ => {
                let found = self.value(file, scope, generic);
                if found.values.is_empty() {
                    return ValueSet::one(Value::Generic { file, scope, expression: declared });
                }
                found.flat_map(|named| self.instance_of_value(named))
            }
        }
    }
}
