//! The text of answers for a model, limited in length, and structured values for short ones.

mod document;
mod files;
mod outlines;
mod symbols;
mod views;

pub(super) use document::document;
pub(super) use files::{StatusPage, files};
pub(super) use outlines::outlines;
pub(super) use symbols::{SymbolList, symbols};
pub(super) use views::views;

/// What a tool answers.
#[derive(Debug)]
pub(super) struct ToolOutput {
    /// The answer in words.
    pub(super) text: String,
    /// The answer as the tool's output schema says, where it has one.
    pub(super) structured: Option<serde_json::Value>,
}
