//! The parameters of tests and fixtures: which fixtures they request, and their values.

use crate::model::{
    BindingFact, BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, FIXTURE_PLUGINS,
    PARAMETRIZED_PREFIX,
};
use crate::references::evaluation::{Evaluator, filling};
use crate::references::lookup::{FixturePlace, classes_around, folders_of, marked_fixtures, place_of_file};
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectIndex};
use crate::references::values::{Value, ValueSet};

/// A use of a fixture by a test or a fixture, or by a mark of a class or of a file.
pub(in crate::references) struct FixtureUse {
    /// The test, the fixture, or the class with the mark.
    pub(in crate::references) from: Option<DefinitionId>,
    /// The line of the parameter or of the mark, or that of the function's name if it does not name the fixture.
    pub(in crate::references) line: u32,
    pub(in crate::references) fixture: DefinitionKey,
    /// Whether the line does not name the fixture: it is an autouse fixture, or requested by a mark of the class or the
    /// file.
    pub(in crate::references) is_implied: bool,
}

impl<'a> Evaluator<'a> {
    /// Adds the fixtures that test files import, and those of the modules that they list as plugins.
    pub(in crate::references) fn add_imported_fixtures(&mut self) {
        if self.fixtures.is_empty() {
            return;
        }
        let names = self.fixtures.function_names(self.index);
        for (id, file) in (0..).zip(self.index.files) {
            let place = place_of_file(&file.path);
            let is_asking = is_test_file(&file.path) || place != FixturePlace::Path(&file.path);
            if self.index.rules[id as usize] != Some(NameRules::Python) || !is_asking {
                continue;
            }
            let facts = &file.facts;
            for binding in facts.bindings.iter().take_while(|binding| binding.scope == 0) {
                let BindingValue::Import(import) = binding.value else { continue };
                let imported = &facts.imports[import as usize];
                let is_plugin = facts.name(binding.name) == FIXTURE_PLUGINS;
                if !is_plugin && imported.name.is_none_or(|name| !names.contains(facts.name(name))) {
                    continue;
                }
                for value in self.import(id, import).values {
                    match value {
                        Value::Module(module) if is_plugin => {
                            filling(&mut self.fixtures).add_module(self.index, place, module);
                        }
                        Value::Definition(key) => {
                            filling(&mut self.fixtures).add_imported(
                                self.index,
                                place,
                                facts.name(binding.name),
                                key,
                            );
                        }
                        _ => {}
                    }
                }
            }
            for star in self.modules.stars.get(&id).cloned().unwrap_or_default() {
                for value in self.module(id, &facts.imports[star as usize]).values {
                    if let Value::Module(module) = value {
                        filling(&mut self.fixtures).add_module(self.index, place, module);
                    }
                }
            }
        }
    }

    /// Returns the value of a parameter of a test or a fixture; `None` for other parameters.
    pub(in crate::references) fn fixture_value(
        &mut self,
        file: FileId,
        parameter: &BindingFact,
    ) -> Option<ValueSet> {
        let (fixture, is_sure) = self.fixture_of(file, parameter)?;
        let mut returned = self.returned(fixture).flat_map(|value| match value {
            // `-> Iterator[App]` of a fixture that yields an app.
            Value::Generic { site, expression } if self.is_iterator(site.file, expression) => {
                self.inner(value)
            }
            _ => ValueSet::one(value),
        });
        returned.is_complete &= is_sure;
        Some(returned)
    }

    /// Returns the fixture that a parameter requests, and whether no other one is possible.
    fn fixture_of(&mut self, file: FileId, parameter: &BindingFact) -> Option<(DefinitionKey, bool)> {
        if self.index.rules(file) != NameRules::Python || self.fixtures.is_empty() {
            return None;
        }
        let facts = self.index.facts(file);
        let function = DefinitionKey { file, definition: facts.scope(parameter.scope).definition? };
        if !asks_for_fixtures(self.index, function) {
            return None;
        }
        let classes: Vec<DefinitionKey> = classes_around(self.index, function).collect();
        let places = self.fixture_places(file, &classes);
        let found = self.find_fixture(&places, function, &classes, parameter)?;
        Some((found, self.is_sure_fixture(found, &classes)))
    }

    /// Returns the fixture that a parameter of a function requests, unless a mark supplies its values.
    fn find_fixture(
        &self,
        places: &[FixturePlace<'a>],
        function: DefinitionKey,
        classes: &[DefinitionKey],
        parameter: &BindingFact,
    ) -> Option<DefinitionKey> {
        let facts = self.index.facts(function.file);
        let name = facts.name(parameter.name);
        let found = self.fixtures.find(places, Some(function), name)?;
        let is_parametrized = facts.find_name(&format!("{PARAMETRIZED_PREFIX}{name}")).is_some_and(|name| {
            let of_classes = classes.iter().filter_map(|class| self.index.definition(*class).body);
            let mut scopes = of_classes.chain([parameter.scope, 0]);
            scopes.any(|scope| !facts.bindings_of(scope, name).is_empty())
        });
        (!is_parametrized).then_some(found)
    }

    fn is_sure_fixture(&self, fixture: DefinitionKey, classes: &[DefinitionKey]) -> bool {
        !self.index.definition(fixture).flags.has(DefinitionFlags::ALTERNATIVE)
            && !self.fixtures.are_inherited(self.index, classes)
    }

    /// Returns the places where the classes of a file find fixtures, the nearest first: the classes with what they
    /// inherit, the file, and the folders around it.
    fn fixture_places(&mut self, file: FileId, classes: &[DefinitionKey]) -> Vec<FixturePlace<'a>> {
        let path: &'a str = &self.index.file(file).path;
        let mut places = Vec::new();
        for class in classes {
            places.extend(self.linearization(*class).0.into_iter().map(FixturePlace::Class));
        }
        places.extend(std::iter::once(path).chain(folders_of(path)).map(FixturePlace::Path));
        places
    }

    fn is_iterator(&self, file: FileId, declared: u32) -> bool {
        let name = self.type_name(file, declared);
        matches!(name, "Iterator" | "Generator" | "Iterable" | "AsyncIterator" | "AsyncGenerator")
    }

    /// Returns the uses of fixtures by the tests and the fixtures of a file.
    pub(in crate::references) fn fixture_uses(&mut self, file: FileId) -> Vec<FixtureUse> {
        if self.index.rules(file) != NameRules::Python || self.fixtures.is_empty() {
            return Vec::new();
        }
        let facts = self.index.facts(file);
        let mut found = Vec::new();
        for (scope, fact) in (0..).zip(&facts.scopes) {
            let class = fact.definition.map(|definition| DefinitionKey { file, definition });
            for (name, line) in marked_fixtures(facts, scope) {
                let around = class.into_iter().flat_map(|class| classes_around(self.index, class));
                let classes: Vec<DefinitionKey> = class.into_iter().chain(around).collect();
                let places = self.fixture_places(file, &classes);
                if let Some(fixture) = self.fixtures.find(&places, class, name) {
                    let from = fact.definition;
                    found.push(FixtureUse { from, line, fixture, is_implied: false });
                }
            }
        }
        for (function, fact) in (0..).zip(&facts.definitions) {
            let key = DefinitionKey { file, definition: function };
            let Some(body) = fact.body.filter(|_| asks_for_fixtures(self.index, key)) else { continue };
            let classes: Vec<DefinitionKey> = classes_around(self.index, key).collect();
            let places = self.fixture_places(file, &classes);
            let first = facts.bindings.partition_point(|binding| binding.scope < body);
            for binding in facts.bindings[first..].iter().take_while(|binding| binding.scope == body) {
                if let BindingValue::Default(_) | BindingValue::Typed(_) = binding.value
                    && let Some(fixture) = self.find_fixture(&places, key, &classes, binding)
                {
                    found.push(FixtureUse {
                        from: Some(function),
                        line: binding.line,
                        fixture,
                        is_implied: false,
                    });
                }
            }
            if fact.flags.has(DefinitionFlags::TEST_ITEM) {
                continue;
            }
            let of_all = places.iter().filter_map(|place| self.fixtures.of_all_tests.get(place));
            let scopes = classes.iter().filter_map(|class| self.index.definition(*class).body);
            let marked = scopes.chain([0]).flat_map(|scope| marked_fixtures(facts, scope));
            let marked = marked.filter_map(|(name, _)| self.fixtures.find(&places, Some(key), name));
            found.extend(of_all.flatten().copied().chain(marked).map(|fixture| FixtureUse {
                from: Some(function),
                line: fact.name_line,
                fixture,
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

/// Returns whether a file contains tests by its name or that of a folder around it.
fn is_test_file(path: &str) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.strip_suffix(".py").unwrap_or(file);
    stem.starts_with("test")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || folder.split('/').any(|folder| matches!(folder, "test" | "tests" | "testing"))
}
