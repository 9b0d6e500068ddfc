//! Makefiles.

mod symbols;
mod table;

pub(super) use table::MAKE;
