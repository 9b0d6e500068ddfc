//! Selects tests that ran changed code according to a coverage file: `.coverage`, which coverage.py writes to the
//! project's folder, if it has a context for each test.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use super::graph::{ReferenceGraph, SymbolId};
use super::inherited_tests::InheritedTests;
use super::reach::{ReachedNode, ReachedSymbol};
use super::test_items::name_of_test;
use crate::engine::artifacts::ArtifactCache;
use crate::model::DefinitionKind;
use crate::references::ReferenceGrade;
use crate::store::{CoverageFile, Error};

const COVERAGE_FILE: &str = ".coverage";

/// Puts the tests that ran a changed symbol before all others, which keep their order. Without a usable file nothing is
/// changed, and a note says why.
pub(super) fn put_covered_first(
    cache: &mut ArtifactCache<'_>,
    graph: &ReferenceGraph,
    inherited: &InheritedTests,
    changed: &[SymbolId],
    tests: Vec<ReachedSymbol>,
) -> Vec<ReachedSymbol> {
    let path = cache.workspace.root.join(COVERAGE_FILE);
    let covered = match CoverageFile::open(&path).and_then(|file| match file {
        Some(file) => covered_tests(cache, graph, inherited, changed, &file),
        None => Ok(CoveredTests::default()),
    }) {
        Ok(covered) => covered,
        Err(error) => {
            let note = format!("{COVERAGE_FILE} is not used: {error}");
            cache.workspace.note(note);
            return tests;
        }
    };
    if covered.lacks_contexts {
        let note = format!(
            "{COVERAGE_FILE} is not used: it does not have which test ran a line (`pytest --cov-context=test`)"
        );
        cache.workspace.note(note);
    }
    merge(covered.tests, tests)
}

fn merge(covered: BTreeSet<TestRun>, tests: Vec<ReachedSymbol>) -> Vec<ReachedSymbol> {
    let run_of = |test: &ReachedSymbol| match test.node {
        ReachedNode::Symbol(symbol) => Some((symbol, test.subclass)),
        ReachedNode::File(_) => None,
    };
    let is_covered = |test: &ReachedSymbol| run_of(test).is_some_and(|run| covered.contains(&run));
    let (mut first, rest): (Vec<_>, Vec<_>) = tests.into_iter().partition(is_covered);
    let known: HashSet<TestRun> = first.iter().filter_map(run_of).collect();
    let others = covered.into_iter().filter(|run| !known.contains(run));
    let row = |(test, subclass)| ReachedSymbol {
        node: ReachedNode::Symbol(test),
        distance: 1,
        grade: ReferenceGrade::Sure,
        via: None,
        through: None,
        subclass,
    };
    first.extend(others.map(row));
    for test in &mut first {
        test.grade = ReferenceGrade::Sure;
    }
    first.extend(rest);
    first
}

/// A test, and the class that runs it if it is not the one that defines it.
type TestRun = (SymbolId, Option<SymbolId>);

#[derive(Default)]
struct CoveredTests {
    tests: BTreeSet<TestRun>,
    lacks_contexts: bool,
}

fn covered_tests(
    cache: &ArtifactCache<'_>,
    graph: &ReferenceGraph,
    inherited: &InheritedTests,
    changed: &[SymbolId],
    coverage: &CoverageFile,
) -> Result<CoveredTests, Error> {
    if !coverage.has_contexts()? {
        return Ok(CoveredTests { lacks_contexts: true, ..CoveredTests::default() });
    }
    let mut lines: BTreeMap<u32, Vec<RangeInclusive<u32>>> = BTreeMap::new();
    for symbol in changed {
        if let Some(body) = body_lines(graph, *symbol) {
            lines.entry(graph.symbol(*symbol).file).or_default().push(body);
        }
    }
    let mut names = TestNames { graph, inherited, by_path: HashMap::new(), by_module: None };
    let mut found = CoveredTests::default();
    for (file, lines) in lines {
        let path = graph.path(file);
        let absolute = cache.workspace.root.join(path.as_path());
        let Some(row) = coverage.find_file(&absolute, &path.to_string()) else { continue };
        for context in coverage.contexts_of(row, &lines)? {
            match names.find(&context) {
                Some((test, None)) => {
                    let runs = inherited.runs_by_definition(test);
                    found.tests.extend(runs.into_iter().map(|subclass| (test, subclass)));
                }
                run => found.tests.extend(run),
            }
        }
    }
    Ok(found)
}

/// Returns the lines that run when a function is called, without its head, which runs when it is defined.
fn body_lines(graph: &ReferenceGraph, symbol: SymbolId) -> Option<RangeInclusive<u32>> {
    let fact = graph.symbol(symbol);
    let first = (fact.line + 1).min(fact.last_line);
    (fact.kind == DefinitionKind::Function).then_some(first..=fact.last_line)
}

/// Finds tests by the names of contexts.
struct TestNames<'a> {
    graph: &'a ReferenceGraph,
    inherited: &'a InheritedTests,
    by_path: HashMap<String, HashMap<Cow<'a, str>, TestRun>>,
    /// The functions in test files by name, with their module and class names.
    by_module: Option<HashMap<&'a str, Vec<(String, TestRun)>>>,
}

impl TestNames<'_> {
    /// Returns the test of a context: `tests/test_a.py::TestA::test_b[1]|run` as written by pytest-cov, or
    /// `tests.test_a.TestA.test_b` as written with `dynamic_context = test_function`.
    fn find(&mut self, context: &str) -> Option<TestRun> {
        // Parameters may contain any characters.
        let context = context.split('[').next().unwrap_or(context);
        match context.split('|').find_map(|part| part.split_once("::")) {
            Some((path, name)) => self.in_file(path, &name.replace("::", ".")),
            None => context.split('|').find_map(|part| self.in_module(part)),
        }
    }

    fn in_file(&mut self, path: &str, name: &str) -> Option<TestRun> {
        let (graph, inherited) = (self.graph, self.inherited);
        let tests = self.by_path.entry(path.to_owned()).or_insert_with(|| {
            let runs = graph.files_named(path.as_bytes()).into_iter();
            let runs = runs.flat_map(|file| runs_of_file(graph, inherited, file));
            runs.map(|(test, subclass)| (name_of_test(graph, test, subclass), (test, subclass))).collect()
        });
        tests.get(name).copied()
    }

    fn in_module(&mut self, name: &str) -> Option<TestRun> {
        let (graph, inherited) = (self.graph, self.inherited);
        let by_module = self.by_module.get_or_insert_with(|| {
            let mut by_module: HashMap<&str, Vec<(String, TestRun)>> = HashMap::new();
            for file in (0..graph.file_count()).filter(|file| graph.is_test(*file)) {
                let path = graph.path(file).to_string();
                let module = path.strip_suffix(".py").unwrap_or(&path).replace('/', ".");
                for (test, subclass) in runs_of_file(graph, inherited, file) {
                    let qualified = format!("{module}.{}", name_of_test(graph, test, subclass));
                    by_module
                        .entry(graph.symbol(test).name())
                        .or_default()
                        .push((qualified, (test, subclass)));
                }
            }
            by_module
        });
        let candidates = by_module.get(name.rsplit('.').next()?)?;
        let is_meant = |qualified: &str| {
            qualified.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        candidates
            .iter()
            .find(|(qualified, _)| name.contains('.') && is_meant(qualified))
            .map(|(_, run)| *run)
    }
}

/// Returns the symbols of a file, and the tests that its classes inherit.
fn runs_of_file(
    graph: &ReferenceGraph,
    inherited: &InheritedTests,
    file: u32,
) -> impl Iterator<Item = TestRun> {
    graph.symbols_of(file).flat_map(|symbol| {
        let tests = inherited.inherited_by(symbol).iter().map(move |test| (*test, Some(symbol)));
        std::iter::once((symbol, None)).chain(tests)
    })
}
