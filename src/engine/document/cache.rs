//! Documents and views that were rendered before, and would be rendered the same again.
//!
//! A document is kept under what was asked for, with a hash of all that it was made of: which files there are, their
//! contents, and where the order of files needs it, all that git knows its history by. Each answer finds that hash out
//! again, from the stamps; only the rendering is saved.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::opened::OpenedDocuments;
use super::rendering::ViewCache;
use super::request::DocumentCacheKey;
use crate::engine::artifacts::ContentKey;
use crate::engine::history::{CommitCache, PastCommitCache};
use crate::engine::options::Options;
use crate::engine::ranking::FrozenRankings;
use crate::model::{
    ContentHash, DiscussionEntry, DocumentLayout, DocumentPart, DocumentText, MissingFile, ParseHealth,
    Receipt, SectionProblem, SymbolKind, lock,
};

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
