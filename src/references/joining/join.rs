//! Joins uses to references: the definitions that a use may refer to, with the grade of that reading.

use super::by_name::{join_by_name, prefer_sources, reading_by_name};
use super::c::CNames;
use crate::model::{BindingValue, DefinitionFlags, DefinitionKind, TAGGED_FILE, UseFact, on_all_cores_with};
use crate::references::common_members::DELEGATED_RUST_MEMBERS;
use crate::references::evaluation::{Evaluator, ProjectTables, ScopedName, is_other_name};
use crate::references::found::{
    MAX_CANDIDATES, NameReading, ProjectReferences, Reference, ReferenceGrade, add_references,
    add_unresolved, implementation,
};
use crate::references::lookup::Namespace;
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectFile, ProjectIndex, Site};
use crate::references::python::Variables;
use crate::references::values::{Value, ValueSet};

/// Returns the references of some files to each other's definitions.
pub fn find_references(files: &[ProjectFile]) -> ProjectReferences {
    let index = ProjectIndex::new(files);
    let tables = ProjectTables::new(&index);
    let all: Vec<FileId> = index.file_ids().collect();
    let mut found = join_files(&index, &tables, &all, &[]);
    found.inherited = Evaluator::new(&index, tables).inheritance();
    found
}

/// Returns the references of some files. They do not depend on which thread joins which file, because evaluators forget
/// each file before the next one. `others` has the references of other files that are outside of all definitions.
pub(super) fn join_files(
    index: &ProjectIndex<'_>,
    tables: &ProjectTables<'_>,
    files: &[FileId],
    others: &[Reference],
) -> ProjectReferences {
    let new_evaluator = || Evaluator::new(index, tables.clone());
    let new_state = || (new_evaluator(), CNames::new(index));
    let of_files = on_all_cores_with(files, new_state, |(evaluator, c_names), file| {
        join_file(evaluator, c_names, *file)
    });
    let mut found = ProjectReferences::default();
    for of_file in of_files {
        found.references.extend(of_file.references);
        found.unresolved.extend(of_file.unresolved);
    }
    let variables = Variables::new(index, [others, &found.references]);
    if !variables.is_empty() {
        let uses = on_all_cores_with(files, new_evaluator, |evaluator, file| {
            evaluator.uses_of_variables(*file, &variables)
        });
        found.references.extend(uses.into_iter().flatten());
    }
    found
}

/// Returns the references of a file, except those to the contents of variables.
fn join_file<'a>(evaluator: &mut Evaluator<'a>, c_names: &mut CNames<'a>, file: FileId) -> ProjectReferences {
    let mut found = ProjectReferences::default();
    let index = evaluator.index;
    if is_joined_by_itself(index.rules(file)) {
        join_by_itself(index, c_names, file, &mut found);
        return found;
    }
    for usage in &index.facts(file).uses {
        if !join_java_call(evaluator, file, usage, &mut found) {
            join_use(evaluator, file, usage, &mut found);
        }
    }
    found.references.extend(evaluator.fixture_uses(file).into_iter().map(|usage| Reference {
        from_file: file,
        from_line: usage.line,
        from_definition: usage.from,
        to_file: usage.fixture.file,
        to_definition: usage.fixture.definition,
        grade: ReferenceGrade::Likely,
        is_call: true,
        is_implied: usage.is_implied,
    }));
    evaluator.forget();
    found
}

/// Returns whether the meaning of names in a file depends only on the definitions and includes of all files, not on
/// what names in other files mean.
pub(super) const fn is_joined_by_itself(rules: NameRules) -> bool {
    matches!(rules, NameRules::C | NameRules::ByName)
}

/// Adds the references of a file that is joined by itself.
pub(super) fn join_by_itself<'a>(
    index: &'a ProjectIndex<'a>,
    c_names: &mut CNames<'a>,
    file: FileId,
    found: &mut ProjectReferences,
) {
    for usage in &index.facts(file).uses {
        if index.rules(file) == NameRules::C {
            let (targets, grade) = c_names.resolve(file, usage);
            add_references(index, file, usage, targets, *grade, found);
        } else {
            join_by_name(index, file, usage, found);
        }
    }
}

/// Adds the methods that a Java call refers to if its receiver is known; returns whether it is.
fn join_java_call(
    evaluator: &mut Evaluator<'_>,
    file: FileId,
    usage: &UseFact,
    found: &mut ProjectReferences,
) -> bool {
    let index = evaluator.index;
    let Some(function) =
        usage.applied.filter(|_| index.by_name.contains_key(index.facts(file).plain_name(usage.name)))
    else {
        return false;
    };
    let Some(call) = evaluator.java_call(Site { file, scope: usage.scope }, function) else { return false };
    let grade = match (call.methods.len(), call.is_sure) {
        (1, true) => ReferenceGrade::Sure,
        (1, false) => ReferenceGrade::Likely,
        _ => ReferenceGrade::Maybe,
    };
    let mut targets = call.methods.clone();
    targets.sort_unstable();
    add_references(index, file, usage, &targets, grade, found);
    true
}

/// Returns the readings of a member, by those of its receiver.
fn members_of(evaluator: &mut Evaluator<'_>, file: FileId, usage: &UseFact, object: ValueSet) -> ValueSet {
    let facts = evaluator.index.facts(file);
    let is_known = !object.values.is_empty();
    let mut members = object.flat_map(|object| match object {
        Value::Namespace(namespace) => evaluator.cpp_member(file, namespace, facts.plain_name(usage.name)),
        _ => evaluator.member(object, facts.name(usage.name)),
    });
    // A member that a known type does not define is inherited from another project.
    members.is_complete |= is_known && members.values.is_empty();
    members = evaluator.rust_members(file, usage, members);
    // A property that holds a list under its own name.
    members.is_complete &= !members.values.iter().any(|member| evaluator.is_display(*member));
    members
}

fn join_use(evaluator: &mut Evaluator<'_>, file: FileId, usage: &UseFact, found: &mut ProjectReferences) {
    let index = evaluator.index;
    let name = index.facts(file).plain_name(usage.name);
    // A name without a definition may still be an import of another name.
    let is_defined = index.by_name.contains_key(name) || index.local_names.contains(name);
    let Some((values, is_renamed)) = values_of_use(evaluator, file, usage, is_defined) else { return };
    if !is_defined && !is_renamed {
        return;
    }
    let mut reading = reading_of_values(evaluator, file, usage, &values, is_renamed);
    if reading.targets.is_empty() {
        if !values.is_unknown() {
            return;
        }
        reading = reading_by_name(evaluator, file, usage);
    }
    if reading.targets.is_empty() {
        // A value of unknown type is unlikely to be of a type that is local to one function, and JavaScript may import
        // anything: an image, a style sheet.
        if index.by_name.contains_key(name) || !is_defined && index.rules(file) != NameRules::Script {
            add_unresolved(index, file, usage, found);
        }
        return;
    }
    if index.rules(file) == NameRules::Go {
        let home = go_home(evaluator, file, usage);
        reading
            .targets
            .retain(|key| home.is_none_or(|home| evaluator.folder_of_file(key.file) == Some(home)));
        if let Some(built) = built_without_tags(index, &reading.targets) {
            add_references(index, file, usage, &[built], ReferenceGrade::Likely, found);
            reading.targets.retain(|key| *key != built);
            reading.grade = ReferenceGrade::Maybe;
        }
    }
    reading.targets.sort_unstable();
    add_references(index, file, usage, &reading.targets, reading.grade, found);
}

/// Returns the readings of a use, and whether an import or an assignment may have renamed it; `None` for a member with
/// a name that the project does not define.
fn values_of_use(
    evaluator: &mut Evaluator<'_>,
    file: FileId,
    usage: &UseFact,
    is_defined: bool,
) -> Option<(ValueSet, bool)> {
    let index = evaluator.index;
    let rules = index.rules(file);
    let Some(receiver) = usage.receiver else {
        return Some(match rules {
            NameRules::Rust => (bare_rust_name(evaluator, file, usage), true),
            _ => bare_name(evaluator, file, usage),
        });
    };
    let name = index.facts(file).plain_name(usage.name);
    let may_be_alias = match rules {
        NameRules::Rust => evaluator.modules.rust.is_alias(name),
        NameRules::Script => evaluator.modules.common_js.is_alias(name),
        NameRules::Python => evaluator.modules.python_aliases.contains(name),
        _ => false,
    };
    if !is_defined && !may_be_alias {
        return None;
    }
    let object = evaluator.value(Site { file, scope: usage.scope }, receiver);
    let is_renamed = may_be_alias
        && (rules != NameRules::Python
            || object.values.iter().any(|object| evaluator.is_alias_member(*object, name)));
    let members = members_of(evaluator, file, usage, object);
    let is_replaced = rules == NameRules::Python && is_replaced_method(index, name, &members);
    Some((members, is_renamed || is_replaced))
}

/// Returns whether a Python value has both a method of a name and another function: `self.run = self.run_once`.
fn is_replaced_method(index: &ProjectIndex<'_>, name: &str, members: &ValueSet) -> bool {
    let functions = members.values.iter().filter_map(|member| match member {
        Value::Definition(key) if index.definition(*key).kind == DefinitionKind::Function => Some(*key),
        _ => None,
    });
    let (own, others): (Vec<_>, Vec<_>) = functions.partition(|key| index.name(*key) == name);
    own.iter().any(|key| index.owner(*key).is_some()) && !others.is_empty()
}

/// Returns the definitions among the values of a use.
fn reading_of_values(
    evaluator: &mut Evaluator<'_>,
    file: FileId,
    usage: &UseFact,
    values: &ValueSet,
    is_renamed: bool,
) -> NameReading {
    let index = evaluator.index;
    let name = index.facts(file).plain_name(usage.name);
    let mut targets: Vec<DefinitionKey> = Vec::new();
    for value in &values.values {
        if let Value::Definition(key) = value
            && (is_renamed || index.name(*key) == name)
        {
            let key = implementation(index, *key);
            if !targets.contains(&key) && is_of_use(index, key, usage) {
                targets.push(key);
            }
        }
    }
    let is_cpp = index.rules(file) == NameRules::Cpp;
    let best =
        if is_cpp { define_cpp_targets(evaluator, file, usage, &mut targets) } else { ReferenceGrade::Sure };
    let is_complete = values.is_complete && !(is_cpp && evaluator.cpp_has_rivals(usage, name, &targets));
    let mut grade = match (targets.len(), is_complete) {
        (1, true) => ReferenceGrade::Sure,
        // Definitions for several platforms; a build has one of them.
        (2.., _) if matches!(index.rules(file), NameRules::Rust | NameRules::Go) => ReferenceGrade::Maybe,
        (1, false) | (2.., true) => ReferenceGrade::Likely,
        (2.., false) if is_cpp && evaluator.cpp_is_one_set(&targets) => ReferenceGrade::Likely,
        _ => ReferenceGrade::Maybe,
    };
    grade = grade.max(best).max(grade_of_alternatives(index, &targets));
    // The call may be of a method of `Box` or `Arc`, which forwards it to its content.
    let is_delegated = usage.receiver.is_some() && DELEGATED_RUST_MEMBERS.contains(&name);
    if is_delegated && index.rules(file) == NameRules::Rust {
        grade = grade.max(ReferenceGrade::Likely);
    }
    NameReading { targets, grade }
}

/// Replaces C++ declarations with their definitions; returns the best grade that these may have.
fn define_cpp_targets(
    evaluator: &mut Evaluator<'_>,
    file: FileId,
    usage: &UseFact,
    targets: &mut Vec<DefinitionKey>,
) -> ReferenceGrade {
    let index = evaluator.index;
    if usage.is_type {
        targets.retain(|key| index.definition(*key).kind != DefinitionKind::Function);
    }
    let mut defined = evaluator.cpp_definitions(file, targets);
    let best = if usage.receiver.is_none() && !evaluator.cpp_sees_one_of(file, targets) {
        prefer_sources(index, file, &mut defined)
    } else {
        ReferenceGrade::Sure
    };
    defined.truncate(MAX_CANDIDATES);
    *targets = defined;
    best
}

/// Returns the best grade of definitions that another branch of a statement replaces. If there are several, all of them
/// are meant; for a single one, the other branch may import it from another project.
fn grade_of_alternatives(index: &ProjectIndex<'_>, targets: &[DefinitionKey]) -> ReferenceGrade {
    let is_alternative = |key: &DefinitionKey| index.definition(*key).flags.has(DefinitionFlags::ALTERNATIVE);
    if targets.iter().any(is_alternative) { ReferenceGrade::Likely } else { ReferenceGrade::Sure }
}

/// Returns the one of several definitions that a build without custom tags has.
fn built_without_tags(index: &ProjectIndex<'_>, targets: &[DefinitionKey]) -> Option<DefinitionKey> {
    let mut plain = targets.iter().filter(|key| index.facts(key.file).find_name(TAGGED_FILE).is_none());
    let built = plain.next().filter(|_| 1 < targets.len())?;
    plain.next().is_none().then_some(*built)
}

/// Returns the readings of a name without a receiver, and whether an import renamed it.
fn bare_name(evaluator: &mut Evaluator<'_>, file: FileId, usage: &UseFact) -> (ValueSet, bool) {
    if evaluator.index.rules(file) == NameRules::Java {
        let found = evaluator
            .java_name(Site { file, scope: usage.scope }, evaluator.index.facts(file).name(usage.name));
        // A variable refers to no definition, whatever its type is.
        return (if found.values.is_empty() { ValueSet::FOREIGN } else { found }, false);
    }
    if evaluator.index.rules(file) == NameRules::Cpp {
        return (evaluator.cpp_bare(file, usage), false);
    }
    match evaluator.scoped_name(Site { file, scope: usage.scope }, usage.name, Some(usage.line)) {
        ScopedName::Bound(bindings) => {
            if bindings
                .iter()
                .all(|binding| matches!(binding.value, BindingValue::Default(_) | BindingValue::Typed(_)))
            {
                return (ValueSet::FOREIGN, false);
            }
            let facts = evaluator.index.facts(file);
            let is_python = evaluator.index.rules(file) == NameRules::Python;
            let is_renamed = bindings.iter().any(|binding| match binding.value {
                BindingValue::Import(_) => true,
                // The function expression's own name; it is assigned to another one.
                BindingValue::Definition(definition) => {
                    facts.definitions[definition as usize].name != binding.name
                }
                _ => is_python && is_other_name(facts, binding),
            });
            let found = evaluator.bound(file, bindings);
            let is_taken = !found.values.is_empty()
                && bindings.iter().all(|binding| evaluator.is_taken_member(file, binding));
            (if is_taken { ValueSet::FOREIGN } else { found }, is_renamed)
        }
        ScopedName::Outside => {
            let found = evaluator.outside(file, usage.name);
            // A template names a component, and does not call it.
            let may_be_component =
                evaluator.index.file(file).language == "vue" && !usage.is_call && !usage.is_type;
            if may_be_component && found.values.is_empty() {
                return (evaluator.registered_component(file, usage.name), true);
            }
            // What a star import brings may be another name.
            let is_python = evaluator.index.rules(file) == NameRules::Python;
            let name = evaluator.index.facts(file).name(usage.name);
            (found, is_python && evaluator.modules.python_aliases.contains(name))
        }
    }
}

/// As [`bare_name`], within one namespace.
fn bare_rust_name(evaluator: &mut Evaluator<'_>, file: FileId, usage: &UseFact) -> ValueSet {
    let space = match (usage.is_type, usage.is_call) {
        (true, true) => Namespace::Macros,
        (true, false) => Namespace::Types,
        (false, _) => Namespace::Values,
    };
    let found = evaluator.rust_definition(Site { file, scope: usage.scope }, usage.name, space);
    if space != Namespace::Macros || !found.values.is_empty() {
        return found;
    }
    // The scope of a macro follows textual order and the order of modules, which is not tracked here.
    let name = evaluator.index.facts(file).name(usage.name);
    let values = evaluator.macros_by_name(file, name).into_iter().map(Value::Definition).collect();
    ValueSet { values, is_complete: false }
}

/// Returns the folder of the Go package that a name belongs to: it may have a variable of that name, whose value is a
/// function of another package.
fn go_home(evaluator: &mut Evaluator<'_>, file: FileId, usage: &UseFact) -> Option<u32> {
    let Some(receiver) = usage.receiver else {
        let has_stars = evaluator.index.facts(file).imports.iter().any(|import| import.is_star);
        return if has_stars { None } else { evaluator.folder_of_file(file) };
    };
    match evaluator.value(Site { file, scope: usage.scope }, receiver).values.first() {
        Some(Value::Folder(folder)) => Some(*folder),
        _ => None,
    }
}

/// Returns whether a use can refer to a definition of that kind.
fn is_of_use(index: &ProjectIndex<'_>, key: DefinitionKey, usage: &UseFact) -> bool {
    if index.rules(key.file) != NameRules::Rust {
        // A TypeScript function and namespace may share a name.
        return !usage.is_call || index.definition(key).kind != DefinitionKind::Module;
    }
    match index.definition(key).kind {
        DefinitionKind::Function => !usage.is_type,
        DefinitionKind::Macro => usage.is_type && usage.is_call,
        DefinitionKind::Module => usage.is_type || !usage.is_call,
        DefinitionKind::Class | DefinitionKind::Interface | DefinitionKind::Alias => true,
    }
}
