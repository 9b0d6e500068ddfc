//! Documents that are kept, and given again while nothing that they were made of has changed.
//!
//! A document is kept under its request and a hash of its inputs: the list of files, their contents, and, where the
//! order of files needs it, the state of git's history. Each answer recomputes that hash from the stamps; only the
//! rendering is saved.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::opened::OpenedDocuments;
use super::rendering::RenderCaches;
use super::request::DocumentCacheKey;
use crate::engine::artifacts::ContentKey;
use crate::engine::history::{CommitCache, PastCommitCache};
use crate::engine::last_value::LastValue;
use crate::engine::options::Options;
use crate::engine::ranking::{FrozenRankings, SourceCache};
use crate::model::{
    ContentHash, DiscussionEntry, DocumentLayout, DocumentPart, DocumentText, MissingFile, ParseHealth,
    Receipt, RelPath, SectionProblem, SymbolKind, lock,
};
use crate::store::DeliveredFile;

/// The maximum size of the documents that are kept.
const MAX_DOCUMENT_BYTES: usize = 48 << 20;
/// The maximum number of names whose last documents are known.
const MAX_NAMES: usize = 256;
/// The number of versions of one document that are kept: the last one and the one before, for an edit that is undone.
const MAX_VERSIONS: usize = 2;
/// The approximate size of a file's entry in a receipt and in a layout, in bytes.
const BYTES_PER_FILE: usize = 450;

/// A composed document.
#[derive(Debug)]
pub struct CachedDocument {
    /// How each file was shown, and why.
    pub receipt: Receipt,
    /// The document as it was written.
    pub text: DocumentText,
    /// The offset in the text of the part that is new with every question; the length of the text if there is none.
    pub boundary: usize,
    /// The pieces of the text; for a request body, those of the Markdown in it that the model reads.
    pub layout: Arc<DocumentLayout>,
    /// The encoded answer, once it was sent: encoding takes longer than checking that the document is still valid.
    pub encoded: OnceLock<Bytes>,
}

/// The key of a cached document: the request and all inputs.
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

/// The symbol counts of contents that were shown before, in a long-running process: decoding an outline for them takes
/// longer than checking that the document is still valid.
pub(super) type SymbolCounts = FxHashMap<ContentKey, Arc<FileSymbols>>;

/// The symbols of one content, as a receipt reports them.
#[derive(Debug)]
pub(super) struct FileSymbols {
    pub(super) kinds: BTreeMap<SymbolKind, u64>,
    pub(super) health: ParseHealth,
}

/// What was delivered of each file under a name.
pub(super) type DeliveredRows = HashMap<RelPath, DeliveredFile>;

/// The caches that the documents of a process share.
#[derive(Default)]
pub(in crate::engine) struct DocumentCaches {
    pub(in crate::engine) documents: Mutex<DocumentCache>,
    pub(super) rendered: RenderCaches,
    pub(super) symbols: Mutex<SymbolCounts>,
    pub(in crate::engine) commits: CommitCache,
    pub(in crate::engine) past_commits: PastCommitCache,
    pub(super) rankings: FrozenRankings,
    pub(in crate::engine) sources: SourceCache,
    pub(in crate::engine) opened: OpenedDocuments,
    /// What was delivered under the last name, by the name and the store's version of the delivery.
    pub(super) delivered: LastValue<(String, Vec<u8>), DeliveredRows>,
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
    /// Documents that are too large to be kept. Each is available as long as somebody else holds it, like a client that
    /// reads parts of it.
    large: Vec<(DocumentKey, Weak<CachedDocument>)>,
    /// The document that was last delivered under each name, with the store's version of that delivery.
    pub(super) last_delivered: HashMap<String, (DocumentKey, Vec<u8>)>,
    pub(super) reused: u64,
}

impl DocumentCache {
    /// Records what was last delivered under a name. A name that is forgotten costs composing its document again.
    pub(super) fn record_delivered(&mut self, name: String, answer: Option<(DocumentKey, Vec<u8>)>) {
        if MAX_NAMES <= self.last_delivered.len() && !self.last_delivered.contains_key(&name) {
            self.last_delivered.clear();
        }
        match answer {
            Some(answer) => self.last_delivered.insert(name, answer),
            None => self.last_delivered.remove(&name),
        };
    }

    pub(super) fn get(&mut self, key: &DocumentKey) -> Option<Arc<CachedDocument>> {
        if let Some((_, large)) = self.large.iter().find(|(kept, _)| kept == key) {
            return large.upgrade();
        }
        // A linear search: the limit of bytes keeps the documents few.
        let at = self.entries.iter().position(|(kept, _)| kept == key)?;
        let found = self.entries.remove(at)?;
        let answer = Arc::clone(&found.1);
        self.entries.push_back(found);
        Some(answer)
    }

    pub(super) fn insert(&mut self, key: DocumentKey, answer: Arc<CachedDocument>) {
        if MAX_DOCUMENT_BYTES < answer.bytes() {
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
        // Summed up each time, because an entry grows when its encoded form is added.
        while MAX_DOCUMENT_BYTES < self.entries.iter().map(|(_, answer)| answer.bytes()).sum() {
            self.entries.pop_front();
        }
    }
}

impl CachedDocument {
    /// Returns its approximate size in memory.
    pub(in crate::engine) fn bytes(&self) -> usize {
        let encoded = self.encoded.get().map_or(0, Bytes::len);
        self.text.bytes_in_memory() + encoded + self.receipt.files.len() * BYTES_PER_FILE
    }
}
