//! The values of inherited Python members on the type that they are used on: `self` and `cls` are of that type, `Self`
//! is that type, and its bases supply arguments for the type variables of the classes that they name.

use crate::model::{
    BindingFact, BindingValue, DefinitionFlags, ExpressionFact, ExpressionId, NameId, ScopeId,
    TYPE_VARIABLE_PREFIX,
};
use crate::references::evaluation::Evaluator;
use crate::references::project::{DefinitionKey, FileId, Site};
use crate::references::values::{Value, ValueSet};

/// The maximum number of expressions that are evaluated for one member on one type.
const MAX_STEPS: usize = 64;
/// The maximum number of types between a type and the one whose type variables its bases supply.
const MAX_BASES_BETWEEN: usize = 8;

/// A member that a type inherits.
#[derive(Clone, Copy)]
struct InheritedMember {
    /// The type that it is used on.
    receiver: DefinitionKey,
    /// The type that defines it.
    owner: DefinitionKey,
    /// The scope that its expressions are evaluated in.
    scope: ScopeId,
}

/// An expression with the file and the scope that it is evaluated in.
type ScopedExpression = (Site, ExpressionId);

impl<'a> Evaluator<'a> {
    /// Returns the result of calling a member of a value.
    pub(in crate::references) fn call_on(&mut self, object: Value, callee: Value) -> ValueSet {
        match (object, callee) {
            (
                Value::Instance(receiver) | Value::Super(receiver) | Value::Definition(receiver),
                Value::Definition(method),
            ) => match self.index.owner(method) {
                Some(owner) if owner != receiver && self.is_python(method.file) => {
                    self.returned_on(receiver, owner, method)
                }
                _ => self.call(callee),
            },
            _ => self.call(callee),
        }
    }

    /// Returns the result of an inherited function on a type.
    pub(super) fn returned_on(
        &mut self,
        receiver: DefinitionKey,
        owner: DefinitionKey,
        method: DefinitionKey,
    ) -> ValueSet {
        let fact = self.index.definition(method);
        let is_declared = fact.flags.has(DefinitionFlags::DECLARED);
        if fact.returns.is_empty() || fact.body.is_none() {
            return self.call(Value::Definition(method));
        }
        let key = (receiver, method.at(fact.body.unwrap_or(0)), fact.name);
        if let Some(known) = self.inherited.get(&key) {
            return known.clone();
        }
        self.inherited.insert(key, ValueSet::UNKNOWN);
        let scope = if is_declared { fact.scope } else { fact.body.unwrap_or(fact.scope) };
        let member = InheritedMember { receiver, owner, scope };
        let mut found = ValueSet::FOREIGN;
        let mut steps = 0;
        for expression in &fact.returns {
            found.merge(if is_declared {
                self.declared_on(member, method, *expression)
            } else {
                self.value_on(member, *expression, &mut steps)
            });
        }
        found.is_complete &= !fact.flags.has(DefinitionFlags::DECORATED);
        self.inherited.insert(key, found.clone());
        found
    }

    /// Returns the value of a base's attribute on a type, if it depends on that type.
    pub(in crate::references) fn attribute_on(
        &mut self,
        receiver: DefinitionKey,
        owner: DefinitionKey,
        name: &str,
    ) -> Option<ValueSet> {
        let facts = self.index.facts(owner.file);
        let body = self.index.definition(owner).body?;
        let name = facts.find_name(name)?;
        let key = (receiver, owner.at(body), name);
        if let Some(known) = self.inherited.get(&key) {
            return Some(known.clone());
        }
        self.inherited.insert(key, ValueSet::UNKNOWN);
        let mut found = ValueSet::UNKNOWN;
        let mut steps = 0;
        for binding in facts.bindings_of(body, name).iter().take(MAX_BASES_BETWEEN) {
            let member = InheritedMember { receiver, owner, scope: binding.at };
            found.merge(match binding.value {
                BindingValue::Value(value) => self.value_on(member, value, &mut steps),
                BindingValue::Typed(declared) => self.declared_value_on(member, declared),
                _ => ValueSet::UNKNOWN,
            });
        }
        self.inherited.insert(key, found.clone());
        Some(found)
    }

    /// Returns the value of a member's expression on the type that the member is used on.
    fn value_on(&mut self, member: InheritedMember, expression: ExpressionId, steps: &mut usize) -> ValueSet {
        let InheritedMember { receiver, owner, scope } = member;
        let site = owner.at(scope);
        *steps += 1;
        if MAX_STEPS < *steps {
            return self.value(site, expression);
        }
        let facts = self.index.facts(site.file);
        match facts.expression(expression) {
            ExpressionFact::Receiver => ValueSet::one(Value::Instance(receiver)),
            ExpressionFact::ReceiverType => ValueSet::one(Value::Definition(receiver)),
            ExpressionFact::Name(name) => {
                let bindings = facts.bindings_of(scope, name);
                let is_value = |value| matches!(value, BindingValue::Value(_));
                if bindings.is_empty() || !bindings.iter().all(|binding| is_value(binding.value)) {
                    return self.value(site, expression);
                }
                let mut found = ValueSet::FOREIGN;
                for binding in bindings {
                    if let BindingValue::Value(value) = binding.value {
                        let member = InheritedMember { scope: binding.at, ..member };
                        found.merge(self.deeper(|evaluator| evaluator.value_on(member, value, steps)));
                    }
                }
                found
            }
            ExpressionFact::Member(object, name) => {
                let object = self.deeper(|evaluator| evaluator.value_on(member, object, steps));
                object.flat_map(|object| self.attribute(object, facts.name(name)))
            }
            ExpressionFact::Call(function) => {
                if let ExpressionFact::Member(object, name) = facts.expression(function) {
                    let object = self.deeper(|evaluator| evaluator.value_on(member, object, steps));
                    let is_known =
                        object.values.iter().all(|object| !matches!(object, Value::Generic { .. }));
                    if !object.values.is_empty() && is_known {
                        return self.call_of_members(site.file, object, name);
                    }
                } else {
                    let callee = self.deeper(|evaluator| evaluator.value_on(member, function, steps));
                    if !callee.values.is_empty() {
                        return callee.flat_map(|callee| self.call(callee));
                    }
                }
                self.value(site, expression)
            }
            ExpressionFact::Awaited(awaited) => {
                let awaited = self.deeper(|evaluator| evaluator.value_on(member, awaited, steps));
                awaited.flat_map(|awaited| self.awaited_in_python(awaited))
            }
            ExpressionFact::Either(left, right) => {
                let mut found = self.deeper(|evaluator| evaluator.value_on(member, left, steps));
                found.merge(self.deeper(|evaluator| evaluator.value_on(member, right, steps)));
                found
            }
            _ => self.value(site, expression),
        }
    }

    /// Returns the values of a declared type, as far as they depend on the type that a member is used on.
    fn declared_on(
        &mut self,
        member: InheritedMember,
        method: DefinitionKey,
        declared: ExpressionId,
    ) -> ValueSet {
        let facts = self.index.facts(method.file);
        if let ExpressionFact::Name(name) = facts.expression(declared)
            && self.is_type_variable(method.file, name)
            && !self.parameters_of_type(member.owner).contains(&facts.name(name))
        {
            // A type variable that no other parameter has is that of `self`: `def copy(self: T) -> T`.
            let body = self.index.definition(method).body.unwrap_or(0);
            let first = facts.bindings.partition_point(|binding| binding.scope < body);
            let mut parameters = facts.bindings[first..].iter().take_while(|binding| binding.scope == body);
            let is_of_other = parameters.any(|binding| match binding.value {
                BindingValue::Typed(declared) => self.mentions(method.file, declared, name),
                _ => false,
            });
            return if is_of_other {
                ValueSet::UNKNOWN
            } else {
                ValueSet::one(Value::Instance(member.receiver))
            };
        }
        self.declared_value_on(member, declared)
    }

    fn declared_value_on(&mut self, member: InheritedMember, declared: ExpressionId) -> ValueSet {
        let InheritedMember { receiver, owner, scope } = member;
        let facts = self.index.facts(owner.file);
        match facts.expression(declared) {
            ExpressionFact::Name(name) | ExpressionFact::Member(_, name) if facts.name(name) == "Self" => {
                ValueSet::one(Value::Instance(receiver))
            }
            ExpressionFact::Name(name) if self.is_type_variable(owner.file, name) => {
                match self.type_argument(receiver, owner, facts.name(name), 0) {
                    Some((site, argument)) => self.instance(site, argument),
                    None => ValueSet::UNKNOWN,
                }
            }
            ExpressionFact::Either(left, right) => {
                let mut found = self.deeper(|evaluator| evaluator.declared_value_on(member, left));
                found.merge(self.deeper(|evaluator| evaluator.declared_value_on(member, right)));
                found
            }
            ExpressionFact::Apply(generic, argument)
                if matches!(self.type_name(owner.file, generic), "Optional" | "Annotated") =>
            {
                self.deeper(|evaluator| evaluator.declared_value_on(member, argument))
            }
            _ => self.instance(owner.at(scope), declared),
        }
    }

    /// Returns whether a type mentions a name.
    fn mentions(&self, file: FileId, declared: ExpressionId, name: NameId) -> bool {
        match self.index.facts(file).expression(declared) {
            ExpressionFact::Name(other) => other == name,
            ExpressionFact::Apply(a, b) | ExpressionFact::Either(a, b) => {
                self.mentions(file, a, name) || self.mentions(file, b, name)
            }
            _ => false,
        }
    }

    /// Returns the argument that a type supplies for a type variable of one that it inherits.
    fn type_argument(
        &mut self,
        of: DefinitionKey,
        owner: DefinitionKey,
        variable: &str,
        depth: usize,
    ) -> Option<ScopedExpression> {
        if MAX_BASES_BETWEEN < depth {
            return None;
        }
        let fact = self.index.definition(of);
        for base in &fact.bases {
            let (_, arguments, generic) = self.generic_parts(of.file, *base);
            for value in self.value(of.at(fact.scope), generic).values {
                let Value::Definition(base) = value else { continue };
                let argument = |evaluator: &mut Self, variable: &str| {
                    let parameters = evaluator.parameters_of_type(base);
                    let at = parameters.iter().position(|parameter| *parameter == variable)?;
                    arguments.get(at).map(|argument| (of.at(fact.scope), *argument))
                };
                if base == owner {
                    return argument(self, variable);
                }
                if !self.linearization(base).0.contains(&owner) {
                    continue;
                }
                let found = self.type_argument(base, owner, variable, depth + 1)?;
                let (Site { file, .. }, argument_of_base) = found;
                let facts = self.index.facts(file);
                return match facts.expression(argument_of_base) {
                    ExpressionFact::Name(name) if self.is_type_variable(file, name) => {
                        argument(self, facts.name(name))
                    }
                    _ => Some(found),
                };
            }
        }
        None
    }

    /// Returns the type variables of a class in order: those of `Generic[…]` or `Protocol[…]`, else those of its bases.
    fn parameters_of_type(&mut self, key: DefinitionKey) -> Vec<&'a str> {
        let facts = self.index.facts(key.file);
        let mut parameters: Vec<&'a str> = Vec::new();
        for base in &self.index.definition(key).bases {
            let (name, arguments, _) = self.generic_parts(key.file, *base);
            let variables = arguments.into_iter().filter_map(|argument| match facts.expression(argument) {
                ExpressionFact::Name(name) if self.is_type_variable(key.file, name) => Some(facts.name(name)),
                _ => None,
            });
            let variables: Vec<&'a str> = variables.collect();
            if matches!(name, "Generic" | "Protocol") && !variables.is_empty() {
                return variables;
            }
            for variable in variables {
                if !parameters.contains(&variable) {
                    parameters.push(variable);
                }
            }
        }
        parameters
    }

    /// Returns whether a name of a file is that of a type variable, in the file or where it is imported from.
    fn is_type_variable(&mut self, file: FileId, name: NameId) -> bool {
        self.type_variable(file, name, 0).is_some()
    }

    /// Returns the values of a type variable: those of its bound, or of types that inherit it.
    pub(in crate::references) fn instance_of_variable(
        &mut self,
        file: FileId,
        name: NameId,
    ) -> Option<ValueSet> {
        let (file, bounds) = self.type_variable(file, name, 0)?;
        let mut found: Vec<ValueSet> = Vec::new();
        for binding in bounds.iter().take(MAX_BASES_BETWEEN) {
            let BindingValue::Default(bound) = binding.value else { continue };
            let bound = if bound == 0 {
                ValueSet::UNKNOWN
            } else {
                self.instance(Site { file, scope: binding.at }, bound)
            };
            if !found.contains(&bound) {
                found.push(bound);
            }
        }
        // Classes and functions of one file may have type parameters of one name.
        let is_one = found.len() == 1;
        let mut found = found.pop().filter(|_| is_one).unwrap_or(ValueSet::UNKNOWN);
        // One of several constraints is meant, but a bound allows subtypes.
        found.is_complete &= 1 < found.values.len();
        Some(found)
    }

    /// Returns the bounds of a type variable with the file that defines it.
    fn type_variable(
        &mut self,
        file: FileId,
        name: NameId,
        depth: usize,
    ) -> Option<(FileId, &'a [BindingFact])> {
        let facts = self.index.facts(file);
        let text = facts.name(name);
        let wanted = || TYPE_VARIABLE_PREFIX.bytes().chain(text.bytes());
        let own = facts.names.binary_search_by(|known| known.bytes().cmp(wanted()));
        let bindings = facts.bindings_of(0, name);
        if let Some(own) = own.ok().and_then(|own| NameId::try_from(own).ok()) {
            let is_other = |binding: &BindingFact| matches!(binding.value, BindingValue::Definition(_));
            return (!bindings.iter().any(is_other)).then(|| (file, facts.bindings_of(0, own)));
        }
        for binding in bindings {
            let BindingValue::Import(import) = binding.value else { continue };
            let import = &facts.imports[import as usize];
            let Some(imported) = import.name.filter(|_| depth < MAX_BASES_BETWEEN) else { continue };
            for module in self.module(file, import).values {
                let Value::Module(module) = module else { continue };
                let imported = self.index.facts(module).find_name(facts.name(imported));
                let found = imported.and_then(|name| self.type_variable(module, name, depth + 1));
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }
}
