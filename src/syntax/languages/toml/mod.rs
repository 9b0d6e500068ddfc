//! TOML.

mod symbols;
mod table;

pub(super) use table::TOML;
