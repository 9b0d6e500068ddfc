//! A document opened by a client: its parts, lines of its text, and how it differs from another document.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::OpenedDocument;
use crate::model::{PieceSubject, path_text};

/// A document that was opened, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentOpened {
    /// Identifies the document in later queries. The same document has the same id.
    pub id: String,
    /// The SHA-256 of its text.
    pub sha256: String,
    /// The size of its text as Markdown, in bytes.
    pub bytes: u64,
    /// How many lines it has.
    pub lines: u64,
    /// Its tokens.
    pub tokens: u64,
    /// How tokens were counted.
    pub counter: String,
    /// How many bytes precede the discussion.
    pub prefix_bytes: u64,
    /// Its sections, in their order.
    pub sections: Vec<DocumentSection>,
    /// The blocks of its files, in their order.
    pub blocks: BlockColumns,
}

/// A section of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentSection {
    /// Its heading.
    pub name: String,
    /// The line of the heading, counted from 1.
    pub line: u64,
    /// How many lines it has, with those of its files.
    pub lines: u64,
}

/// The blocks of a document in columns: one value for each block.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockColumns {
    /// The paths, as they are written in requests.
    pub file: Vec<String>,
    /// How each is shown.
    pub view: Vec<String>,
    /// The line of the heading, counted from 1.
    pub line: Vec<u64>,
    /// How many lines each has.
    pub lines: Vec<u64>,
    /// Bytes.
    pub bytes: Vec<u64>,
    /// Tokens.
    pub tokens: Vec<u64>,
}

/// Lines of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentLines {
    /// The lines, with their newlines; fewer than requested at the end of the document.
    pub text: String,
}

/// What a provider's prompt cache keeps of a document that is sent after another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentComparison {
    /// The bytes that are read from the cache: the common prefix of both documents, up to the last place where the
    /// format of the second marks or cuts its prefix.
    pub kept_bytes: u64,
    /// About how many tokens these are.
    pub kept_tokens: u64,
    /// The size of the common prefix of both documents; if one of the texts is no longer in memory, only whole blocks
    /// and sections count.
    pub common_bytes: u64,
    /// About how many tokens these are.
    pub common_tokens: u64,
    /// The bytes of the second document.
    pub of_bytes: u64,
    /// Its tokens.
    pub of_tokens: u64,
    /// The first difference; null if the documents are the same.
    pub first: Option<FirstDifference>,
    /// The blocks that differ, are only in one of the documents, or have moved. All others are the same, in the same
    /// order.
    pub blocks: Vec<ComparedBlock>,
    /// The fewest tokens of a prefix that the provider caches; 0 if that is not known.
    pub cached_minimum_tokens: u64,
    /// When the first document was opened or given, in milliseconds since the epoch: a cache does not last long.
    pub as_of_ms: i64,
}

/// The first difference between two documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstDifference {
    /// The file whose block differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The section that differs, if it is not in the block of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The line within the block of the file, counted from 1; absent if one of the texts is no longer in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The line of the second document, counted from 1; that of the block's heading if one of the texts is no longer in
    /// memory.
    pub document_line: u64,
    /// Why they differ.
    pub reason: DifferenceReason,
}

/// Why two documents differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceReason {
    /// The text of the block has changed.
    Edited,
    /// The block has moved.
    Moved,
    /// The first document does not have the block.
    Added,
    /// The second document does not have the block.
    Removed,
    /// The file is shown in a different view.
    View,
    /// A section other than the blocks of files.
    Section,
}

impl DifferenceReason {
    /// Returns the name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Moved => "moved",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::View => "view",
            Self::Section => "section",
        }
    }
}

/// A block of one document or of two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedBlock {
    /// The path of the file.
    pub file: String,
    /// Its place among the blocks of the first document, counted from 0; null if it has none.
    pub from: Option<usize>,
    /// Its place among the blocks of the second document.
    pub to: Option<usize>,
    /// Whether it has the same text.
    pub same: bool,
}

impl BlockColumns {
    fn with_capacity(blocks: usize) -> Self {
        Self {
            file: Vec::with_capacity(blocks),
            view: Vec::with_capacity(blocks),
            line: Vec::with_capacity(blocks),
            lines: Vec::with_capacity(blocks),
            bytes: Vec::with_capacity(blocks),
            tokens: Vec::with_capacity(blocks),
        }
    }
}

impl DocumentOpened {
    /// Returns the parts of an opened document; `None` if its text is no longer in memory.
    pub fn new(opened: &OpenedDocument) -> Option<Self> {
        let OpenedDocument { id, layout, text, .. } = opened;
        let text = text.as_ref()?;
        let mut sections: Vec<DocumentSection> = Vec::new();
        let mut blocks = BlockColumns::with_capacity(layout.pieces.len());
        for (piece, first) in layout.pieces.iter().zip(layout.first_lines()) {
            match &piece.subject {
                PieceSubject::Section(name) if sections.last().is_none_or(|last| last.name != **name) => {
                    sections.push(DocumentSection { name: name.to_string(), line: first, lines: 0 });
                }
                PieceSubject::Section(_) => {}
                PieceSubject::File { path, view } => {
                    blocks.file.push(path_text(path.as_bytes()));
                    blocks.view.push(view.name().to_owned());
                    blocks.line.push(first);
                    // The empty line before the heading does not belong to the block.
                    blocks.lines.push(piece.lines - 1);
                    blocks.bytes.push(piece.bytes);
                    blocks.tokens.push(piece.tokens);
                }
            }
        }
        let lines: u64 = layout.pieces.iter().map(|piece| piece.lines).sum();
        let ends: Vec<u64> = sections.iter().skip(1).map(|next| next.line).chain([lines + 1]).collect();
        for (section, end) in sections.iter_mut().zip(ends) {
            section.lines = end.saturating_sub(section.line);
        }
        Some(Self {
            id: id.clone(),
            sha256: text.sha256.to_string(),
            bytes: layout.bytes(),
            lines,
            tokens: layout.tokens(),
            counter: text.document.receipt.counter.to_owned(),
            prefix_bytes: layout.pieces[..layout.prefix].iter().map(|piece| piece.bytes).sum(),
            sections,
            blocks,
        })
    }
}

impl FirstDifference {
    /// Returns a difference in a piece.
    pub fn new(
        subject: &PieceSubject,
        line: Option<u64>,
        document_line: u64,
        reason: DifferenceReason,
    ) -> Self {
        let (file, section) = match subject {
            PieceSubject::File { path, .. } => (Some(path_text(path.as_bytes())), None),
            PieceSubject::Section(name) => (None, Some(Cow::into_owned(name.clone()))),
        };
        Self { file, section, line, document_line, reason }
    }
}
