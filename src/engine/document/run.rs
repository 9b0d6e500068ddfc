//! The context of every operation on documents.

use std::sync::Mutex;

use super::cache::DocumentCaches;
use super::rendering::Renderer;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::summaries::{ModelSummaries, SummaryLookup};
use crate::model::DocsDetail;

/// One operation on documents, with the caches that it may use.
pub(in crate::engine) struct DocumentRun<'r, 'w> {
    pub(in crate::engine) cache: &'r mut ArtifactCache<'w>,
    /// The caches that the documents of a process share; `None` in a process that ends with its answer.
    pub(in crate::engine) caches: Option<&'r DocumentCaches>,
    pub(in crate::engine) lookup: &'r Mutex<SummaryLookup>,
}

impl<'w> DocumentRun<'_, 'w> {
    pub(super) fn renderer<'s>(
        &'s mut self,
        summaries: &'s ModelSummaries,
        docs: DocsDetail,
    ) -> Renderer<'s, 'w> {
        Renderer::new(self.cache, self.caches.map(|caches| &caches.rendered), summaries, docs)
    }
}
