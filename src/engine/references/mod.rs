//! Who uses what: the references of the whole project, and the questions that they answer.
//!
//! Knows: which files are joined, how symbols are named in questions, how calls and changes reach other symbols. Does
//! not know: how a single use is resolved, which the room `references` does.
//!
//! | part | what it does |
//! |---|---|
//! | `graph` | The joined references with what finds them by either end |
//! | `load` | The graph of the files as they are now, and what a process keeps of it |
//! | `symbols` | What the spelling of a symbol means |
//! | `reach` | Which symbols are reached from some, step by step |
//! | `test_items` | Which symbols are tests |
//! | `inherited_tests` | Which classes run tests that they inherit |
//! | `test_selection` | Which tests a change may break |
//! | `test_values` | Which tests have values of the types whose members are changed |
//! | `changes` | Which symbols differ from a revision |
//! | `coverage` | Which tests a coverage file names |
//! | `queries` | The questions and their answers |
//!
//! May import `workspace`, `artifacts`, `index` and `history`. Start with `queries`.

mod changes;
mod coverage;
#[cfg(test)]
mod edit_tests;
mod graph;
mod inherited_tests;
mod load;
mod queries;
mod reach;
mod symbols;
mod test_items;
mod test_selection;
mod test_values;
mod test_words;
#[cfg(test)]
mod tests;

pub use graph::{GraphReference, ReferenceGraph, SymbolId};
pub use queries::{CallAnswer, CallDirection, CallRequest, ImpactAnswer, ImpactRequest, UsesAnswer};
pub use reach::{ReachedNode, ReachedSymbol};

pub(in crate::engine) use load::{ReferenceCache, reference_graph};
pub(in crate::engine) use queries::{calls, impact, uses};
