//! Java: the types of expressions with their arguments, as far as declarations give them.
//!
//! They decide which overload is called, and what a method of `Box<Foo>` returns. Nothing is inferred that takes more
//! than one step: the type of a variable is its declared one, and an unknown type fits everywhere and nowhere.

use std::rc::Rc;

use crate::model::{
    BindingFact, BindingValue, DefinitionKind, ExpressionFact, ExpressionId, NameId, ScopeKind,
    TYPE_PARAMETERS,
};
use crate::references::evaluation::Evaluator;
use crate::references::lookup::{
    JavaType, JavaTyped, has_parameters, lambda_parameters, promoted, result_of_operation, substituted,
    type_of_language, unboxed,
};
use crate::references::project::{DefinitionKey, FileId, Site};
use crate::references::values::{Value, ValueSet};

/// The maximum number of supertypes that are considered.
const MAX_SUPERTYPES: usize = 64;

impl<'a> Evaluator<'a> {
    /// Returns the possible values of a type.
    pub(in crate::references) fn java_value(&mut self, (of_type, is_sure): JavaTyped<'a>) -> ValueSet {
        match self.java_bound(of_type) {
            JavaType::Class(key, _) => ValueSet { values: vec![Value::Instance(key)], is_complete: is_sure },
            JavaType::Primitive(_) | JavaType::Array(_) => ValueSet::FOREIGN,
            JavaType::Foreign(name, _) if name != "Object" => ValueSet::FOREIGN,
            _ => ValueSet::UNKNOWN,
        }
    }

    /// Returns the type of an expression.
    pub(in crate::references) fn java_type(&mut self, site: Site, expression: ExpressionId) -> JavaTyped<'a> {
        let key = (site, expression);
        if let Some(known) = self.java.types.get(&key) {
            return known.clone();
        }
        // A type that depends on itself is unknown.
        self.java.types.insert(key, (JavaType::Unknown, false));
        if !self.java.enter() {
            self.java.types.remove(&key);
            return (JavaType::Unknown, false);
        }
        let found = self.java_type_of(site, expression);
        self.java.leave();
        self.java.types.insert(key, found.clone());
        found
    }

    fn java_type_of(&mut self, site: Site, expression: ExpressionId) -> JavaTyped<'a> {
        let facts = self.index.facts(site.file);
        match facts.expression(expression) {
            ExpressionFact::Instance(declared) => (self.java_declared(site, declared), true),
            ExpressionFact::Receiver => match self.receiver(site) {
                Some(key) => (self.java_this(key), true),
                None => (JavaType::Unknown, false),
            },
            ExpressionFact::Name(name) => {
                if let Some(found) = self.java_variable(site, name) {
                    return found;
                }
                // A name of a static import.
                let found = self.value(site, expression);
                match found.values[..] {
                    [Value::Instance(key)] => (JavaType::class(key), found.is_complete),
                    _ => (JavaType::Unknown, false),
                }
            }
            ExpressionFact::Member(object, name) => {
                let (object, is_sure) = self.java_object(site, object);
                let (field, is_known) = self.java_field(&object, facts.name(name));
                (field, is_sure && is_known)
            }
            ExpressionFact::Call(function) => self.java_returned(site, function),
            ExpressionFact::Item(whole) => {
                let (whole, is_sure) = self.java_type(site, whole);
                (self.java_element(&whole), is_sure)
            }
            ExpressionFact::Either(left, right) => {
                let (left, is_left_sure) = self.java_type(site, left);
                let (right, is_right_sure) = self.java_type(site, right);
                match (left, right) {
                    (JavaType::Null, other) | (other, JavaType::Null) => {
                        (other, is_left_sure && is_right_sure)
                    }
                    (left, right) if left == right => (left, is_left_sure && is_right_sure),
                    (JavaType::Primitive(left), JavaType::Primitive(right)) => (promoted(left, right), true),
                    _ => (JavaType::Unknown, false),
                }
            }
            ExpressionFact::Part(whole, at) => {
                if let ExpressionFact::Inner(function) = facts.expression(whole) {
                    return self.java_parameter_of(site, function, at as usize);
                }
                let (target, is_sure) = self.java_type(site, whole);
                (self.java_lambda_parameter(&target, at as usize), is_sure)
            }
            _ => (JavaType::Unknown, false),
        }
    }

    /// Returns the type of the expression before a dot: a value, or a type with static members.
    pub(super) fn java_object(&mut self, site: Site, object: ExpressionId) -> JavaTyped<'a> {
        let (found, is_sure) = self.java_type(site, object);
        if found != JavaType::Unknown {
            return (found, is_sure);
        }
        let facts = self.index.facts(site.file);
        let fact = facts.expression(object);
        if let ExpressionFact::Name(_) | ExpressionFact::Member(..) = fact {
            let found = self.value(site, object);
            return match found.values[..] {
                [Value::Definition(key)] if self.is_java_type(key) => {
                    (JavaType::class(key), found.is_complete)
                }
                [Value::Instance(key)] => (JavaType::class(key), found.is_complete),
                [] => match fact {
                    ExpressionFact::Name(name) | ExpressionFact::Member(_, name)
                        if facts.name(name).starts_with(char::is_uppercase) =>
                    {
                        (JavaType::foreign(facts.name(name)), true)
                    }
                    _ => (JavaType::Unknown, false),
                },
                _ => (JavaType::Unknown, false),
            };
        }
        (JavaType::Unknown, false)
    }

    fn is_java_type(&self, key: DefinitionKey) -> bool {
        matches!(self.index.definition(key).kind, DefinitionKind::Class | DefinitionKind::Interface)
    }

    /// Returns a type of the project as seen in its own body.
    pub(super) fn java_this(&mut self, key: DefinitionKey) -> JavaType<'a> {
        if let Some(known) = self.java.own_types.get(&key) {
            return known.clone();
        }
        let names = match self.index.definition(key).body {
            Some(body) => self.type_parameter_names(key.at(body)),
            None => Vec::new(),
        };
        let site = key.at(self.index.definition(key).body.unwrap_or(0));
        let parameters = names.into_iter().map(|name| JavaType::Parameter(site, name));
        let this = JavaType::Class(key, parameters.collect());
        self.java.own_types.insert(key, this.clone());
        this
    }

    /// Returns the name id of [`TYPE_PARAMETERS`] in a file, if anything there has type parameters.
    fn java_types_name(&mut self, file: FileId) -> Option<NameId> {
        let index = self.index;
        *self.java.types_names.entry(file).or_insert_with(|| index.facts(file).find_name(TYPE_PARAMETERS))
    }

    /// Returns the names of the type parameters of the type or method with that body.
    pub(in crate::references) fn type_parameter_names(&mut self, body: Site) -> Vec<NameId> {
        let facts = self.index.facts(body.file);
        let Some(name) = self.java_types_name(body.file) else { return Vec::new() };
        let Some(binding) = facts.bindings_of(body.scope, name).first() else { return Vec::new() };
        let BindingValue::Value(mut at) = binding.value else { return Vec::new() };
        let mut names = Vec::new();
        while let ExpressionFact::Apply(rest, parameter) = facts.expression(at) {
            if let ExpressionFact::Name(name) = facts.expression(parameter) {
                names.push(name);
            }
            at = rest;
        }
        names.reverse();
        names
    }

    /// Returns the type that a declaration names.
    pub(super) fn java_declared(&mut self, site: Site, declared: ExpressionId) -> JavaType<'a> {
        let facts = self.index.facts(site.file);
        match facts.expression(declared) {
            ExpressionFact::ReceiverType => {
                self.receiver(site).map_or(JavaType::Unknown, |key| self.java_this(key))
            }
            ExpressionFact::TypeName(name) => type_of_language(facts.name(name)),
            ExpressionFact::Apply(..) => self.java_applied(site, declared),
            ExpressionFact::Name(name) => {
                if let Some(parameter) = self.java_type_parameter(site, name) {
                    return parameter;
                }
                self.java_named(site, declared, name)
            }
            ExpressionFact::Member(_, name) => self.java_named(site, declared, name),
            _ => JavaType::Unknown,
        }
    }

    fn java_named(&mut self, site: Site, declared: ExpressionId, name: NameId) -> JavaType<'a> {
        let found = self.value(site, declared);
        // A field may have the name of a type.
        let class = found.values.into_iter().find_map(|value| match value {
            Value::Definition(key) => Some(key).filter(|key| self.is_java_type(*key)),
            _ => None,
        });
        class.map_or_else(|| JavaType::foreign(self.index.facts(site.file).name(name)), JavaType::class)
    }

    /// Returns the type parameter that a name means, if one is in scope.
    fn java_type_parameter(&mut self, mut site: Site, name: NameId) -> Option<JavaType<'a>> {
        let facts = self.index.facts(site.file);
        self.java_types_name(site.file)?;
        while site.scope != 0 {
            let around = facts.scope(site.scope);
            let binds = !facts.bindings_of(site.scope, name).is_empty();
            if around.kind != ScopeKind::Block && binds && self.type_parameter_names(site).contains(&name) {
                return Some(JavaType::Parameter(site, name));
            }
            site.scope = around.parent.min(site.scope - 1);
        }
        None
    }

    /// Returns a type with arguments; a built-in type may be an operation or a function.
    fn java_applied(&mut self, site: Site, declared: ExpressionId) -> JavaType<'a> {
        let (name, arguments, generic) = self.generic_parts(site.file, declared);
        match (name, arguments.as_slice()) {
            ("[]", [item]) => return JavaType::Array(Rc::new(self.java_declared(site, *item))),
            ("(+)" | "(*)", [left, right]) => {
                let (left, _) = self.java_type(site, *left);
                let (right, _) = self.java_type(site, *right);
                return result_of_operation(name == "(+)", &left, &right);
            }
            ("(::)", [called]) => {
                let result = self.java_referenced(site, *called);
                return JavaType::Function(None, Rc::new(result));
            }
            (name, [result]) if name.starts_with("(->") => {
                let (result, _) = self.java_type(site, *result);
                return JavaType::Function(lambda_parameters(name), Rc::new(result));
            }
            _ => {}
        }
        let whole = self.java_declared(site, generic);
        let arguments = arguments.iter().map(|argument| self.java_declared(site, *argument));
        match whole {
            JavaType::Class(key, _) => JavaType::Class(key, arguments.collect()),
            JavaType::Foreign(name, _) => JavaType::Foreign(name, arguments.collect()),
            other => other,
        }
    }

    /// Returns the type of the variable that a name means.
    fn java_variable(&mut self, site: Site, name: NameId) -> Option<JavaTyped<'a>> {
        let facts = self.index.facts(site.file);
        let mut at = site.scope;
        let mut is_sure = true;
        while at != 0 {
            let around = facts.scope(at);
            if let (ScopeKind::Class, Some(definition)) = (around.kind, around.definition) {
                let key = DefinitionKey { file: site.file, definition };
                let this = self.java_this(key);
                let (field, _) = self.java_field(&this, facts.name(name));
                if field != JavaType::Unknown {
                    return Some((field, is_sure));
                }
                is_sure &= self.linearization(key).1;
            } else {
                let bindings = facts.bindings_of(at, name);
                if let Some(found) = self.java_type_of_bindings(site.file, bindings) {
                    return Some(found);
                }
            }
            at = around.parent.min(at - 1);
        }
        None
    }

    /// Returns the type of the bound variable, if there is one and all bindings agree.
    fn java_type_of_bindings(&mut self, file: FileId, bindings: &[BindingFact]) -> Option<JavaTyped<'a>> {
        let mut found: Option<JavaTyped<'a>> = None;
        for binding in bindings {
            let typed = match binding.value {
                BindingValue::Typed(declared) => {
                    (self.java_declared(Site { file, scope: binding.at }, declared), true)
                }
                BindingValue::Value(value) => self.java_type(Site { file, scope: binding.at }, value),
                _ => continue,
            };
            match &found {
                Some(known) if *known != typed => return Some((JavaType::Unknown, false)),
                _ => found = Some(typed),
            }
        }
        found
    }

    /// Returns the type of a field of a value.
    pub(super) fn java_field(&mut self, object: &JavaType<'a>, name: &str) -> JavaTyped<'a> {
        match object {
            JavaType::Array(_) if name == "length" => return (JavaType::Primitive("int"), true),
            JavaType::Foreign("Boolean", _) if matches!(name, "TRUE" | "FALSE") => {
                return (JavaType::foreign("Boolean"), true);
            }
            JavaType::Foreign("StandardCharsets", _) => return (JavaType::foreign("Charset"), true),
            JavaType::Foreign("System", _) if matches!(name, "out" | "err") => {
                return (JavaType::foreign("PrintStream"), true);
            }
            JavaType::Foreign(
                "Integer" | "Long" | "Short" | "Byte" | "Double" | "Float" | "Character",
                _,
            ) if matches!(
                name,
                "MAX_VALUE" | "MIN_VALUE" | "NaN" | "POSITIVE_INFINITY" | "NEGATIVE_INFINITY"
            ) =>
            {
                return (unboxed(object), true);
            }
            _ => {}
        }
        let JavaType::Class(key, _) = self.java_bound(object.clone()) else {
            return (JavaType::Unknown, false);
        };
        let (types, _) = self.linearization(key);
        for owner in types {
            let Some(body) = self.index.definition(owner).body else { continue };
            let facts = self.index.facts(owner.file);
            let Some(name) = facts.find_name(name) else { continue };
            let bindings = facts.bindings_of(body, name);
            if self.type_parameter_names(owner.at(body)).contains(&name) {
                continue;
            }
            if let Some((found, is_sure)) = self.java_type_of_bindings(owner.file, bindings) {
                return (self.java_seen_from(object, owner, found), is_sure);
            }
        }
        (JavaType::Unknown, false)
    }

    /// Returns the type of a member, as seen from a value of another type that inherits it.
    pub(super) fn java_seen_from(
        &mut self,
        object: &JavaType<'a>,
        owner: DefinitionKey,
        member: JavaType<'a>,
    ) -> JavaType<'a> {
        if !has_parameters(&member) {
            return member;
        }
        let Some(body) = self.index.definition(owner).body else { return member };
        let whole = self.java_supertypes(object).into_iter().find_map(|found| match found {
            JavaType::Class(key, arguments) if key == owner => Some(arguments),
            _ => None,
        });
        let Some(arguments) = whole.filter(|arguments| !arguments.is_empty()) else { return member };
        let names = self.type_parameter_names(owner.at(body));
        substituted(&member, &|parameter| match parameter {
            JavaType::Parameter(site, name) if *site == owner.at(body) => {
                let at = names.iter().position(|known| known == name)?;
                arguments.get(at).cloned()
            }
            _ => None,
        })
    }

    /// Returns a type and its supertypes with their arguments, nearest first.
    pub(super) fn java_supertypes(&mut self, of_type: &JavaType<'a>) -> Vec<JavaType<'a>> {
        let mut all = vec![self.java_bound(of_type.clone())];
        let mut at = 0;
        while at < all.len() && all.len() < MAX_SUPERTYPES {
            if let JavaType::Class(key, arguments) = all[at].clone() {
                for base in self.java_bases(key).iter().cloned() {
                    let base = self.java_of_arguments(key, &arguments, base);
                    if !all.contains(&base) {
                        all.push(base);
                    }
                }
            }
            at += 1;
        }
        all
    }

    /// Returns the types that a type extends and implements.
    fn java_bases(&mut self, key: DefinitionKey) -> Rc<[JavaType<'a>]> {
        if let Some(known) = self.java.bases.get(&key) {
            return Rc::clone(known);
        }
        self.java.bases.insert(key, Rc::from([]));
        let fact = self.index.definition(key);
        let scope = match fact.body {
            Some(body) if !self.type_parameter_names(key.at(body)).is_empty() => body,
            _ => fact.scope,
        };
        let bases: Rc<[JavaType<'a>]> =
            fact.bases.iter().map(|base| self.java_declared(key.at(scope), *base)).collect();
        self.java.bases.insert(key, Rc::clone(&bases));
        bases
    }

    fn java_of_arguments(
        &mut self,
        owner: DefinitionKey,
        arguments: &[JavaType<'a>],
        of_type: JavaType<'a>,
    ) -> JavaType<'a> {
        let Some(body) = self.index.definition(owner).body.filter(|_| has_parameters(&of_type)) else {
            return of_type;
        };
        let names = self.type_parameter_names(owner.at(body));
        substituted(&of_type, &|parameter| match parameter {
            JavaType::Parameter(site, name) if *site == owner.at(body) => {
                let at = names.iter().position(|known| known == name)?;
                arguments.get(at).cloned()
            }
            _ => None,
        })
    }

    /// Returns the bound of a type parameter; any other type unchanged.
    pub(super) fn java_bound(&mut self, mut of_type: JavaType<'a>) -> JavaType<'a> {
        for _ in 0..4 {
            let JavaType::Parameter(site, name) = of_type else { return of_type };
            let bindings = self.index.facts(site.file).bindings_of(site.scope, name);
            of_type = match bindings.first().map(|binding| (binding.value, binding.at)) {
                Some((BindingValue::Value(bound), at)) => self.java_declared(site.at(at), bound),
                _ => JavaType::foreign("Object"),
            };
        }
        JavaType::Unknown
    }

    /// Returns the type of a value's elements.
    fn java_element(&mut self, whole: &JavaType<'a>) -> JavaType<'a> {
        if let JavaType::Array(item) = whole {
            return (**item).clone();
        }
        let supertypes = self.java_supertypes(whole);
        let found = supertypes.into_iter().find_map(|found| match found {
            JavaType::Foreign(_, arguments) => arguments.last().cloned(),
            _ => None,
        });
        found.unwrap_or(JavaType::Unknown)
    }
}
