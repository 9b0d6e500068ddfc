//! Renders documents as Markdown, and numbers for people.
//!
//! Knows: headings, fences, header lines. Does not know: where a document comes from, or who reads it.
//!
//! Start with [`render_markdown`]; [`prefix_pieces`] and [`suffix_text`] are its two parts.

mod layout;
mod markdown;
mod numbers;
mod quoted;

pub use crate::model::format_grouped;
pub use markdown::{
    PrefixPiece, after_stable, attachments, base64, block_text, document_layout, files_heading, head_line,
    markdown_bytes, prefix_pieces, render_markdown, suffix_text, take_markdown, write_fenced,
};
pub use numbers::{format_seconds, format_size};
