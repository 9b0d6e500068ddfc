//! Java: the method that a call means, and its result.
//!
//! The candidates for a name are the overloads with as many parameters as arguments, and variadic ones. They are chosen
//! as in the language (JLS 15.12.2): those that fit without boxing come before those that need it, and these before
//! variadic ones; of several, the one with the most specific parameters.

use std::rc::Rc;

use super::fits::{Fit, FitOfCall, fits_all, is_subtype};
use crate::model::{
    BindingValue, DefinitionFlags, DefinitionKind, ExpressionFact, ExpressionId, PARAMETER_TYPES, ScopeKind,
};
use crate::references::evaluation::Evaluator;
use crate::references::lookup::{
    BOXES, JavaCall, JavaSignature, JavaType, JavaTyped, has_parameters, is_same_erased, substituted,
};
use crate::references::project::{DefinitionKey, FileId, Site};
use crate::references::values::Value;

impl<'a> Evaluator<'a> {
    /// Returns the methods that a call may mean; `None` if the receiver is not known, or the project has no such
    /// method. The expression is the callee, applied to its arguments.
    pub(in crate::references) fn java_call(
        &mut self,
        site: Site,
        function: ExpressionId,
    ) -> Option<Rc<JavaCall<'a>>> {
        let key = (site, function);
        if let Some(known) = self.java.calls.get(&key) {
            return known.clone();
        }
        self.java.calls.insert(key, None);
        let found = self.java_call_of(site, function).map(Rc::new);
        self.java.calls.insert(key, found.clone());
        found
    }

    fn java_call_of(&mut self, site: Site, function: ExpressionId) -> Option<JavaCall<'a>> {
        let facts = self.index.facts(site.file);
        let (called, arguments) = self.java_arguments(site.file, function);
        let (receiver, candidates, is_sure) = match facts.expression(called) {
            ExpressionFact::Name(name) => self.java_bare_methods(site, facts.name(name))?,
            ExpressionFact::Member(object, name) if facts.expression(object) == ExpressionFact::Super => {
                let key = self.receiver(site)?;
                let this = self.java_this(key);
                let (types, is_sure) = self.linearization(key);
                let methods =
                    types.into_iter().skip(1).map(|base| self.java_overloads(base, facts.name(name)));
                let found = methods.into_iter().find(|found| !found.is_empty())?;
                (this, found, is_sure)
            }
            ExpressionFact::Member(object, name) => {
                let (receiver, is_sure) = self.java_object(site, object);
                let JavaType::Class(key, _) = self.java_bound(receiver.clone()) else { return None };
                (receiver, self.java_overloads(key, facts.name(name)), is_sure)
            }
            _ => return None,
        };
        if candidates.is_empty() {
            return None;
        }
        if candidates.len() == 1 {
            return Some(JavaCall { methods: candidates.to_vec(), receiver, is_sure });
        }
        let arguments: Vec<JavaType<'a>> =
            arguments.into_iter().map(|argument| self.java_type(site, argument).0).collect();
        let (methods, is_decided) = self.java_choice(&receiver, &candidates, &arguments);
        Some(JavaCall { methods, receiver, is_sure: is_sure && is_decided })
    }

    /// Returns the callee and its arguments.
    fn java_arguments(&self, file: FileId, function: ExpressionId) -> (ExpressionId, Vec<ExpressionId>) {
        let facts = self.index.facts(file);
        let (mut at, mut arguments) = (function, Vec::new());
        while let ExpressionFact::Apply(rest, argument) = facts.expression(at) {
            arguments.push(argument);
            at = rest;
        }
        arguments.reverse();
        (at, arguments)
    }

    /// Returns the methods that a name without a receiver may mean: those of the nearest enclosing type that has any.
    fn java_bare_methods(
        &mut self,
        site: Site,
        name: &'a str,
    ) -> Option<(JavaType<'a>, Rc<[DefinitionKey]>, bool)> {
        let facts = self.index.facts(site.file);
        let (mut at, mut is_sure) = (site.scope, true);
        while at != 0 {
            let around = facts.scope(at);
            if let (ScopeKind::Class, Some(definition)) = (around.kind, around.definition) {
                let key = DefinitionKey { file: site.file, definition };
                let found = self.java_overloads(key, name);
                if !found.is_empty() {
                    return Some((self.java_this(key), found, is_sure));
                }
                is_sure &= self.linearization(key).1;
            }
            at = around.parent.min(at - 1);
        }
        let found = self.java_name(site.at(0), name);
        let is_complete = found.is_complete;
        let owner = found.values.into_iter().find_map(|value| match value {
            Value::Definition(method) => self.index.owner(method),
            _ => None,
        })?;
        let methods = self.java_overloads(owner, name);
        Some((JavaType::class(owner), methods, is_sure && is_complete))
    }

    /// Returns the methods of a type and of what it inherits by the name that a call looks up, as `run(2)`: those with
    /// as many parameters and variadic ones, without overridden ones.
    pub(super) fn java_overloads(&mut self, key: DefinitionKey, name: &'a str) -> Rc<[DefinitionKey]> {
        if let Some(known) = self.java.overloads.get(&key).and_then(|known| known.get(name)) {
            return Rc::clone(known);
        }
        let (types, _) = self.linearization(key);
        let plain = name.split('(').next().unwrap_or(name);
        let variable = format!("{plain}(..)");
        let this = self.java_this(key);
        let mut found: Vec<DefinitionKey> = Vec::new();
        for owner in types {
            let Some(body) = self.index.definition(owner).body else { continue };
            let facts = self.index.facts(owner.file);
            let nearer = found.len();
            for name in [name, variable.as_str()] {
                let Some(name) = facts.find_name(name) else { continue };
                for binding in facts.bindings_of(body, name) {
                    let BindingValue::Definition(definition) = binding.value else { continue };
                    let method = DefinitionKey { file: owner.file, definition };
                    let is_private = self.index.definition(method).flags.has(DefinitionFlags::PRIVATE);
                    if is_private && owner != key
                        || self.is_java_overridden(&this, method, owner, &found[..nearer])
                    {
                        continue;
                    }
                    found.push(method);
                }
            }
        }
        let found: Rc<[DefinitionKey]> = found.into();
        self.java.overloads.entry(key).or_default().insert(name, Rc::clone(&found));
        found
    }

    /// Returns whether one of the methods of nearer types has the same parameters as a method.
    fn is_java_overridden(
        &mut self,
        this: &JavaType<'a>,
        method: DefinitionKey,
        owner: DefinitionKey,
        nearer: &[DefinitionKey],
    ) -> bool {
        let signature = self.java_signature(method);
        for other in nearer {
            let other_signature = self.java_signature(*other);
            if signature.types.len() != other_signature.types.len() {
                continue;
            }
            if signature.names == other_signature.names {
                return true;
            }
            if !signature.types.iter().any(has_parameters) {
                continue;
            }
            let other_owner = self.index.owner(*other).unwrap_or(owner);
            let is_same = (0..signature.types.len()).all(|at| {
                let base = self.java_seen_from(this, owner, signature.types[at].clone());
                let own = self.java_seen_from(this, other_owner, other_signature.types[at].clone());
                let (base, own) = (self.java_bound(base), self.java_bound(own));
                is_same_erased(&base, &own)
            });
            if is_same {
                return true;
            }
        }
        false
    }

    /// Returns the parameters of a method.
    pub(super) fn java_signature(&mut self, method: DefinitionKey) -> Rc<JavaSignature<'a>> {
        if let Some(known) = self.java.signatures.get(&method) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.java_signature_of(method).unwrap_or_default());
        self.java.signatures.insert(method, Rc::clone(&found));
        found
    }

    fn java_signature_of(&mut self, method: DefinitionKey) -> Option<JavaSignature<'a>> {
        let facts = self.index.facts(method.file);
        let body = self.index.definition(method).body?;
        let binding = facts.bindings_of(body, facts.find_name(PARAMETER_TYPES)?).first()?;
        let BindingValue::Value(whole) = binding.value else { return None };
        let (base, types) = self.java_arguments(method.file, whole);
        let ExpressionFact::Name(names) = facts.expression(base) else { return None };
        let types = types.into_iter().map(|declared| self.java_declared(method.at(body), declared));
        let names = facts.name(names);
        Some(JavaSignature { types: types.collect(), is_variable: names.ends_with("...,"), names })
    }

    /// Returns the parameters of a method, as seen from a value of that type.
    fn java_parameters(&mut self, receiver: &JavaType<'a>, method: DefinitionKey) -> Vec<JavaType<'a>> {
        let signature = self.java_signature(method);
        let Some(owner) = self.index.owner(method) else { return signature.types.clone() };
        signature
            .types
            .iter()
            .map(|declared| self.java_seen_from(receiver, owner, declared.clone()))
            .collect()
    }

    /// Returns the overloads that a call with such arguments may mean, and whether the language allows no others.
    fn java_choice(
        &mut self,
        receiver: &JavaType<'a>,
        candidates: &[DefinitionKey],
        arguments: &[JavaType<'a>],
    ) -> (Vec<DefinitionKey>, bool) {
        let mut fitting = Vec::new();
        for method in candidates {
            let types = self.java_parameters(receiver, *method);
            let is_variable = self.java_signature(*method).is_variable;
            let body = self.index.definition(*method).body;
            let fit = fits_all(self, method.at(body.unwrap_or(0)), arguments, &types, is_variable);
            if fit.fit != Fit::No {
                fitting.push((*method, fit, types));
            }
        }
        if fitting.is_empty() {
            return (candidates.to_vec(), false);
        }
        // Parameters that all of them declare alike decide nothing.
        let is_alike = fitting.iter().all(|(_, fit, types)| {
            fit.phase == fitting[0].1.phase
                && fit.open.iter().all(|at| types.get(*at) == fitting[0].2.get(*at))
        });
        if is_alike {
            for (_, fit, _) in &mut fitting {
                fit.fit = Fit::Yes;
            }
        }
        let first_phase =
            fitting.iter().filter(|(_, fit, _)| fit.fit == Fit::Yes).map(|(_, fit, _)| fit.phase).min();
        if let Some(phase) = first_phase {
            fitting.retain(|(_, fit, _)| fit.phase <= phase);
        }
        let mut is_decided = true;
        // A fixed number of parameters is more likely than a variadic method.
        if fitting.iter().any(|(_, fit, _)| fit.phase < 3) && fitting.iter().any(|(_, fit, _)| 3 <= fit.phase)
        {
            fitting.retain(|(_, fit, _)| fit.phase < 3);
            is_decided = false;
        }
        if let Some((exact, ..)) = fitting.iter().find(|(_, fit, _)| fit.is_exact) {
            return (vec![*exact], is_decided);
        }
        if 1 < fitting.len()
            && let Some(best) = self.java_most_specific(&fitting)
        {
            return (vec![best], is_decided);
        }
        let is_decided = is_decided && fitting.len() == 1;
        (fitting.into_iter().map(|(method, ..)| method).collect(), is_decided)
    }

    /// Returns the overload whose parameter types are accepted by all others.
    fn java_most_specific(
        &mut self,
        fitting: &[(DefinitionKey, FitOfCall, Vec<JavaType<'a>>)],
    ) -> Option<DefinitionKey> {
        let mut best = None;
        for (method, fit, types) in fitting {
            let is_best = fit.fit == Fit::Yes
                && fitting.iter().all(|(other, _, others)| {
                    let body = self.index.definition(*other).body.unwrap_or(0);
                    let site = other.at(body);
                    other == method
                        || types.len() == others.len()
                            && types.iter().zip(others).all(|(own, other)| is_subtype(self, site, own, other))
                });
            if is_best && best.is_none() {
                best = Some(*method);
            }
        }
        best
    }

    /// Returns the type of a call's result.
    pub(super) fn java_returned(&mut self, site: Site, function: ExpressionId) -> JavaTyped<'a> {
        let facts = self.index.facts(site.file);
        let (called, arguments) = self.java_arguments(site.file, function);
        let Some(call) = self.java_call(site, function) else {
            let (object, name) = match facts.expression(called) {
                ExpressionFact::Member(object, name) => (Some(object), name),
                ExpressionFact::Name(name) => (None, name),
                _ => return (JavaType::Unknown, false),
            };
            let object = object.map(|object| self.java_object(site, object));
            let name = facts.name(name).split('(').next().unwrap_or_default();
            let arguments: Vec<JavaType<'a>> =
                arguments.into_iter().map(|argument| self.java_type(site, argument).0).collect();
            return match object {
                Some((object, is_sure)) => match self.java_generated_getter(&object, name, arguments.len()) {
                    Some((found, is_known)) => (found, is_sure && is_known),
                    None => (self.java_library_call(&object, name, &arguments), is_sure),
                },
                None => (self.java_imported_call(site.file, name, &arguments), true),
            };
        };
        let mut found: Option<JavaType<'a>> = None;
        for method in &call.methods {
            let returned = self.java_result(site, &call, *method, &arguments);
            match &found {
                Some(known) if *known != returned => return (JavaType::Unknown, false),
                _ => found = Some(returned),
            }
        }
        (found.unwrap_or(JavaType::Unknown), call.is_sure || 1 < call.methods.len())
    }

    /// Returns the type of a field, if a call is that of its getter, and no source has it: Lombok generates it.
    fn java_generated_getter(
        &mut self,
        object: &JavaType<'a>,
        name: &str,
        arguments: usize,
    ) -> Option<JavaTyped<'a>> {
        let property = name.strip_prefix("get").or_else(|| name.strip_prefix("is"))?;
        let first = property.chars().next().filter(|first| arguments == 0 && first.is_uppercase())?;
        let field: String = first.to_lowercase().chain(property.chars().skip(1)).collect();
        let found = matches!(object, JavaType::Class(..)).then(|| self.java_field(object, &field))?;
        (found.0 != JavaType::Unknown).then_some(found)
    }

    /// Returns the type of a method's result for one call.
    fn java_result(
        &mut self,
        site: Site,
        call: &JavaCall<'a>,
        method: DefinitionKey,
        arguments: &[ExpressionId],
    ) -> JavaType<'a> {
        let fact = self.index.definition(method);
        let (Some(declared), Some(body)) = (fact.returns.first(), fact.body) else {
            return JavaType::Unknown;
        };
        let returned = self.java_declared(method.at(body), *declared);
        if !has_parameters(&returned) {
            return returned;
        }
        let returned = match self.index.owner(method) {
            Some(owner) => self.java_seen_from(&call.receiver, owner, returned),
            None => returned,
        };
        let names = self.type_parameter_names(method.at(body));
        if names.is_empty() || !has_parameters(&returned) {
            return returned;
        }
        let parameters = self.java_parameters(&call.receiver, method);
        let mut known: Vec<(JavaType<'a>, JavaType<'a>)> = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            if has_parameters(parameter) {
                let (argument, _) = self.java_type(site, *argument);
                self.java_unify(parameter, &argument, &mut known);
            }
        }
        let own_site = method.at(body);
        let own = |parameter: &JavaType<'a>| match parameter {
            JavaType::Parameter(site, _) => *site == own_site,
            _ => false,
        };
        let bounds: Vec<(JavaType<'a>, JavaType<'a>)> = names
            .iter()
            .map(|name| JavaType::Parameter(own_site, *name))
            .map(|parameter| (parameter.clone(), self.java_bound(parameter)))
            .collect();
        substituted(&returned, &|parameter| {
            if !own(parameter) {
                return None;
            }
            let found = known.iter().chain(&bounds).find(|(name, _)| name == parameter)?;
            // If only `Object` is known, the context decides.
            let is_open = matches!(found.1, JavaType::Foreign("Object", _) | JavaType::Null);
            Some(if is_open { JavaType::Unknown } else { found.1.clone() })
        })
    }

    /// Infers type parameters from a parameter of that type and its argument.
    fn java_unify(
        &mut self,
        parameter: &JavaType<'a>,
        argument: &JavaType<'a>,
        known: &mut Vec<(JavaType<'a>, JavaType<'a>)>,
    ) {
        match (parameter, argument) {
            (_, JavaType::Unknown | JavaType::Null) | (JavaType::Parameter(..), JavaType::Function(..)) => {}
            (JavaType::Parameter(..), JavaType::Primitive(name)) => {
                let boxed = BOXES.iter().find(|(plain, _)| plain == name);
                known.extend(boxed.map(|(_, boxed)| (parameter.clone(), JavaType::foreign(boxed))));
            }
            (JavaType::Parameter(..), _) => known.push((parameter.clone(), argument.clone())),
            (JavaType::Array(parameter), JavaType::Array(argument)) => {
                self.java_unify(parameter, argument, known);
            }
            (JavaType::Array(parameter), _) => self.java_unify(parameter, argument, known),
            (JavaType::Foreign(_, parameters), JavaType::Function(_, result)) => {
                if let Some(last) = parameters.last() {
                    self.java_unify(last, result, known);
                }
            }
            (JavaType::Class(..) | JavaType::Foreign(..), JavaType::Class(..) | JavaType::Foreign(..)) => {
                let supertypes = self.java_supertypes(argument);
                let same = supertypes.into_iter().find(|found| is_same_erased(found, parameter));
                let same = same.unwrap_or_else(|| argument.clone());
                if let (
                    JavaType::Class(_, parameters) | JavaType::Foreign(_, parameters),
                    JavaType::Class(_, arguments) | JavaType::Foreign(_, arguments),
                ) = (parameter, &same)
                    && parameters.len() == arguments.len()
                {
                    for (parameter, argument) in parameters.iter().zip(arguments.iter()) {
                        self.java_unify(parameter, argument, known);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the type of a parameter of the callee.
    pub(super) fn java_parameter_of(
        &mut self,
        site: Site,
        function: ExpressionId,
        at: usize,
    ) -> JavaTyped<'a> {
        let Some(call) = self.java_call(site, function) else {
            let facts = self.index.facts(site.file);
            let (called, _) = self.java_arguments(site.file, function);
            let ExpressionFact::Member(object, name) = facts.expression(called) else {
                return (JavaType::Unknown, false);
            };
            let (object, is_sure) = self.java_object(site, object);
            let name = facts.name(name).split('(').next().unwrap_or_default();
            return (self.java_library_parameter(&object, name), is_sure);
        };
        let mut found: Option<JavaType<'a>> = None;
        for method in &call.methods {
            let types = self.java_parameters(&call.receiver, *method);
            let is_variable = self.java_signature(*method).is_variable;
            let parameter = match types.get(at).or(types.last()) {
                Some(JavaType::Array(item)) if is_variable && types.len() <= at + 1 => (**item).clone(),
                Some(parameter) => parameter.clone(),
                None => JavaType::Unknown,
            };
            match &found {
                Some(known) if *known != parameter => return (JavaType::Unknown, false),
                _ => found = Some(parameter),
            }
        }
        (found.unwrap_or(JavaType::Unknown), call.is_sure)
    }

    /// Returns the type of a parameter of a lambda where a value of such a type is expected.
    pub(super) fn java_lambda_parameter(&mut self, target: &JavaType<'a>, at: usize) -> JavaType<'a> {
        match target {
            JavaType::Class(key, _) => {
                let Some(method) = self.java_function_of(*key) else { return JavaType::Unknown };
                let types = self.java_parameters(target, method);
                types.get(at).cloned().unwrap_or(JavaType::Unknown)
            }
            JavaType::Foreign(name, _) => super::library::lambda_parameter(name, target, at),
            _ => JavaType::Unknown,
        }
    }

    /// Returns the only abstract method of an interface.
    pub(super) fn java_function_of(&mut self, key: DefinitionKey) -> Option<DefinitionKey> {
        if self.index.definition(key).kind != DefinitionKind::Interface {
            return None;
        }
        let (types, _) = self.linearization(key);
        let mut found = None;
        for owner in types {
            let Some(body) = self.index.definition(owner).body else { continue };
            for (name, member) in self.members_in(owner.at(body)) {
                let method = DefinitionKey { file: owner.file, definition: member };
                let fact = self.index.definition(method);
                let is_abstract = fact.kind == DefinitionKind::Function
                    && fact.flags.has(DefinitionFlags::PROTOTYPE)
                    && name.ends_with("(*)");
                if is_abstract && found.is_none() {
                    found = Some(method);
                } else if is_abstract && owner == key {
                    return None;
                }
            }
        }
        found
    }

    /// Returns the type of a method reference's result.
    pub(super) fn java_referenced(&mut self, site: Site, called: ExpressionId) -> JavaType<'a> {
        let facts = self.index.facts(site.file);
        match facts.expression(called) {
            ExpressionFact::Instance(object) => self.java_object(site, object).0,
            ExpressionFact::Member(object, name) => {
                let (object, _) = self.java_object(site, object);
                let plain = facts.name(name).split('(').next().unwrap_or_default();
                let JavaType::Class(key, _) = self.java_bound(object.clone()) else {
                    return self.java_library_call(&object, plain, &[]);
                };
                let methods = self.java_overloads(key, facts.name(name));
                let [method] = methods[..] else { return JavaType::Unknown };
                let fact = self.index.definition(method);
                let (Some(declared), Some(body)) = (fact.returns.first(), fact.body) else {
                    return JavaType::Unknown;
                };
                let returned = self.java_declared(method.at(body), *declared);
                match self.index.owner(method) {
                    Some(owner) => self.java_seen_from(&object, owner, returned),
                    None => returned,
                }
            }
            _ => JavaType::Unknown,
        }
    }
}
