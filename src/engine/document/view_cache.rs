//! Views of contents that were shown before: what they show depends on the content alone, so that they stay right.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use rustc_hash::FxHashMap;

use crate::model::ContentHash;
use crate::model::SummaryDetail;
use crate::model::ViewMode;

/// So many bytes of views are kept.
const MOST_BYTES: usize = 32 << 20;
/// What a view takes beside its text.
const OVERHEAD: usize = 200;

/// Locks the views. A thread that panicked has left them whole: every change is made under one lock.
pub(in crate::engine) fn lock(views: &Mutex<ViewCache>) -> MutexGuard<'_, ViewCache> {
    views.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that decides what a view shows: the content, the type that it is read as, and how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) struct ViewKey {
    pub(in crate::engine) content: ContentHash,
    pub(in crate::engine) file_type: &'static str,
    pub(in crate::engine) view: ViewMode,
    pub(in crate::engine) detail: Option<SummaryDetail>,
    /// A hash of the words, where a model wrote them.
    pub(in crate::engine) words: Option<ContentHash>,
}

/// A view as it was shown.
#[derive(Debug)]
pub(in crate::engine) struct CachedView {
    pub(in crate::engine) remark: Option<String>,
    pub(in crate::engine) body: String,
    /// A hash of view and text, by which a reader's is compared with it.
    pub(in crate::engine) fingerprint: ContentHash,
}

/// The views that were shown last.
#[derive(Default)]
pub(in crate::engine) struct ViewCache {
    /// Each with when it was used last.
    kept: FxHashMap<ViewKey, (Arc<CachedView>, u64)>,
    bytes: usize,
    uses: u64,
}

impl ViewKey {
    /// Returns the key of a view; `None` where more than the content decides what it shows.
    pub(in crate::engine) fn of(
        content: ContentHash,
        file_type: &'static str,
        view: ViewMode,
        detail: SummaryDetail,
        words: Option<ContentHash>,
    ) -> Option<Self> {
        let (detail, words) = match view {
            ViewMode::Skeleton | ViewMode::Outline => (None, None),
            ViewMode::Summary => (Some(detail), words),
            ViewMode::Full
            | ViewMode::Window
            | ViewMode::Masked
            | ViewMode::Custom
            | ViewMode::Diff
            | ViewMode::Signatures
            | ViewMode::Definitions
            | ViewMode::Path
            | ViewMode::None => return None,
        };
        Some(Self { content, file_type, view, detail, words })
    }
}

impl ViewCache {
    pub(in crate::engine) fn get(&mut self, key: &ViewKey) -> Option<Arc<CachedView>> {
        let (view, used) = self.kept.get_mut(key)?;
        self.uses += 1;
        *used = self.uses;
        Some(Arc::clone(view))
    }

    pub(in crate::engine) fn insert(&mut self, key: ViewKey, view: CachedView) {
        self.uses += 1;
        self.bytes += view.body.len() + OVERHEAD;
        if let Some((old, _)) = self.kept.insert(key, (Arc::new(view), self.uses)) {
            self.bytes -= old.body.len() + OVERHEAD;
        }
        if MOST_BYTES < self.bytes {
            self.evict();
        }
    }

    /// Forgets a quarter of the views, those that were not used for longest.
    fn evict(&mut self) {
        let mut uses: Vec<u64> = self.kept.values().map(|(_, used)| *used).collect();
        uses.sort_unstable();
        let oldest = uses[uses.len() / 4];
        self.kept.retain(|_, (_, used)| oldest < *used);
        self.bytes = self.kept.values().map(|(view, _)| view.body.len() + OVERHEAD).sum();
    }
}

/// Returns a hash of what is shown of a file: its view and its text. The head is not a part of it, for it names a
/// content that changes with every edit.
pub(in crate::engine) fn view_fingerprint(view: ViewMode, body: &str) -> ContentHash {
    let text = ContentHash::digest(body.as_bytes());
    ContentHash::digest(format!("{view} {text}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_that_are_not_asked_for_make_room_for_others() {
        let mut views = ViewCache::default();
        let key = |number: u32| {
            let content = ContentHash::digest(&number.to_le_bytes());
            ViewKey::of(content, "c", ViewMode::Skeleton, SummaryDetail::Words, None).unwrap()
        };
        let view =
            || CachedView { remark: None, body: "x".repeat(1 << 20), fingerprint: ContentHash::digest(b"") };
        for number in 0..100 {
            views.insert(key(number), view());
            assert!(views.get(&key(0)).is_some(), "{number}: it is used all the time");
            assert!(views.bytes <= MOST_BYTES);
        }
        assert!(views.get(&key(1)).is_none() && views.get(&key(99)).is_some());
    }
}
