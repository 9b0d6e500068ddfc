//! The parts of a document's text: its sections and the blocks of its files, without their texts.

use std::borrow::Cow;

use super::file::ContentHash;
use super::path::RelPath;
use super::view::ViewMode;

/// The section before the files.
pub const OVERVIEW: &str = "Overview";

/// The pieces that a document consists of, in order: their texts concatenated are the document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentLayout {
    pub pieces: Vec<DocumentPiece>,
    /// The number of pieces that come first and stay the same from task to task, or from commit to commit; `None` if
    /// there is no such part.
    pub stable: Option<usize>,
    /// How many pieces precede the discussion.
    pub prefix: usize,
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPiece {
    pub subject: PieceSubject,
    pub bytes: u64,
    /// The number of newlines in it.
    pub lines: u64,
    /// Its tokens, counted as in the document's receipt.
    pub tokens: u64,
    pub hash: ContentHash,
}

/// The subject of a piece of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PieceSubject {
    /// The heading of a section, and its content other than files.
    Section(Cow<'static, str>),
    File {
        path: RelPath,
        view: ViewMode,
    },
}

impl PieceSubject {
    /// Returns the file that it is about.
    pub const fn file(&self) -> Option<&RelPath> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Section(_) => None,
        }
    }
}

impl DocumentLayout {
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    pub fn tokens(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }

    /// Returns the line at which each piece begins, counted from 1: that of its heading, after an empty line.
    pub fn first_lines(&self) -> Vec<u64> {
        let mut line = 1;
        let lines = self.pieces.iter().enumerate().map(|(at, piece)| {
            let first = line + u64::from(self.has_empty_line_before(at));
            line += piece.lines;
            first
        });
        lines.collect()
    }

    /// Returns whether a piece begins with an empty line.
    fn has_empty_line_before(&self, at: usize) -> bool {
        let subject = &self.pieces[at].subject;
        match at.checked_sub(1).map(|before| &self.pieces[before].subject) {
            // The first heading has none, nor has that of the files after the overview, which ends with one.
            None => false,
            Some(PieceSubject::Section(before)) if at == 1 => before != OVERVIEW,
            // Pieces of one section follow one another.
            Some(before) => matches!(subject, PieceSubject::File { .. }) || before != subject,
        }
    }

    /// Returns the hash of the hashes of all pieces: equal for equal documents.
    pub fn digest(&self) -> ContentHash {
        let hashes: Vec<u8> = self.pieces.iter().flat_map(|piece| *piece.hash.as_bytes()).collect();
        ContentHash::digest(&hashes)
    }
}

/// How a provider caches prefixes of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixCaching {
    /// The number of marked prefixes if only those are cached; `None` if the provider finds the common prefix itself.
    pub marks: Option<u8>,
    /// The minimum tokens of a prefix that is cached.
    pub min_tokens: u64,
}
