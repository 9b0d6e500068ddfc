//! After an edit: the references of the changed files alone, where other files see the same of them as before.
//!
//! That is so for languages whose names mean what the definitions and includes of all files say: an edit of a body in C
//! seldom changes those. A language whose names have values is joined as a whole.

use rustc_hash::FxHashSet;

use super::c::{CNames, renamed_by};
use super::join::{ProjectReferences, is_joined_by_itself, join_by_itself};
use super::project::{FileId, NameRules, ProjectFile, ProjectIndex, is_in_function};
use crate::model::{
    BindingValue, DefinitionFact, ExpressionFact, ExpressionId, ImportFact, NameId, SourceFacts,
};

/// Returns the references of some files that have changed; `None` unless all other files have the references that they had
/// before. `changed` has each of these files with its facts from before, and the other files are the same as then.
pub fn find_changed_references(
    files: &[ProjectFile],
    changed: &[(u32, &SourceFacts)],
) -> Option<ProjectReferences> {
    let rules = |file: FileId| NameRules::of(files[file as usize].language);
    let facts = |file: FileId| &*files[file as usize].facts;
    let is_alone = |file: FileId| rules(file).is_some_and(is_joined_by_itself);
    if !changed.iter().all(|(file, before)| is_alone(*file) && is_seen_alike(before, facts(*file))) {
        return None;
    }
    let own_names = changed.iter().flat_map(|(file, _)| &facts(*file).names);
    let mut names: FxHashSet<&str> = own_names.map(String::as_str).collect();
    names.extend(files.iter().filter(|file| file.language == "c").flat_map(|file| renamed_by(&file.facts)));
    let index = ProjectIndex::of_names(files, |name| names.contains(name));
    let mut c_names = CNames::new(&index);
    let mut found = ProjectReferences::default();
    for (file, _) in changed {
        join_by_itself(&index, &mut c_names, *file, &mut found);
    }
    Some(found)
}

/// Returns whether other files see the same of a file before and after an edit: all but its uses, its lines, and what is
/// bound within functions, which has no value in the languages that are joined by themselves.
fn is_seen_alike(before: &SourceFacts, after: &SourceFacts) -> bool {
    let is_name = |a: NameId, b: NameId| before.name(a) == after.name(b);
    let is_target = |a: &ExpressionId, b: &ExpressionId| match (before.expression(*a), after.expression(*b)) {
        (ExpressionFact::Name(a), ExpressionFact::Name(b)) => is_name(a, b),
        _ => false,
    };
    let is_definition = |a: &DefinitionFact, b: &DefinitionFact| {
        is_name(a.name, b.name)
            && (a.kind, a.scope, a.body, a.flags) == (b.kind, b.scope, b.body, b.flags)
            && are_alike(&a.bases, &b.bases, is_target)
            && are_alike(&a.returns, &b.returns, is_target)
    };
    let is_import = |a: &ImportFact, b: &ImportFact| {
        is_name(a.module, b.module)
            && a.name.map(|name| before.name(name)) == b.name.map(|name| after.name(name))
            && (a.is_star, a.scope) == (b.is_star, b.scope)
    };
    before.scopes == after.scopes
        && are_alike(&before.definitions, &after.definitions, is_definition)
        && are_alike(&before.imports, &after.imports, is_import)
        && binds_definitions_alone(before)
        && binds_definitions_alone(after)
}

fn are_alike<T>(before: &[T], after: &[T], is_alike: impl Fn(&T, &T) -> bool) -> bool {
    before.len() == after.len() && before.iter().zip(after).all(|(before, after)| is_alike(before, after))
}

/// Returns whether all that is bound outside of functions is what the file defines.
fn binds_definitions_alone(facts: &SourceFacts) -> bool {
    facts.bindings.iter().all(|binding| {
        matches!(binding.value, BindingValue::Definition(_)) || is_in_function(facts, binding.scope)
    })
}
