//! Python.

mod docstrings;
mod skeleton;
mod symbols;
mod table;

pub(in crate::syntax) use table::PYTHON;
