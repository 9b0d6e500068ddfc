//! Kotlin.

mod symbols;
mod table;

pub(super) use table::KOTLIN;
