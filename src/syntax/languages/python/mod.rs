//! Python.

mod docstrings;
mod skeleton;
mod symbols;
mod table;

pub(in crate::syntax) use skeleton::LARGE_LITERAL;
pub(super) use table::PYTHON;
