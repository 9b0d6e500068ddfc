//! Go.

mod symbols;
mod table;

pub(super) use table::GO;
