//! Go.

mod constraints;
mod reader;
mod types;

pub(super) use reader::walk;
