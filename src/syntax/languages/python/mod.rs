//! Python.

mod docstrings;
mod skeleton;
mod symbols;
mod table;

pub(super) use table::PYTHON;
