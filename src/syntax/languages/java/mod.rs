//! Java.

mod symbols;
mod table;

pub(super) use table::JAVA;
