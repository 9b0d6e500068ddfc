//! Java.

mod reader;
mod types;

pub(super) use reader::walk;
