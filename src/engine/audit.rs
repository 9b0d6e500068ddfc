//! The index compared with the files themselves.

use super::error::Error;
use super::project::Project;
use crate::model::RelPath;

/// How the index differs from the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Files that were looked at.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// What is not as the index says, by path.
    pub differences: Vec<Difference>,
}

/// A file of which the index says something else than is true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The file.
    pub path: RelPath,
    /// What is wrong.
    pub kind: DifferenceKind,
}

/// What the index has wrong of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DifferenceKind {
    /// The project has it, and the index does not.
    NotIndexed,
    /// It holds other bytes.
    OtherContent,
    /// The index has it, and the project does not.
    StillIndexed,
    /// It is left out for another reason.
    OtherReason,
    /// What the index holds of it is damaged.
    DamagedRow,
}

impl Project<'_> {
    /// Compares the stored rows with the files.
    pub fn audit(&mut self) -> Result<AuditReport, Error> {
        Err(Error::NoCache)
    }
}
