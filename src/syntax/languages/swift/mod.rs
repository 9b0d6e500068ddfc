//! Swift.

mod symbols;
mod table;

pub(super) use table::SWIFT;
