//! Lines that a person marked are found again after edits, or said to be lost.
//!
//! Knows: what to remember of a slice, and how it is looked for in another text. Does not know: files, `slop.toml`, how
//! a slice is shown.
//!
//! Start with [`make()`], then [`resolve()`]; how a slice that changed is followed stands in `chain.rs`.

mod candidates;
mod chain;
mod changed;
mod error;
mod items;
mod lines;
mod make;
mod occurrences;
#[cfg(test)]
mod property_tests;
mod resolve;
mod surroundings;
#[cfg(test)]
mod tests;

pub use error::Error;
pub use make::create_slice;
pub use resolve::locate_slice;
