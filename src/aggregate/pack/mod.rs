//! Selects what a document shows under a budget: bodies and signatures of single symbols, names, and paths.
//!
//! Knows: scores, tokens, and the shares of a budget. Does not know: texts, and where scores come from.
//!
//! | file | what it does |
//! |---|---|
//! | `problem` | The candidates with their costs, and the selection |
//! | `order` | The pieces in the order of their value per token, evaluated lazily |
//! | `select` | The selection |
//! | `bound` | The value that no selection exceeds |
//!
//! Start with [`pack()`].

mod bound;
mod order;
mod problem;
mod select;
#[cfg(test)]
mod tests;

pub use problem::{
    BodyTurn, FileDemand, PackCosts, PackInput, PackShares, PackSymbol, PackableFile, PackedView, Packing,
};
pub use select::pack;
