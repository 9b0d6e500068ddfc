//! Documents that a client has opened for viewing: their texts are read in parts, and two of them can be compared.
//!
//! The newest ones are held with their texts, which are shared with the cached documents; of older ones only the layout
//! is kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::cache::CachedDocument;
use crate::model::{ContentHash, DocumentLayout, LineIndex, PrefixCaching, lock};

/// The maximum number of documents whose texts are in memory.
const MAX_TEXTS: usize = 2;
/// The maximum size of the texts that are in memory.
const MAX_TEXT_BYTES: usize = 64 << 20;
/// How long a text is held after it was opened.
const TEXT_SECONDS: i64 = 600;
/// The maximum number of documents whose layouts are kept.
const MAX_DOCUMENTS: usize = 20;

/// A document that a client has opened.
#[derive(Debug, Clone)]
pub struct OpenedDocument {
    /// Identifies the document in later questions.
    pub id: String,
    /// When it was opened, in milliseconds since the epoch.
    pub at_ms: i64,
    pub layout: Arc<DocumentLayout>,
    pub caching: PrefixCaching,
    /// Its text; `None` once it is no longer held.
    pub text: Option<Arc<OpenedText>>,
}

/// The text of an opened document.
#[derive(Debug)]
pub struct OpenedText {
    pub document: Arc<CachedDocument>,
    pub sha256: ContentHash,
    /// Under other settings, symbols of it may be hidden.
    settings: String,
    index: LineIndex,
}

impl OpenedText {
    /// Returns `count` lines of the text, beginning with line `first`, which is counted from 1; `None` if the settings
    /// are not those that it was opened with.
    pub fn lines(&self, settings: &str, first: u64, count: u64) -> Option<String> {
        (self.settings == settings).then(|| self.document.text.lines(&self.index, first, count))
    }
}

/// The documents that were opened last, the newest at the end.
#[derive(Default)]
pub(in crate::engine) struct OpenedDocuments(Mutex<VecDeque<OpenedDocument>>);

impl OpenedDocuments {
    /// Opens a document at a time in milliseconds. The same document with the same prefix caching gets the same id.
    pub(in crate::engine) fn open(
        &self,
        document: Arc<CachedDocument>,
        caching: PrefixCaching,
        settings: String,
        at_ms: i64,
    ) -> OpenedDocument {
        let layout = Arc::clone(&document.layout);
        let caching_text = format!("{:?} {}", caching.marks, caching.min_tokens);
        let id = ContentHash::digest(format!("{} {caching_text} {settings}", layout.digest()).as_bytes());
        let id = id.short_hex();
        // An equal text is not read again. Done before the lock is taken, so that other clients do not wait for it.
        let known = self.get(&id, at_ms).and_then(|known| known.text);
        let (sha256, index) = known.map_or_else(
            || (ContentHash::digest_pieces(document.text.pieces()), document.text.line_index()),
            |known| (known.sha256, known.index.clone()),
        );
        // With the current document: the cache may hold that one, and holds none that is too large.
        let text = Arc::new(OpenedText { document, sha256, settings, index });
        let opened = OpenedDocument { id, at_ms, layout, caching, text: Some(text) };
        let mut documents = lock(&self.0);
        documents.retain(|known| known.id != opened.id);
        documents.push_back(opened.clone());
        while MAX_DOCUMENTS < documents.len() {
            documents.pop_front();
        }
        release_texts(&mut documents, at_ms);
        opened
    }

    /// Returns a document that was opened.
    pub(in crate::engine) fn get(&self, id: &str, at_ms: i64) -> Option<OpenedDocument> {
        let mut documents = lock(&self.0);
        release_texts(&mut documents, at_ms);
        documents.iter().find(|known| known.id == id).cloned()
    }

    /// Releases the texts that were opened too long ago.
    pub(in crate::engine) fn release_texts(&self, at_ms: i64) {
        release_texts(&mut lock(&self.0), at_ms);
    }
}

/// Releases the texts of all but the newest documents.
fn release_texts(documents: &mut VecDeque<OpenedDocument>, at_ms: i64) {
    let mut bytes = 0;
    for (age, opened) in documents.iter_mut().rev().enumerate() {
        bytes += opened.text.as_ref().map_or(0, |text| text.document.text.bytes_in_memory());
        let is_recent = (0..TEXT_SECONDS * 1000).contains(&(at_ms - opened.at_ms));
        if MAX_TEXTS <= age || MAX_TEXT_BYTES < bytes || !is_recent {
            opened.text = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;
    use crate::model::{DocumentPiece, PieceSubject, Receipt};

    const CACHING: PrefixCaching = PrefixCaching { marks: None, min_tokens: 0 };

    fn document(text: &str) -> Arc<CachedDocument> {
        let piece = DocumentPiece {
            subject: PieceSubject::Section("Files".into()),
            bytes: text.len() as u64,
            lines: 1,
            tokens: 1,
            hash: ContentHash::digest(text.as_bytes()),
        };
        Arc::new(CachedDocument {
            receipt: Receipt::default(),
            text: text.to_owned().into(),
            boundary: text.len(),
            layout: Arc::new(DocumentLayout { pieces: vec![piece], stable: None, prefix: 1 }),
            encoded: OnceLock::new(),
        })
    }

    fn open(documents: &OpenedDocuments, text: &str, at_ms: i64) -> String {
        documents.open(document(text), CACHING, "s".to_owned(), at_ms).id
    }

    /// Returns the first line of a document; `None` if its text is not held.
    fn line(documents: &OpenedDocuments, id: &str, settings: &str, at_ms: i64) -> Option<String> {
        documents.get(id, at_ms).unwrap().text?.lines(settings, 1, 1)
    }

    #[test]
    fn the_texts_of_the_two_newest_documents_are_held_for_ten_minutes() {
        let documents = OpenedDocuments::default();
        let ids = ["a\n", "b\n", "c\n"].map(|text| open(&documents, text, 1_000));
        assert_eq!(line(&documents, &ids[0], "s", 1_000), None);
        assert_eq!(line(&documents, &ids[1], "s", 1_000).as_deref(), Some("b\n"));
        assert_eq!(open(&documents, "b\n", 500_000), ids[1]);
        assert_eq!(line(&documents, &ids[2], "s", 600_999).as_deref(), Some("c\n"));
        assert_eq!(line(&documents, &ids[2], "s", 601_000), None);
        assert_eq!(line(&documents, &ids[1], "s", 601_000).as_deref(), Some("b\n"));
        assert!(documents.get("unknown", 1_000).is_none());
    }

    #[test]
    fn a_text_is_not_returned_under_settings_that_may_hide_some_of_it() {
        let documents = OpenedDocuments::default();
        let id = open(&documents, "a\n", 0);
        assert_eq!(line(&documents, &id, "with a mask", 0), None);
        assert!(line(&documents, &id, "s", 0).is_some());
    }
}
