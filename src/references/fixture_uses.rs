//! The parameters of tests and fixtures: which fixtures they ask for, and what they get.

use super::evaluate::Evaluator;
use super::fixtures::{FixturePlace, classes_around, folders_of};
use super::project::{DefinitionKey, FileId, NameRules, ProjectIndex};
use super::values::{Value, ValueSet};
use crate::model::{BindingFact, BindingValue, DefinitionFlags, DefinitionId, DefinitionKind};

/// That a test or a fixture asks for a fixture.
pub(super) struct FixtureUse {
    pub(super) function: DefinitionId,
    /// The line of the parameter, or that of the function's name where nothing names the fixture.
    pub(super) line: u32,
    pub(super) fixture: DefinitionKey,
    /// Whether nothing names the fixture: every test of its place has it.
    pub(super) is_implied: bool,
}

impl<'a> Evaluator<'a> {
    /// Returns the value that a test or a fixture gets for a parameter of that name; `None` for other parameters.
    pub(super) fn fixture_value(&mut self, file: FileId, parameter: &BindingFact) -> Option<ValueSet> {
        let fixture = self.fixture_of(file, parameter)?;
        let returned = self.returned(fixture).flat_map(|value| match value {
            // `-> Iterator[App]` of a fixture that yields an app.
            Value::Generic { file, expression, .. } if self.is_iterator(file, expression) => {
                self.inner(value)
            }
            _ => ValueSet::one(value),
        });
        Some(ValueSet { is_complete: false, ..returned })
    }

    fn fixture_of(&mut self, file: FileId, parameter: &BindingFact) -> Option<DefinitionKey> {
        if self.index.rules(file) != NameRules::Python || self.fixtures.is_empty() {
            return None;
        }
        let facts = self.index.facts(file);
        let function = DefinitionKey { file, definition: facts.scope(parameter.scope).definition? };
        if !asks_for_fixtures(self.index, function) {
            return None;
        }
        let places = self.fixture_places(function);
        self.fixtures.find(&places, function, facts.name(parameter.name))
    }

    /// Returns from where a function can ask for fixtures, the nearest first: the classes around it with what they
    /// inherit, its file, and the folders around that.
    fn fixture_places(&mut self, function: DefinitionKey) -> Vec<FixturePlace<'a>> {
        let path: &'a str = &self.index.file(function.file).path;
        let mut places = Vec::new();
        for class in classes_around(self.index, function) {
            places.extend(self.linearization(class).0.into_iter().map(FixturePlace::Class));
        }
        places.extend(std::iter::once(path).chain(folders_of(path)).map(FixturePlace::Path));
        places
    }

    fn is_iterator(&self, file: FileId, declared: u32) -> bool {
        let name = self.type_name(file, declared);
        matches!(name, "Iterator" | "Generator" | "Iterable" | "AsyncIterator" | "AsyncGenerator")
    }

    /// Returns the uses of fixtures by the tests and the fixtures of a file.
    pub(super) fn fixture_uses(&mut self, file: FileId) -> Vec<FixtureUse> {
        if self.index.rules(file) != NameRules::Python || self.fixtures.is_empty() {
            return Vec::new();
        }
        let facts = self.index.facts(file);
        let mut found = Vec::new();
        for (function, fact) in (0..).zip(&facts.definitions) {
            let key = DefinitionKey { file, definition: function };
            let Some(body) = fact.body.filter(|_| asks_for_fixtures(self.index, key)) else { continue };
            let places = self.fixture_places(key);
            let first = facts.bindings.partition_point(|binding| binding.scope < body);
            for binding in facts.bindings[first..].iter().take_while(|binding| binding.scope == body) {
                if let BindingValue::Default(_) | BindingValue::Typed(_) = binding.value
                    && let Some(fixture) = self.fixtures.find(&places, key, facts.name(binding.name))
                {
                    found.push(FixtureUse { function, line: binding.line, fixture, is_implied: false });
                }
            }
            if fact.flags.has(DefinitionFlags::TEST_ITEM) {
                continue;
            }
            let implied = places.iter().filter_map(|place| self.fixtures.of_all_tests.get(place)).flatten();
            found.extend(implied.map(|fixture| FixtureUse {
                function,
                line: fact.name_line,
                fixture: *fixture,
                is_implied: true,
            }));
        }
        found
    }
}

/// Returns whether pytest passes fixtures to a function: whether it is a fixture, or a test by its name and that of its
/// file.
fn asks_for_fixtures(index: &ProjectIndex<'_>, function: DefinitionKey) -> bool {
    let fact = index.definition(function);
    fact.kind == DefinitionKind::Function
        && (fact.flags.has(DefinitionFlags::TEST_ITEM)
            || index.name(function).starts_with("test") && is_test_file(&index.file(function.file).path))
}

/// Returns whether a file has tests by its name or that of a folder around it.
fn is_test_file(path: &str) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.strip_suffix(".py").unwrap_or(file);
    stem.starts_with("test")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || folder.split('/').any(|folder| matches!(folder, "test" | "tests" | "testing"))
}
