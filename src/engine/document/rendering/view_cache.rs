//! Views that are kept, and shown again while everything that they depend on is the same.

use std::sync::Arc;

use crate::engine::lru::{LruCache, MemorySize};
use crate::model::{ContentHash, DocsDetail, SummaryDetail, ViewMode};

/// The maximum size of the views that are kept.
const MAX_BYTES: usize = 32 << 20;
/// The size of a view in bytes, in addition to its text.
const OVERHEAD: usize = 200;

/// Everything that decides what a view shows: the content, its file type, and the way in which it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine::document) struct ViewKey {
    pub(in crate::engine::document) content: ContentHash,
    pub(in crate::engine::document) file_type: &'static str,
    pub(in crate::engine::document) view: ViewMode,
    pub(in crate::engine::document) detail: Option<SummaryDetail>,
    pub(in crate::engine::document) docs: Option<DocsDetail>,
    /// A hash of the summary, if a model wrote it; for names, of the scores that order them.
    pub(in crate::engine::document) words: Option<ContentHash>,
}

#[derive(Debug)]
pub(in crate::engine::document) struct CachedView {
    pub(in crate::engine::document) remark: Option<String>,
    pub(in crate::engine::document) body: Arc<str>,
    /// A hash of view and text, for comparison with what a reader has.
    pub(in crate::engine::document) fingerprint: ContentHash,
}

/// The views that were shown last.
pub(in crate::engine::document) type ViewCache = LruCache<ViewKey, CachedView, MAX_BYTES>;

impl MemorySize for CachedView {
    fn memory_size(&self) -> usize {
        self.body.len() + OVERHEAD
    }
}

impl ViewKey {
    /// Returns the key of a view; `None` if it depends on more than the content.
    pub(in crate::engine::document) fn new(
        content: ContentHash,
        file_type: &'static str,
        view: ViewMode,
        detail: SummaryDetail,
        docs: DocsDetail,
        words: Option<ContentHash>,
    ) -> Option<Self> {
        let (detail, docs, words) = match view {
            ViewMode::Skeleton => (None, Some(docs), None),
            ViewMode::Outline => (None, None, None),
            ViewMode::Summary => (Some(detail), None, words),
            ViewMode::Full
            | ViewMode::Window
            | ViewMode::Masked
            | ViewMode::Custom
            | ViewMode::Diff
            | ViewMode::Delta
            | ViewMode::Signatures
            | ViewMode::Definitions
            | ViewMode::Excerpt
            | ViewMode::Names
            | ViewMode::Path
            | ViewMode::None => return None,
        };
        Some(Self { content, file_type, view, detail, docs, words })
    }
}

/// Returns a hash of what is shown of a file: its view and its text. The header line is not included, because it names
/// a content hash that changes with every edit.
pub(in crate::engine::document) fn view_fingerprint(view: ViewMode, body: &str) -> ContentHash {
    let text = ContentHash::digest(body.as_bytes());
    ContentHash::digest(format!("{view} {text}").as_bytes())
}
