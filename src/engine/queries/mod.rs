//! Questions about single files, which look at those files alone.

mod question;
mod slices;
mod symbols;

pub use question::OutlineAnswer;
pub use question::ViewAnswer;
pub use symbols::SymbolAnswer;

pub(in crate::engine) use question::FileSelection;
pub(in crate::engine) use slices::with_byte_order_mark;
