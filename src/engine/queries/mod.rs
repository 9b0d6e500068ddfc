//! Questions about single files, which look at those files alone.

mod outlines;
mod slices;
mod symbols;

pub use outlines::OutlineAnswer;
pub use symbols::SymbolAnswer;

pub(in crate::engine) use outlines::outlines;
pub(in crate::engine) use slices::{make_slice, resolve_slice, resolve_slices};
pub(in crate::engine) use symbols::symbols;
