//! SQL, as the usual servers write it.
//!
//! There are more dialects than a grammar can know, and where this one does not know a word it loses the statements
//! around it too. So statements are found by a scanner (`tokens`, `statements`), which knows where each ends and
//! nothing else; `symbols` reads those that create something, `cuts` says what of them a skeleton leaves out. What the
//! grammar made of a statement only tells whether the symbol was lost without the scanner.

mod columns;
mod cuts;
mod documents;
mod heads;
mod reduce;
mod statements;
mod symbols;
mod table;
mod tokens;

pub(super) use table::SQL;
