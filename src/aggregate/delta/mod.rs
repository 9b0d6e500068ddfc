//! The changes between two versions of a file, symbol by symbol.
//!
//! A delta consists of labels, which begin with `@@`, and of lines marked as in a diff. New symbols are shown by their
//! signatures, removed ones by their names. For a changed symbol, the changed lines are shown without context if they
//! are few; otherwise their number, and the signature if that has changed. The call at the end requests the lines that
//! are not shown. Changes outside of all symbols are shown in the same way.
//!
//! If only the structure of the versions is known, a delta names what has changed and shows signatures alone.

mod lines;
mod page;
mod rows;
mod symbol_lines;
#[cfg(test)]
mod tests;
mod version;

pub use page::{Delta, DeltaOptions, render_delta};
pub use symbol_lines::{OwnHashes, SymbolLines, compare_symbols, outline_lines};
pub use version::FileVersion;
