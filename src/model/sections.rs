//! What stands in a document beside the files.

/// Which part of a document is wanted. A provider caches the first; the second is new with every question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentPart {
    /// Both.
    Whole,
    /// All that stands before the discussion.
    Prefix,
    /// The discussion alone.
    Suffix,
}

impl DocumentPart {
    /// Says whether what stands before the discussion is wanted.
    pub const fn has_prefix(self) -> bool {
        matches!(self, Self::Whole | Self::Prefix)
    }

    /// Says whether the discussion is wanted.
    pub const fn has_suffix(self) -> bool {
        matches!(self, Self::Whole | Self::Suffix)
    }
}

/// An image that is shown beside the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screenshot {
    /// Its path: from the project's root, or absolute where it lies elsewhere.
    pub path: String,
    /// What is shown of it.
    pub image: ScreenshotImage,
}

/// What is shown of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenshotImage {
    /// A link to it.
    Link,
    /// The image itself.
    Inline {
        /// Its media type, as `image/png`.
        media_type: &'static str,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// Nothing, for this reason.
    Failed(String),
}

/// The work that the issue tracker Beads knows of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BeadsList {
    /// What is done, by id.
    pub completed: Vec<BeadIssue>,
    /// What is not, by id.
    pub active: Vec<BeadIssue>,
    /// How many entries could not be understood.
    pub skipped: u64,
    /// Why there is nothing to tell.
    pub failure: Option<String>,
}

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeadIssue {
    /// Its id, on one line.
    pub id: String,
    /// Its title, on one line.
    pub title: String,
    /// Its status as the tracker spells it.
    pub status: String,
    /// What it is about; may be empty, or have many lines.
    pub description: String,
}

/// One entry of a discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionEntry {
    /// Who said it; `None` where the content says so itself, or nobody knows.
    pub role: Option<String>,
    /// What was said.
    pub content: String,
}

/// Something beside the files that could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionProblem {
    /// The section that misses it, as `screenshots`.
    pub section: &'static str,
    /// What it is, and why.
    pub reason: String,
    /// Whether the document misses what was asked for, and not only something that nobody could read.
    pub is_error: bool,
}
