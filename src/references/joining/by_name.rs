//! Resolves uses by their name alone, if nothing else is known about them.

use crate::model::{DefinitionKind, UseFact};
use crate::references::common_members::{
    COMMON_MEMBERS, COMMON_MEMBERS_OF_CPP, COMMON_METHODS_OF_JAVA, COMMON_METHODS_OF_SCRIPT,
    COMMON_RUST_MEMBERS,
};
use crate::references::evaluation::Evaluator;
use crate::references::found::{
    MAX_CANDIDATES, NameReading, ProjectReferences, ReferenceGrade, add_references, add_unresolved,
    implementation,
};
use crate::references::lookup::of_named_object;
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectIndex};

/// Adds every definition of the name in files of the same language; if the same file has any, only those.
pub(super) fn join_by_name(
    index: &ProjectIndex<'_>,
    file: FileId,
    usage: &UseFact,
    found: &mut ProjectReferences,
) {
    let name = index.facts(file).name(usage.name);
    let language = index.file(file).language;
    let Some(all) = index.by_name.get(name) else { return };
    let mut targets: Vec<DefinitionKey> =
        all.iter().copied().filter(|key| index.file(key.file).language == language).collect();
    if targets.iter().any(|key| key.file == file) {
        targets.retain(|key| key.file == file);
    }
    prefer_sources(index, file, &mut targets);
    match targets.len() {
        0 => {}
        1..=MAX_CANDIDATES => {
            let first = found.references.len();
            add_references(index, file, usage, &targets, ReferenceGrade::Maybe, found);
            if calls_without_parentheses(language) {
                for (reference, target) in found.references[first..].iter_mut().zip(&targets) {
                    reference.is_call |= index.definition(*target).kind == DefinitionKind::Function;
                }
            }
        }
        _ => add_unresolved(index, file, usage, found),
    }
}

/// Removes definitions in tests if a source uses the name and there are others: a source does not call its tests.
/// Returns the best grade that the rest may have.
pub(super) fn prefer_sources(
    index: &ProjectIndex<'_>,
    file: FileId,
    targets: &mut Vec<DefinitionKey>,
) -> ReferenceGrade {
    let is_of_test = |key: &DefinitionKey| index.file(key.file).is_test;
    if index.file(file).is_test || !targets.iter().any(is_of_test) {
        return ReferenceGrade::Sure;
    }
    if targets.iter().all(is_of_test) {
        return ReferenceGrade::Maybe;
    }
    targets.retain(|key| !is_of_test(key));
    ReferenceGrade::Likely
}

/// Returns whether a language calls functions without parentheses.
fn calls_without_parentheses(language: &str) -> bool {
    matches!(language, "kotlin" | "lua" | "ruby" | "scala" | "shell" | "swift")
}

/// Returns the members of any type with the name of a use about which nothing else is known.
pub(super) fn reading_by_name(evaluator: &mut Evaluator<'_>, file: FileId, usage: &UseFact) -> NameReading {
    let index = evaluator.index;
    let facts = index.facts(file);
    let name = facts.plain_name(usage.name);
    let is_cpp = index.rules(file) == NameRules::Cpp;
    let mut targets =
        if is_taken_apart(index, file, usage) { Vec::new() } else { same_name(index, file, usage, name) };
    if is_cpp {
        targets = evaluator.cpp_definitions(file, &targets);
    }
    let best = prefer_sources(index, file, &mut targets);
    let is_one = targets.len() == 1 || is_cpp && evaluator.cpp_is_one_set(&targets);
    let is_common = match index.rules(file) {
        NameRules::Java | NameRules::Cpp => COMMON_METHODS_OF_JAVA.contains(&name),
        NameRules::Script => COMMON_METHODS_OF_SCRIPT.contains(&name),
        _ => false,
    };
    // A function that would call itself usually calls another one.
    let from = facts.enclosing_definition(usage.scope);
    let is_itself = targets.iter().any(|key| key.file == file && Some(key.definition) == from);
    // The value may be of a type that has a field of this name.
    let rules = index.rules(file);
    let is_read = !usage.is_call || rules == NameRules::Java;
    let is_field = is_read && index.field_names.contains(&(rules, name));
    let is_likely = is_one && is_distinctive(name) && !is_common && !is_itself && !is_field;
    let grade = if is_likely { best.max(ReferenceGrade::Likely) } else { ReferenceGrade::Maybe };
    NameReading { targets, grade }
}

/// Returns the members of any type with the name of a use whose receiver is unknown.
fn same_name(index: &ProjectIndex<'_>, file: FileId, usage: &UseFact, name: &str) -> Vec<DefinitionKey> {
    let rules = index.rules(file);
    if rules == NameRules::Cpp && (!usage.is_call || COMMON_MEMBERS_OF_CPP.contains(&name)) {
        return Vec::new();
    }
    let is_common =
        COMMON_MEMBERS.contains(&name) || rules == NameRules::Rust && COMMON_RUST_MEMBERS.contains(&name);
    let all = index.by_name.get(name).map_or(&[][..], Vec::as_slice);
    let named = of_named_object(index, file, usage, all.iter().copied());
    if !named.is_empty() {
        return named;
    }
    if usage.receiver.is_none() || is_common || name.starts_with("__") {
        return Vec::new();
    }
    let mut found: Vec<DefinitionKey> = Vec::new();
    for key in all.iter().copied() {
        let is_candidate = index.rules(key.file) == rules
            && index.owner(key).is_some()
            && index.definition(key).kind == DefinitionKind::Function;
        if is_candidate {
            let key = implementation(index, key);
            if !found.contains(&key) {
                found.push(key);
            }
        }
        if MAX_CANDIDATES < found.len() {
            return Vec::new();
        }
    }
    if rules == NameRules::C { Vec::new() } else { found }
}

/// Returns whether a use is a property in a JavaScript destructuring pattern, which most objects may have.
fn is_taken_apart(index: &ProjectIndex<'_>, file: FileId, usage: &UseFact) -> bool {
    let facts = index.facts(file);
    index.rules(file) == NameRules::Script
        && usage.receiver.is_some()
        && facts.bindings_of(usage.scope, usage.name).iter().any(|binding| binding.line == usage.line)
}

/// Returns whether a name is unlikely to be also that of a member in another project.
fn is_distinctive(name: &str) -> bool {
    let inner = name.trim_matches('_');
    inner.contains('_') || inner.chars().skip(1).any(char::is_uppercase)
}
