//! What is asked of a document.

use super::sections::SectionRequest;
use crate::aggregate::DocumentLimits;
use crate::aggregate::TierOptions;
use crate::engine::index::Trust;
use crate::model::AggregationStrategy;
use crate::model::FileItem;
use crate::model::FileOrder;
use crate::model::ViewMode;

/// What is to be aggregated, and how.
#[derive(Debug, Clone)]
pub struct AggregationRequest {
    /// How the agent's tier sees the project, if a tier was asked for.
    pub tier: Option<TierOptions>,
    /// The strategy.
    pub strategy: AggregationStrategy,
    /// The view where nothing else decides.
    pub default_mode: ViewMode,
    /// The order of the files.
    pub order: FileOrder,
    /// Words for the files in focus.
    pub focus: Vec<String>,
    /// Words for the files that are wanted; none for those of the preset, and for all where there is none.
    pub files: Vec<String>,
    /// The revision that diffs are against; `None` for the last commit.
    pub base: Option<String>,
    /// What people say of single files; the last one wins.
    pub items: Vec<FileItem>,
    /// The files of a preset, with what it says of them, which wins over the items: what is gone is reported, and the
    /// rest goes on.
    pub preset: Option<Vec<FileItem>>,
    /// The most that the document may be.
    pub limits: DocumentLimits,
    /// Whether the receipt is to tell exact sizes, which costs time.
    pub exact_tokens: bool,
    /// Whether stamps may save a reading.
    pub trust: Trust,
    /// What stands beside the files.
    pub sections: SectionRequest,
    /// How the document is remembered, if it is.
    pub history: Option<DocumentHistory>,
}

/// How a document is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentHistory {
    /// The name that it is remembered by.
    pub name: String,
    /// Whether what the reader has of the last document of that name is left out.
    pub since_last: bool,
}
