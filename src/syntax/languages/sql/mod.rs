//! SQL, as the usual servers write it.
//!
//! There are more dialects than a grammar can know, and where this one does not know a word it also loses the
//! statements around it. So a scanner (`statements`) finds where each statement ends, and knows nothing else; `create`
//! reads those that create something, `symbols` makes symbols of them, `cuts` decides what a skeleton cuts. What the
//! grammar made of a statement only decides whether its symbol counts as recovered.

mod create;
mod cuts;
mod statements;
mod symbols;

pub(super) use symbols::SQL;
