//! Finds lines that a person marked again after edits, or reports them as lost.
//!
//! Knows: what to record of a slice, and how to find it in another text. Does not know: files, `slop.toml`, how a slice
//! is shown.
//!
//! Start with [`create_slice`], then [`locate_slice`]; `follow.rs` follows a slice whose lines have changed. Each file
//! imports only those before it: `lines`, `anchors`, `align`, `follow`, `resolve`.

mod align;
mod anchors;
mod follow;
mod lines;
mod resolve;
#[cfg(test)]
mod tests;

pub use anchors::create_slice;
pub use lines::Error;
pub use resolve::locate_slice;
