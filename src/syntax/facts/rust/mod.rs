//! Rust.

mod imports;
mod items;
mod patterns;
mod reader;
mod tokens;
mod types;

pub(super) use reader::walk;
