//! The results of the join: references with their grades, and unresolved uses.

use super::evaluation::InheritedDefinition;
use super::project::{DefinitionKey, FileId, NameRules, ProjectIndex};
use crate::model::{BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, NameId, UseFact};

/// A use with more candidates than this is unresolved.
pub(super) const MAX_CANDIDATES: usize = 8;

/// A use of a name, and a definition that it may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// The index of the file of the use.
    pub from_file: u32,
    /// The line of the name.
    pub from_line: u32,
    /// The innermost enclosing definition.
    pub from_definition: Option<DefinitionId>,
    /// The file of the definition.
    pub to_file: u32,
    /// The index of the definition in its file.
    pub to_definition: DefinitionId,
    /// How certain the reference is.
    pub grade: ReferenceGrade,
    /// Whether the name is called.
    pub is_call: bool,
    /// Whether the line does not contain the name: a test runs with an automatic fixture, or a variable contains the
    /// definition.
    pub is_implied: bool,
}

/// How certain a reference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceGrade {
    /// The rules of the language allow no other reading.
    Sure,
    /// The best reading, without a rival of the same rank.
    Likely,
    /// One of several readings.
    Maybe,
}

impl ReferenceGrade {
    /// Returns the stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sure => "sure",
            Self::Likely => "likely",
            Self::Maybe => "maybe",
        }
    }
}

/// A use that could not be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnresolvedUse {
    /// The index of its file.
    pub file: u32,
    /// The line of the name.
    pub line: u32,
    /// The innermost enclosing definition.
    pub from_definition: Option<DefinitionId>,
    /// The index of the name in its file.
    pub name: NameId,
}

/// The references of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectReferences {
    /// In the order of the uses, and for each use in the order of the definitions.
    pub references: Vec<Reference>,
    /// Unresolved uses of names that the project defines.
    pub unresolved: Vec<UnresolvedUse>,
    /// What types and members inherit or implement, by file and definition.
    pub inherited: Vec<InheritedDefinition>,
}

/// The definitions that a use may refer to, all with the same grade.
pub(super) struct NameReading {
    pub(super) targets: Vec<DefinitionKey>,
    pub(super) grade: ReferenceGrade,
}

pub(super) fn add_unresolved(
    index: &ProjectIndex<'_>,
    file: FileId,
    usage: &UseFact,
    found: &mut ProjectReferences,
) {
    let from_definition = index.facts(file).using_definition(usage.scope);
    found.unresolved.push(UnresolvedUse { file, line: usage.line, from_definition, name: usage.name });
}

pub(super) fn add_references(
    index: &ProjectIndex<'_>,
    file: FileId,
    usage: &UseFact,
    targets: &[DefinitionKey],
    grade: ReferenceGrade,
    found: &mut ProjectReferences,
) {
    let from_definition = index.facts(file).using_definition(usage.scope);
    found.references.extend(targets.iter().map(|target| Reference {
        from_file: file,
        from_line: usage.line,
        from_definition,
        to_file: target.file,
        to_definition: target.definition,
        grade,
        is_call: usage.is_call,
        is_implied: usage.is_implied,
    }));
}

/// Returns the last definition of a name in a scope: the one that defines it, where others only declare it.
pub(super) fn implementation(index: &ProjectIndex<'_>, key: DefinitionKey) -> DefinitionKey {
    // Definitions for several platforms, and overloads, are separate definitions.
    if matches!(index.rules(key.file), NameRules::Rust | NameRules::Go | NameRules::Java | NameRules::Cpp) {
        return key;
    }
    let facts = index.facts(key.file);
    let fact = index.definition(key);
    let is_module = fact.kind == DefinitionKind::Module;
    let same = facts.bindings_of(fact.scope, fact.name).iter().filter_map(|binding| match binding.value {
        BindingValue::Definition(definition) => Some(definition),
        _ => None,
    });
    let same = same.filter(|definition| {
        (facts.definitions[*definition as usize].kind == DefinitionKind::Module) == is_module
    });
    let is_whole = |definition: &DefinitionId| {
        let fact = &facts.definitions[*definition as usize];
        !fact.flags.has(DefinitionFlags::PROTOTYPE)
    };
    let last = same.clone().rfind(is_whole).or_else(|| same.clone().next_back());
    let is_alternative = |definition: &DefinitionId| {
        facts.definitions[*definition as usize].flags.has(DefinitionFlags::ALTERNATIVE)
    };
    if is_alternative(&key.definition)
        && is_whole(&key.definition)
        && last.as_ref().is_some_and(is_alternative)
    {
        return key;
    }
    last.map_or(key, |definition| DefinitionKey { file: key.file, definition })
}
