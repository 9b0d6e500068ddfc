//! The text of a file that is ranked, with its structure.

use std::sync::atomic::AtomicBool;

use crate::model::{ContentHash, Outline};
use crate::syntax::SourceErrors;

/// A text with its structure.
pub(in crate::engine) struct SourceText {
    pub(in crate::engine) text: String,
    pub(in crate::engine) outline: Option<Outline>,
    /// The hash of the text, which may be that of another commit.
    pub(in crate::engine) hash: ContentHash,
    pub(in crate::engine) errors: SourceErrors,
    /// Whether an excerpt took longer than a parse may, so that no other of the same document is parsed.
    pub(in crate::engine) is_too_slow: AtomicBool,
}

impl SourceText {
    pub(in crate::engine) fn new(text: String, outline: Option<Outline>) -> Self {
        let hash = ContentHash::digest(text.as_bytes());
        Self { text, outline, hash, errors: SourceErrors::default(), is_too_slow: AtomicBool::new(false) }
    }
}
