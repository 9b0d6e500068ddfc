//! Joins uses to references.
//!
//! `join` evaluates each use; `c` needs no values, and `by_name` reads what remains by its name alone. `edits` joins
//! only changed files where other files are not affected.

mod by_name;
mod c;
mod edits;
mod join;

pub use edits::find_changed_references;
pub use join::find_references;
