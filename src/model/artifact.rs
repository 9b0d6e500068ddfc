//! What is derived from a content, and by whom.

use super::HeaderDialect;

/// A kind of artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArtifactKind {
    /// The tree of symbols.
    Outline,
    /// The text with the bodies taken out.
    Skeleton,
    /// Words about the file.
    Summary,
    /// The names that the file defines and uses.
    References,
}

impl ArtifactKind {
    /// Every kind there is.
    pub const ALL: [Self; 4] = [Self::Outline, Self::Skeleton, Self::Summary, Self::References];

    /// Returns the stable name, as in the store and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Outline => "outline",
            Self::Skeleton => "skeleton",
            Self::Summary => "summary",
            Self::References => "references",
        }
    }
}

/// Who made an artifact: with the content, all that its bytes depend on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Producer {
    /// What is made.
    pub artifact: ArtifactKind,
    /// Id of the file type that the content was read as.
    pub language: &'static str,
    /// Name, version and parameters: `outline/1 tree-sitter-python/0.25`.
    pub version: String,
}

/// What is known of a content's bytes before anything is derived from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentFacts {
    /// Size in bytes.
    pub size: u64,
    /// Name of the text's encoding (`UTF-8`, `UTF-16LE`, `windows-1252`); `None` where it is not text.
    pub encoding: Option<String>,
    /// Lines of the text; 0 where it is not text. A last line without an end counts.
    pub lines: u32,
    /// What a C-like header says of its own language.
    pub dialect: HeaderDialect,
    /// Id of the file type that the first bytes claim (`#!/usr/bin/env python3`), if they claim one.
    pub claimed_type: Option<String>,
}
