//! Finds the symbols that are reached from others, breadth-first, each by its shortest path.

use std::collections::{BTreeMap, HashSet};

use super::graph::{GraphReference, ReferenceGraph, SymbolId};
use crate::model::DefinitionKind;
use crate::references::ReferenceGrade;

/// A symbol, or the top level of a file outside of all symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReachedNode {
    /// A symbol.
    Symbol(SymbolId),
    /// The statements outside of symbols in the file with this index.
    File(u32),
}

impl ReachedNode {
    /// Returns the file that it is in.
    pub(super) fn file(self, graph: &ReferenceGraph) -> u32 {
        match self {
            Self::Symbol(symbol) => graph.symbol(symbol).file,
            Self::File(file) => file,
        }
    }
}

/// A symbol that was reached, and how.
#[derive(Debug, Clone, Copy)]
pub struct ReachedSymbol {
    /// What was reached.
    pub node: ReachedNode,
    /// The number of references on the path from the start.
    pub distance: u32,
    /// The least certain grade on the path.
    pub grade: ReferenceGrade,
    /// The last reference of the path; `None` for the start.
    pub via: Option<GraphReference>,
    /// The member that this last reference uses, if another one that overrides or implements it may run there.
    pub through: Option<SymbolId>,
    /// The class that inherits this test and runs it, if it is not the defining one.
    pub subclass: Option<SymbolId>,
}

/// The direction in which references are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From a symbol to those that use it.
    ToUsers,
    /// From a symbol to those that it uses.
    ToUsed,
}

/// Which references are followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReachRules {
    pub(super) direction: Direction,
    /// Whether uses other than calls are ignored.
    pub(super) only_calls: bool,
    /// The maximum distance.
    pub(super) depth: u32,
}

/// Returns what is reached from some symbols, nearest first; at the same distance the most certain first, then by file
/// and line. The start is only included if it reaches itself.
pub(super) fn reach(graph: &ReferenceGraph, from: &[SymbolId], rules: ReachRules) -> Vec<ReachedSymbol> {
    let mut found: Vec<ReachedSymbol> = Vec::new();
    let mut seen: HashSet<ReachedNode> = HashSet::new();
    let mut expanded: HashSet<(SymbolId, bool)> = HashSet::new();
    let mut level: Vec<(SymbolId, ReferenceGrade)> =
        from.iter().map(|symbol| (*symbol, ReferenceGrade::Sure)).collect();
    for distance in 1..=rules.depth {
        let mut next: BTreeMap<ReachedNode, ReachedSymbol> = BTreeMap::new();
        for (symbol, grade) in level {
            for part in expansion(graph, symbol, rules.direction) {
                if expanded.insert((part, false)) {
                    step(
                        graph,
                        ReachStart { symbol: part, is_overridden: false, grade },
                        distance,
                        rules,
                        &mut next,
                    );
                }
            }
            if rules.direction == Direction::ToUsers {
                for base in overridden(graph, symbol) {
                    if expanded.insert((base, true)) {
                        let grade = grade.max(ReferenceGrade::Likely);
                        let part = ReachStart { symbol: base, is_overridden: true, grade };
                        step(graph, part, distance, rules, &mut next);
                    }
                }
            }
        }
        next.retain(|node, _| seen.insert(*node));
        if next.is_empty() {
            break;
        }
        let mut reached: Vec<ReachedSymbol> = next.into_values().collect();
        reached.sort_by_key(|reached| (reached.grade, place(graph, reached)));
        // The most certain are followed first, because each symbol is followed once.
        level = reached
            .iter()
            .filter_map(|reached| match reached.node {
                ReachedNode::Symbol(symbol) => Some((symbol, reached.grade)),
                ReachedNode::File(_) => None,
            })
            .collect();
        found.extend(reached);
    }
    found
}

/// A symbol whose references are followed.
#[derive(Clone, Copy)]
struct ReachStart {
    symbol: SymbolId,
    /// Whether it is a member that the reached one may replace at run time.
    is_overridden: bool,
    grade: ReferenceGrade,
}

/// Adds the target of one reference.
fn step(
    graph: &ReferenceGraph,
    ReachStart { symbol, is_overridden, grade }: ReachStart,
    distance: u32,
    rules: ReachRules,
    next: &mut BTreeMap<ReachedNode, ReachedSymbol>,
) {
    let mut add = |reference: &GraphReference, node: ReachedNode| {
        if rules.only_calls && !reference.is_call {
            return;
        }
        let grade = grade.max(reference.grade);
        let through = is_overridden.then_some(symbol);
        let reached = ReachedSymbol { node, distance, grade, via: Some(*reference), through, subclass: None };
        let known = next.entry(node).or_insert(reached);
        if grade < known.grade {
            *known = reached;
        }
    };
    match rules.direction {
        Direction::ToUsers => {
            let is_shown = |reference: &&GraphReference| !is_overridden || !is_call_of_base(graph, reference);
            for reference in graph.uses_of(symbol).filter(is_shown) {
                let node = reference.from.map_or(ReachedNode::File(reference.file), ReachedNode::Symbol);
                add(reference, node);
            }
        }
        Direction::ToUsed => {
            for reference in graph.uses_by(symbol) {
                add(reference, ReachedNode::Symbol(reference.to));
            }
        }
    }
}

/// Returns the members that a member overrides or implements, at any distance. Constructors only run for their own
/// type.
fn overridden(graph: &ReferenceGraph, symbol: SymbolId) -> Vec<SymbolId> {
    if !graph.symbol(symbol).is_member || graph.type_constructed_by(symbol).is_some() {
        return Vec::new();
    }
    let mut found: Vec<SymbolId> = graph.stand_ins_of(symbol).collect();
    let mut at = 0;
    while let Some(base) = found.get(at).copied() {
        let bases = graph.stand_ins_of(base).filter(|base| *base != symbol && !found.contains(base));
        let bases: Vec<SymbolId> = bases.collect();
        found.extend(bases);
        at += 1;
    }
    found
}

/// Returns whether a use is a call of the overridden member by the overriding one, as in `super().run()`, where no
/// other one runs. This is not possible for members that an interface declares.
fn is_call_of_base(graph: &ReferenceGraph, reference: &GraphReference) -> bool {
    let parent = graph.symbol(reference.to).parent;
    parent.is_some_and(|parent| graph.symbol(parent).kind != DefinitionKind::Interface)
        && reference.from.is_some_and(|from| overridden(graph, from).contains(&reference.to))
}

/// Returns the symbols whose references count as those of a symbol.
fn expansion(graph: &ReferenceGraph, symbol: SymbolId, direction: Direction) -> Vec<SymbolId> {
    let mut parts = vec![symbol];
    match direction {
        // A nested function runs with the outer one, so users of the latter count; a constructor is used by its type's
        // name.
        Direction::ToUsers => {
            let mut at = symbol;
            while let Some(parent) = graph.symbol(at).parent {
                let is_part = if graph.symbol(at).is_member {
                    at == symbol && graph.type_constructed_by(at).is_some()
                } else {
                    graph.symbol(parent).kind == DefinitionKind::Function
                };
                if !is_part {
                    break;
                }
                parts.push(parent);
                at = parent;
            }
        }
        // A function does what its nested functions do; a type is created by its constructor.
        Direction::ToUsed => {
            let is_function = graph.symbol(symbol).kind == DefinitionKind::Function;
            parts.extend(graph.within(symbol).into_iter().filter(|part| {
                let fact = graph.symbol(*part);
                // A JavaScript function may have members, which it does not run.
                let is_own = fact.is_member && fact.parent == Some(symbol);
                is_function && !is_own || graph.type_constructed_by(*part) == Some(symbol)
            }));
        }
    }
    parts
}

/// Returns the position of a node, for sorting answers.
fn place(graph: &ReferenceGraph, reached: &ReachedSymbol) -> (u32, u32) {
    let line = match reached.node {
        ReachedNode::Symbol(symbol) => graph.symbol(symbol).line,
        ReachedNode::File(_) => reached.via.map_or(0, |via| via.line),
    };
    (reached.node.file(graph), line)
}
