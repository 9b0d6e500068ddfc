//! `CommonJS`: the exports of a file, and constructors that are functions.

use crate::model::{DefinitionKind, MODULE_EXPORTS};
use crate::references::evaluation::Evaluator;
use crate::references::lookup::is_object;
use crate::references::project::{DefinitionKey, FileId, NameRules, Site};
use crate::references::values::{Value, ValueSet};

impl Evaluator<'_> {
    /// Returns the result of `require` for a file: the value of `module.exports`, and the file itself if it has named
    /// exports.
    pub(in crate::references) fn exported_whole(&mut self, file: FileId) -> ValueSet {
        let itself = Value::Module(file);
        let Some(whole) = self.assigned_exports(file) else { return ValueSet::one(itself) };
        if whole.values.is_empty() {
            return ValueSet::one(itself);
        }
        let mut found = whole;
        if self.has_own_exports(file) {
            found.merge(ValueSet::one(itself));
        }
        found
    }

    fn assigned_exports(&mut self, file: FileId) -> Option<ValueSet> {
        let exports = *self.modules.common_js.exports.get(&file)?;
        self.bound_in(Site { file, scope: exports }, MODULE_EXPORTS)
    }

    fn has_own_exports(&self, file: FileId) -> bool {
        let exports = self.modules.common_js.exports.get(&file).copied();
        let facts = self.index.facts(file);
        exports.is_some_and(|exports| {
            let first = facts.bindings.partition_point(|binding| binding.scope < exports);
            let own = facts.bindings[first..].iter().take_while(|binding| binding.scope == exports);
            own.into_iter().any(|binding| facts.name(binding.name) != MODULE_EXPORTS)
        })
    }

    /// Returns what a file exports under a name; `None` if it assigns no exports.
    pub(in crate::references) fn exported_member(&mut self, file: FileId, name: &str) -> Option<ValueSet> {
        let exports = *self.modules.common_js.exports.get(&file)?;
        let whole = self.assigned_exports(file).unwrap_or(ValueSet::FOREIGN);
        let is_complete = whole.is_complete;
        if let Some(mut found) = self.bound_in(Site { file, scope: exports }, name) {
            found.is_complete &= is_complete;
            return Some(found);
        }
        // An ECMAScript import gets the whole as its default.
        if name == "default" {
            return Some(self.exported_whole(file));
        }
        if whole.values.is_empty() {
            return (!is_complete).then_some(ValueSet::UNKNOWN);
        }
        Some(whole.flat_map(|value| match value {
            Value::Module(other) if other == file => ValueSet::FOREIGN,
            _ => self.deeper(|evaluator| evaluator.member(value, name)),
        }))
    }

    /// Returns whether a file assigns its exports.
    pub(in crate::references) fn has_exports(&self, file: FileId) -> bool {
        self.modules.common_js.exports.contains_key(&file)
    }

    /// Returns whether members are assigned to a JavaScript function, so that it may be a constructor.
    pub(in crate::references) fn is_constructing(&self, key: DefinitionKey) -> bool {
        self.index.definition(key).kind == DefinitionKind::Function
            && self.index.rules(key.file) == NameRules::Script
            && self.modules.implementations.contains_key(&key)
    }

    /// Returns a member of a JavaScript function or object.
    pub(in crate::references) fn member_of_object(
        &mut self,
        key: DefinitionKey,
        name: &str,
    ) -> Option<ValueSet> {
        (is_object(self.index, key) || self.is_constructing(key)).then(|| self.member_of_type(key, name, 0))
    }
}
