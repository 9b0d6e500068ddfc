//! Documents and views that were rendered before, and would be rendered the same again.
//!
//! A document is kept under what was asked for, with a hash of all that it was made of: which files there are, their
//! contents, and where the order of files needs it, all that git knows its history by. Each answer finds that hash out
//! again, from the stamps; only the rendering is saved.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::model::{
    ContentHash, DiscussionEntry, DocsDetail, DocumentLayout, DocumentPart, DocumentText, MissingFile,
    ParseHealth, Receipt, SectionProblem, SummaryDetail, SymbolKind, ViewMode, lock,
};

use super::opened::OpenedDocuments;
use super::request::DocumentCacheKey;
use crate::engine::artifacts::ContentKey;
use crate::engine::history::{CommitCache, PastCommitCache};
use crate::engine::options::Options;
use crate::engine::ranking::FrozenRankings;

/// The maximum size of the documents that are kept.
const MOST_DOCUMENT_BYTES: usize = 48 << 20;
/// The number of versions of one document that are kept: the last one, and the one before, for an edit that is taken
/// back.
const MAX_VERSIONS: usize = 2;
/// About how many bytes a file takes in a receipt and in a layout.
const BYTES_A_FILE: usize = 450;

/// A document that was written, as its reader has it.
#[derive(Debug)]
pub struct CachedDocument {
    /// What became of each file.
    pub receipt: Receipt,
    /// What the document was written as.
    pub text: DocumentText,
    /// Where in the text the part begins that is new with every question; its length, if there is none.
    pub boundary: usize,
    /// What the text consists of; of a request body, what the Markdown consists of that the model reads.
    pub layout: Arc<DocumentLayout>,
    /// The answer as it was sent, once it was: to encode it takes longer than to find out that it is still right.
    pub encoded: OnceLock<Bytes>,
}

/// What decides what a document is: the request, and everything that it was composed of.
///
/// The parts are compared, not hashed, except for the files, which may be many.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct DocumentKey {
    pub(super) request: Arc<DocumentCacheKey>,
    pub(super) inputs: Arc<InputsKey>,
}

#[derive(Debug, PartialEq)]
pub(in crate::engine) struct InputsKey {
    pub(super) options: Options,
    pub(super) part: DocumentPart,
    pub(super) discussion: Vec<DiscussionEntry>,
    pub(super) problems: Vec<SectionProblem>,
    pub(super) missing: Vec<MissingFile>,
    /// A hash of the files, their contents and summaries, and of git's history if the order depends on it.
    pub(super) files: ContentHash,
}

/// The counts of contents that were shown before, in a process that stays: to decode an outline for it takes longer than
/// to find out that the document is still right.
pub(super) type SymbolCounts = FxHashMap<ContentKey, Arc<FileSymbols>>;

/// What a receipt says of the outline of one content.
#[derive(Debug)]
pub(super) struct FileSymbols {
    pub(super) kinds: BTreeMap<SymbolKind, u64>,
    pub(super) health: ParseHealth,
}

/// What the documents of a process share.
#[derive(Default)]
pub(in crate::engine) struct DocumentCaches {
    pub(in crate::engine) documents: Mutex<DocumentCache>,
    pub(in crate::engine) views: Mutex<ViewCache>,
    pub(super) symbols: Mutex<SymbolCounts>,
    pub(in crate::engine) commits: CommitCache,
    pub(in crate::engine) past_commits: PastCommitCache,
    pub(super) rankings: FrozenRankings,
    pub(in crate::engine) opened: OpenedDocuments,
}

impl DocumentCaches {
    /// Returns how many documents were answered from the cache.
    pub(in crate::engine) fn reused(&self) -> u64 {
        lock(&self.documents).reused
    }
}

#[derive(Default)]
pub(in crate::engine) struct DocumentCache {
    entries: VecDeque<(DocumentKey, Arc<CachedDocument>)>,
    /// Documents that are too large to be kept: each is known as long as somebody else holds it, as those do who read parts
    /// of it.
    large: Vec<(DocumentKey, Weak<CachedDocument>)>,
    /// Which document was given last under a name, with the store's mark of that.
    pub(super) last_delivered: HashMap<String, (DocumentKey, Vec<u8>)>,
    pub(super) reused: u64,
}

impl DocumentCache {
    /// Records what was given last under a name.
    pub(super) fn record_delivered(&mut self, name: String, answer: Option<(DocumentKey, Vec<u8>)>) {
        match answer {
            Some(answer) => self.last_delivered.insert(name, answer),
            None => self.last_delivered.remove(&name),
        };
    }

    pub(super) fn get(&mut self, key: &DocumentKey) -> Option<Arc<CachedDocument>> {
        if let Some((_, large)) = self.large.iter().find(|(kept, _)| kept == key) {
            return large.upgrade();
        }
        // Compared one by one: the limit of bytes keeps the documents few.
        let at = self.entries.iter().position(|(kept, _)| kept == key)?;
        let found = self.entries.remove(at)?;
        let answer = Arc::clone(&found.1);
        self.entries.push_back(found);
        Some(answer)
    }

    pub(super) fn insert(&mut self, key: DocumentKey, answer: Arc<CachedDocument>) {
        if MOST_DOCUMENT_BYTES < answer.bytes() {
            self.large.retain(|(kept, large)| *kept != key && 0 < large.strong_count());
            self.large.push((key, Arc::downgrade(&answer)));
            return;
        }
        self.entries.retain(|(kept, _)| *kept != key);
        let versions = self.entries.iter().filter(|(kept, _)| kept.request == key.request).count();
        if MAX_VERSIONS <= versions {
            let oldest = self.entries.iter().position(|(kept, _)| kept.request == key.request);
            oldest.and_then(|oldest| self.entries.remove(oldest));
        }
        self.entries.push_back((key, answer));
        // Summed up each time, because an entry grows after it was inserted, by its encoded form.
        while MOST_DOCUMENT_BYTES < self.entries.iter().map(|(_, answer)| answer.bytes()).sum() {
            self.entries.pop_front();
        }
    }
}

impl CachedDocument {
    /// Returns how much memory it takes, more or less.
    pub(in crate::engine) fn bytes(&self) -> usize {
        let encoded = self.encoded.get().map_or(0, Bytes::len);
        self.text.bytes_in_memory() + encoded + self.receipt.files.len() * BYTES_A_FILE
    }
}

/// The maximum size of the views that are kept.
const MOST_BYTES: usize = 32 << 20;
/// How many bytes a view takes besides its text.
const OVERHEAD: usize = 200;

/// All that decides what a view shows: the content, the type that it is read as, and how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ViewKey {
    pub(super) content: ContentHash,
    pub(super) file_type: &'static str,
    pub(super) view: ViewMode,
    pub(super) detail: Option<SummaryDetail>,
    pub(super) docs: Option<DocsDetail>,
    /// A hash of the summary, if a model wrote it; of names, that of the scores that order them.
    pub(super) words: Option<ContentHash>,
}

#[derive(Debug)]
pub(super) struct CachedView {
    pub(super) remark: Option<String>,
    pub(super) body: Arc<str>,
    /// A hash of view and text, by which a reader's is compared with it.
    pub(super) fingerprint: ContentHash,
}

/// The views that were shown last.
#[derive(Default)]
pub(in crate::engine) struct ViewCache {
    kept: FxHashMap<ViewKey, (Arc<CachedView>, u64)>,
    bytes: usize,
    uses: u64,
}

impl ViewKey {
    /// Returns the key of a view; `None` if more than the content decides what it shows.
    pub(super) fn of(
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
    pub(super) fn get(&mut self, key: &ViewKey) -> Option<Arc<CachedView>> {
        let (view, used) = self.kept.get_mut(key)?;
        self.uses += 1;
        *used = self.uses;
        Some(Arc::clone(view))
    }

    pub(super) fn contains(&self, key: &ViewKey) -> bool {
        self.kept.contains_key(key)
    }

    pub(super) fn insert(&mut self, key: ViewKey, view: Arc<CachedView>) {
        self.uses += 1;
        self.bytes += view.body.len() + OVERHEAD;
        if let Some((old, _)) = self.kept.insert(key, (view, self.uses)) {
            self.bytes -= old.body.len() + OVERHEAD;
        }
        if MOST_BYTES < self.bytes {
            self.evict();
        }
    }

    /// Forgets a quarter of the views, those that were not used for longest.
    fn evict(&mut self) {
        // A quarter at once, so that not every insertion into a full cache has to sort.
        let mut uses: Vec<u64> = self.kept.values().map(|(_, used)| *used).collect();
        uses.sort_unstable();
        let oldest = uses[uses.len() / 4];
        self.kept.retain(|_, (_, used)| oldest < *used);
        self.bytes = self.kept.values().map(|(view, _)| view.body.len() + OVERHEAD).sum();
    }
}

/// Returns a hash of what is shown of a file: its view and its text. The head is not a part of it, for it names a
/// content that changes with every edit.
pub(super) fn view_fingerprint(view: ViewMode, body: &str) -> ContentHash {
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
            assert!(views.get(&key(0)).is_some(), "{number}: it is used all the time");
            assert!(views.bytes <= MOST_BYTES);
        }
        assert!(views.get(&key(1)).is_none() && views.get(&key(99)).is_some());
    }
}
