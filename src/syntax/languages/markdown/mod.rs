//! Markdown.

mod reduce;
mod sections;
mod skeleton;
mod table;

pub(super) use table::MARKDOWN;
