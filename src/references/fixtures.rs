//! Fixtures of pytest: which function a parameter of a test gets its value from.

use rustc_hash::FxHashMap;

use super::project::{DefinitionKey, NameRules, ProjectIndex, folder_of};
use crate::model::{AUTOUSE_FIXTURE, BindingValue, DefinitionKind, FIXTURE_PREFIX, SourceFacts};

/// Where fixtures can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FixturePlace<'a> {
    /// In a file, or for those in a `conftest.py` in the folder that it is in.
    Path(&'a str),
    /// In a class and those that inherit it.
    Class(DefinitionKey),
}

/// The fixtures of a project by their names and where they can be asked for.
pub(super) struct Fixtures<'a> {
    by_place: FxHashMap<(FixturePlace<'a>, &'a str), DefinitionKey>,
    /// Those that every test of a place has.
    pub(super) of_all_tests: FxHashMap<FixturePlace<'a>, Vec<DefinitionKey>>,
}

impl<'a> Fixtures<'a> {
    pub(super) fn new(index: &ProjectIndex<'a>) -> Self {
        let mut fixtures = Self { by_place: FxHashMap::default(), of_all_tests: FxHashMap::default() };
        for (id, file) in (0..).zip(index.files) {
            if index.rules[id as usize] != Some(NameRules::Python) {
                continue;
            }
            let is_shared = file.path == "conftest.py" || file.path.ends_with("/conftest.py");
            let path = if is_shared { folder_of(&file.path) } else { &file.path };
            for (name, definition) in fixture_bindings(&file.facts) {
                let key = DefinitionKey { file: id, definition };
                let place = index.owner(key).map_or(FixturePlace::Path(path), FixturePlace::Class);
                match name.strip_prefix(FIXTURE_PREFIX) {
                    Some(name) => drop(fixtures.by_place.insert((place, name), key)),
                    None => fixtures.of_all_tests.entry(place).or_default().push(key),
                }
            }
        }
        fixtures
    }

    /// Returns whether the project has none.
    pub(super) fn is_empty(&self) -> bool {
        self.by_place.is_empty()
    }

    /// Returns the fixture that a parameter of a function asks for by its name: that of the first of the places from which
    /// the function can ask. A fixture that asks for its own name means the next one.
    pub(super) fn find(
        &self,
        places: &[FixturePlace<'a>],
        function: DefinitionKey,
        name: &str,
    ) -> Option<DefinitionKey> {
        let mut found = places.iter().filter_map(|place| self.by_place.get(&(*place, name)).copied());
        found.find(|fixture| *fixture != function)
    }
}

/// Returns the classes around a function from the innermost to the outermost.
pub(super) fn classes_around<'i>(
    index: &'i ProjectIndex<'_>,
    function: DefinitionKey,
) -> impl Iterator<Item = DefinitionKey> + 'i {
    let classes = std::iter::successors(index.owner(function), |class| index.owner(*class));
    classes.filter(|class| index.definition(*class).kind == DefinitionKind::Class)
}

/// Returns the folders of a path from the innermost to that of the project, which is empty.
pub(super) fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder_of(path)), |folder| match *folder {
        "" => None,
        folder => Some(folder_of(folder)),
    })
}

/// Returns the names in parentheses that the file binds fixtures to.
fn fixture_bindings(facts: &SourceFacts) -> impl Iterator<Item = (&str, u32)> {
    let first = facts.names.partition_point(|name| name.as_str() < AUTOUSE_FIXTURE);
    let names = (first..facts.names.len())
        .take_while(|at| facts.names[*at].starts_with('('))
        .filter(|at| facts.names[*at] == AUTOUSE_FIXTURE || facts.names[*at].starts_with(FIXTURE_PREFIX));
    names.flat_map(move |at| {
        let bindings = u32::try_from(at).map_or(&[][..], |name| facts.bindings_of(0, name));
        bindings.iter().filter_map(move |binding| match binding.value {
            BindingValue::Definition(definition) => Some((facts.names[at].as_str(), definition)),
            _ => None,
        })
    })
}
