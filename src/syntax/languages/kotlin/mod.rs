//! Kotlin.

mod bodies;
mod symbols;
mod table;

pub(super) use table::KOTLIN;
