//! C names: the same file first, then what it includes, then the nearest definition with external linkage.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::by_name::prefer_sources;
use crate::model::{
    BindingValue, DefinitionFact, DefinitionFlags, DefinitionKind, ExpressionFact, NameId, SourceFacts,
    UseFact,
};
use crate::references::found::ReferenceGrade;
use crate::references::lookup::IncludePaths;
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectIndex, shared_prefix};

/// The maximum number of definitions of one name that are considered.
const MAX_SAME_NAME: usize = 64;
/// The maximum number of macros that rename one name in turn.
const MAX_RENAMES: usize = 4;

/// The meaning of a name, and the grade of that reading.
pub(in crate::references) type CReading = (Vec<DefinitionKey>, ReferenceGrade);

/// Resolves C names, and caches what each file includes.
pub(in crate::references) struct CNames<'a> {
    index: &'a ProjectIndex<'a>,
    paths: IncludePaths<'a>,
    /// The files that each file names in its `#include` lines.
    includes: FxHashMap<FileId, Rc<[FileId]>>,
    /// The same, with everything that these include in turn.
    included: FxHashMap<FileId, Rc<FxHashSet<FileId>>>,
    /// The readings of the names of one file outside of any function, by [`reading_index`].
    readings: Vec<Option<CReading>>,
    /// The readings, above the macro, of names that are also names of a macro of the file.
    readings_above: FxHashMap<usize, CReading>,
    readings_of: Option<FileId>,
}

impl<'a> CNames<'a> {
    pub(in crate::references) fn new(index: &'a ProjectIndex<'a>) -> Self {
        Self {
            index,
            paths: IncludePaths::new(index),
            includes: FxHashMap::default(),
            included: FxHashMap::default(),
            readings: Vec::new(),
            readings_above: FxHashMap::default(),
            readings_of: None,
        }
    }

    /// Returns the meaning of a use.
    pub(super) fn resolve(&mut self, file: FileId, usage: &UseFact) -> &CReading {
        const NOTHING: &CReading = &(Vec::new(), ReferenceGrade::Sure);
        let facts = self.index.facts(file);
        if self.readings_of != Some(file) {
            self.readings.clear();
            self.readings.resize(2 * facts.names.len(), None);
            self.readings_above.clear();
            self.readings_of = Some(file);
        }
        let at = reading_index(usage);
        let is_tag = usage.is_type;
        if self.readings[at].is_none() {
            let name = facts.name(usage.name);
            self.readings[at] = Some(self.read(file, name, is_tag, Some(usage.name), MAX_RENAMES));
        }
        let mut keys = self.readings[at].iter().flat_map(|reading| &reading.0);
        let is_above = keys.any(|key| self.is_macro_below(*key, file, usage.line));
        if is_above && !self.readings_above.contains_key(&at) {
            let visible = self.own_definitions(file, usage.name, is_tag);
            let visible: Vec<DefinitionKey> =
                visible.into_iter().filter(|key| !self.is_macro_below(*key, file, usage.line)).collect();
            let above =
                self.best_of(file, &visible, is_tag, MAX_RENAMES).or_else(|| self.readings[at].clone());
            self.readings_above.extend(above.map(|above| (at, above)));
        }
        let reading = if is_above { self.readings_above.get(&at) } else { self.readings[at].as_ref() };
        let reading = reading.unwrap_or(NOTHING);
        // Checked last: most names of variables are not names of anything else.
        let is_local = |usage: &UseFact| {
            !is_tag && usage.scope != 0 && !facts.bindings_of(usage.scope, usage.name).is_empty()
        };
        if reading.0.is_empty() || is_local(usage) { NOTHING } else { reading }
    }

    /// Returns whether a definition is a macro of the file that is defined below a line.
    fn is_macro_below(&self, key: DefinitionKey, file: FileId, line: u32) -> bool {
        let definition = self.index.definition(key);
        key.file == file && definition.kind == DefinitionKind::Macro && line < definition.name_line
    }

    /// Returns the meaning of a name or a tag in a file, where its id is `id` if the file contains it.
    fn read(
        &mut self,
        file: FileId,
        name: &str,
        is_tag: bool,
        id: Option<NameId>,
        renames: usize,
    ) -> CReading {
        if !self.index.by_name.contains_key(name) {
            return (Vec::new(), ReferenceGrade::Sure);
        }
        let own = id.map(|id| self.own_definitions(file, id, is_tag)).unwrap_or_default();
        let reading_here = self.best_of(file, &own, is_tag, renames);
        if let Some(reading) = &reading_here
            && !reading.0.iter().any(|key| self.is_macro(*key))
        {
            return reading.clone();
        }
        let all = self.definitions_elsewhere(file, name, is_tag);
        let included = self.included(file);
        let visible: Vec<DefinitionKey> =
            all.iter().copied().filter(|key| included.contains(&key.file)).collect();
        if let Some(reading) = reading_here.or_else(|| self.best_of(file, &visible, is_tag, renames)) {
            return self.with_declared(file, reading, own.iter().chain(&visible), &all);
        }
        let declaring: Vec<FileId> = self.declaring(own.iter().chain(&visible));
        let nearest = self.nearest(file, &all, &declaring);
        if !nearest.0.is_empty() || is_tag {
            return nearest;
        }
        // A macro may put `struct` before its argument.
        let (tags, _) = self.read(file, name, true, id, 0);
        (tags, ReferenceGrade::Maybe)
    }

    /// Returns the definitions of a name or a tag in other files.
    fn definitions_elsewhere(&self, file: FileId, name: &str, is_tag: bool) -> Vec<DefinitionKey> {
        let index = self.index;
        let all = index.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let is_other =
            |key: &DefinitionKey| index.rules[key.file as usize] == Some(NameRules::C) && key.file != file;
        let is_of_space = self.of_name_space(name, is_tag);
        all.iter().copied().filter(is_other).filter(is_of_space).take(MAX_SAME_NAME).collect()
    }

    /// Returns the file's own definitions of a name or a tag.
    fn own_definitions(&self, file: FileId, name: NameId, is_tag: bool) -> Vec<DefinitionKey> {
        let facts = self.index.facts(file);
        let definitions = facts.bindings_of(0, name).iter().filter_map(|binding| match binding.value {
            BindingValue::Definition(definition) => Some(DefinitionKey { file, definition }),
            _ => None,
        });
        definitions.filter(self.of_name_space(facts.name(name), is_tag)).collect()
    }

    /// Returns a filter for the definitions of a name: either its tags, or its meanings without `struct`, `union` or
    /// `enum`. The preprocessor knows neither, and a type whose name another declaration uses too is both.
    fn of_name_space(&self, name: &str, is_tag: bool) -> impl Fn(&DefinitionKey) -> bool + use<'a> {
        let index = self.index;
        let kind = |key: &DefinitionKey| index.definition(*key).kind;
        let all = index.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let is_alias = |key: &DefinitionKey| {
            index.rules[key.file as usize] == Some(NameRules::C) && kind(key) == DefinitionKind::Alias
        };
        let is_declared = all.iter().any(is_alias);
        move |key| match index.definition(*key).kind {
            DefinitionKind::Macro => true,
            DefinitionKind::Class => is_tag || is_declared,
            _ => !is_tag,
        }
    }

    /// Adds the function of the same name if a file sees both a macro and a declaration of it: each is in a branch of a
    /// conditional.
    fn with_declared<'k>(
        &mut self,
        file: FileId,
        reading: CReading,
        visible: impl Iterator<Item = &'k DefinitionKey>,
        all: &[DefinitionKey],
    ) -> CReading {
        let (targets, grade) = reading;
        let declaring = self.declaring(visible);
        if !targets.iter().any(|key| self.is_macro(*key)) || declaring.is_empty() {
            return (targets, grade);
        }
        let (mut functions, grade_of_functions) = self.nearest(file, all, &declaring);
        functions.retain(|key| !targets.contains(key));
        if functions.is_empty() {
            return (targets, grade);
        }
        functions.extend(targets);
        (functions, grade.max(grade_of_functions).max(ReferenceGrade::Likely))
    }

    /// Returns the files that declare a function among some definitions.
    fn declaring<'k>(&self, definitions: impl IntoIterator<Item = &'k DefinitionKey>) -> Vec<FileId> {
        let prototypes = definitions.into_iter().filter(|key| self.is_prototype(**key));
        prototypes.map(|key| key.file).collect()
    }

    fn is_macro(&self, key: DefinitionKey) -> bool {
        self.index.definition(key).kind == DefinitionKind::Macro
    }

    fn is_prototype(&self, key: DefinitionKey) -> bool {
        self.index.definition(key).flags.has(DefinitionFlags::PROTOTYPE)
    }

    /// Returns the best reading of the definitions that a file sees: the expansion of a macro, because the preprocessor
    /// comes first; else a function, else another macro or a type.
    fn best_of(
        &mut self,
        file: FileId,
        visible: &[DefinitionKey],
        is_tag: bool,
        renames: usize,
    ) -> Option<CReading> {
        let kind = |key: &DefinitionKey| self.index.definition(*key).kind;
        let macros: Vec<DefinitionKey> = visible.iter().copied().filter(|key| self.is_macro(*key)).collect();
        for key in &macros {
            let Some(target) = self.renamed(*key).filter(|_| 0 < renames) else { continue };
            let id = self.index.facts(file).find_name(target);
            let (mut targets, grade) = self.read(file, target, is_tag, id, renames - 1);
            if !targets.is_empty() {
                targets.push(*key);
                return Some((targets, grade));
            }
        }
        let functions = visible
            .iter()
            .copied()
            .filter(|key| kind(key) == DefinitionKind::Function && !self.is_prototype(*key));
        let functions: Vec<DefinitionKey> = functions.collect();
        if !functions.is_empty() {
            let grade = match functions.len() {
                1 => ReferenceGrade::Sure,
                _ if is_one_file(&functions) => ReferenceGrade::Likely,
                _ => ReferenceGrade::Maybe,
            };
            return Some((functions, grade));
        }
        let other = macros.last().copied().or_else(|| {
            visible
                .iter()
                .copied()
                .find(|key| kind(key) == DefinitionKind::Class)
                .or_else(|| visible.iter().copied().find(|key| kind(key) == DefinitionKind::Alias))
        });
        other.map(|key| (vec![key], ReferenceGrade::Sure))
    }

    /// Returns the name that a macro without parameters expands to.
    fn renamed(&self, key: DefinitionKey) -> Option<&'a str> {
        stands_for(self.index.facts(key.file), self.index.definition(key))
    }

    /// Returns the nearest of the functions that a linker would find, preferring those in files that include the header
    /// that declares the function for the use.
    fn nearest(&mut self, file: FileId, all: &[DefinitionKey], declaring: &[FileId]) -> CReading {
        let path = &self.index.file(file).path;
        let is_extern = |key: &&DefinitionKey| {
            let fact = self.index.definition(**key);
            fact.kind == DefinitionKind::Function
                && !fact.flags.has(DefinitionFlags::PROTOTYPE | DefinitionFlags::PRIVATE)
        };
        let mut found: Vec<DefinitionKey> = all.iter().filter(is_extern).copied().collect();
        let is_only_one = found.len() == 1;
        let best_grade = prefer_sources(self.index, file, &mut found);
        if !is_one_file(&found) && !declaring.is_empty() {
            let includes = |names: &mut Self, key: &DefinitionKey| {
                let included = names.included(key.file);
                declaring.iter().any(|header| included.contains(header))
            };
            let declared: Vec<DefinitionKey> =
                found.iter().copied().filter(|key| includes(self, key)).collect();
            if !declared.is_empty() {
                found = declared;
            }
        }
        let near = |key: &DefinitionKey| shared_prefix(&self.index.file(key.file).path, path);
        let Some(best) = found.iter().map(near).max() else { return (Vec::new(), ReferenceGrade::Sure) };
        let nearest: Vec<DefinitionKey> = found.iter().copied().filter(|key| near(key) == best).collect();
        let grade = match (is_only_one, is_one_file(&nearest)) {
            (true, _) if !declaring.is_empty() => ReferenceGrade::Sure,
            (_, true) => best_grade.max(ReferenceGrade::Likely),
            _ => ReferenceGrade::Maybe,
        };
        (nearest, grade)
    }

    /// Returns the files that a file includes, directly or indirectly.
    fn included(&mut self, file: FileId) -> Rc<FxHashSet<FileId>> {
        if let Some(known) = self.included.get(&file) {
            return Rc::clone(known);
        }
        let mut found = FxHashSet::default();
        let mut open = vec![file];
        while let Some(next) = open.pop() {
            for target in self.includes(next).iter().copied() {
                if target != file && found.insert(target) {
                    open.push(target);
                }
            }
        }
        let found = Rc::new(found);
        self.included.insert(file, Rc::clone(&found));
        found
    }

    fn includes(&mut self, file: FileId) -> Rc<[FileId]> {
        let Self { index, paths, .. } = self;
        let facts = index.facts(file);
        let find =
            || facts.imports.iter().filter_map(|import| paths.find(index, file, facts.name(import.module)));
        Rc::clone(self.includes.entry(file).or_insert_with(|| find().collect()))
    }
}

/// Returns the index of a use's meaning among the readings of its file: tags have a namespace of their own.
fn reading_index(usage: &UseFact) -> usize {
    2 * usage.name as usize + usize::from(usage.is_type)
}

/// Returns the names that the macros of a file expand to.
pub(super) fn renamed_by(facts: &SourceFacts) -> impl Iterator<Item = &str> {
    let macros = facts.definitions.iter().filter(|fact| fact.kind == DefinitionKind::Macro);
    macros.filter_map(|fact| stands_for(facts, fact))
}

fn stands_for<'a>(facts: &'a SourceFacts, definition: &DefinitionFact) -> Option<&'a str> {
    match facts.expression(*definition.bases.first()?) {
        ExpressionFact::Name(name) => Some(facts.name(name)),
        _ => None,
    }
}

/// Returns whether all definitions are in one file: there, two of one name are branches of a conditional, each of which
/// is compiled in some build.
fn is_one_file(definitions: &[DefinitionKey]) -> bool {
    definitions.windows(2).all(|pair| pair[0].file == pair[1].file)
}
