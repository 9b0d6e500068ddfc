//! What comes back.

use std::sync::Arc;

use crate::engine::AuditReport;
use crate::engine::CacheStatus;
pub use crate::engine::CachedDocument as Written;
use crate::engine::ClearedCache;
use crate::engine::Explanation;
use crate::engine::ExportedArtifacts;
use crate::engine::FileStatus;
use crate::engine::IndexReport;
use crate::engine::IntegrityReport;
use crate::engine::OutlineAnswer;
use crate::engine::SymbolAnswer;
use crate::engine::ViewAnswer;
use crate::model::Document;
use crate::model::Receipt;
use crate::model::Slice;
use crate::model::SliceResolution;

/// The answer to a request, one kind for each.
#[derive(Debug)]
pub enum QueryResponse {
    /// What an index run did.
    Indexed(IndexReport),
    /// Outlines, by path.
    Outlines(Vec<OutlineAnswer>),
    /// Views, in the order in which they were asked for.
    Views(Vec<ViewAnswer>),
    /// Symbols, by path and line.
    Symbols(Vec<SymbolAnswer>),
    /// A document.
    Aggregated(Box<AggregatedDocument>),
    /// The receipt of a document that was composed for nobody.
    Planned(Box<Receipt>),
    /// Explanations, by path.
    Explained(Vec<Explanation>),
    /// Statuses, by path.
    Status(Vec<FileStatus>),
    /// How much is cached.
    CacheStatus(CacheStatus),
    /// What was deleted from the cache.
    Cleared(ClearedCache),
    /// What a check of the cache found.
    Verified(IntegrityReport),
    /// All that is cached, by path.
    Exported(Vec<ExportedArtifacts>),
    /// How the index differs from the files themselves.
    Audited(AuditReport),
    /// A slice.
    SliceMade(Box<Slice>),
    /// Where a slice is.
    SliceResolved(SliceResolution),
    /// Where each of several slices is, in their order.
    SlicesResolved(Vec<SliceResolution>),
}

/// A document.
#[derive(Debug)]
pub struct AggregatedDocument {
    /// The document; `None` where it was written for an earlier question, and only its text was kept.
    pub document: Option<Document>,
    /// The document as it was asked to be written, with its receipt.
    pub written: Arc<Written>,
}
