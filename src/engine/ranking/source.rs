//! The text of a file that is ranked, with its structure.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::{ContentHash, Outline};
use crate::search::{FileChunks, FunctionSizes, hash_functions};
use crate::syntax::SourceErrors;

/// A text with its structure.
pub(in crate::engine) struct SourceText {
    pub(in crate::engine) text: String,
    pub(in crate::engine) outline: Option<Outline>,
    /// The hash of the file's bytes, which may be those at another commit.
    pub(in crate::engine) content: ContentHash,
    pub(in crate::engine) errors: SourceErrors,
    /// Whether parsing an excerpt took too long, so that no other of the same document is parsed.
    pub(in crate::engine) is_too_slow: AtomicBool,
    functions: OnceLock<FunctionSizes>,
}

impl SourceText {
    pub(in crate::engine) fn new(text: String, content: ContentHash, outline: Option<Outline>) -> Self {
        Self {
            text,
            outline,
            content,
            errors: SourceErrors::default(),
            is_too_slow: AtomicBool::new(false),
            functions: OnceLock::new(),
        }
    }

    /// Returns its functions, according to its chunks.
    pub(super) fn functions(&self, chunks: &FileChunks<'_>) -> &FunctionSizes {
        self.functions.get_or_init(|| hash_functions(&self.text, chunks))
    }

    /// Returns whether it is the current content of a file, so that another document may use it. Each document finds
    /// out for itself whether the parts of a text take too long to parse.
    pub(super) fn is_of(&self, file: &KnownFile) -> bool {
        !self.is_too_slow.load(Ordering::Relaxed)
            && matches!(&file.state, KnownState::Content { hash, .. } if *hash == self.content)
    }
}
