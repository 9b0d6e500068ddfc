//! Finds tests by the conventions of each language.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::graph::{ReferenceGraph, SymbolId};
use super::inherited_tests::InheritedTests;
use super::reach::{ReachedNode, ReachedSymbol};
use crate::model::DefinitionKind;
use crate::references::ReferenceGrade;
use crate::search::{Term, terms};

/// The tests of a project.
pub(super) struct TestItems {
    /// The test functions of each file that has any.
    by_file: HashMap<u32, Vec<SymbolId>>,
    /// Those run by classes that inherit them.
    pub(super) inherited: InheritedTests,
}

impl TestItems {
    pub(super) fn new(graph: &ReferenceGraph) -> Self {
        let mut by_file: HashMap<u32, Vec<SymbolId>> = HashMap::new();
        let mut all = Vec::new();
        let used_by_sources = used_by_sources(graph);
        for file in (0..graph.file_count()).filter(|file| !used_by_sources.contains(file)) {
            let tests = graph.symbols_of(file).filter(|symbol| is_test_function(graph, *symbol));
            // A function inside a test is part of it.
            let tests: Vec<SymbolId> =
                tests.filter(|symbol| outermost_test(graph, *symbol) == Some(*symbol)).collect();
            if !tests.is_empty() {
                all.extend_from_slice(&tests);
                by_file.insert(file, tests);
            }
        }
        Self { by_file, inherited: InheritedTests::new(graph, &all) }
    }

    /// Returns the test functions of a file.
    pub(super) fn tests_of_file(&self, file: u32) -> &[SymbolId] {
        self.by_file.get(&file).map_or(&[], Vec::as_slice)
    }

    /// Returns the test that a node belongs to: a function, or the whole file if its tests are not functions, as in
    /// Jest and Catch2. Helpers in test files are run by their users.
    pub(super) fn test_of(&self, graph: &ReferenceGraph, node: ReachedNode) -> Option<ReachedNode> {
        let file = match node {
            ReachedNode::Symbol(symbol) => {
                let file = graph.symbol(symbol).file;
                match outermost_test(graph, symbol) {
                    Some(test) if self.by_file.contains_key(&file) => return Some(ReachedNode::Symbol(test)),
                    _ => file,
                }
            }
            ReachedNode::File(file) => file,
        };
        let has_functions = self.by_file.contains_key(&file) || graph.language(file) == "python";
        (graph.is_test(file) && !has_functions).then_some(ReachedNode::File(file))
    }
}

/// Returns the Python files that are test files by path, but which sources use, such as a package's module `tests`.
/// Files that pytest collects by name are test files anyway.
fn used_by_sources(graph: &ReferenceGraph) -> HashSet<u32> {
    let is_collected = |file: u32| {
        let name = graph.path(file).file_name();
        name.starts_with(b"test_") || name.ends_with(b"_test.py")
    };
    let mut found = HashSet::new();
    for reference in graph.all_references().filter(|reference| !graph.is_test(reference.file)) {
        let file = graph.symbol(reference.to).file;
        let is_meant = reference.grade < ReferenceGrade::Maybe || reference.is_implied;
        if is_meant && graph.is_test(file) && graph.language(file) == "python" && !is_collected(file) {
            found.insert(file);
        }
    }
    found
}

/// Returns the file that a test is run from: that of the class that inherits it, if any.
pub(super) fn file_of_test(graph: &ReferenceGraph, test: &ReachedSymbol) -> u32 {
    test.subclass.map_or(test.node, ReachedNode::Symbol).file(graph)
}

/// Returns the name by which a test is run: qualified by the class that inherits it, if any.
pub(super) fn name_of_test(
    graph: &ReferenceGraph,
    test: SymbolId,
    subclass: Option<SymbolId>,
) -> Cow<'_, str> {
    let fact = graph.symbol(test);
    match subclass {
        Some(class) => format!("{}.{}", graph.symbol(class).qualified_name, fact.name()).into(),
        None => Cow::Borrowed(&fact.qualified_name),
    }
}

fn outermost_test(graph: &ReferenceGraph, symbol: SymbolId) -> Option<SymbolId> {
    std::iter::successors(Some(symbol), |at| graph.symbol(*at).parent)
        .filter(|at| is_test_function(graph, *at))
        .last()
}

/// Returns whether a function is a test: by a mark in Rust and Java, elsewhere by its name in a test file.
fn is_test_function(graph: &ReferenceGraph, symbol: SymbolId) -> bool {
    let fact = graph.symbol(symbol);
    if fact.kind != DefinitionKind::Function {
        return false;
    }
    let name = fact.name();
    let starts_with = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    match graph.language(fact.file) {
        "rust" => fact.is_test_item,
        // JUnit 3 uses the name.
        "java" => fact.is_test_item || graph.is_test(fact.file) && name.starts_with("test"),
        // A marked function is a fixture.
        "python" => graph.is_test(fact.file) && !fact.is_test_item && name.starts_with("test"),
        "go" => {
            graph.is_test(fact.file)
                && !fact.is_member
                && starts_with(&["Test", "Benchmark", "Example", "Fuzz"])
        }
        _ => {
            let is_named = name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("test"));
            graph.is_test(fact.file) && is_named
        }
    }
}

/// Returns the words of a name without those that mark a test, without duplicates.
pub(super) fn test_words(name: &[u8]) -> Vec<Term> {
    let common: Vec<Term> = [&b"test"[..], b"spec"].into_iter().flat_map(terms).collect();
    let mut words: Vec<Term> =
        terms(name).filter(|term| !term.is_identifier() && !common.contains(term)).collect();
    words.sort_unstable();
    words.dedup();
    words
}
