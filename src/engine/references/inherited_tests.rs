//! Finds the classes that run inherited tests, and the tests that only such classes run.
//!
//! pytest, unittest and `JUnit` name a test after the class that runs it. A test of a base class runs once for each
//! class that inherits it, with the fixtures and helpers that this class overrides.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::graph::{ReferenceGraph, SymbolId};
use crate::model::DefinitionKind;

/// The tests that classes inherit and run.
#[derive(Default)]
pub(super) struct InheritedTests {
    /// The classes that run each test without defining it.
    classes: HashMap<SymbolId, Vec<SymbolId>>,
    /// The tests that each of these classes inherits.
    tests: HashMap<SymbolId, Vec<SymbolId>>,
    /// The tests that their defining class does not run.
    only_inherited: HashSet<SymbolId>,
    /// What the types in test files inherit, at any distance.
    bases: HashMap<SymbolId, HashSet<SymbolId>>,
}

impl InheritedTests {
    /// `tests` are the test functions of all files, in their order.
    pub(super) fn new(graph: &ReferenceGraph, tests: &[SymbolId]) -> Self {
        // The tests of each class, in text order.
        let mut by_class: BTreeMap<SymbolId, Vec<SymbolId>> = BTreeMap::new();
        for test in tests.iter().filter(|test| graph.symbol(**test).is_member) {
            if let Some(class) = graph.symbol(*test).parent {
                by_class.entry(class).or_default().push(*test);
            }
        }
        let mut found = Self::default();
        if !by_class.keys().any(|class| has_subclasses(graph, *class)) {
            return found;
        }
        found.bases = bases_in_tests(graph);
        let mut known: HashSet<(SymbolId, &str)> = HashSet::new();
        for (class, tests) in &by_class {
            for subclass in graph.stand_ins_of(*class) {
                if !found.is_run(graph, subclass) {
                    continue;
                }
                let between = |other: &SymbolId| found.inherits(*other, *class);
                let mut overriding: Vec<SymbolId> = found.bases_of(subclass).filter(between).collect();
                overriding.push(subclass);
                for test in tests {
                    let name = graph.symbol(*test).name();
                    let is_overridden = overriding.iter().any(|class| has_member(graph, *class, name));
                    if !is_overridden && known.insert((subclass, name)) {
                        found.classes.entry(*test).or_default().push(subclass);
                        found.tests.entry(subclass).or_default().push(*test);
                    }
                }
            }
            if !found.is_named_as_run(graph, *class) {
                let inherited = tests.iter().filter(|test| found.classes.contains_key(test));
                found.only_inherited.extend(inherited);
            }
        }
        found
    }

    /// Returns the tests that a class inherits and runs.
    pub(super) fn inherited_by(&self, class: SymbolId) -> &[SymbolId] {
        self.tests.get(&class).map_or(&[], Vec::as_slice)
    }

    /// Returns the classes that run a test, `None` for the defining one. If a path to the test leads through a member
    /// that a class overrides, only that class and its subclasses run the earlier part of the path.
    pub(super) fn runs_of(&self, test: SymbolId, overriding: Option<SymbolId>) -> Vec<Option<SymbolId>> {
        let subclasses = self.classes.get(&test).map_or(&[][..], Vec::as_slice);
        if let Some(class) = overriding {
            let of_class = |subclass: &&SymbolId| **subclass == class || self.inherits(**subclass, class);
            let runs: Vec<_> = subclasses.iter().filter(of_class).map(|subclass| Some(*subclass)).collect();
            if !runs.is_empty() {
                return runs;
            }
        }
        let own = (!self.only_inherited.contains(&test)).then_some(None);
        own.into_iter().chain(subclasses.iter().map(|subclass| Some(*subclass))).collect()
    }

    /// Returns the runs of a test that is named by its defining class.
    pub(super) fn runs_by_definition(&self, test: SymbolId) -> Vec<Option<SymbolId>> {
        if self.only_inherited.contains(&test) { self.runs_of(test, None) } else { vec![None] }
    }

    /// Returns whether a class inherits from another one.
    pub(super) fn inherits(&self, class: SymbolId, base: SymbolId) -> bool {
        self.bases.get(&class).is_some_and(|bases| bases.contains(&base))
    }

    fn bases_of(&self, class: SymbolId) -> impl Iterator<Item = SymbolId> {
        self.bases.get(&class).into_iter().flatten().copied()
    }

    /// Returns whether a class that inherits tests runs them. A class without subclasses would have no other purpose,
    /// whatever names the project's settings require.
    fn is_run(&self, graph: &ReferenceGraph, class: SymbolId) -> bool {
        let fact = graph.symbol(class);
        fact.kind == DefinitionKind::Class
            && graph.is_test(fact.file)
            && (!has_subclasses(graph, class) || self.is_named_as_run(graph, class))
    }

    /// Returns whether the framework runs the tests that a class defines: `JUnit` for all classes, pytest for those
    /// whose names begin with `Test`, and unittest for test cases.
    fn is_named_as_run(&self, graph: &ReferenceGraph, class: SymbolId) -> bool {
        let fact = graph.symbol(class);
        if graph.language(fact.file) != "python" {
            return fact.kind == DefinitionKind::Class;
        }
        let is_case = |class: SymbolId| graph.symbol(class).is_test_item;
        fact.name().starts_with("Test") || is_case(class) || self.bases_of(class).any(is_case)
    }
}

/// Returns whether other types inherit from a class.
fn has_subclasses(graph: &ReferenceGraph, class: SymbolId) -> bool {
    matches!(graph.language(graph.symbol(class).file), "python" | "java")
        && graph.stand_ins_of(class).next().is_some()
}

fn has_member(graph: &ReferenceGraph, class: SymbolId, name: &str) -> bool {
    graph.children_of(class).iter().any(|member| graph.symbol(*member).name() == name)
}

/// Returns what the types in test files inherit.
fn bases_in_tests(graph: &ReferenceGraph) -> HashMap<SymbolId, HashSet<SymbolId>> {
    let mut bases: HashMap<SymbolId, HashSet<SymbolId>> = HashMap::new();
    for (base, fact) in (0..).zip(graph.symbols()) {
        if matches!(fact.kind, DefinitionKind::Class | DefinitionKind::Interface) {
            for subclass in
                graph.stand_ins_of(base).filter(|subclass| graph.is_test(graph.symbol(*subclass).file))
            {
                bases.entry(subclass).or_default().insert(base);
            }
        }
    }
    bases
}
