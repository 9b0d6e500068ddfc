//! Texts of documents, which are compressed in memory if the document is large.
//!
//! A document of the whole Linux kernel has 300 MB of text, but the process that writes it needs only one block at a
//! time.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use memchr::memchr_iter;

use super::compression::{compress, decompress};

/// A text that may be compressed in memory. Equality compares texts, not their representation.
#[derive(Clone)]
pub struct CompactText(PieceForm);

#[derive(Clone)]
enum PieceForm {
    Plain(String),
    /// A text that is shared with other owners.
    Shared(Arc<str>),
    /// A frame, and the length of the text.
    Compressed(Vec<u8>, usize),
}

impl CompactText {
    /// Returns the text, decompressed if necessary.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            PieceForm::Plain(text) => Cow::Borrowed(text),
            PieceForm::Shared(text) => Cow::Borrowed(text),
            PieceForm::Compressed(frame, bytes) => {
                let text = decompress(frame, *bytes).and_then(|text| String::from_utf8(text).ok());
                Cow::Owned(text.expect("what this process compressed can be decompressed"))
            }
        }
    }

    /// Returns the length of the text in bytes.
    pub fn len(&self) -> usize {
        match &self.0 {
            PieceForm::Plain(text) => text.len(),
            PieceForm::Shared(text) => text.len(),
            PieceForm::Compressed(_, bytes) => *bytes,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether it is this text itself, and not merely an equal one.
    pub fn is_shared_with(&self, other: &Arc<str>) -> bool {
        matches!(&self.0, PieceForm::Shared(text) if Arc::ptr_eq(text, other))
    }

    /// Compresses the text, if that makes it smaller.
    pub fn compress(&mut self) {
        let text = match &self.0 {
            PieceForm::Plain(text) => text,
            PieceForm::Shared(text) => &**text,
            PieceForm::Compressed(..) => return,
        };
        if let Some(frame) = compress(text.as_bytes()) {
            self.0 = PieceForm::Compressed(frame, text.len());
        }
    }
}

impl From<String> for CompactText {
    fn from(text: String) -> Self {
        Self(PieceForm::Plain(text))
    }
}

impl From<Arc<str>> for CompactText {
    fn from(text: Arc<str>) -> Self {
        Self(PieceForm::Shared(text))
    }
}

impl PartialEq for CompactText {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.text() == other.text()
    }
}

impl Eq for CompactText {}

impl std::fmt::Debug for CompactText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.text().fmt(f)
    }
}

/// Up to this many bytes of a document's text are kept uncompressed.
pub const MAX_PLAIN_BYTES: usize = 32 << 20;

/// The minimum size of a piece of a long text.
const PIECE_BYTES: usize = 1 << 20;

/// The text of a document: one string, or many compressed pieces if it is long.
#[derive(Clone)]
pub struct DocumentText {
    form: TextForm,
    bytes: usize,
}

#[derive(Clone)]
enum TextForm {
    Whole(Bytes),
    Pieces(Vec<CompactText>),
}

impl DocumentText {
    /// Returns the length of the text in bytes.
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Returns whether there is no text.
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns the memory that the text takes, in bytes.
    pub fn bytes_in_memory(&self) -> usize {
        match &self.form {
            TextForm::Whole(text) => text.len(),
            TextForm::Pieces(pieces) => pieces.iter().map(CompactText::bytes_in_memory).sum(),
        }
    }

    /// Returns the text in pieces; only one at a time is decompressed in memory.
    pub fn pieces(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let (whole, pieces) = match &self.form {
            TextForm::Whole(text) => (Some(Cow::Borrowed(as_text(text))), &[][..]),
            TextForm::Pieces(pieces) => (None, pieces.as_slice()),
        };
        whole.into_iter().chain(pieces.iter().map(CompactText::text))
    }

    /// Returns all of the text.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.form {
            TextForm::Whole(text) => Cow::Borrowed(as_text(text)),
            TextForm::Pieces(_) => Cow::Owned(self.pieces().collect()),
        }
    }

    /// Returns the bytes from `start` to `end`, which have to be character boundaries. In a long text, only the pieces
    /// that overlap the range are decompressed.
    pub fn slice(&self, start: usize, end: usize) -> Cow<'_, str> {
        let pieces = match &self.form {
            // Slices bytes, because a slice of the whole text would first be checked to be UTF-8.
            TextForm::Whole(text) => return Cow::Borrowed(as_text(&text[start..end])),
            TextForm::Pieces(pieces) => pieces,
        };
        let (mut found, mut at) = (String::with_capacity(end - start), 0);
        for piece in pieces {
            let (first, next) = (at, at + piece.len());
            at = next;
            if next <= start {
                continue;
            }
            if end <= first {
                break;
            }
            found.push_str(&piece.text()[start.saturating_sub(first)..end.min(next) - first]);
        }
        Cow::Owned(found)
    }

    /// Returns where the lines of the text begin.
    pub fn line_index(&self) -> LineIndex {
        let mut index = LineIndex { starts: vec![0], lines: 0, bytes: self.bytes };
        let mut at = 0;
        for piece in self.pieces() {
            for newline in memchr_iter(b'\n', piece.as_bytes()) {
                index.lines += 1;
                if index.lines.is_multiple_of(INDEXED_LINES) {
                    index.starts.push(at + newline + 1);
                }
            }
            at += piece.len();
        }
        index
    }

    /// Returns `count` lines from the line `first`, counted from 1, with their newlines; fewer where the text ends.
    pub fn lines(&self, index: &LineIndex, first: u64, count: u64) -> String {
        let first = first.saturating_sub(1);
        let (start, before) = index.start_near(first);
        let (end, _) = index.start_near(first.saturating_add(count).saturating_add(INDEXED_LINES - 1));
        let text = self.slice(start, end);
        let skipped = usize::try_from(first - before).unwrap_or(usize::MAX);
        let wanted = usize::try_from(count).unwrap_or(usize::MAX);
        text.split_inclusive('\n').skip(skipped).take(wanted).collect()
    }

    /// Returns all of the text as bytes, which are shared with this one if it is in one piece.
    pub fn to_bytes(&self) -> Bytes {
        match &self.form {
            TextForm::Whole(text) => text.clone(),
            TextForm::Pieces(_) => self.text().into_owned().into(),
        }
    }
}

/// The interval between lines with known positions.
const INDEXED_LINES: u64 = 256;

/// The positions of some lines of a text, from which others are found quickly.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<usize>,
    /// The number of newlines.
    lines: u64,
    bytes: usize,
}

impl LineIndex {
    /// Returns the number of newlines of the text.
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns the last known line at or before `line`, counted from 0, and its position; the end of the text if it has
    /// fewer lines.
    fn start_near(&self, line: u64) -> (usize, u64) {
        let at = line / INDEXED_LINES;
        let start = usize::try_from(at).ok().and_then(|at| self.starts.get(at)).copied();
        (start.unwrap_or(self.bytes), at * INDEXED_LINES)
    }
}

fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the bytes were a String")
}

impl From<String> for DocumentText {
    fn from(text: String) -> Self {
        Self { bytes: text.len(), form: TextForm::Whole(text.into()) }
    }
}

impl PartialEq for DocumentText {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.text() == other.text()
    }
}

impl Eq for DocumentText {}

impl std::fmt::Debug for DocumentText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.text().fmt(f)
    }
}

/// Builds the text of a document.
pub struct DocumentTextBuilder {
    pieces: Vec<CompactText>,
    /// Text that is not in a piece yet.
    rest: String,
    bytes: usize,
    /// Longer texts are split.
    max_bytes: usize,
}

impl DocumentTextBuilder {
    /// Returns a builder for a text of about `bytes`, and reserves memory unless the text will be long.
    pub fn with_capacity(bytes: usize) -> Self {
        let max_bytes = if bytes <= MAX_PLAIN_BYTES { MAX_PLAIN_BYTES } else { PIECE_BYTES };
        let rest = String::with_capacity(bytes.min(max_bytes));
        Self { pieces: Vec::new(), rest, bytes: 0, max_bytes }
    }

    pub fn push_str(&mut self, text: &str) {
        self.rest.push_str(text);
        self.bytes += text.len();
        if self.max_bytes < self.rest.len() {
            self.end_piece();
            self.max_bytes = PIECE_BYTES;
        }
    }

    fn end_piece(&mut self) {
        let mut piece = CompactText::from(std::mem::take(&mut self.rest));
        piece.compress();
        self.pieces.push(piece);
    }

    pub fn finish(mut self) -> DocumentText {
        if self.pieces.is_empty() {
            return self.rest.into();
        }
        self.end_piece();
        DocumentText { form: TextForm::Pieces(self.pieces), bytes: self.bytes }
    }
}

impl CompactText {
    fn bytes_in_memory(&self) -> usize {
        match &self.0 {
            PieceForm::Plain(text) => text.capacity(),
            PieceForm::Shared(text) => text.len(),
            PieceForm::Compressed(frame, _) => frame.capacity(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_text_is_the_same_text() {
        let plain = CompactText::from("fn main() {}\n".repeat(100));
        let mut compressed = plain.clone();
        compressed.compress();
        assert!(compressed.bytes_in_memory() * 10 < plain.bytes_in_memory());
        assert_eq!((compressed.text(), compressed.len()), (plain.text(), plain.len()));
        assert_eq!(compressed, plain);
        assert_ne!(compressed, CompactText::from("fn main() {}\n".repeat(99)));
        let mut shared = CompactText::from(Arc::<str>::from(plain.text()));
        assert_eq!((shared.text(), &shared), (plain.text(), &compressed));
        shared.compress();
        assert_eq!((shared.bytes_in_memory(), shared.text()), (compressed.bytes_in_memory(), plain.text()));
    }

    #[test]
    fn a_long_document_takes_little_memory_and_is_the_same_text() {
        let line = "ünïcödé lines, so that a piece might end within a character\n";
        let count = (MAX_PLAIN_BYTES + 5 * PIECE_BYTES) / line.len();
        for expected_bytes in [0, MAX_PLAIN_BYTES + 1] {
            let mut text = DocumentTextBuilder::with_capacity(expected_bytes);
            (0..count).for_each(|_| text.push_str(line));
            let text = text.finish();
            assert!(text.bytes_in_memory() * 20 < text.len());
            assert!(3 < text.pieces().count());
            assert_eq!(text.len(), count * line.len());
            assert!(text == DocumentText::from(line.repeat(count)));
            let index = text.line_index();
            assert_eq!(index.lines(), count as u64);
            for first in [1, 255, 256, 257, 40_000, count as u64 - 1] {
                let lines = text.lines(&index, first, 300);
                assert_eq!(lines, line.repeat(300.min(count - usize::try_from(first).unwrap() + 1)));
            }
            assert_eq!(text.lines(&index, count as u64 + 1, 5), "");
        }
        let numbered: Vec<String> = (1..2_000).map(|line| format!("{line}\n")).collect();
        let numbered = DocumentText::from(numbered.concat() + "end");
        let index = numbered.line_index();
        for (first, count, expected) in
            [(1, 2, "1\n2\n"), (256, 2, "256\n257\n"), (1_999, 9, "1999\nend"), (2_001, 1, "")]
        {
            assert_eq!(numbered.lines(&index, first, count), expected);
        }
        let mut short = DocumentTextBuilder::with_capacity(9);
        short.push_str("short");
        assert_eq!(short.finish().pieces().collect::<Vec<_>>(), ["short"]);
    }
}
