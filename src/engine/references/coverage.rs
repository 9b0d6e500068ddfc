//! Tests that a coverage file says ran what is changed: the file `.coverage` that coverage.py writes to the project's
//! folder, if it has a context for each test.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use super::graph::{ReferenceGraph, SymbolId};
use super::reach::{ReachedNode, ReachedSymbol};
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
    changed: &[SymbolId],
    tests: Vec<ReachedSymbol>,
) -> Vec<ReachedSymbol> {
    let path = cache.workspace.root.join(COVERAGE_FILE);
    let covered = match CoverageFile::open(&path).and_then(|file| match file {
        Some(file) => covered_tests(cache, graph, changed, &file),
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

fn merge(covered: BTreeSet<SymbolId>, tests: Vec<ReachedSymbol>) -> Vec<ReachedSymbol> {
    let is_covered = |test: &ReachedSymbol| match test.node {
        ReachedNode::Symbol(symbol) => covered.contains(&symbol),
        ReachedNode::File(_) => false,
    };
    let (mut first, rest): (Vec<_>, Vec<_>) = tests.into_iter().partition(is_covered);
    let known: HashSet<ReachedNode> = first.iter().map(|test| test.node).collect();
    let others = covered.into_iter().map(ReachedNode::Symbol).filter(|node| !known.contains(node));
    let row =
        |node| ReachedSymbol { node, distance: 1, grade: ReferenceGrade::Sure, via: None, through: None };
    first.extend(others.map(row));
    for test in &mut first {
        test.grade = ReferenceGrade::Sure;
    }
    first.extend(rest);
    first
}

#[derive(Default)]
struct CoveredTests {
    tests: BTreeSet<SymbolId>,
    lacks_contexts: bool,
}

fn covered_tests(
    cache: &ArtifactCache<'_>,
    graph: &ReferenceGraph,
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
    let mut names = TestNames { graph, by_path: HashMap::new(), by_module: None };
    let mut found = CoveredTests::default();
    for (file, lines) in lines {
        let path = graph.path(file);
        let absolute = cache.workspace.root.join(path.as_path());
        let Some(row) = coverage.find_file(&absolute, &path.to_string()) else { continue };
        for context in coverage.contexts_of(row, &lines)? {
            found.tests.extend(names.find(&context));
        }
    }
    Ok(found)
}

/// Returns the lines that run when a function is called: those of its head run when it is defined.
fn body_lines(graph: &ReferenceGraph, symbol: SymbolId) -> Option<RangeInclusive<u32>> {
    let fact = graph.symbol(symbol);
    let first = (fact.line + 1).min(fact.last_line);
    (fact.kind == DefinitionKind::Function).then_some(first..=fact.last_line)
}

/// Finds tests by the names that contexts have.
struct TestNames<'a> {
    graph: &'a ReferenceGraph,
    by_path: HashMap<String, HashMap<&'a str, SymbolId>>,
    /// The functions of files of tests by their names, with those of their modules and classes before them.
    by_module: Option<HashMap<&'a str, Vec<(String, SymbolId)>>>,
}

impl TestNames<'_> {
    /// Returns the test of a context: `tests/test_a.py::TestA::test_b[1]|run` as pytest-cov writes it, or
    /// `tests.test_a.TestA.test_b` as `dynamic_context = test_function` does.
    fn find(&mut self, context: &str) -> Option<SymbolId> {
        // Parameters may contain anything.
        let context = context.split('[').next().unwrap_or(context);
        match context.split('|').find_map(|part| part.split_once("::")) {
            Some((path, name)) => self.in_file(path, &name.replace("::", ".")),
            None => context.split('|').find_map(|part| self.in_module(part)),
        }
    }

    fn in_file(&mut self, path: &str, name: &str) -> Option<SymbolId> {
        let graph = self.graph;
        let symbols = self.by_path.entry(path.to_owned()).or_insert_with(|| {
            let files = graph.files_named(path.as_bytes());
            let symbols = files.into_iter().flat_map(|file| graph.symbols_of(file));
            symbols.map(|symbol| (&*graph.symbol(symbol).qualified_name, symbol)).collect()
        });
        symbols.get(name).copied()
    }

    fn in_module(&mut self, name: &str) -> Option<SymbolId> {
        let graph = self.graph;
        let by_module = self.by_module.get_or_insert_with(|| {
            let mut by_module: HashMap<&str, Vec<(String, SymbolId)>> = HashMap::new();
            for file in (0..graph.file_count()).filter(|file| graph.is_test(*file)) {
                let path = graph.path(file).to_string();
                let module = path.strip_suffix(".py").unwrap_or(&path).replace('/', ".");
                for symbol in graph.symbols_of(file) {
                    let fact = graph.symbol(symbol);
                    let qualified = format!("{module}.{}", fact.qualified_name);
                    by_module.entry(fact.name()).or_default().push((qualified, symbol));
                }
            }
            by_module
        });
        let candidates = by_module.get(name.rsplit('.').next()?)?;
        let is_meant = |qualified: &str| {
            qualified.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        candidates.iter().find(|(qualified, _)| name.contains('.') && is_meant(qualified)).map(|(_, id)| *id)
    }
}
