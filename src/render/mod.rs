//! What a reader sees: documents as Markdown, single views as text.
//!
//! Knows: headings, fences, head lines. Does not know: where a document comes from, or who reads it.
//!
//! Start with [`markdown()`]; [`prefix`] and [`suffix`] are its two parts.

mod head;
mod markdown;
mod numbers;
mod sections;

pub use head::head_line;
pub use markdown::OMISSION_NOTE;
pub use markdown::PrefixPiece;
pub use markdown::attachments;
pub use markdown::attachments_without_images;
pub use markdown::block_text;
pub use markdown::prefix_pieces;
pub use markdown::render_markdown;
pub use markdown::tree_section;
pub use markdown::write_fenced;
pub use numbers::format_grouped;
pub use numbers::format_seconds;
pub use numbers::format_size;
pub use sections::base64;
pub use sections::suffix_text;
