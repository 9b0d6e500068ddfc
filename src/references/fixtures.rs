//! Fixtures of pytest: which function a parameter of a test gets its value from.

use rustc_hash::FxHashMap;

use super::project::{DefinitionKey, NameRules, ProjectIndex, folder_of};
use crate::model::{AUTOUSE_FIXTURE, BindingValue, FIXTURE_PREFIX, SourceFacts};

/// The fixtures of a project by their names and where they can be asked for.
pub(super) struct Fixtures<'a> {
    /// A place is the path of a file, or for those in a `conftest.py` the folder that it is in.
    pub(super) by_place: FxHashMap<(&'a str, &'a str), DefinitionKey>,
    /// Those that every test of a place has.
    pub(super) of_all_tests: FxHashMap<&'a str, Vec<DefinitionKey>>,
}

impl<'a> Fixtures<'a> {
    pub(super) fn new(index: &ProjectIndex<'a>) -> Self {
        let mut fixtures = Self { by_place: FxHashMap::default(), of_all_tests: FxHashMap::default() };
        for (id, file) in (0..).zip(index.files) {
            if index.rules[id as usize] != Some(NameRules::Python) {
                continue;
            }
            let is_shared = file.path == "conftest.py" || file.path.ends_with("/conftest.py");
            let place = if is_shared { folder_of(&file.path) } else { &file.path };
            for (name, definition) in fixture_bindings(&file.facts) {
                let key = DefinitionKey { file: id, definition };
                match name.strip_prefix(FIXTURE_PREFIX) {
                    Some(name) => drop(fixtures.by_place.insert((place, name), key)),
                    None => fixtures.of_all_tests.entry(place).or_default().push(key),
                }
            }
        }
        fixtures
    }

    /// Returns the fixture that a parameter of a function asks for by its name: one of the same file, or of the nearest
    /// `conftest.py`. A fixture that asks for its own name means the next one.
    pub(super) fn find(
        &self,
        index: &ProjectIndex<'a>,
        function: DefinitionKey,
        name: &str,
    ) -> Option<DefinitionKey> {
        let found =
            |place: &str| self.by_place.get(&(place, name)).copied().filter(|fixture| *fixture != function);
        let path: &str = &index.file(function.file).path;
        found(path).or_else(|| folders_of(path).find_map(found))
    }
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
