//! pytest fixtures: the function that provides the value of a test's parameter.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    AUTOUSE_FIXTURE, BindingFact, BindingValue, DefinitionKind, ExpressionFact, FIXTURE_MARK_PREFIX,
    FIXTURE_PREFIX, ScopeId, SourceFacts,
};
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectIndex, folder_of};

/// Where a fixture is available.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::references) enum FixturePlace<'a> {
    /// In a file; for fixtures of a `conftest.py`, in its folder.
    Path(&'a str),
    /// In a class and its subclasses.
    Class(DefinitionKey),
}

/// The fixtures of a project by name and by where they are available.
pub(in crate::references) struct Fixtures<'a> {
    by_place: FxHashMap<(FixturePlace<'a>, &'a str), DefinitionKey>,
    /// The fixtures that every test of a place uses.
    pub(in crate::references) of_all_tests: FxHashMap<FixturePlace<'a>, Vec<DefinitionKey>>,
    /// The names of classes with subclasses.
    inherited: FxHashSet<&'a str>,
}

impl<'a> Fixtures<'a> {
    pub(in crate::references) fn new(index: &ProjectIndex<'a>) -> Self {
        let mut fixtures = Self {
            by_place: FxHashMap::default(),
            of_all_tests: FxHashMap::default(),
            inherited: FxHashSet::default(),
        };
        for (id, file) in (0..).zip(index.files) {
            if index.rules[id as usize] != Some(NameRules::Python) {
                continue;
            }
            for (name, definition) in fixture_bindings(&file.facts) {
                let key = DefinitionKey { file: id, definition };
                let place = index.owner(key).map_or(place_of_file(&file.path), FixturePlace::Class);
                match name.strip_prefix(FIXTURE_PREFIX) {
                    Some(name) => drop(fixtures.by_place.insert((place, name), key)),
                    None => fixtures.of_all_tests.entry(place).or_default().push(key),
                }
            }
        }
        if !fixtures.is_empty() {
            fixtures.inherited = inherited_names(index);
        }
        fixtures
    }

    /// Returns whether any of these classes has a subclass, which may override the fixtures that its tests request.
    pub(in crate::references) fn are_inherited(
        &self,
        index: &ProjectIndex<'a>,
        classes: &[DefinitionKey],
    ) -> bool {
        classes.iter().any(|class| self.inherited.contains(index.name(*class)))
    }

    /// Adds a fixture that a file imports, under its name in that file unless it was given another.
    pub(in crate::references) fn add_imported(
        &mut self,
        index: &ProjectIndex<'a>,
        place: FixturePlace<'a>,
        name: &'a str,
        key: DefinitionKey,
    ) {
        let names = fixture_bindings(index.facts(key.file)).filter(|(_, bound)| *bound == key.definition);
        for (bound, _) in names {
            match bound.strip_prefix(FIXTURE_PREFIX) {
                Some(given) => {
                    let name = if given == index.name(key) { name } else { given };
                    self.by_place.entry((place, name)).or_insert(key);
                }
                None => self.of_all_tests.entry(place).or_default().push(key),
            }
        }
    }

    /// Adds all fixtures of a module that are not in a class.
    pub(in crate::references) fn add_module(
        &mut self,
        index: &ProjectIndex<'a>,
        place: FixturePlace<'a>,
        module: FileId,
    ) {
        let bindings = fixture_bindings(index.facts(module));
        let keys: BTreeSet<DefinitionKey> =
            bindings.map(|(_, definition)| DefinitionKey { file: module, definition }).collect();
        for key in keys.into_iter().filter(|key| index.owner(*key).is_none()) {
            self.add_imported(index, place, index.name(key), key);
        }
    }

    /// Returns whether the project has none.
    pub(in crate::references) fn is_empty(&self) -> bool {
        self.by_place.is_empty()
    }

    /// Returns the names of the functions that are fixtures.
    pub(in crate::references) fn function_names(&self, index: &ProjectIndex<'a>) -> FxHashSet<&'a str> {
        self.by_place.values().map(|key| index.name(*key)).collect()
    }

    /// Returns the fixture that a parameter of a function requests by its name: that of the first place that is visible
    /// from the function. A fixture that requests its own name gets the next one.
    pub(in crate::references) fn find(
        &self,
        places: &[FixturePlace<'a>],
        function: Option<DefinitionKey>,
        name: &str,
    ) -> Option<DefinitionKey> {
        let mut found = places.iter().filter_map(|place| self.by_place.get(&(*place, name)).copied());
        found.find(|fixture| Some(*fixture) != function)
    }
}

/// Returns the names by which Python classes refer to their bases.
fn inherited_names<'a>(index: &ProjectIndex<'a>) -> FxHashSet<&'a str> {
    let mut names = FxHashSet::default();
    for (rules, file) in index.rules.iter().zip(index.files) {
        if *rules != Some(NameRules::Python) {
            continue;
        }
        let classes = file.facts.definitions.iter().filter(|fact| fact.kind == DefinitionKind::Class);
        for base in classes.flat_map(|fact| &fact.bases) {
            match file.facts.expression(*base) {
                ExpressionFact::Name(name) | ExpressionFact::Member(_, name) => {
                    names.insert(file.facts.name(name));
                }
                _ => {}
            }
        }
    }
    names
}

/// Returns where the fixtures of a file outside of classes are available.
pub(in crate::references) fn place_of_file(path: &str) -> FixturePlace<'_> {
    let is_shared = path == "conftest.py" || path.ends_with("/conftest.py");
    FixturePlace::Path(if is_shared { folder_of(path) } else { path })
}

/// Returns the classes around a function from the innermost to the outermost.
pub(in crate::references) fn classes_around<'i>(
    index: &'i ProjectIndex<'_>,
    function: DefinitionKey,
) -> impl Iterator<Item = DefinitionKey> + 'i {
    let classes = std::iter::successors(index.owner(function), |class| index.owner(*class));
    classes.filter(|class| index.definition(*class).kind == DefinitionKind::Class)
}

/// Returns the folders of a path from the innermost to that of the project, which is empty.
pub(in crate::references) fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder_of(path)), |folder| match *folder {
        "" => None,
        folder => Some(folder_of(folder)),
    })
}

/// Returns the names in parentheses that the file binds fixtures to.
fn fixture_bindings(facts: &SourceFacts) -> impl Iterator<Item = (&str, u32)> {
    let named = bindings_from(facts, 0, FIXTURE_PREFIX);
    let bindings = bindings_from(facts, 0, AUTOUSE_FIXTURE).chain(named);
    bindings.filter_map(|(name, binding)| match binding.value {
        BindingValue::Definition(definition) => Some((name, definition)),
        _ => None,
    })
}

/// Returns the fixtures that the marks of a file or of a class request, each with its line.
pub(in crate::references) fn marked_fixtures(
    facts: &SourceFacts,
    scope: ScopeId,
) -> impl Iterator<Item = (&str, u32)> {
    let bindings = bindings_from(facts, scope, FIXTURE_MARK_PREFIX);
    bindings.map(|(name, binding)| (&name[FIXTURE_MARK_PREFIX.len()..], binding.line))
}

/// Returns the bindings of a scope whose names have a prefix, with the names.
fn bindings_from<'a>(
    facts: &'a SourceFacts,
    scope: ScopeId,
    start: &'static str,
) -> impl Iterator<Item = (&'a str, &'a BindingFact)> {
    let first = facts.names.partition_point(|name| name.as_str() < start);
    let names = (first..facts.names.len()).take_while(move |at| facts.names[*at].starts_with(start));
    names.flat_map(move |at| {
        let bindings = u32::try_from(at).map_or(&[][..], |name| facts.bindings_of(scope, name));
        bindings.iter().map(move |binding| (facts.names[at].as_str(), binding))
    })
}
