//! Rust.

mod macros;
mod symbols;
mod table;

pub(super) use table::RUST;
