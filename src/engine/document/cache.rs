//! Documents that were given before and would be given again, byte by byte.
//!
//! A document is kept under what was asked for, with a hash of all that it was made of: which files there are, their
//! contents, and where the order of files needs it, all that git knows its history by. Each answer finds that hash out
//! anew, from the stamps; only the rendering is saved.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::OnceLock;
use std::sync::PoisonError;

use bytes::Bytes;

use crate::model::ContentHash;
use crate::model::DiscussionEntry;
use crate::model::DocumentPart;
use crate::model::MissingFile;
use crate::model::Receipt;
use crate::model::SectionProblem;

use super::view_cache::ViewCache;
use crate::engine::history::CommitCache;
use crate::engine::options::Options;

/// So many bytes of documents are kept.
pub(in crate::engine) const MOST_DOCUMENT_BYTES: usize = 48 << 20;
/// What a file takes in a receipt, more or less.
const BYTES_A_FILE: usize = 300;

/// A document that was written, as its reader has it.
#[derive(Debug)]
pub struct CachedDocument {
    /// What became of each file.
    pub receipt: Receipt,
    /// What the document was written as.
    pub text: Bytes,
    /// The answer as it was sent, once it was: to encode it takes longer than to find out that it is still right.
    pub encoded: OnceLock<Bytes>,
}

/// What decides what a document is: the request, and everything that it was composed of.
///
/// The parts are compared, not hashed, except for the files, which may be many.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct DocumentKey {
    pub(in crate::engine) request: ContentHash,
    pub(in crate::engine) inputs: Arc<InputsKey>,
}

/// What a document is composed of.
#[derive(Debug, PartialEq)]
pub(in crate::engine) struct InputsKey {
    pub(in crate::engine) options: Options,
    pub(in crate::engine) part: DocumentPart,
    pub(in crate::engine) discussion: Vec<DiscussionEntry>,
    pub(in crate::engine) problems: Vec<SectionProblem>,
    pub(in crate::engine) missing: Vec<MissingFile>,
    /// A hash of the files, their contents and summaries, and of git's history if the order depends on it.
    pub(in crate::engine) files: ContentHash,
}

/// What the documents of a process share.
#[derive(Default)]
pub(in crate::engine) struct DocumentCaches {
    pub(in crate::engine) documents: Mutex<DocumentCache>,
    pub(in crate::engine) views: Mutex<ViewCache>,
    pub(in crate::engine) commits: CommitCache,
}

impl DocumentCaches {
    /// Returns how many documents were answered from the cache.
    pub(in crate::engine) fn reused(&self) -> u64 {
        lock_documents(&self.documents).reused
    }
}

/// Locks the documents. A thread that panicked has left them whole: every change is made under one lock.
pub(in crate::engine) fn lock_documents(documents: &Mutex<DocumentCache>) -> MutexGuard<'_, DocumentCache> {
    documents.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The documents that were given last.
#[derive(Default)]
pub(in crate::engine) struct DocumentCache {
    /// The oldest first.
    entries: VecDeque<(DocumentKey, Arc<CachedDocument>)>,
    /// Which document was given last under a name, with the store's mark of that.
    pub(in crate::engine) last_delivered: HashMap<String, (DocumentKey, Vec<u8>)>,
    /// How often one was given again.
    pub(in crate::engine) reused: u64,
}

impl DocumentCache {
    /// Notes what was given last under a name.
    pub(in crate::engine) fn record_delivered(
        &mut self,
        name: String,
        answer: Option<(DocumentKey, Vec<u8>)>,
    ) {
        match answer {
            Some(answer) => self.last_delivered.insert(name, answer),
            None => self.last_delivered.remove(&name),
        };
    }

    pub(in crate::engine) fn get(&mut self, key: &DocumentKey) -> Option<Arc<CachedDocument>> {
        let at = self.entries.iter().position(|(kept, _)| kept == key)?;
        let found = self.entries.remove(at)?;
        let answer = Arc::clone(&found.1);
        self.entries.push_back(found);
        Some(answer)
    }

    pub(in crate::engine) fn insert(&mut self, key: DocumentKey, answer: Arc<CachedDocument>) {
        self.entries.retain(|(kept, _)| *kept != key);
        self.entries.push_back((key, answer));
        while MOST_DOCUMENT_BYTES < self.entries.iter().map(|(_, answer)| answer.bytes()).sum() {
            self.entries.pop_front();
        }
    }
}

impl CachedDocument {
    /// Returns how much memory it takes, more or less.
    pub(in crate::engine) fn bytes(&self) -> usize {
        let encoded = self.encoded.get().map_or(0, Bytes::len);
        self.text.len() + encoded + self.receipt.files.len() * BYTES_A_FILE
    }
}
