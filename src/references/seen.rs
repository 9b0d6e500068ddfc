//! What other files see of a file's facts: all but its uses, its lines, and what is bound within functions.
//!
//! An edit of a body seldom changes that. Then the references of all other files are what they were, and only the file
//! itself has to be joined again.

use rustc_hash::FxHashMap;

use crate::model::{
    BindingFact, BindingValue, DefinitionFact, ExpressionFact, ExpressionId, ImportFact, NameId, ScopeFact,
    ScopeId, ScopeKind, SourceFacts,
};

/// Returns whether other files see the same of a file before and after an edit. `with_locals` counts what is bound within
/// functions too, which the types of C++ may depend on.
pub(super) fn is_seen_alike(before: &SourceFacts, after: &SourceFacts, with_locals: bool) -> bool {
    let mut numbers = SharedNumbers::default();
    let seen = numbers.seen_facts(before, with_locals);
    seen == numbers.seen_facts(after, with_locals)
}

/// What other files see of a file, in numbers that are the same for another version of the file.
#[derive(PartialEq, Eq)]
struct SeenFacts {
    scopes: Vec<ScopeFact>,
    definitions: Vec<DefinitionFact>,
    imports: Vec<ImportFact>,
    bindings: Vec<BindingFact>,
}

/// Numbers of names and expressions that two versions of a file share. The indexes in their own tables change with every
/// name that is added.
#[derive(Default)]
struct SharedNumbers<'a> {
    names: FxHashMap<&'a str, NameId>,
    expressions: FxHashMap<ExpressionFact, ExpressionId>,
}

impl<'a> SharedNumbers<'a> {
    fn name(&mut self, name: &'a str) -> NameId {
        let next = number(self.names.len());
        *self.names.entry(name).or_insert(next)
    }

    fn expression(&mut self, expression: ExpressionFact) -> ExpressionId {
        let next = number(self.expressions.len());
        *self.expressions.entry(expression).or_insert(next)
    }

    fn seen_facts(&mut self, facts: &'a SourceFacts, with_locals: bool) -> SeenFacts {
        let names: Vec<NameId> = facts.names.iter().map(|name| self.name(name)).collect();
        let mut expressions: Vec<ExpressionId> = Vec::with_capacity(facts.expressions.len());
        for expression in &facts.expressions {
            // An expression comes after its operands.
            let shared = expression.renumbered(&|name| names[name as usize], &|at| expressions[at as usize]);
            expressions.push(self.expression(shared));
        }
        let name = |name: NameId| names[name as usize];
        let expression = |at: ExpressionId| expressions[at as usize];
        let definition = |fact: &DefinitionFact| DefinitionFact {
            name: name(fact.name),
            first_line: 0,
            name_line: 0,
            last_line: 0,
            bases: fact.bases.iter().copied().map(expression).collect(),
            returns: fact.returns.iter().copied().map(expression).collect(),
            ..fact.clone()
        };
        let import = |fact: &ImportFact| ImportFact {
            module: name(fact.module),
            name: fact.name.map(name),
            line: 0,
            ..*fact
        };
        let binding = |fact: &BindingFact| {
            let value = match fact.value {
                BindingValue::Value(at) => BindingValue::Value(expression(at)),
                BindingValue::Default(at) => BindingValue::Default(expression(at)),
                BindingValue::Typed(at) => BindingValue::Typed(expression(at)),
                value @ (BindingValue::Definition(_) | BindingValue::Import(_)) => value,
            };
            BindingFact { name: name(fact.name), value, line: 0, ..*fact }
        };
        let is_seen = |fact: &&BindingFact| with_locals || !is_in_function(facts, fact.scope);
        SeenFacts {
            scopes: facts.scopes.clone(),
            definitions: facts.definitions.iter().map(definition).collect(),
            imports: facts.imports.iter().map(import).collect(),
            bindings: facts.bindings.iter().filter(is_seen).map(binding).collect(),
        }
    }
}

/// Returns whether a scope is that of a function, or within one.
pub(super) fn is_in_function(facts: &SourceFacts, mut scope: ScopeId) -> bool {
    while scope != 0 {
        let fact = facts.scope(scope);
        if fact.kind == ScopeKind::Function {
            return true;
        }
        scope = fact.parent.min(scope - 1);
    }
    false
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
