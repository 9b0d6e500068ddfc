//! The text of a file that is ranked, with its structure.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::artifacts::ContentKey;
use crate::engine::lru::{LruCache, MemorySize};
use crate::model::{ContentHash, Outline};
use crate::search::{FileChunks, FunctionSizes, hash_functions};
use crate::syntax::SourceErrors;

/// The maximum size of the sources that are kept.
const MAX_BYTES: usize = 12 << 20;
/// The approximate size of an outline and of the hashes of functions, as a multiple of the size of the text.
const STRUCTURE_FACTOR: usize = 1;

/// The sources that were ranked last, in a long-running process: the next task needs many of them again.
pub(in crate::engine) type SourceCache = LruCache<ContentKey, SourceText, MAX_BYTES>;

impl MemorySize for SourceText {
    fn memory_size(&self) -> usize {
        size_of::<Self>() + self.text.len() * (1 + STRUCTURE_FACTOR)
    }
}

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

    /// Returns whether parsing an excerpt took too long. Then, no other document may use it: each finds out for itself
    /// whether the parts of a text take too long to parse.
    pub(super) fn is_too_slow(&self) -> bool {
        self.is_too_slow.load(Ordering::Relaxed)
    }
}
