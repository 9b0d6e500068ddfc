//! Zig.

mod symbols;
mod table;

pub(super) use table::ZIG;
