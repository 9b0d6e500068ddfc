//! What an index run tells while it works, and in the end.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::model::SkipReason;

/// Is told how far a run is. Called from several threads.
pub trait ScanProgress: Sync {
    /// So many files are to be read.
    fn begin(&self, files: usize);

    /// One more file was read, or left out.
    fn advance(&self);

    /// Says whether nobody waits for the answer any more. Asked between files, so that it should cost nothing.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Tells nobody.
#[derive(Debug, Clone, Copy)]
pub struct NoProgress;

impl ScanProgress for NoProgress {
    fn begin(&self, _files: usize) {}

    fn advance(&self) {}
}

/// What an index run did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexReport {
    /// Files of the project that have text.
    pub files: u64,
    /// Files that were read and hashed.
    pub hashed: u64,
    /// Contents that structure and summary were derived from.
    pub parsed: u64,
    /// Files whose content was known already.
    pub reused: u64,
    /// Files that were known and are gone.
    pub removed: u64,
    /// Files that the project lists and that have no text to show, by reason.
    pub left_out: BTreeMap<SkipReason, u64>,
    /// Bytes that were read.
    pub bytes: u64,
    /// Wall time.
    pub elapsed: Duration,
}

impl IndexReport {
    /// Says whether an error left out some file.
    pub fn has_errors(&self) -> bool {
        self.left_out.keys().any(|reason| reason.is_error())
    }
}
