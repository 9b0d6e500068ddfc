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

use super::aggregation::AggregationRequest;
use super::aggregation::is_diff;
use super::aggregation::wants_text;
use super::error::Error;
use super::given::Promise;
use super::project::Project;
use super::question::Selection;
use super::scan::KnownState;
use super::scan::Trust;
use crate::aggregate::Focus;
use crate::aggregate::Sections;
use crate::model::ContentHash;
use crate::model::Document;
use crate::model::Order;
use crate::model::Receipt;
use crate::model::RelPath;
use crate::model::ViewMode;

/// So many bytes of documents are kept.
const MOST_BYTES: usize = 48 << 20;
/// What a file takes in a receipt, more or less.
const BYTES_A_FILE: usize = 300;

/// A document that was written, as its reader has it.
#[derive(Debug)]
pub struct Answer {
    /// What became of each file.
    pub receipt: Receipt,
    /// What the document was written as.
    pub text: Bytes,
    /// The answer as it was sent, once it was: to encode it takes longer than to find out that it is still right.
    pub encoded: OnceLock<Bytes>,
}

/// The files that a document is about, as they are now.
pub struct Selected {
    pub(super) selection: Selection,
    /// What stands beside them.
    pub(super) sections: Sections,
    /// A hash of all that the document is made of; `None` where it depends on more than can be told.
    standing: Option<ContentHash>,
    /// What each file's text is.
    contents: FxHashMap<RelPath, ContentHash>,
    notes: usize,
}

/// The documents that were given last.
#[derive(Default)]
pub(super) struct Answers {
    /// The oldest first.
    kept: VecDeque<(ContentHash, Arc<Answer>)>,
    /// Which document was given last under a name, with the store's mark of that.
    given: HashMap<String, (ContentHash, Vec<u8>)>,
    /// How often one was given again.
    pub(super) reused: u64,
}

impl Answers {
    /// Notes what was given last under a name.
    pub(super) fn gave(&mut self, name: String, answer: Option<(ContentHash, Vec<u8>)>) {
        match answer {
            Some(answer) => self.given.insert(name, answer),
            None => self.given.remove(&name),
        };
    }

    fn find(&mut self, key: &ContentHash) -> Option<Arc<Answer>> {
        let at = self.kept.iter().position(|(kept, _)| kept == key)?;
        let found = self.kept.remove(at)?;
        let answer = Arc::clone(&found.1);
        self.kept.push_back(found);
        Some(answer)
    }

    fn keep(&mut self, key: ContentHash, answer: Arc<Answer>) {
        self.kept.retain(|(kept, _)| *kept != key);
        self.kept.push_back((key, answer));
        while MOST_BYTES < self.kept.iter().map(|(_, answer)| answer.bytes()).sum() {
            self.kept.pop_front();
        }
    }
}

impl Answer {
    /// Returns how much memory it takes, more or less.
    fn bytes(&self) -> usize {
        let encoded = self.encoded.get().map_or(0, Bytes::len);
        self.text.len() + encoded + self.receipt.files.len() * BYTES_A_FILE
    }
}

impl Project<'_> {
    /// Finds the files that a document is about, and what each is now.
    pub fn select_for(&mut self, request: &AggregationRequest) -> Result<Selected, Error> {
        // First, for it may be refused, and costs nothing.
        let sections = self.sections(&request.sections)?;
        let (focus, items) = (Focus::new(&request.focus)?, self.items(request));
        let routing = self.routing(request, &focus, &items);
        let notes = self.notes.len();
        let selection = if request.sections.part.has_prefix() {
            self.files_wanted(request, &|path| wants_text(path, &routing))?
        } else {
            Selection::nothing()
        };
        let is_whole = request.files.is_empty() && request.preset.is_none();
        let whole = is_whole.then_some(request.items.as_slice());
        self.take_up_words(request.tier.as_ref(), &selection.files, whole);
        let has_diffs = selection.files.iter().any(|file| is_diff(file, &routing));
        let is_alone = self.depends_on_files_alone(request) && !has_diffs && self.notes.len() == notes;
        let standing = if is_alone { self.standing_of(request, &selection, &sections) } else { None };
        let mut contents = FxHashMap::default();
        if standing.is_some() {
            contents.extend(selection.files.iter().filter_map(|file| match &file.state {
                KnownState::Content { hash, .. } => Some((file.path.clone(), *hash)),
                KnownState::LeftOut(_) => None,
            }));
        }
        Ok(Selected { selection, sections, standing, contents, notes })
    }

    /// Returns the document as it was given before, if a new one would be the same. It is noted for
    /// [`Project::delivered`] as any other.
    pub fn recall_answer(
        &mut self,
        asked: ContentHash,
        request: &AggregationRequest,
        selected: &Selected,
    ) -> Option<Arc<Answer>> {
        let tree = self.tree.clone()?;
        let key = key(asked, selected.standing?);
        let found = tree.answers().find(&key)?;
        self.promise = None;
        if let Some(memory) = &request.memory {
            // What another document gave under the name since then is not what this one's reader has.
            let mark = self.stored(|store| store.given_mark(&memory.name)).flatten()?;
            let is_last = tree.answers().given.get(&memory.name) == Some(&(key, mark));
            self.promise = is_last.then(|| Promise::of_the_same(memory.name.clone(), key));
            self.promise.as_ref()?;
        }
        tree.answers().reused += 1;
        Some(found)
    }

    /// Keeps a document for the next time that it is asked for, if nothing came between.
    pub fn keep_answer(
        &mut self,
        asked: ContentHash,
        selected: &Kept,
        document: &Document,
        answer: &Arc<Answer>,
    ) {
        let (Some(tree), Some(standing)) = (&self.tree, selected.standing) else { return };
        let is_as_selected = document.blocks.iter().all(|block| {
            let known = selected.contents.get(&block.path);
            known == block.content.as_ref() || block.view == ViewMode::None
        });
        // A note is told each time, and that of a file that could not be shown belongs to its answer alone.
        if is_as_selected && self.notes.len() == selected.notes && answer.bytes() <= MOST_BYTES {
            let key = key(asked, standing);
            tree.answers().keep(key, Arc::clone(answer));
            if let Some(promise) = &mut self.promise {
                promise.answer = Some(key);
            }
        }
    }

    /// Says whether nothing but the project's files, its history and the discussion decides what a document is like.
    fn depends_on_files_alone(&self, request: &AggregationRequest) -> bool {
        let sections = &request.sections;
        self.tree.is_some()
            && !self.paranoid
            && request.trust == Trust::Stamps
            && request.against.is_none()
            && request.memory.as_ref().is_none_or(|memory| !memory.since_last)
            && sections.screenshots.is_empty()
            && !sections.beads
    }

    fn standing_of(
        &self,
        request: &AggregationRequest,
        selection: &Selection,
        sections: &Sections,
    ) -> Option<ContentHash> {
        let mut text = format!("{:?} {:?} {sections:?}\n", self.options, selection.missing).into_bytes();
        if request.order == Order::Stable || request.limits.is_some() {
            // What is not committed of the other files is no part of the answer, but their attributes may be.
            let is_whole = request.files.is_empty() && request.preset.is_none();
            text.extend_from_slice(selection.rules.filter(|_| is_whole)?.as_bytes());
        }
        text.extend_from_slice(self.words.fingerprint(&selection.files).as_bytes());
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
        Some(ContentHash::of(&text))
    }
}

/// What is kept of a selection while the document is composed.
pub struct Kept {
    standing: Option<ContentHash>,
    contents: FxHashMap<RelPath, ContentHash>,
    notes: usize,
}

impl Selected {
    /// Takes apart what the document is composed of, and what is compared with it afterwards.
    pub(super) fn split(self) -> (Selection, Sections, Kept) {
        let Self { selection, sections, standing, contents, notes } = self;
        (selection, sections, Kept { standing, contents, notes })
    }
}

fn key(asked: ContentHash, standing: ContentHash) -> ContentHash {
    ContentHash::of(&[*asked.as_bytes(), *standing.as_bytes()].concat())
}
