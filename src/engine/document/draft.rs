//! A document before it is composed.

use crate::aggregate::CandidateFile;
use crate::aggregate::DocumentPlan;
use crate::aggregate::Importance;
use crate::aggregate::ReceiptNotes;
use crate::engine::workspace::KnownFile;
use crate::model::DocumentBlock;
use crate::model::SummaryDetail;
use crate::model::ViewMode;

/// A file that the document is to show.
#[derive(Clone)]
pub(in crate::engine) struct ShownFile {
    pub(in crate::engine) file: KnownFile,
    pub(in crate::engine) candidate: CandidateFile,
    /// What stands for the file where a diff against what was given before is shown in its place.
    pub(in crate::engine) full_block: Option<DocumentBlock>,
    /// Its place among the files by importance, from 1; known where the document is limited.
    pub(in crate::engine) rank: Option<(usize, Importance)>,
    /// What stands below the words, where it is shown as a summary.
    pub(in crate::engine) detail: SummaryDetail,
}

impl ShownFile {
    pub(in crate::engine) const fn new(
        file: KnownFile,
        candidate: CandidateFile,
        detail: SummaryDetail,
    ) -> Self {
        Self { file, candidate, full_block: None, rank: None, detail }
    }

    /// Returns what a reader of the document knows of the file, who can carry out a diff.
    pub(in crate::engine) fn settled_block(&self) -> &DocumentBlock {
        let block = &self.candidate.block;
        self.full_block.as_ref().filter(|_| block.view == ViewMode::Diff).unwrap_or(block)
    }
}

/// All that a document is made of.
#[derive(Clone)]
pub(in crate::engine) struct DraftDocument {
    pub(in crate::engine) plan: DocumentPlan,
    pub(in crate::engine) files: Vec<ShownFile>,
    /// Files that are left out because the reader has them. They refer to others all the same.
    pub(in crate::engine) unchanged: Vec<KnownFile>,
    /// Files for which there is no room.
    pub(in crate::engine) dropped: Vec<ShownFile>,
    pub(in crate::engine) remarks: ReceiptNotes,
}
