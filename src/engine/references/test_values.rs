//! Finds the tests that have values of the types whose members are changed.
//!
//! Most tests of a library reach the code that runs a member of any of its types, such as the fields of a schema; only
//! those that have a value of the type run the member of that type.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::graph::{ReferenceGraph, SymbolId};
use super::reach::ReachedNode;
use super::test_items::TestItems;
use super::test_selection::{is_type, user};

/// The maximum number of test helpers between a test and a type.
const HELPER_DEPTH: u32 = 3;

/// Returns how near the tests are to the types of the changed members: 1 for those that name such a type.
pub(super) fn tests_with_values(
    graph: &ReferenceGraph,
    items: &TestItems,
    changed: &[SymbolId],
) -> HashMap<ReachedNode, f64> {
    let mut level: BTreeSet<SymbolId> =
        changed.iter().flat_map(|symbol| types_with(graph, *symbol)).collect();
    let mut seen: HashSet<SymbolId> = level.iter().copied().collect();
    let mut found: HashMap<ReachedNode, f64> = HashMap::new();
    for distance in 1..=HELPER_DEPTH {
        let mut next = BTreeSet::new();
        for reference in level.iter().flat_map(|symbol| graph.uses_of(*symbol)) {
            let node = user(graph, reference);
            if let Some(test) = items.test_of(graph, node) {
                found.entry(test).or_insert(1.0 / f64::from(distance));
            } else if let ReachedNode::Symbol(helper) = node
                && graph.is_test(graph.symbol(helper).file)
                && seen.insert(helper)
            {
                next.insert(helper);
            }
        }
        level = next;
    }
    found
}

/// Returns the type of a member that overrides another one, and the types that inherit the member. Other members are
/// called directly.
fn types_with(graph: &ReferenceGraph, member: SymbolId) -> Vec<SymbolId> {
    let fact = graph.symbol(member);
    if graph.stand_ins_of(member).next().is_none() {
        return Vec::new();
    }
    let Some(owner) = fact.parent.filter(|parent| fact.is_member && is_type(graph.symbol(*parent).kind))
    else {
        return Vec::new();
    };
    let overrides = |class: &SymbolId| {
        graph.children_of(*class).iter().any(|child| graph.symbol(*child).name() == fact.name())
    };
    let inheriting = graph.stand_ins_of(owner).filter(|class| !overrides(class));
    std::iter::once(owner).chain(inheriting).collect()
}
