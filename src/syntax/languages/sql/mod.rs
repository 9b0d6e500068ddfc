//! SQL, in the dialects of the common servers.
//!
//! There are more dialects than a grammar can know, and an unknown word also makes this one fail on the statements
//! around it. So a scanner (`statements`) finds where each statement ends, and nothing else; `create` reads those that
//! create something, `symbols` turns them into symbols, and `cuts` decides what a skeleton cuts. The grammar only
//! decides whether the symbol of a statement counts as recovered.

mod create;
mod cuts;
mod statements;
mod symbols;

pub(super) use symbols::SQL;
