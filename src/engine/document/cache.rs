//! Documents that were given before and would be given again, byte by byte.
//!
//! A document is kept under what was asked for, with a hash of all that it was made of: which files there are, their
//! contents, and where the order of files needs it, all that git knows its history by. Each answer finds that hash out
//! anew, from the stamps; only the rendering is saved.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::OnceLock;

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::delivery::PendingDelivery;
use super::gather::{AggregationRequest, is_shown_as_diff, may_need_text};
use crate::aggregate::DocumentSections;
use crate::aggregate::Focus;
use crate::engine::error::Error;
use crate::engine::index::{KnownState, Trust};
use crate::engine::project::Project;
use crate::engine::queries::FileSelection;
use crate::model::ContentHash;
use crate::model::Document;
use crate::model::FileOrder;
use crate::model::Receipt;
use crate::model::RelPath;
use crate::model::ViewMode;

/// So many bytes of documents are kept.
const MOST_BYTES: usize = 48 << 20;
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

/// The files that a document is about, as they are now.
pub struct DocumentInputs {
    pub(in crate::engine) selection: FileSelection,
    /// What stands beside them.
    pub(in crate::engine) sections: DocumentSections,
    /// A hash of all that the document is made of; `None` where it depends on more than can be told.
    fingerprint: Option<ContentHash>,
    /// What each file's text is.
    contents: FxHashMap<RelPath, ContentHash>,
    notes: usize,
}

/// The documents that were given last.
#[derive(Default)]
pub(in crate::engine) struct DocumentCache {
    /// The oldest first.
    entries: VecDeque<(ContentHash, Arc<CachedDocument>)>,
    /// Which document was given last under a name, with the store's mark of that.
    last_delivered: HashMap<String, (ContentHash, Vec<u8>)>,
    /// How often one was given again.
    pub(in crate::engine) reused: u64,
}

impl DocumentCache {
    /// Notes what was given last under a name.
    pub(in crate::engine) fn record_delivered(
        &mut self,
        name: String,
        answer: Option<(ContentHash, Vec<u8>)>,
    ) {
        match answer {
            Some(answer) => self.last_delivered.insert(name, answer),
            None => self.last_delivered.remove(&name),
        };
    }

    fn get(&mut self, key: &ContentHash) -> Option<Arc<CachedDocument>> {
        let at = self.entries.iter().position(|(kept, _)| kept == key)?;
        let found = self.entries.remove(at)?;
        let answer = Arc::clone(&found.1);
        self.entries.push_back(found);
        Some(answer)
    }

    fn insert(&mut self, key: ContentHash, answer: Arc<CachedDocument>) {
        self.entries.retain(|(kept, _)| *kept != key);
        self.entries.push_back((key, answer));
        while MOST_BYTES < self.entries.iter().map(|(_, answer)| answer.bytes()).sum() {
            self.entries.pop_front();
        }
    }
}

impl CachedDocument {
    /// Returns how much memory it takes, more or less.
    fn bytes(&self) -> usize {
        let encoded = self.encoded.get().map_or(0, Bytes::len);
        self.text.len() + encoded + self.receipt.files.len() * BYTES_A_FILE
    }
}

impl Project<'_> {
    /// Finds the files that a document is about, and what each is now.
    pub fn select_for(&mut self, request: &AggregationRequest) -> Result<DocumentInputs, Error> {
        // First, for it may be refused, and costs nothing.
        let sections = self.sections(&request.sections)?;
        let (focus, items) = (Focus::new(&request.focus)?, self.merged_items(request));
        let routing = self.routing(request, &focus, &items);
        let notes = self.notes.len();
        let selection = if request.sections.part.has_prefix() {
            self.select_requested(request, &|path| may_need_text(path, &routing))?
        } else {
            FileSelection::empty()
        };
        let is_whole = request.files.is_empty() && request.preset.is_none();
        let whole = is_whole.then_some(request.items.as_slice());
        self.choose_summaries(request.tier.as_ref(), &selection.files, whole);
        let has_diffs = selection.files.iter().any(|file| is_shown_as_diff(file, &routing));
        let is_alone = self.depends_on_files_alone(request) && !has_diffs && self.notes.len() == notes;
        let standing = if is_alone { self.input_fingerprint(request, &selection, &sections) } else { None };
        let mut contents = FxHashMap::default();
        if standing.is_some() {
            contents.extend(selection.files.iter().filter_map(|file| match &file.state {
                KnownState::Content { hash, .. } => Some((file.path.clone(), *hash)),
                KnownState::LeftOut(_) => None,
            }));
        }
        Ok(DocumentInputs { selection, sections, fingerprint: standing, contents, notes })
    }

    /// Returns the document as it was given before, if a new one would be the same. It is noted for
    /// [`Project::delivered`] as any other.
    pub fn cached_document(
        &mut self,
        asked: ContentHash,
        request: &AggregationRequest,
        selected: &DocumentInputs,
    ) -> Option<Arc<CachedDocument>> {
        let tree = self.shared.clone()?;
        let key = cache_key(asked, selected.fingerprint?);
        let found = tree.documents().get(&key)?;
        self.pending_delivery = None;
        if let Some(memory) = &request.history {
            // What another document gave under the name since then is not what this one's reader has.
            let mark = self.query_store(|store| store.delivery_version(&memory.name)).flatten()?;
            let is_last = tree.documents().last_delivered.get(&memory.name) == Some(&(key, mark));
            self.pending_delivery = is_last.then(|| PendingDelivery::unchanged(memory.name.clone(), key));
            self.pending_delivery.as_ref()?;
        }
        tree.documents().reused += 1;
        Some(found)
    }

    /// Keeps a document for the next time that it is asked for, if nothing came between.
    pub fn cache_document(
        &mut self,
        asked: ContentHash,
        selected: &InputsDigest,
        document: &Document,
        answer: &Arc<CachedDocument>,
    ) {
        let (Some(tree), Some(standing)) = (&self.shared, selected.fingerprint) else { return };
        let is_as_selected = document.blocks.iter().all(|block| {
            let known = selected.contents.get(&block.path);
            known == block.content.as_ref() || block.view == ViewMode::None
        });
        // A note is told each time, and that of a file that could not be shown belongs to its answer alone.
        if is_as_selected && self.notes.len() == selected.notes && answer.bytes() <= MOST_BYTES {
            let key = cache_key(asked, standing);
            tree.documents().insert(key, Arc::clone(answer));
            if let Some(promise) = &mut self.pending_delivery {
                promise.answer = Some(key);
            }
        }
    }

    /// Says whether nothing but the project's files, its history and the discussion decides what a document is like.
    fn depends_on_files_alone(&self, request: &AggregationRequest) -> bool {
        let sections = &request.sections;
        self.shared.is_some()
            && !self.paranoid
            && request.trust == Trust::Stamps
            && request.base.is_none()
            && request.history.as_ref().is_none_or(|memory| !memory.since_last)
            && sections.screenshots.is_empty()
            && !sections.beads
    }

    fn input_fingerprint(
        &self,
        request: &AggregationRequest,
        selection: &FileSelection,
        sections: &DocumentSections,
    ) -> Option<ContentHash> {
        let mut text = format!("{:?} {:?} {sections:?}\n", self.options, selection.missing).into_bytes();
        if request.order == FileOrder::Stable || request.limits.is_some() {
            // What is not committed of the other files is no part of the answer, but their attributes may be.
            let is_whole = request.files.is_empty() && request.preset.is_none();
            text.extend_from_slice(selection.rules.filter(|_| is_whole)?.as_bytes());
        }
        text.extend_from_slice(self.summaries.fingerprint(&selection.files).as_bytes());
        for file in &selection.files {
            text.extend_from_slice(file.path.as_bytes());
            text.push(0);
            text.push(u8::from(file.tracked));
            match &file.state {
                KnownState::Content { hash, file_type, .. } => {
                    text.extend_from_slice(hash.as_bytes());
                    text.extend_from_slice(file_type.id.as_bytes());
                }
                KnownState::LeftOut(reason) => text.extend_from_slice(reason.name().as_bytes()),
            }
            text.push(0);
        }
        Some(ContentHash::digest(&text))
    }
}

/// What is kept of a selection while the document is composed.
pub struct InputsDigest {
    fingerprint: Option<ContentHash>,
    contents: FxHashMap<RelPath, ContentHash>,
    notes: usize,
}

impl DocumentInputs {
    /// Takes apart what the document is composed of, and what is compared with it afterwards.
    pub(in crate::engine) fn split(self) -> (FileSelection, DocumentSections, InputsDigest) {
        let Self { selection, sections, fingerprint: standing, contents, notes } = self;
        (selection, sections, InputsDigest { fingerprint: standing, contents, notes })
    }
}

fn cache_key(asked: ContentHash, standing: ContentHash) -> ContentHash {
    ContentHash::digest(&[*asked.as_bytes(), *standing.as_bytes()].concat())
}
