//! What a reader sees: documents as Markdown, single views as text.
//!
//! Knows: headings, fences, head lines. Does not know: where a document comes from, or who reads it.
//!
//! Start with [`markdown()`]; [`prefix`] and [`suffix`] are its two parts.

mod head;
mod markdown;
mod numbers;
mod sections;

pub use head::head;
pub use markdown::CUT;
pub use markdown::Piece;
pub use markdown::beside_files;
pub use markdown::beside_files_and_images;
pub use markdown::block_text;
pub use markdown::markdown;
pub use markdown::prefix;
pub use markdown::tree_section;
pub use markdown::write_fenced;
pub use numbers::grouped;
pub use numbers::seconds;
pub use numbers::size;
pub use sections::base64;
pub use sections::suffix;
