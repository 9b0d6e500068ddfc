//! CMake.

mod symbols;
mod table;

pub(super) use table::CMAKE;
