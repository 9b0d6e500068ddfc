//! Orders tests by the words that they share with the change, with its callers, and with each other.
//!
//! Most tests of a program reach most of its functions, by paths of similar length. Their words often show which of
//! them run a function: the tests of a function that prints the usage call `--help`, and its callers are named
//! accordingly (`get_help`, `format_help`). Tests that resemble the best ones run it more often than others
//! (pseudo-relevance feedback). The weights were tuned on click, flask, werkzeug, attrs, httpx, jinja and marshmallow.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rustc_hash::FxHashMap;

use super::graph::{ReferenceGraph, SymbolId};
use super::reach::{ReachedNode, ReachedSymbol};
use super::test_items::{TestItems, file_of_test};
use super::test_selection::{SelectedTest, is_type};
use super::test_values::tests_with_values;
use crate::engine::artifacts::ArtifactCache;
use crate::model::on_all_cores;
use crate::references::ReferenceGrade;
use crate::search::{Saturation, Term, inverse_frequency, real, terms};

/// The maximum number of calls between a change and the callers whose names count.
const CALLER_DEPTH: u32 = 4;
/// The factor for the name of a caller, relative to that of its callee.
const CALLER_DECAY: f64 = 0.6;
/// A test whose cost exceeds the minimum by this scores two fifths of the maximum for its cost.
const COST_SCALE: f64 = 40.0;
const NAME_WEIGHT: f64 = 1.0;
/// The weight of the mean over tests in the same file.
const FILE_WEIGHT: f64 = 0.5;
const BODY_WEIGHT: f64 = 0.2;
/// The weight of having a value of a changed member's type.
const VALUE_WEIGHT: f64 = 1.0;
/// The weight of the words of the best tests.
const FEEDBACK_WEIGHT: f64 = 1.0;
/// The number of tests that count as the best.
const FEEDBACK_TESTS: usize = 8;
/// If more symbols have changed, their bodies are not used.
const MAX_BODIES: usize = 100;

/// Weights of words, in a deterministic order.
type WordWeights = BTreeMap<Term, f64>;

/// Returns the tests in the order of their costs and words. Changed tests come first.
pub(super) fn order_by_words(
    cache: &ArtifactCache<'_>,
    graph: &ReferenceGraph,
    items: &TestItems,
    changed: &[SymbolId],
    tests: Vec<SelectedTest>,
) -> Vec<ReachedSymbol> {
    let (ordered, others): (Vec<_>, Vec<_>) = tests.into_iter().partition(|test| test.is_changed);
    let documents = test_documents(cache, graph, items, &others);
    let names = scores(&documents, &name_words(graph, items, changed));
    let bodies = scores(&documents, &body_words(cache, graph, changed));
    let mut of_files: HashMap<u32, (f64, usize)> = HashMap::new();
    for (selected, score) in others.iter().zip(&names) {
        let (sum, count) = of_files.entry(file_of_test(graph, &selected.test)).or_default();
        *sum += score;
        *count += 1;
    }
    let values = tests_with_values(graph, items, changed);
    let least = others.iter().map(|selected| selected.cost).min().unwrap_or(0);
    let mut scored: Vec<f64> = Vec::with_capacity(others.len());
    for (at, SelectedTest { test, cost, .. }) in others.iter().enumerate() {
        let (sum, count) = of_files[&file_of_test(graph, test)];
        let value = values.get(&test.node).copied().unwrap_or(0.0);
        scored.push(
            nearness(cost - least)
                + VALUE_WEIGHT * value
                + NAME_WEIGHT * names[at]
                + FILE_WEIGHT * sum / real(count)
                + BODY_WEIGHT * bodies[at],
        );
    }
    let alike = scores(&documents, &first_words(&documents, &scored));
    for (score, alike) in scored.iter_mut().zip(alike) {
        *score += FEEDBACK_WEIGHT * alike;
    }
    let rest = by_score(&scored).into_iter().map(|at| others[at].test);
    ordered.into_iter().map(|selected| selected.test).chain(rest).collect()
}

/// Returns 1 for the minimum cost, and less for higher ones, approximating an exponential function.
fn nearness(cost: u32) -> f64 {
    let scaled = f64::from(cost) / COST_SCALE;
    1.0 / (1.0 + scaled + scaled * scaled / 2.0)
}

/// Returns the indexes of scores, greatest first; equal scores keep their order.
fn by_score(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order
}

/// Returns the words of the tests with the greatest scores, by how many of these tests contain them.
fn first_words(documents: &[Vec<Term>], scores: &[f64]) -> WordWeights {
    let mut words = WordWeights::new();
    for at in by_score(scores).into_iter().take(FEEDBACK_TESTS) {
        let distinct: BTreeSet<Term> = documents[at].iter().copied().collect();
        for term in distinct {
            *words.entry(term).or_default() += 1.0;
        }
    }
    words
}

/// Returns the words in the names of the changed symbols and, with less weight, of their callers.
fn name_words(graph: &ReferenceGraph, items: &TestItems, changed: &[SymbolId]) -> WordWeights {
    let mut words = WordWeights::new();
    let mut level: Vec<SymbolId> = changed.to_vec();
    let mut seen: HashSet<SymbolId> = changed.iter().copied().collect();
    let mut decay = 1.0;
    let mut weight = 1.0;
    for distance in 0..=CALLER_DEPTH {
        for symbol in &level {
            let name = graph.symbol(*symbol).qualified_name.as_bytes();
            let distinct: BTreeSet<Term> = terms(name).filter(|term| !term.is_identifier()).collect();
            for term in distinct {
                *words.entry(term).or_default() += weight;
            }
        }
        if distance == CALLER_DEPTH {
            break;
        }
        let callers: BTreeSet<SymbolId> =
            level.iter().flat_map(|symbol| callers(graph, items, *symbol)).collect();
        level = callers.into_iter().filter(|caller| seen.insert(*caller)).collect();
        decay *= CALLER_DECAY;
        // If there are many callers, each counts less, but together they count somewhat more than a single one.
        weight = decay / real(level.len().max(1)).sqrt();
    }
    for weight in words.values_mut() {
        *weight = weight.min(1.0);
    }
    words
}

/// Returns the users of a symbol, and those that may run it under another name, without tests.
fn callers(graph: &ReferenceGraph, items: &TestItems, symbol: SymbolId) -> Vec<SymbolId> {
    let surer = graph.uses_of(symbol).filter(|reference| reference.grade < ReferenceGrade::Maybe);
    let mut found: Vec<SymbolId> = surer
        .filter_map(|reference| reference.from.or_else(|| graph.symbol_at(reference.file, reference.line)))
        .filter(|user| items.test_of(graph, ReachedNode::Symbol(*user)).is_none())
        .collect();
    found.extend(graph.type_constructed_by(symbol));
    found.extend(graph.stand_ins_of(symbol));
    found
}

/// Returns the words in the changed symbols' own lines.
fn body_words(cache: &ArtifactCache<'_>, graph: &ReferenceGraph, changed: &[SymbolId]) -> WordWeights {
    let mut counts = WordWeights::new();
    if changed.len() > MAX_BODIES {
        return counts;
    }
    let mut texts: HashMap<u32, String> = HashMap::new();
    for symbol in changed {
        let fact = graph.symbol(*symbol);
        // A symbol inside another changed one is read with it.
        if fact.parent.is_some_and(|parent| changed.contains(&parent)) {
            continue;
        }
        let text = texts.entry(fact.file).or_insert_with(|| read(cache, graph, fact.file));
        let lines = text.lines().skip(fact.first_line as usize - 1);
        for line in lines.take((fact.last_line - fact.first_line + 1) as usize) {
            for term in terms(line.as_bytes()).filter(|term| !term.is_identifier()) {
                *counts.entry(term).or_default() += 1.0;
            }
        }
    }
    for count in counts.values_mut() {
        *count = count.sqrt();
    }
    counts
}

/// Returns the words of each test, including those of classes that inherit it.
fn test_documents(
    cache: &ArtifactCache<'_>,
    graph: &ReferenceGraph,
    items: &TestItems,
    tests: &[SelectedTest],
) -> Vec<Vec<Term>> {
    // The parts of each file to read: nodes, with the tests that their words belong to.
    let mut by_file: BTreeMap<u32, BTreeMap<ReachedNode, Vec<usize>>> = BTreeMap::new();
    for (at, SelectedTest { test, .. }) in tests.iter().enumerate() {
        for node in std::iter::once(test.node).chain(test.subclass.map(ReachedNode::Symbol)) {
            by_file.entry(node.file(graph)).or_default().entry(node).or_default().push(at);
        }
    }
    let by_file: Vec<(String, BTreeMap<ReachedNode, Vec<usize>>)> =
        by_file.into_iter().map(|(file, nodes)| (read(cache, graph, file), nodes)).collect();
    let found = on_all_cores(&by_file, |(text, nodes)| {
        let lines: Vec<&str> = text.lines().collect();
        let of_node = |(node, tests): (&ReachedNode, &Vec<usize>)| {
            (words_of(&own_lines(graph, items, *node, &lines)), tests.clone())
        };
        nodes.iter().map(of_node).collect::<Vec<_>>()
    });
    let mut documents = vec![Vec::new(); tests.len()];
    for (words, tests) in found.into_iter().flatten() {
        for test in tests {
            documents[test].extend_from_slice(&words);
        }
    }
    documents
}

/// Returns the lines of a test or of a file; for a class, without the tests that it defines itself.
fn own_lines<'t>(
    graph: &ReferenceGraph,
    items: &TestItems,
    node: ReachedNode,
    lines: &[&'t str],
) -> Vec<&'t str> {
    let ReachedNode::Symbol(symbol) = node else { return lines.to_vec() };
    let lines_of = |symbol: SymbolId| {
        let fact = graph.symbol(symbol);
        fact.first_line as usize - 1..fact.last_line as usize
    };
    let is_test = |child: &SymbolId| items.test_of(graph, ReachedNode::Symbol(*child)).is_some();
    let is_class = is_type(graph.symbol(symbol).kind);
    let children = graph.children_of(symbol).iter().copied();
    let left_out: Vec<_> = children.filter(|child| is_class && is_test(child)).map(lines_of).collect();
    let is_shown = |at: &usize| !left_out.iter().any(|lines| lines.contains(at));
    lines_of(symbol).filter(is_shown).filter_map(|at| lines.get(at).copied()).collect()
}

fn words_of(lines: &[&str]) -> Vec<Term> {
    let words = lines.iter().flat_map(|line| terms(line.as_bytes()));
    words.filter(|term| !term.is_identifier()).collect()
}

/// Returns the BM25 scores of the tests for the words of a query, scaled to a maximum of 1.
fn scores(documents: &[Vec<Term>], query: &WordWeights) -> Vec<f64> {
    let saturation = Saturation::new(documents.iter().map(|words| words.len() as u64));
    let rows: FxHashMap<Term, usize> = query.keys().copied().zip(0..).collect();
    // For each word of the query, the tests that contain it, with counts.
    let mut postings: Vec<Vec<(usize, u32)>> = vec![Vec::new(); rows.len()];
    for (at, words) in documents.iter().enumerate() {
        for row in words.iter().filter_map(|term| rows.get(term)) {
            match postings[*row].last_mut() {
                Some((last, count)) if *last == at => *count += 1,
                _ => postings[*row].push((at, 1)),
            }
        }
    }
    let mut scores = vec![0.0; documents.len()];
    for (posting, weight) in postings.iter().zip(query.values()) {
        let weight = weight * inverse_frequency(documents.len(), posting.len());
        for (at, count) in posting {
            scores[*at] += weight * saturation.score(*count, documents[*at].len() as u64);
        }
    }
    let greatest = scores.iter().copied().fold(0.0, f64::max);
    if greatest > 0.0 {
        for score in &mut scores {
            *score /= greatest;
        }
    }
    scores
}

/// Returns the text of a file; empty if it no longer exists.
fn read(cache: &ArtifactCache<'_>, graph: &ReferenceGraph, file: u32) -> String {
    cache.workspace.read_text(graph.path(file)).map(|(_, text)| text).unwrap_or_default()
}
