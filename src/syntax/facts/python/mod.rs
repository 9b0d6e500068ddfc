//! Python.

mod alternatives;
mod fixtures;
mod narrowing;
mod reader;
mod types;

pub(super) use reader::walk;
