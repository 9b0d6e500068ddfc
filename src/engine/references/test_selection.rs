//! Selects the tests that a change may break, most likely first.
//!
//! A search for the cheapest paths from the change to the tests. A step costs more the less certain it is that a user
//! of a symbol also runs it. The costs were tuned on the coverage of click's and flask's tests, as measured by
//! `tests/bench/test_selection.py`; within wide limits they matter little.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use super::graph::{GraphReference, ReferenceGraph, SymbolId};
use super::reach::{ReachedNode, ReachedSymbol};
use super::test_items::{TestItems, file_of_test, name_of_test, test_words};
use crate::model::DefinitionKind;
use crate::references::ReferenceGrade;
use crate::search::Term;

/// A user of a test helper or fixture runs it, if the use is certain.
const HELPER_OF_TESTS: u32 = 2;
/// A nested function runs with the outer one.
const OUTER_FUNCTION: u32 = 10;
/// A value of a type is used, and perhaps a member with it.
const TYPE_OF_MEMBER: u32 = 33;
/// A member of a type is used, so there is a value of it.
const MEMBER_OF_TYPE: u32 = 10;
/// Callers of the overridden member may run this one; users of a type that inherits use the base.
const STAND_IN: u32 = 12;
/// A member of an unknown type has the same name.
const SAME_NAME: u32 = 50;
/// A test is in a file whose top level uses a symbol.
const TEST_OF_FILE: u32 = 30;
/// A symbol is in a file whose top level uses another one, for example for a value that the symbol may read.
const SYMBOL_OF_FILE: u32 = 45;
/// The bonus for tests whose names consist of the words of the symbol's name.
const NAME_BONUS: u32 = 15;
/// The bonus for tests whose file is named after the symbol's file.
const FILE_BONUS: u32 = 10;
/// The maximum number of classes for which a node is visited separately. A project may have thousands of test classes,
/// each of which would visit most of it.
const MAX_CLASSES: usize = 4;

fn use_cost(graph: &ReferenceGraph, reference: &GraphReference) -> u32 {
    match reference.grade {
        ReferenceGrade::Sure | ReferenceGrade::Likely if graph.is_test(graph.symbol(reference.to).file) => {
            HELPER_OF_TESTS
        }
        ReferenceGrade::Sure => 8,
        ReferenceGrade::Likely => 10,
        ReferenceGrade::Maybe => 14,
    }
}

/// A test that a change may break, with the cost of the cheapest path to it, minus bonuses for its name.
pub(super) struct SelectedTest {
    pub(super) test: ReachedSymbol,
    pub(super) cost: u32,
    /// Whether the test, or what contains it, is changed.
    pub(super) is_changed: bool,
}

/// The cheapest known path to a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TestPath {
    cost: u32,
    distance: u32,
    grade: ReferenceGrade,
    /// The changed symbol that the path begins with.
    origin: Option<SymbolId>,
    node: ReachedNode,
    /// The test class that overrides a member, if the path continues to users of the overridden one.
    overriding: Option<SymbolId>,
}

/// A node, and the class that the path to it depends on.
type PathEnd = (ReachedNode, Option<SymbolId>);

/// The tests with the cheapest paths to them, each with the class that runs it if that is not the defining one.
type FoundTests = BTreeMap<PathEnd, (TestPath, Option<GraphReference>)>;

impl TestPath {
    const fn end(&self) -> PathEnd {
        (self.node, self.overriding)
    }
}

/// The nodes to visit, cheapest first, and the last reference on the path to each.
#[derive(Default)]
struct PathQueue {
    heap: BinaryHeap<Reverse<TestPath>>,
    best: HashMap<PathEnd, (u32, Option<GraphReference>)>,
    /// The number of classes on which paths to each node depend.
    classes: HashMap<ReachedNode, usize>,
}

impl PathQueue {
    fn add(&mut self, mut path: TestPath, via: Option<GraphReference>) {
        if path.overriding.is_some() {
            // A path that depends on no class covers the runs of all classes.
            let general = self.best.get(&(path.node, None));
            if general.is_some_and(|(cost, _)| *cost <= path.cost) {
                return;
            }
            if !self.best.contains_key(&path.end()) {
                let classes = self.classes.entry(path.node).or_default();
                *classes += 1;
                path.overriding = path.overriding.filter(|_| *classes <= MAX_CLASSES);
            }
        }
        let known = self.best.get(&path.end()).map_or(u32::MAX, |(cost, _)| *cost);
        if path.cost < known {
            self.best.insert(path.end(), (path.cost, via));
            self.heap.push(Reverse(path));
        }
    }

    fn next(&mut self) -> Option<TestPath> {
        loop {
            let Reverse(path) = self.heap.pop()?;
            if self.best.get(&path.end()).is_some_and(|(cost, _)| *cost == path.cost) {
                return Some(path);
            }
        }
    }
}

/// Returns the tests among the changed symbols and their possible users, most likely first. `depth` is the maximum
/// number of references between a change and a test.
pub(super) fn select_tests(
    graph: &ReferenceGraph,
    items: &TestItems,
    changed: &BTreeSet<ReachedNode>,
    depth: u32,
) -> Vec<SelectedTest> {
    let mut queue = PathQueue::default();
    for node in changed {
        let origin = match node {
            ReachedNode::Symbol(symbol) => Some(*symbol),
            ReachedNode::File(_) => None,
        };
        let grade = ReferenceGrade::Sure;
        queue.add(TestPath { cost: 0, distance: 0, grade, origin, node: *node, overriding: None }, None);
    }
    let mut found = FoundTests::new();
    while let Some(path) = queue.next() {
        // The cheapest path to a node is known once it is visited.
        let via = queue.best.get(&path.end()).and_then(|(_, via)| *via);
        if let Some(test) = items.test_of(graph, path.node) {
            let subclasses = match test {
                ReachedNode::Symbol(test) => items.inherited.runs_of(test, path.overriding),
                ReachedNode::File(_) => vec![None],
            };
            for subclass in subclasses {
                found.entry((test, subclass)).or_insert((path, via));
            }
            continue;
        }
        let mut search = TestSearch { graph, items, queue: &mut queue, from: path, via, depth };
        match path.node {
            ReachedNode::Symbol(symbol) => search.visit_symbol(symbol),
            ReachedNode::File(file) => search.visit_file(file),
        }
    }
    ranked(graph, changed, found)
}

/// Takes the steps from one node.
struct TestSearch<'a> {
    graph: &'a ReferenceGraph,
    items: &'a TestItems,
    queue: &'a mut PathQueue,
    from: TestPath,
    via: Option<GraphReference>,
    depth: u32,
}

impl TestSearch<'_> {
    fn visit_symbol(&mut self, symbol: SymbolId) {
        let graph = self.graph;
        for reference in graph.uses_of(symbol) {
            let node = user(graph, reference);
            let from = self.from;
            let grade = from.grade.max(reference.grade);
            let path = TestPath { cost: use_cost(graph, reference), distance: 1, grade, node, ..from };
            self.step(path, Some(*reference));
        }
        let fact = graph.symbol(symbol);
        if let Some(parent) = fact.parent {
            self.visit_parent(symbol, parent);
        }
        let class = fact.parent.filter(|_| fact.is_member && graph.is_test(fact.file));
        for stand_in in graph.stand_ins_of(symbol) {
            self.structural_in(stand_in, class, STAND_IN, ReferenceGrade::Likely);
        }
        if is_type(fact.kind) {
            for member in graph.children_of(symbol) {
                self.structural(*member, MEMBER_OF_TYPE, ReferenceGrade::Maybe);
            }
            for test in self.items.inherited.inherited_by(symbol) {
                self.structural_in(*test, Some(symbol), MEMBER_OF_TYPE, ReferenceGrade::Maybe);
            }
        } else if fact.is_member && !fact.name().starts_with("__") {
            for place in graph.unresolved_uses_of(fact.name()) {
                let node = place.from.map_or(ReachedNode::File(place.file), ReachedNode::Symbol);
                let grade = ReferenceGrade::Maybe;
                self.step(TestPath { cost: SAME_NAME, distance: 1, grade, node, ..self.from }, self.via);
            }
        }
    }

    fn visit_parent(&mut self, symbol: SymbolId, parent: SymbolId) {
        let fact = self.graph.symbol(symbol);
        if !fact.is_member && self.graph.symbol(parent).kind == DefinitionKind::Function {
            self.structural(parent, OUTER_FUNCTION, ReferenceGrade::Sure);
        } else if self.graph.type_constructed_by(symbol).is_some() {
            self.structural(parent, 0, ReferenceGrade::Sure);
        } else if fact.is_member {
            self.structural(parent, TYPE_OF_MEMBER, ReferenceGrade::Maybe);
        }
    }

    /// What the top level of a file uses may affect each of its tests, and in sources each of its symbols.
    fn visit_file(&mut self, file: u32) {
        let graph = self.graph;
        for test in self.items.tests_of_file(file) {
            self.structural(*test, TEST_OF_FILE, ReferenceGrade::Maybe);
        }
        // If the file itself has changed, its symbols are known to be unchanged.
        if self.from.distance > 0 && !graph.is_test(file) {
            for symbol in graph.symbols_of(file).filter(|symbol| graph.symbol(*symbol).parent.is_none()) {
                self.structural(symbol, SYMBOL_OF_FILE, ReferenceGrade::Maybe);
            }
        }
    }

    /// A step that is not a reference.
    fn structural(&mut self, to: SymbolId, cost: u32, grade: ReferenceGrade) {
        self.structural_in(to, None, cost, grade);
    }

    /// A step that is not a reference, and that depends on a test class.
    fn structural_in(&mut self, to: SymbolId, class: Option<SymbolId>, cost: u32, grade: ReferenceGrade) {
        let grade = self.from.grade.max(grade);
        // If members are overridden twice on a path, the first class still runs it.
        let is_run_by =
            |first: &SymbolId| class.is_none_or(|class| self.items.inherited.inherits(*first, class));
        let overriding = self.from.overriding.filter(is_run_by).or(class);
        let node = ReachedNode::Symbol(to);
        self.step(TestPath { cost, distance: 0, grade, node, overriding, ..self.from }, self.via);
    }

    /// Adds a step, given its own cost and distance.
    fn step(&mut self, step: TestPath, via: Option<GraphReference>) {
        let cost = self.from.cost.saturating_add(step.cost);
        let distance = self.from.distance + step.distance;
        if distance <= self.depth {
            self.queue.add(TestPath { cost, distance, ..step }, via);
        }
    }
}

/// Returns the symbol that a reference is from; decorators and default values belong to their function or class.
pub(super) fn user(graph: &ReferenceGraph, reference: &GraphReference) -> ReachedNode {
    let around = || graph.symbol_at(reference.file, reference.line);
    reference.from.or_else(around).map_or(ReachedNode::File(reference.file), ReachedNode::Symbol)
}

pub(super) fn is_type(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::Class | DefinitionKind::Interface)
}

/// Returns whether a test, or what contains it, is changed.
fn is_changed(graph: &ReferenceGraph, changed: &BTreeSet<ReachedNode>, test: &ReachedSymbol) -> bool {
    let node = test.subclass.map_or(test.node, ReachedNode::Symbol);
    let symbol = match node {
        ReachedNode::Symbol(symbol) => Some(symbol),
        ReachedNode::File(_) => None,
    };
    let around = std::iter::successors(symbol, |at| graph.symbol(*at).parent).map(ReachedNode::Symbol);
    around.chain([ReachedNode::File(node.file(graph))]).any(|node| changed.contains(&node))
}

/// Returns the tests by cost, minus bonuses for their names.
fn ranked(graph: &ReferenceGraph, changed: &BTreeSet<ReachedNode>, found: FoundTests) -> Vec<SelectedTest> {
    let mut names = NameMatcher { graph, origins: HashMap::new() };
    let mut ranked: Vec<SelectedTest> = found
        .into_iter()
        .map(|((node, subclass), (path, via))| {
            let (distance, grade) = (path.distance, path.grade);
            let test = ReachedSymbol { node, distance, grade, via, through: None, subclass };
            let bonus = path.origin.map_or(0, |origin| names.bonus(origin, &test));
            // A path without costs begins within the test.
            let is_changed = path.cost == 0 || is_changed(graph, changed, &test);
            // Changed tests come first.
            let cost = if is_changed { 0 } else { 100 + path.cost - bonus.min(100) };
            SelectedTest { test, cost, is_changed }
        })
        .collect();
    let place = |test: &ReachedSymbol| {
        let line = match test.node {
            ReachedNode::Symbol(symbol) => graph.symbol(symbol).line,
            ReachedNode::File(_) => u32::MAX,
        };
        (file_of_test(graph, test), test.subclass, line)
    };
    ranked.sort_by_key(|SelectedTest { test, cost, .. }| (*cost, test.distance, test.grade, place(test)));
    ranked
}

/// Compares the names of tests with those of the symbols from which they are reached.
struct NameMatcher<'a> {
    graph: &'a ReferenceGraph,
    /// The words of each symbol's name, and of its file's name.
    origins: HashMap<SymbolId, (Vec<Term>, Vec<Term>)>,
}

impl NameMatcher<'_> {
    fn bonus(&mut self, origin: SymbolId, test: &ReachedSymbol) -> u32 {
        let graph = self.graph;
        let (name, file) = self.origins.entry(origin).or_insert_with(|| {
            let symbol = graph.symbol(origin);
            (test_words(symbol.qualified_name.as_bytes()), test_words(stem(graph, symbol.file)))
        });
        let test_name = match test.node {
            ReachedNode::Symbol(symbol) => test_words(name_of_test(graph, symbol, test.subclass).as_bytes()),
            ReachedNode::File(_) => Vec::new(),
        };
        let test_file = file_of_test(graph, test);
        let shared = name.iter().filter(|word| test_name.contains(word)).count();
        let shared = u32::try_from(shared).unwrap_or(u32::MAX);
        let all = u32::try_from(name.len().max(1)).unwrap_or(u32::MAX);
        let is_of_file = !file.is_empty() && *file == test_words(stem(graph, test_file));
        NAME_BONUS * shared / all + if is_of_file { FILE_BONUS } else { 0 }
    }
}

/// Returns the name of a file up to its first dot.
fn stem(graph: &ReferenceGraph, file: u32) -> &[u8] {
    graph.path(file).file_name().split(|byte| *byte == b'.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_visited_for_few_classes_and_only_if_no_general_path_is_cheaper() {
        let way = |class: Option<SymbolId>, cost: u32| TestPath {
            cost,
            distance: 1,
            grade: ReferenceGrade::Sure,
            origin: None,
            node: ReachedNode::File(0),
            overriding: class,
        };
        let mut queue = PathQueue::default();
        for class in 0..1_000 {
            queue.add(way(Some(class), 50), None);
        }
        assert_eq!(queue.best.len(), MAX_CLASSES + 1);
        assert!(queue.best.contains_key(&(ReachedNode::File(0), None)), "the others are not lost");
        let mut queue = PathQueue::default();
        queue.add(way(None, 20), None);
        queue.add(way(Some(1), 50), None);
        queue.add(way(Some(2), 10), None);
        assert_eq!(queue.best.len(), 2);
    }
}
