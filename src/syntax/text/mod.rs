//! The text of a file: positions in it, its preprocessed copy, and the prose in its comments.
//!
//! Imports nothing else of this room. Everything that leaves the room refers to the original text; [`SourceText`] is
//! the one place that translates positions of the preprocessed copy back.

pub(in crate::syntax) mod c_lexemes;
mod comments;
mod paragraph;
mod plain;
mod preprocessed;
mod source;

pub(in crate::syntax) use comments::{
    documentation, is_import_heading, is_license_text, is_project_banner, without_commands,
};
pub(in crate::syntax) use paragraph::{DocBreak, comment_break, docstring_break};
pub(in crate::syntax) use plain::{
    clip_name, first_paragraph, format_line_count, format_text_size, is_all_capitals, one_line, strip_markup,
    with_separators,
};
pub(in crate::syntax) use preprocessed::{
    Checkpoint, ExpectedSymbol, PreprocessedText, SynthesizedItem, SynthesizedSymbol, TextRewriter,
};
pub(in crate::syntax) use source::{ElisionCursor, SourceText};
