//! CommonJS: what a file exports, and constructors that are functions.

use rustc_hash::{FxHashMap, FxHashSet};

use super::evaluate::Evaluator;
use super::project::{DefinitionKey, FileId, NameRules, ProjectIndex};
use super::values::{Value, ValueSet};
use crate::model::{
    BindingFact, BindingValue, DefinitionKind, ExpressionFact, MODULE_EXPORTS, ScopeId, ScopeKind,
    SourceFacts, UseFact,
};

/// What files of JavaScript export by assignments.
pub(super) struct CommonJsModules<'a> {
    /// The scopes of the exports.
    exports: FxHashMap<FileId, ScopeId>,
    /// Names of exports and members that are bound to something of another name.
    aliases: FxHashSet<&'a str>,
}

impl<'a> CommonJsModules<'a> {
    pub(super) fn new(index: &'a ProjectIndex<'a>) -> Self {
        let mut modules = Self { exports: FxHashMap::default(), aliases: FxHashSet::default() };
        for (id, file) in (0..).zip(index.files) {
            if index.rules[id as usize] != Some(NameRules::Script) {
                continue;
            }
            let exports = (0..).zip(&file.facts.scopes).find_map(|(scope, fact)| {
                (fact.kind == ScopeKind::Class && fact.definition.is_none()).then_some(scope)
            });
            if let Some(exports) = exports {
                modules.exports.insert(id, exports);
            }
            let aliases =
                file.facts.bindings.iter().filter(|binding| is_alias(&file.facts, exports, binding));
            modules.aliases.extend(aliases.map(|binding| file.facts.name(binding.name)));
        }
        modules
    }

    /// Returns whether a member of that name may be something of another name.
    pub(super) fn is_alias(&self, name: &str) -> bool {
        self.aliases.contains(name)
    }
}

fn is_alias(facts: &SourceFacts, exports: Option<ScopeId>, binding: &BindingFact) -> bool {
    match binding.value {
        BindingValue::Definition(definition) => {
            let is_renamed = facts.definitions[definition as usize].name != binding.name;
            is_renamed
                && matches!(facts.scope(binding.scope).kind, ScopeKind::Class | ScopeKind::Implementation)
        }
        BindingValue::Value(_) => exports == Some(binding.scope),
        _ => false,
    }
}

impl Evaluator<'_> {
    /// Returns what `require` gives of a file: the value of `module.exports`, and the file itself where it has exports of
    /// their own names.
    pub(super) fn exported_whole(&mut self, file: FileId) -> ValueSet {
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
        self.bound_in(file, exports, MODULE_EXPORTS)
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

    /// Returns what a file exports by a name; `None` where it assigns no exports.
    pub(super) fn exported_member(&mut self, file: FileId, name: &str) -> Option<ValueSet> {
        let exports = *self.modules.common_js.exports.get(&file)?;
        let whole = self.assigned_exports(file).unwrap_or(ValueSet::FOREIGN);
        let is_complete = whole.is_complete;
        if let Some(mut found) = self.bound_in(file, exports, name) {
            found.is_complete &= is_complete;
            return Some(found);
        }
        // An import of ECMAScript gets the whole as its default.
        if name == "default" {
            return Some(self.exported_whole(file));
        }
        if whole.values.is_empty() {
            return is_complete.then_some(()).map_or(Some(ValueSet::UNKNOWN), |()| None);
        }
        Some(whole.flat_map(|value| match value {
            Value::Module(other) if other == file => ValueSet::FOREIGN,
            _ => self.deeper(|evaluator| evaluator.member(value, name)),
        }))
    }

    /// Returns whether a file assigns its exports.
    pub(super) fn has_exports(&self, file: FileId) -> bool {
        self.modules.common_js.exports.contains_key(&file)
    }

    /// Returns whether members are assigned to a function of JavaScript, so that it may construct values.
    pub(super) fn is_constructing(&self, key: DefinitionKey) -> bool {
        self.index.definition(key).kind == DefinitionKind::Function
            && self.index.rules(key.file) == NameRules::Script
            && self.modules.implementations.contains_key(&key)
    }

    /// Returns whether a definition is an object of a file of JavaScript.
    fn is_object(&self, key: DefinitionKey) -> bool {
        is_object(self.index, key)
    }

    /// Returns a member of a function or an object of JavaScript.
    pub(super) fn member_of_object(&mut self, key: DefinitionKey, name: &str) -> Option<ValueSet> {
        (self.is_object(key) || self.is_constructing(key)).then(|| self.member_of_type(key, name, 0))
    }
}

/// Returns whether a definition is an object of a file of JavaScript to which members are assigned.
fn is_object(index: &ProjectIndex<'_>, key: DefinitionKey) -> bool {
    let fact = index.definition(key);
    let body = fact.body.map(|body| index.facts(key.file).scope(body).kind);
    fact.kind == DefinitionKind::Module && body == Some(ScopeKind::Class)
}

/// Returns those of some members whose object has the name that is before the use: `res.send()` means the one of `res`.
pub(super) fn of_named_object(
    index: &ProjectIndex<'_>,
    file: FileId,
    usage: &UseFact,
    members: impl Iterator<Item = DefinitionKey>,
) -> Vec<DefinitionKey> {
    let facts = index.facts(file);
    let receiver = usage.receiver.map(|receiver| facts.expression(receiver));
    let Some(ExpressionFact::Name(receiver) | ExpressionFact::Member(_, receiver)) = receiver else {
        return Vec::new();
    };
    let is_meant = |key: &DefinitionKey| {
        index
            .owner(*key)
            .is_some_and(|owner| is_object(index, owner) && index.name(owner) == facts.name(receiver))
    };
    members.filter(is_meant).collect()
}
