//! What a reader sees: documents as Markdown, single views as text.
//!
//! Knows: headings, fences, head lines. Does not know: where a document comes from, or who reads it.
//!
//! Start with [`markdown()`].

mod head;
mod markdown;
mod numbers;

pub use head::head;
pub use markdown::CUT_PIECE;
pub use markdown::block_piece;
pub use markdown::markdown;
pub use markdown::pieces;
pub use markdown::tree_piece;
pub use numbers::grouped;
pub use numbers::seconds;
pub use numbers::size;
