//! Python.

mod alternatives;
mod fixtures;
mod narrowing;
mod reader;
mod types;

pub(super) use alternatives::Branches;
pub(super) use reader::walk;
