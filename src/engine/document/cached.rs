//! Answers with cached documents.

use std::sync::Arc;

use super::cache::{CachedDocument, DocumentKey};
use super::delivery::PendingDelivery;
use super::inputs::{DocumentInputs, InputsDigest};
use super::request::DocumentCacheKey;
use super::run::DocumentRun;
use crate::model::{DocumentBlock, ViewMode, lock};

impl DocumentRun<'_, '_> {
    pub(in crate::engine) fn cached_document(
        &mut self,
        request: &Arc<DocumentCacheKey>,
        inputs: &DocumentInputs,
        is_preview: bool,
    ) -> Option<(Arc<CachedDocument>, Option<PendingDelivery>)> {
        let caches = self.caches?;
        let key =
            DocumentKey { request: Arc::clone(request), inputs: Arc::clone(inputs.digest.key.as_ref()?) };
        let found = lock(&caches.documents).get(&key)?;
        let mut pending = None;
        // A preview is not delivered, and does not depend on earlier deliveries.
        if let Some(history) = request.request.history.as_ref().filter(|_| !is_preview) {
            // If another document was delivered under the name since, the reader has that one.
            let record = history.record_key();
            let version = self.cache.query_store(|store| store.delivery_version(&record)).flatten()?;
            let is_last = lock(&caches.documents)
                .last_delivered
                .get(&record)
                .is_some_and(|(last, at)| *last == key && *at == version);
            if !is_last {
                return None;
            }
            pending = Some(PendingDelivery::unchanged(record, key));
        }
        lock(&caches.documents).reused += 1;
        Some((found, pending))
    }

    pub(in crate::engine) fn cache_document(
        &mut self,
        request: &Arc<DocumentCacheKey>,
        digest: &InputsDigest,
        blocks: &[DocumentBlock],
        cached: &Arc<CachedDocument>,
    ) -> Option<DocumentKey> {
        let (shared, inputs) = (self.caches?, digest.key.as_ref()?);
        let is_as_selected = blocks.iter().all(|block| {
            let known = digest.contents.get(&block.path);
            known == block.content.as_ref() || block.view == ViewMode::None
        });
        // A note is reported each time, and a note about a file that could not be shown belongs to its answer alone.
        let has_new_notes = self.cache.workspace.log.note_count() != digest.notes;
        if !is_as_selected || has_new_notes {
            return None;
        }
        let key = DocumentKey { request: Arc::clone(request), inputs: Arc::clone(inputs) };
        lock(&shared.documents).insert(key.clone(), Arc::clone(cached));
        Some(key)
    }
}
