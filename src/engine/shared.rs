//! State that the projects of one process share between answers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::engine::artifacts::KeptVectors;
use crate::engine::document::DocumentCaches;
use crate::engine::find::DefinedSymbols;
use crate::engine::references::ReferenceCache;
use crate::engine::summaries::SummaryLookup;
use crate::engine::symbol_names::SymbolNameIndex;
use crate::engine::table::TableCache;
use crate::engine::timings::StepTimings;
use crate::engine::workspace::{CleanContents, TreeTracker, WorkspaceCounts};
use crate::model::RelPath;

/// State of a project between answers, shared by all projects of one process that have the same root and the same
/// options.
///
/// A watcher reports possible changes here; an answer checks here before it asks git and the store. The absence of
/// events is not trusted: each answer compares stamps first. So a lost event makes an answer slower, never wrong. Only
/// an event can reveal that a file was written without a new stamp.
#[derive(Default)]
pub struct WorkspaceCache {
    tracker: Arc<TreeTracker>,
    clean: Arc<CleanContents>,
    vectors: Arc<KeptVectors>,
    documents: DocumentCaches,
    references: ReferenceCache,
    summary_lookup: Arc<Mutex<SummaryLookup>>,
    timings: Arc<StepTimings>,
    symbol_names: SymbolNameIndex,
    tables: TableCache,
    defined_symbols: DefinedSymbols,
}

impl WorkspaceCache {
    /// Returns an empty cache, to which events are reported only after [`WorkspaceCache::set_trusted`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an empty cache that composes the document at once for a table of up to this many files.
    #[cfg(test)]
    pub(crate) fn composing_tables(quick_files: usize) -> Self {
        Self { tables: TableCache::composing(quick_files), ..Self::default() }
    }

    /// Records that the bytes of files may have changed: they are read before the next answer about them, whatever
    /// their stamps.
    pub fn touch(&self, paths: &[RelPath]) {
        self.tracker.touch(paths);
    }

    /// Records that files may have come or gone, or that the rules for listing them have changed.
    pub fn invalidate_listing(&self) {
        self.tracker.invalidate_listing();
    }

    /// Records that events were lost, so that anything may have changed.
    pub fn invalidate_all(&self) {
        self.tracker.invalidate_all();
    }

    /// Sets whether changes are reported by events. If not, every answer lists the files again.
    pub fn set_trusted(&self, is_trusted: bool) {
        self.tracker.set_trusted(is_trusted);
    }

    /// Returns how many files are known to have changed and have not been read since.
    #[cfg(test)]
    pub fn pending(&self) -> u64 {
        self.tracker.pending()
    }

    /// Returns statistics of the caches.
    pub fn counts(&self) -> WorkspaceCounts {
        WorkspaceCounts { reused: self.documents.reused(), ..self.tracker.counts() }
    }

    /// Returns the files outside of the project that the listing depends on: git's index and settings, and the user's
    /// ignore files. Some may not exist. Empty until the files are first listed.
    pub fn external_dependencies(&self) -> Vec<PathBuf> {
        self.tracker.external_dependencies()
    }

    /// Releases the texts of documents that clients opened too long before a time, in milliseconds since the epoch.
    pub fn release_opened(&self, at_ms: i64) {
        self.documents.opened.release_texts(at_ms);
    }

    /// Returns statistics of how long the steps of answers took.
    pub const fn timings(&self) -> &Arc<StepTimings> {
        &self.timings
    }

    pub(super) fn tracker(&self) -> Arc<TreeTracker> {
        Arc::clone(&self.tracker)
    }

    pub(super) fn clean(&self) -> Arc<CleanContents> {
        Arc::clone(&self.clean)
    }

    pub(super) fn vectors(&self) -> Arc<KeptVectors> {
        Arc::clone(&self.vectors)
    }

    pub(super) const fn documents(&self) -> &DocumentCaches {
        &self.documents
    }

    pub(super) const fn symbol_names(&self) -> &SymbolNameIndex {
        &self.symbol_names
    }

    pub(super) const fn defined_symbols(&self) -> &DefinedSymbols {
        &self.defined_symbols
    }

    pub(super) const fn tables(&self) -> &TableCache {
        &self.tables
    }

    pub(super) const fn references(&self) -> &ReferenceCache {
        &self.references
    }

    pub(super) fn summary_lookup(&self) -> Arc<Mutex<SummaryLookup>> {
        Arc::clone(&self.summary_lookup)
    }
}
