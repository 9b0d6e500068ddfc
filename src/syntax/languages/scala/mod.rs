//! Scala.

mod symbols;
mod table;

pub(super) use table::SCALA;
