//! Containers: their elements, parts of tuples, results of their methods, and contents of wrappers.

use super::evaluate::Evaluator;
use crate::model::{ExpressionFact, ExpressionId, LOOP_ELEMENT};
use crate::references::project::{DefinitionKey, FileId, NameRules, Site};
use crate::references::values::{Value, ValueSet};

impl<'a> Evaluator<'a> {
    /// Returns the result of a method of a container.
    pub(in crate::references) fn call_of_container(&mut self, container: Value, method: &str) -> ValueSet {
        match (container, method) {
            (Value::Generic { site, expression }, _) if self.index.rules(site.file) == NameRules::Java => {
                self.java_container_call(site, expression, method)
            }
            (Value::Generic { site, .. }, _) if self.index.rules(site.file) == NameRules::Cpp => {
                self.cpp_container_call(container, method)
            }
            (Value::Generic { .. }, "get" | "pop" | "popleft" | "setdefault" | "at" | "find" | "shift") => {
                self.item(container)
            }
            (Value::Generic { .. }, "values" | "copy" | "filter" | "slice" | "concat" | "reverse") => {
                ValueSet::one(container)
            }
            (Value::Generic { site, expression }, "items") if self.is_python(site.file) => {
                ValueSet::one(Value::Entries { site, expression })
            }
            (Value::Generic { site, .. }, "difference" | "intersection") if self.is_python(site.file) => {
                ValueSet::one(container)
            }
            (Value::Generic { site, .. }, "union" | "symmetric_difference") if self.is_python(site.file) => {
                ValueSet { values: vec![container], is_complete: false }
            }
            (Value::Generic { .. }, _) => ValueSet::UNKNOWN,
            (object, _) => {
                let callee = self.attribute(object, method);
                callee.flat_map(|callee| self.call(callee))
            }
        }
    }

    /// Returns the name of a generic type without its path, and its arguments.
    pub(in crate::references) fn generic_parts(
        &self,
        file: FileId,
        expression: ExpressionId,
    ) -> (&'a str, Vec<ExpressionId>, ExpressionId) {
        let facts = self.index.facts(file);
        let (mut arguments, mut at) = (Vec::new(), expression);
        while let ExpressionFact::Apply(generic, argument) = facts.expression(at) {
            arguments.push(argument);
            at = generic;
        }
        arguments.reverse();
        (self.type_name(file, at), arguments, at)
    }

    /// Returns the name of a type without its path and its arguments.
    pub(in crate::references) fn type_name(&self, file: FileId, expression: ExpressionId) -> &'a str {
        let facts = self.index.facts(file);
        match facts.expression(self.generic_root(file, expression)) {
            ExpressionFact::Name(name) | ExpressionFact::TypeName(name) | ExpressionFact::Member(_, name) => {
                facts.name(name)
            }
            _ => "",
        }
    }

    /// Returns the type that the arguments are applied to.
    pub(in crate::references) fn generic_root(&self, file: FileId, expression: ExpressionId) -> ExpressionId {
        let facts = self.index.facts(file);
        let mut at = expression;
        while let ExpressionFact::Apply(generic, _) = facts.expression(at) {
            at = generic;
        }
        at
    }

    /// Returns an element of a value.
    pub(in crate::references) fn item(&mut self, whole: Value) -> ValueSet {
        self.part_once(whole, None, |evaluator| evaluator.item_of(whole))
    }

    /// Evaluates a part of a container once. Its elements may depend on itself, as in `a = [x for x in a if x]`, which
    /// would be followed again from each of several such assignments.
    fn part_once(
        &mut self,
        whole: Value,
        at: Option<u32>,
        step: impl FnOnce(&mut Self) -> ValueSet,
    ) -> ValueSet {
        if !self.is_display(whole) {
            return step(self);
        }
        let key = (whole, at);
        if let Some(known) = self.open_parts.get(&key) {
            return known.clone();
        }
        let is_first = self.open_parts.is_empty();
        // A value that depends on itself is unknown.
        self.open_parts.insert(key, ValueSet::UNKNOWN);
        let found = step(self);
        if is_first {
            // Intermediate results may be incomplete because of what was open at the time.
            self.open_parts.clear();
        } else {
            self.open_parts.insert(key, found.clone());
        }
        found
    }

    fn item_of(&mut self, whole: Value) -> ValueSet {
        match whole {
            _ if self.is_function_type(whole) => ValueSet::UNKNOWN,
            Value::Generic { .. } if self.is_plain_of_rust(whole) => ValueSet::FOREIGN,
            Value::Generic { site, .. } if self.index.rules(site.file) == NameRules::Rust => {
                self.rust_item(whole)
            }
            Value::Instance(key) if self.index.rules(key.file) == NameRules::Rust => self.rust_item(whole),
            Value::Instance(key) if self.index.rules(key.file) == NameRules::Go => {
                self.go_container(key).flat_map(|container| self.item(container))
            }
            Value::Instance(key) if self.index.rules(key.file) == NameRules::Cpp => self.cpp_item(whole),
            Value::Instance(key) if self.is_python(key.file) => {
                self.deeper(|evaluator| evaluator.item_of_instance(whole))
            }
            Value::Generic { site, expression } => self.item_of_generic(site, expression),
            Value::Definition(_) | Value::Entries { .. } => ValueSet::one(whole),
            _ => ValueSet::UNKNOWN,
        }
    }

    pub(in crate::references) fn part(&mut self, whole: Value, at: u32) -> ValueSet {
        self.part_once(whole, Some(at), |evaluator| evaluator.part_of(whole, at))
    }

    fn part_of(&mut self, whole: Value, at: u32) -> ValueSet {
        // For `enumerate()`: a value of one of the project's types is not a pair.
        if let (Value::Instance(key), 1) = (whole, at)
            && self.index.rules(key.file) == NameRules::Rust
        {
            return ValueSet { values: vec![whole], is_complete: false };
        }
        if at == LOOP_ELEMENT {
            return self.loop_element(whole);
        }
        match whole {
            Value::Generic { site, expression } => {
                let (name, arguments, _) = self.generic_parts(site.file, expression);
                let argument = arguments.get(at as usize).copied();
                // In C++ the names of types end in colons.
                match name.trim_end_matches(':') {
                    _ if self.is_display(whole) => match argument.or(arguments.last().copied()) {
                        Some(element) => self.value(site, element),
                        None => ValueSet::UNKNOWN,
                    },
                    // `tuple[A, ...]` has one argument.
                    "tuple" | "Tuple" if self.is_python(site.file) && arguments.len() == 1 => {
                        self.instance(site, arguments[0])
                    }
                    "tuple" | "Tuple" | "pair" | "" => {
                        argument.map_or(ValueSet::UNKNOWN, |argument| self.instance(site, argument))
                    }
                    _ if self.is_plain_of_rust(whole) => ValueSet::FOREIGN,
                    _ if self.index.rules(site.file) == NameRules::Rust => match argument {
                        Some(argument) => self.instance(site, argument),
                        None if at == 1 => self.error_of_alias(site, expression),
                        None => ValueSet::UNKNOWN,
                    },
                    _ if self.is_python(site.file) => self.item(whole),
                    _ => ValueSet::UNKNOWN,
                }
            }
            Value::Entries { site, expression } => self.part_of_entry(site, expression, at),
            Value::Instance(key) if self.is_python(key.file) => self.item_of(whole),
            Value::Definition(key) if self.is_python(key.file) => ValueSet::one(whole),
            _ => ValueSet::UNKNOWN,
        }
    }

    /// Returns the elements of a value of a Python class, in a loop or by subscript.
    fn item_of_instance(&mut self, whole: Value) -> ValueSet {
        let iterator = self.result_of_method(whole, "__iter__");
        let element = iterator.map(|iterator| iterator.flat_map(|iterator| self.next_of_iterator(iterator)));
        match (element, self.result_of_method(whole, "__getitem__")) {
            (Some(mut found), Some(other)) => {
                let is_same = found == other;
                found.merge(other);
                found.is_complete &= is_same;
                found
            }
            (found, other) => found.or(other).unwrap_or(ValueSet::UNKNOWN),
        }
    }

    fn next_of_iterator(&mut self, iterator: Value) -> ValueSet {
        match iterator {
            Value::Generic { .. } | Value::Entries { .. } => self.item(iterator),
            Value::Instance(_) => self.result_of_method(iterator, "__next__").unwrap_or(ValueSet::UNKNOWN),
            _ => ValueSet::UNKNOWN,
        }
    }

    /// Returns the result of a method of a Python value, if it has that method.
    fn result_of_method(&mut self, object: Value, method: &str) -> Option<ValueSet> {
        let methods = self.attribute(object, method);
        (!methods.values.is_empty()).then(|| methods.flat_map(|method| self.call_on(object, method)))
    }

    /// Returns the container that a Go type is: `type List []Item`.
    fn go_container(&mut self, key: DefinitionKey) -> ValueSet {
        let fact = self.index.definition(key);
        let Some(base) = fact.bases.first().filter(|_| fact.body.is_none()) else {
            return ValueSet::UNKNOWN;
        };
        let underlying = self.instance(key.at(fact.scope), *base);
        underlying.flat_map(|underlying| match underlying {
            Value::Generic { .. } => ValueSet::one(underlying),
            _ => ValueSet::UNKNOWN,
        })
    }

    /// Returns the value of the first variable of a loop over a container.
    fn loop_element(&mut self, whole: Value) -> ValueSet {
        match whole {
            Value::Instance(key) if self.index.rules(key.file) == NameRules::Go => {
                self.go_container(key).flat_map(|container| self.loop_element(container))
            }
            Value::Generic { site, expression } if self.index.rules(site.file) == NameRules::Go => {
                let (name, arguments, _) = self.generic_parts(site.file, expression);
                match (name, arguments.as_slice()) {
                    ("chan", [first]) | ("map", [first, _]) => self.instance(site, *first),
                    _ => ValueSet::UNKNOWN,
                }
            }
            Value::Generic { .. } => self.cpp_element(whole),
            Value::Instance(key) if self.index.rules(key.file) == NameRules::Cpp => {
                let begin = self.attribute(whole, "begin");
                if begin.values.is_empty() {
                    return self.cpp_item(whole);
                }
                begin.flat_map(|begin| self.call(begin))
            }
            _ => ValueSet::UNKNOWN,
        }
    }

    fn item_of_generic(&mut self, site: Site, expression: ExpressionId) -> ValueSet {
        let (name, arguments, _) = self.generic_parts(site.file, expression);
        let is_display = self.is_display(Value::Generic { site, expression });
        match name {
            "tuple" | "Tuple" if self.is_python(site.file) => {
                let mut found = ValueSet::FOREIGN;
                for argument in arguments {
                    found.merge(self.instance(site, argument));
                }
                found
            }
            "Generator" | "AsyncGenerator" if self.is_python(site.file) => {
                arguments.first().map_or(ValueSet::UNKNOWN, |first| self.instance(site, *first))
            }
            _ if is_display => {
                let mut found = ValueSet::FOREIGN;
                for element in arguments {
                    found.merge(self.value(site, element));
                }
                found
            }
            // What follows the element is an allocator, a deleter or a size.
            _ if self.index.rules(site.file) == NameRules::Cpp
                && !name.trim_end_matches(':').ends_with("map") =>
            {
                arguments.first().map_or(ValueSet::UNKNOWN, |first| self.instance(site, *first))
            }
            _ => arguments.last().map_or(ValueSet::UNKNOWN, |last| self.instance(site, *last)),
        }
    }

    /// Returns the key or the value of an entry of a dictionary.
    fn part_of_entry(&mut self, site: Site, expression: ExpressionId, at: u32) -> ValueSet {
        let is_display = self.is_display(Value::Generic { site, expression });
        let (_, arguments, _) = self.generic_parts(site.file, expression);
        match (at, arguments.as_slice()) {
            (0, [key, _]) if !is_display => self.instance(site, *key),
            (1, _) => self.item_of_generic(site, expression),
            _ => ValueSet::UNKNOWN,
        }
    }

    /// Returns whether a value is a container with known elements, such as `[a, b]` in Python.
    pub(in crate::references) fn is_display(&self, value: Value) -> bool {
        let Value::Generic { site, expression } = value else { return false };
        self.is_python(site.file)
            && self.index.facts(site.file).expression(self.generic_root(site.file, expression))
                == ExpressionFact::Literal
    }

    pub(in crate::references) fn is_python(&self, file: FileId) -> bool {
        self.index.rules(file) == NameRules::Python
    }

    /// Returns whether a Python class declares type variables: `class A(Generic[T])`, `class B(Protocol[T])`.
    fn is_generic_class(&self, key: DefinitionKey) -> bool {
        let bases = &self.index.definition(key).bases;
        bases.iter().any(|base| {
            let (name, arguments, _) = self.generic_parts(key.file, *base);
            matches!(name, "Generic" | "Protocol") && !arguments.is_empty()
        })
    }

    /// Returns the result of `await` in Python. A call of a coroutine function has the value of its result already.
    pub(in crate::references) fn awaited_in_python(&mut self, value: Value) -> ValueSet {
        match value {
            Value::Generic { site, expression } => {
                let (name, arguments, _) = self.generic_parts(site.file, expression);
                match name {
                    "Awaitable" | "Coroutine" | "CoroutineType" | "Future" | "Task" => {
                        self.instance(site, arguments.last().copied().unwrap_or(0))
                    }
                    _ => ValueSet::one(value),
                }
            }
            Value::Instance(_) => {
                let Some(waiting) = self.result_of_method(value, "__await__") else {
                    return ValueSet::one(value);
                };
                let found = waiting.flat_map(|waiting| match waiting {
                    Value::Generic { site, expression } => {
                        let (_, arguments, _) = self.generic_parts(site.file, expression);
                        // `Generator[yielded, sent, returned]`
                        self.instance(site, arguments.get(2).copied().unwrap_or(0))
                    }
                    _ => ValueSet::UNKNOWN,
                });
                // A type variable of a generic class may be anything.
                if found.values.is_empty() { ValueSet::UNKNOWN } else { found }
            }
            _ => ValueSet::one(value),
        }
    }

    /// Returns the content of a wrapper: the result of `await` or `with`.
    pub(in crate::references) fn inner(&mut self, outer: Value) -> ValueSet {
        match outer {
            Value::Generic { .. } if self.is_display(outer) => ValueSet::UNKNOWN,
            Value::Generic { .. } if self.is_plain_of_rust(outer) => ValueSet::FOREIGN,
            Value::Generic { site, expression } => {
                let (name, arguments, _) = self.generic_parts(site.file, expression);
                if self.is_script(site.file) && !name.contains("Promise") {
                    return ValueSet::one(outer);
                }
                if self.is_cpp_container(site.file, name) {
                    return ValueSet::one(outer);
                }
                arguments.first().map_or(ValueSet::UNKNOWN, |first| self.instance(site, *first))
            }
            Value::Instance(key) if self.index.rules(key.file) == NameRules::Cpp => {
                let operator = self.attribute(outer, "operator->");
                if operator.values.is_empty() {
                    return ValueSet::one(outer);
                }
                operator.flat_map(|operator| self.call(operator))
            }
            Value::Instance(key)
                if self.index.rules.iter().flatten().any(|rules| *rules == NameRules::Python) =>
            {
                for method in ["__enter__", "__aenter__"] {
                    if let Some(found) = self.result_of_method(outer, method) {
                        // A type variable: usually that of `self`, in a generic class one of its own.
                        return match found.values.is_empty() {
                            true if self.is_generic_class(key) => ValueSet::UNKNOWN,
                            true => ValueSet::one(outer),
                            false => found,
                        };
                    }
                }
                ValueSet::one(outer)
            }
            _ => ValueSet::one(outer),
        }
    }
}
