//! Rust.

mod symbols;
mod table;

pub(super) use table::RUST;
