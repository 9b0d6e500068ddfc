//! The shells that Bash understands.

mod symbols;
mod table;

pub(super) use table::SHELL;
