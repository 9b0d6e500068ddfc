//! C++: elements of containers, and the types of its standard library.

use crate::model::{ExpressionFact, ExpressionId};
use crate::references::evaluation::Evaluator;
use crate::references::project::{FileId, NameRules, Site};
use crate::references::values::{Value, ValueSet};

/// Templates without an operator `->`, besides sets and maps.
const WITHOUT_ARROW: [&str; 13] = [
    "vector", "deque", "list", "forward_list", "array", "queue", "stack", "priority_queue", "span",
    "basic_string", "initializer_list", "pair", "tuple",
];

impl Evaluator<'_> {
    /// Returns the result of indexing a value of one of the project's types: that of its operator. An array or a
    /// pointer is not distinguished from its elements, so it gives the value itself.
    pub(in crate::references) fn cpp_item(&mut self, whole: Value) -> ValueSet {
        let operator = self.attribute(whole, "operator[]");
        if !operator.values.is_empty() {
            return operator.flat_map(|operator| self.call(operator));
        }
        if operator.is_complete { ValueSet::one(whole) } else { ValueSet::UNKNOWN }
    }

    /// Returns what an iterator over a container of another project points to; for a map, a pair.
    pub(in crate::references) fn cpp_element(&mut self, container: Value) -> ValueSet {
        let Value::Generic { site, expression } = container else { return ValueSet::UNKNOWN };
        let (name, arguments, _) = self.generic_parts(site.file, expression);
        if name.trim_end_matches(':').ends_with("map") && 2 <= arguments.len() {
            return ValueSet::one(Value::Entries { site, expression });
        }
        // What follows the element is an allocator or a comparator.
        arguments.first().map_or(ValueSet::UNKNOWN, |first| self.instance(site, *first))
    }

    /// Returns whether `->` on a value of a template of the standard library goes through a pointer to it, because it
    /// has no such operator itself.
    pub(in crate::references) fn is_cpp_container(&self, file: FileId, template: &str) -> bool {
        let name = template.trim_end_matches(':');
        self.index.rules(file) == NameRules::Cpp
            && (name.ends_with("map") || name.ends_with("set") || WITHOUT_ARROW.contains(&name))
    }

    /// Returns what an iterator points to that is declared by its container: `vector<A>::iterator`.
    pub(in crate::references) fn cpp_iterator(
        &mut self,
        site: Site,
        declared: ExpressionId,
    ) -> Option<ValueSet> {
        let facts = self.index.facts(site.file);
        let ExpressionFact::Member(container, name) = facts.expression(declared) else { return None };
        let is_iterator = matches!(
            facts.name(name).trim_end_matches(':'),
            "iterator" | "const_iterator" | "reverse_iterator" | "const_reverse_iterator"
        );
        if !is_iterator || self.index.rules(site.file) != NameRules::Cpp {
            return None;
        }
        let containers = self.instance(site, container);
        let is_foreign = |value: &Value| matches!(value, Value::Generic { .. });
        if containers.values.is_empty() || !containers.values.iter().all(is_foreign) {
            return None;
        }
        Some(containers.flat_map(|container| self.cpp_element(container)))
    }

    /// Returns the result of a standard template that takes the type of a pointer as its argument: `make_shared<A>(…)`.
    pub(in crate::references) fn cpp_made_pointer(
        &mut self,
        site: Site,
        function: ExpressionId,
    ) -> Option<ValueSet> {
        if !matches!(self.index.facts(site.file).expression(function), ExpressionFact::Apply(..)) {
            return None;
        }
        let (name, _, template) = self.generic_parts(site.file, function);
        let is_known = matches!(
            name,
            "make_shared"
                | "make_unique"
                | "make_optional"
                | "unique_ptr"
                | "shared_ptr"
                | "static_pointer_cast"
                | "dynamic_pointer_cast"
                | "const_pointer_cast"
        );
        if !is_known || !self.value(site, template).values.is_empty() {
            return None;
        }
        Some(ValueSet::one(Value::Generic { site, expression: function }))
    }

    /// Returns the result of a method of a container or a pointer of another project.
    pub(in crate::references) fn cpp_container_call(&mut self, container: Value, method: &str) -> ValueSet {
        match method {
            "find" | "begin" | "cbegin" | "rbegin" | "lower_bound" | "upper_bound" => {
                self.cpp_element(container)
            }
            "get" | "at" | "front" | "back" | "top" | "value" | "lock" | "load" | "data" => {
                self.item(container)
            }
            _ => ValueSet::UNKNOWN,
        }
    }

    /// Returns the key or the value of an entry of a map, or a part of a pair.
    pub(in crate::references) fn cpp_pair_member(&mut self, pair: Value, name: &str) -> ValueSet {
        let at = match name {
            "first" => 0,
            "second" => 1,
            _ => return ValueSet::UNKNOWN,
        };
        let is_pair = match pair {
            Value::Generic { site, expression } => {
                self.type_name(site.file, expression).trim_end_matches(':') == "pair"
            }
            _ => true,
        };
        if is_pair { self.part(pair, at) } else { ValueSet::UNKNOWN }
    }
}
