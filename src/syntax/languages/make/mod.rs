//! Makefiles.

mod reduce;
mod symbols;
mod table;

pub(super) use table::MAKE;
