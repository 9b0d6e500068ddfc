//! After an edit: the references of the changed files alone, where other files see the same of them as before.
//!
//! An edit of a body seldom changes what others see of a file: its definitions and imports, what is bound outside of
//! functions, and the local variables that decide what a function returns or what an attribute is.

use rustc_hash::FxHashSet;

use super::c::{CNames, renamed_by};
use super::evaluate::ProjectTables;
use super::found::{ProjectReferences, Reference};
use super::join::{is_joined_by_itself, join_by_itself, join_files};
use super::project::{FileId, NameRules, ProjectFile, ProjectIndex, is_in_function};
use crate::model::{
    BindingFact, BindingValue, DefinitionFact, ExpressionFact, ExpressionId, ImportFact, NameId, ScopeKind,
    SourceFacts, UseFact,
};

/// Returns the references of some files that have changed; `None` unless all other files have the references that they had
/// before. `changed` has each of these files with its facts from before, by file, and the other files are the same as then.
/// `kept` returns the references of the other files that are within no definition.
pub fn find_changed_references(
    files: &[ProjectFile],
    changed: &[(u32, &SourceFacts)],
    kept: impl FnOnce() -> Vec<Reference>,
) -> Option<ProjectReferences> {
    let rules = |file: FileId| NameRules::of(files[file as usize].language);
    let facts = |file: FileId| &*files[file as usize].facts;
    let is_alike = |(file, before): &(u32, &SourceFacts)| is_seen_alike(rules(*file), before, facts(*file));
    if !changed.iter().all(is_alike) {
        return None;
    }
    let is_alone = |(file, _): &(u32, &SourceFacts)| rules(*file).is_some_and(is_joined_by_itself);
    if changed.iter().all(is_alone) {
        return Some(joined_by_themselves(files, changed));
    }
    let index = ProjectIndex::new(files);
    let changed: Vec<FileId> = changed.iter().map(|(file, _)| *file).collect();
    Some(join_files(&index, &ProjectTables::new(&index), &changed, &kept()))
}

/// Returns the references of files that are joined by themselves, which need no table of all names.
fn joined_by_themselves(files: &[ProjectFile], changed: &[(u32, &SourceFacts)]) -> ProjectReferences {
    let own_names = changed.iter().flat_map(|(file, _)| &files[*file as usize].facts.names);
    let mut names: FxHashSet<&str> = own_names.map(String::as_str).collect();
    names.extend(files.iter().filter(|file| file.language == "c").flat_map(|file| renamed_by(&file.facts)));
    let index = ProjectIndex::of_names(files, |name| names.contains(name));
    let mut c_names = CNames::new(&index);
    let mut found = ProjectReferences::default();
    for (file, _) in changed {
        join_by_itself(&index, &mut c_names, *file, &mut found);
    }
    found
}

/// Returns whether other files see the same of a file before and after an edit.
fn is_seen_alike(rules: Option<NameRules>, before: &SourceFacts, after: &SourceFacts) -> bool {
    let has_values = rules.is_some_and(|rules| !is_joined_by_itself(rules));
    let mut edit = Edit { before, after, alike: FxHashSet::default(), lines: Vec::new() };
    before.scopes == after.scopes
        && are_alike(&before.definitions, &after.definitions, |a, b| edit.is_definition(a, b))
        && are_alike(&before.imports, &after.imports, |a, b| edit.is_import(a, b))
        && are_alike(&seen_bindings(before, has_values), &seen_bindings(after, has_values), |a, b| {
            edit.is_binding(a, b)
        })
        // What a module runs itself decides what its variables contain, and what macros of Rust add to it.
        && (!has_values || are_alike(&outer_uses(before), &outer_uses(after), |a, b| edit.is_use(a, b)))
        && edit.has_lines_in_order()
}

fn are_alike<T>(before: &[T], after: &[T], mut is_alike: impl FnMut(&T, &T) -> bool) -> bool {
    before.len() == after.len() && before.iter().zip(after).all(|(before, after)| is_alike(before, after))
}

/// Returns the bindings of a file that others may see: all but those of local variables that nothing seen depends on.
fn seen_bindings(facts: &SourceFacts, has_values: bool) -> Vec<BindingFact> {
    let is_hidden = |binding: &BindingFact| {
        let is_plain = match binding.value {
            BindingValue::Value(_) => !facts.name(binding.name).starts_with('('),
            // Parameters have types and defaults, too.
            BindingValue::Typed(_) | BindingValue::Default(_) => !has_values,
            BindingValue::Definition(_) | BindingValue::Import(_) => false,
        };
        // A class within a function has members that other files know by their names.
        let is_of_block = matches!(facts.scope(binding.scope).kind, ScopeKind::Function | ScopeKind::Block);
        is_plain && is_of_block && is_in_function(facts, binding.scope)
    };
    let (mut hidden, mut seen): (Vec<BindingFact>, Vec<BindingFact>) =
        facts.bindings.iter().partition(|binding| is_hidden(binding));
    if !has_values {
        return seen;
    }
    let mut names = NamesInExpressions { facts, names: FxHashSet::default(), visited: FxHashSet::default() };
    for definition in &facts.definitions {
        definition.bases.iter().chain(&definition.returns).for_each(|at| names.add(*at));
    }
    let mut new = seen.clone();
    while !new.is_empty() {
        new.iter().filter_map(expression_of).for_each(|at| names.add(at));
        (new, hidden) = hidden.into_iter().partition(|binding| names.names.contains(&binding.name));
        seen.extend(&new);
    }
    seen.sort_by_key(|binding| (binding.scope, binding.name));
    seen
}

/// Returns the expression that a name is bound to, or that its type is declared by.
fn expression_of(binding: &BindingFact) -> Option<ExpressionId> {
    match binding.value {
        BindingValue::Value(at) | BindingValue::Default(at) | BindingValue::Typed(at) => Some(at),
        BindingValue::Definition(_) | BindingValue::Import(_) => None,
    }
}

/// Returns the uses of a file that are in no function.
fn outer_uses(facts: &SourceFacts) -> Vec<UseFact> {
    facts.uses.iter().filter(|usage| !is_in_function(facts, usage.scope)).copied().collect()
}

/// The names that some expressions of a file mention.
struct NamesInExpressions<'a> {
    facts: &'a SourceFacts,
    names: FxHashSet<NameId>,
    visited: FxHashSet<ExpressionId>,
}

impl NamesInExpressions<'_> {
    fn add(&mut self, expression: ExpressionId) {
        let mut open = vec![expression];
        while let Some(at) = open.pop() {
            if self.visited.insert(at) {
                let fact = self.facts.expression(at);
                self.names.extend(fact.name());
                open.extend(fact.operands());
            }
        }
    }
}

/// The facts of a file before and after an edit.
struct Edit<'a> {
    before: &'a SourceFacts,
    after: &'a SourceFacts,
    /// The expressions that were found to be the same.
    alike: FxHashSet<(ExpressionId, ExpressionId)>,
    /// The lines of what is seen, before and after.
    lines: Vec<(u32, u32)>,
}

impl Edit<'_> {
    fn is_definition(&mut self, a: &DefinitionFact, b: &DefinitionFact) -> bool {
        self.lines.extend([
            (a.first_line, b.first_line),
            (a.name_line, b.name_line),
            (a.last_line, b.last_line),
        ]);
        self.is_name(a.name, b.name)
            && (a.kind, a.scope, a.body, a.flags) == (b.kind, b.scope, b.body, b.flags)
            && are_alike(&a.bases, &b.bases, |a, b| self.is_expression(*a, *b))
            && are_alike(&a.returns, &b.returns, |a, b| self.is_expression(*a, *b))
    }

    fn is_import(&mut self, a: &ImportFact, b: &ImportFact) -> bool {
        self.lines.push((a.line, b.line));
        self.lines.extend(a.branch_end.zip(b.branch_end));
        self.is_name(a.module, b.module)
            && a.name.map(|name| self.before.name(name)) == b.name.map(|name| self.after.name(name))
            && (a.is_star, a.scope, a.branch_end.is_some()) == (b.is_star, b.scope, b.branch_end.is_some())
    }

    fn is_binding(&mut self, a: &BindingFact, b: &BindingFact) -> bool {
        self.lines.push((a.line, b.line));
        self.is_name(a.name, b.name)
            && (a.scope, a.at) == (b.scope, b.at)
            && match (a.value, b.value) {
                (BindingValue::Definition(a), BindingValue::Definition(b))
                | (BindingValue::Import(a), BindingValue::Import(b)) => a == b,
                (BindingValue::Value(a), BindingValue::Value(b))
                | (BindingValue::Default(a), BindingValue::Default(b))
                | (BindingValue::Typed(a), BindingValue::Typed(b)) => self.is_expression(a, b),
                _ => false,
            }
    }

    fn is_use(&mut self, a: &UseFact, b: &UseFact) -> bool {
        self.lines.push((a.line, b.line));
        let operands = |usage: &UseFact| usage.receiver.into_iter().chain(usage.applied).collect::<Vec<_>>();
        self.is_name(a.name, b.name)
            && (a.scope, a.is_call, a.is_type) == (b.scope, b.is_call, b.is_type)
            && (a.receiver.is_some(), a.applied.is_some()) == (b.receiver.is_some(), b.applied.is_some())
            && are_alike(&operands(a), &operands(b), |a, b| self.is_expression(*a, *b))
    }

    fn is_name(&self, a: NameId, b: NameId) -> bool {
        self.before.name(a) == self.after.name(b)
    }

    /// Returns whether two expressions are written alike.
    fn is_expression(&mut self, a: ExpressionId, b: ExpressionId) -> bool {
        let mut open = vec![(a, b)];
        while let Some((a, b)) = open.pop() {
            if !self.alike.insert((a, b)) {
                continue;
            }
            let (a, b) = (self.before.expression(a), self.after.expression(b));
            let is_part = match (a, b) {
                (ExpressionFact::Part(_, a), ExpressionFact::Part(_, b)) => a == b,
                _ => std::mem::discriminant(&a) == std::mem::discriminant(&b),
            };
            let is_named =
                a.name().map(|name| self.before.name(name)) == b.name().map(|name| self.after.name(name));
            if !is_part || !is_named {
                return false;
            }
            open.extend(a.operands().zip(b.operands()));
        }
        true
    }

    /// Returns whether lines are in the order that they were in: names are bound before and behind each other as they were.
    fn has_lines_in_order(mut self) -> bool {
        self.lines.sort_unstable();
        self.lines.dedup();
        self.lines.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1)
    }
}
