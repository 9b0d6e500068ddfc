//! Views that are kept, and shown again while everything that they depend on is the same.

use std::sync::Arc;

use rustc_hash::FxHashMap;

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
#[derive(Default)]
pub(in crate::engine) struct ViewCache {
    kept: FxHashMap<ViewKey, (Arc<CachedView>, u64)>,
    bytes: usize,
    uses: u64,
}

impl ViewKey {
    /// Returns the key of a view; `None` if it depends on more than the content.
    pub(in crate::engine::document) fn of(
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

impl ViewCache {
    pub(in crate::engine::document) fn get(&mut self, key: &ViewKey) -> Option<Arc<CachedView>> {
        let (view, used) = self.kept.get_mut(key)?;
        self.uses += 1;
        *used = self.uses;
        Some(Arc::clone(view))
    }

    pub(in crate::engine::document) fn contains(&self, key: &ViewKey) -> bool {
        self.kept.contains_key(key)
    }

    pub(in crate::engine::document) fn insert(&mut self, key: ViewKey, view: Arc<CachedView>) {
        self.uses += 1;
        self.bytes += view.body.len() + OVERHEAD;
        if let Some((old, _)) = self.kept.insert(key, (view, self.uses)) {
            self.bytes -= old.body.len() + OVERHEAD;
        }
        if MAX_BYTES < self.bytes {
            self.evict();
        }
    }

    /// Evicts the least recently used quarter of the views.
    fn evict(&mut self) {
        // A quarter at once, so that not every insertion into a full cache has to sort.
        let mut uses: Vec<u64> = self.kept.values().map(|(_, used)| *used).collect();
        uses.sort_unstable();
        let oldest = uses[uses.len() / 4];
        self.kept.retain(|_, (_, used)| oldest < *used);
        self.bytes = self.kept.values().map(|(view, _)| view.body.len() + OVERHEAD).sum();
    }
}

/// Returns a hash of what is shown of a file: its view and its text. The header line is not included, because it names
/// a content hash that changes with every edit.
pub(in crate::engine::document) fn view_fingerprint(view: ViewMode, body: &str) -> ContentHash {
    let text = ContentHash::digest(body.as_bytes());
    ContentHash::digest(format!("{view} {text}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_views_are_evicted() {
        let mut views = ViewCache::default();
        let key = |number: u32| {
            let content = ContentHash::digest(&number.to_le_bytes());
            ViewKey::of(content, "c", ViewMode::Skeleton, SummaryDetail::Words, DocsDetail::Full, None)
                .unwrap()
        };
        let view = || CachedView {
            remark: None,
            body: "x".repeat(1 << 20).into(),
            fingerprint: ContentHash::digest(b""),
        };
        for number in 0..100 {
            views.insert(key(number), Arc::new(view()));
            assert!(views.get(&key(0)).is_some(), "{number}: it is used in every round");
            assert!(views.bytes <= MAX_BYTES);
        }
        assert!(views.get(&key(1)).is_none() && views.get(&key(99)).is_some());
    }
}
