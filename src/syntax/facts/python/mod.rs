//! Python.

mod alternatives;
mod fixtures;
mod narrowing;
mod patterns;
mod reader;
mod type_variables;
mod types;

pub(super) use reader::walk;
