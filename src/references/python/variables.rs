//! The contents of Python module variables: code that uses a table of functions may run them.
//!
//! `FILTERS = {"upper": do_upper}` is used by name in other files, which have no use of `do_upper` themselves.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    BindingFact, BindingValue, DefinitionId, END_OF_ASSIGNMENT, NameId, SourceFacts, UseFact,
};
use crate::references::evaluation::{Evaluator, ScopedName, is_other_name};
use crate::references::found::{Reference, ReferenceGrade};
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectIndex, Site};
use crate::references::values::Value;

/// A variable with more definitions than this is ignored.
const MAX_CONTENTS: usize = 256;
/// The maximum number of modules that re-export a variable.
const MAX_IMPORTS: usize = 8;

/// A name that a file binds outside of all functions and classes.
type VariableKey = (FileId, NameId);

/// The Python module variables that contain definitions.
pub(in crate::references) struct Variables<'a> {
    contents: FxHashMap<VariableKey, Vec<DefinitionKey>>,
    /// Their names in all files.
    names: FxHashSet<&'a str>,
}

impl<'a> Variables<'a> {
    /// Finds the definitions that the assignments of variables refer to. Each part of `found` has all references of its
    /// files.
    pub(in crate::references) fn new(index: &ProjectIndex<'a>, found: [&[Reference]; 2]) -> Self {
        let mut contents: FxHashMap<VariableKey, Vec<DefinitionKey>> = FxHashMap::default();
        for of_file in found.iter().flat_map(|found| found.chunk_by(|a, b| a.from_file == b.from_file)) {
            let file = of_file[0].from_file;
            if index.rules[file as usize] != Some(NameRules::Python) {
                continue;
            }
            let assignments = Assignments::new(index.facts(file));
            for reference in
                of_file.iter().filter(|found| found.from_definition.is_none() && !found.is_implied)
            {
                let key = DefinitionKey { file: reference.to_file, definition: reference.to_definition };
                for name in assignments.names_at(reference.from_line) {
                    let keys = contents.entry((file, name)).or_default();
                    if !keys.contains(&key) {
                        keys.push(key);
                    }
                }
            }
        }
        contents.retain(|_, keys| keys.len() <= MAX_CONTENTS);
        let names = names_of_variables(index, &contents);
        Self { contents, names }
    }

    /// Returns whether no variable contains anything.
    pub(in crate::references) fn is_empty(&self) -> bool {
        self.contents.is_empty()
    }
}

impl Evaluator<'_> {
    /// Returns a reference to each definition in a module variable, from each use of the variable in a file.
    pub(in crate::references) fn uses_of_variables(
        &mut self,
        file: FileId,
        variables: &Variables<'_>,
    ) -> Vec<Reference> {
        let mut uses: Vec<Reference> = Vec::new();
        if self.index.rules[file as usize] != Some(NameRules::Python) {
            return uses;
        }
        let Variables { contents, names } = variables;
        let facts = self.index.facts(file);
        let is_wanted: Vec<bool> = facts.names.iter().map(|name| names.contains(name.as_str())).collect();
        let mut known: FxHashSet<(Option<DefinitionId>, VariableKey)> = FxHashSet::default();
        for usage in facts.uses.iter().filter(|usage| is_wanted[usage.name as usize]) {
            let Some(variable) = self.used_variable(file, usage, contents) else { continue };
            let from_definition = facts.enclosing_definition(usage.scope);
            if !known.insert((from_definition, variable)) {
                continue;
            }
            uses.extend(contents[&variable].iter().map(|key| Reference {
                from_file: file,
                from_line: usage.line,
                from_definition,
                to_file: key.file,
                to_definition: key.definition,
                grade: ReferenceGrade::Maybe,
                is_call: false,
                is_implied: true,
            }));
        }
        self.forget();
        uses
    }

    /// Returns the module variable that a name means at its use, if it contains any definitions.
    fn used_variable(
        &mut self,
        file: FileId,
        usage: &UseFact,
        contents: &FxHashMap<VariableKey, Vec<DefinitionKey>>,
    ) -> Option<VariableKey> {
        let name = self.index.facts(file).name(usage.name);
        if let Some(receiver) = usage.receiver {
            let objects = self.value(Site { file, scope: usage.scope }, receiver).values;
            return objects.into_iter().find_map(|object| match object {
                Value::Module(module) => self.variable(module, name, contents),
                _ => None,
            });
        }
        match self.scoped_name(Site { file, scope: usage.scope }, usage.name, Some(usage.line)) {
            ScopedName::Bound(bindings) if bindings.first().is_some_and(|binding| binding.scope == 0) => {
                self.variable(file, name, contents)
            }
            _ => None,
        }
    }

    /// Returns the variable that a name in a module means; the module may import it.
    fn variable(
        &mut self,
        mut file: FileId,
        name: &str,
        contents: &FxHashMap<VariableKey, Vec<DefinitionKey>>,
    ) -> Option<VariableKey> {
        let mut name = self.index.facts(file).find_name(name)?;
        for _ in 0..MAX_IMPORTS {
            if contents.contains_key(&(file, name)) {
                return Some((file, name));
            }
            let facts = self.index.facts(file);
            let import = facts.bindings_of(0, name).iter().find_map(|binding| match binding.value {
                BindingValue::Import(import) => Some(&facts.imports[import as usize]),
                _ => None,
            })?;
            let imported = facts.name(import.name?);
            let Value::Module(module) = *self.module(file, import).values.first()? else { return None };
            name = self.index.facts(module).find_name(imported)?;
            file = module;
        }
        None
    }
}

/// Returns the uses that determine the contents of a file's variables.
pub(in crate::references) fn uses_in_variables(facts: &SourceFacts) -> impl Iterator<Item = UseFact> {
    let assignments = Assignments::new(facts);
    let is_assigned = move |usage: &UseFact| {
        facts.enclosing_definition(usage.scope).is_none() && assignments.names_at(usage.line).next().is_some()
    };
    facts.uses.iter().copied().filter(is_assigned)
}

/// Returns the names of some variables in all files, including those given by imports.
fn names_of_variables<'a>(
    index: &ProjectIndex<'a>,
    contents: &FxHashMap<VariableKey, Vec<DefinitionKey>>,
) -> FxHashSet<&'a str> {
    let mut names: FxHashSet<&'a str> =
        contents.keys().map(|(file, name)| index.facts(*file).name(*name)).collect();
    loop {
        let known = names.len();
        for project_file in index.files {
            let facts = &*project_file.facts;
            for binding in facts.bindings.iter().take_while(|binding| binding.scope == 0) {
                let BindingValue::Import(import) = binding.value else { continue };
                let imported = facts.imports[import as usize].name;
                if imported.is_some_and(|imported| names.contains(facts.name(imported))) {
                    names.insert(facts.name(binding.name));
                }
            }
        }
        if names.len() == known {
            return names;
        }
    }
}

/// The assignments of a Python file outside of all functions and classes.
struct Assignments<'a> {
    facts: &'a SourceFacts,
    /// Sorted by line.
    variables: Vec<&'a BindingFact>,
    /// The last lines of the assignments that span several, in order.
    ends: Vec<u32>,
}

impl<'a> Assignments<'a> {
    fn new(facts: &'a SourceFacts) -> Self {
        let is_variable = |binding: &&BindingFact| {
            matches!(binding.value, BindingValue::Value(_) | BindingValue::Typed(_))
                && !facts.name(binding.name).starts_with('(')
                // An alias is followed as the value that it names.
                && !is_other_name(facts, binding)
        };
        let of_file = facts.bindings.iter().take_while(|binding| binding.scope == 0);
        let mut variables: Vec<&BindingFact> = of_file.filter(is_variable).collect();
        variables.sort_by_key(|binding| binding.line);
        let ends = facts.find_name(END_OF_ASSIGNMENT).map_or(&[][..], |name| facts.bindings_of(0, name));
        let mut ends: Vec<u32> = ends.iter().map(|binding| binding.line).collect();
        ends.sort_unstable();
        Self { facts, variables, ends }
    }

    /// Returns the variables that the assignment on a line binds.
    fn names_at(&self, line: u32) -> impl Iterator<Item = NameId> {
        let before = |line: u32| self.variables.partition_point(|binding| binding.line <= line);
        let count = before(line);
        let first = count.checked_sub(1).map_or(u32::MAX, |last| self.variables[last].line);
        let end = self.ends.iter().find(|end| line <= **end).copied().unwrap_or(0);
        let is_within = first == line || first < line && line <= end && before(end) == count;
        let names = self.variables[..count].iter().rev().take_while(move |binding| binding.line == first);
        let is_in_definition = self
            .facts
            .definitions
            .iter()
            .any(|definition| (definition.first_line..=definition.last_line).contains(&line));
        names.filter(move |_| is_within && !is_in_definition).map(|binding| binding.name)
    }
}
