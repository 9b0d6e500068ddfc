//! The exports of JavaScript files, and objects with assigned members.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    BindingFact, BindingValue, DefinitionKind, ExpressionFact, ScopeId, ScopeKind, SourceFacts, UseFact,
};
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectIndex};

/// The exports that JavaScript files assign.
pub(in crate::references) struct CommonJsModules<'a> {
    /// The scopes of the exports.
    pub(in crate::references) exports: FxHashMap<FileId, ScopeId>,
    /// Names of exports and members that are bound to something with another name.
    aliases: FxHashSet<&'a str>,
}

impl<'a> CommonJsModules<'a> {
    pub(in crate::references) fn new(index: &'a ProjectIndex<'a>) -> Self {
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

    /// Returns whether a member of that name may be something with another name.
    pub(in crate::references) fn is_alias(&self, name: &str) -> bool {
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

/// Returns whether a definition is a JavaScript object with assigned members.
pub(in crate::references) fn is_object(index: &ProjectIndex<'_>, key: DefinitionKey) -> bool {
    let fact = index.definition(key);
    let body = fact.body.map(|body| index.facts(key.file).scope(body).kind);
    fact.kind == DefinitionKind::Module && body == Some(ScopeKind::Class)
}

/// Returns those members whose object has the name before the dot at the use: `res.send()` means the member of `res`.
pub(in crate::references) fn of_named_object(
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
