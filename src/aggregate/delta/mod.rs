//! What has changed between two versions of a file, symbol by symbol.
//!
//! A delta is made of labels, which begin with `@@`, and of lines that are marked as in a diff. Symbols that are new are
//! shown by their signatures, those that are gone by their names. Of a changed symbol the changed lines are shown if
//! they are few, without context; else how many of its lines they are, and its signature if that has changed. The lines
//! that are not shown can be requested by the call at the end. Changes outside of all symbols are shown in the same way.
//!
//! Where only the structure of the versions is known, a delta names what has changed and shows signatures alone.

mod lines;
mod page;
mod rows;
#[cfg(test)]
mod tests;
mod version;

pub use page::{Delta, DeltaOptions, render_delta};
pub use version::FileVersion;
