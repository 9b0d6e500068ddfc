//! What the projects of one process share between answers.

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

/// What is known of a project between two answers, shared by all projects of one process that have the same root and
/// the same options.
///
/// A watcher reports here what may have changed; an answer looks here before it asks git and the store. Nothing is
/// trusted because no event came: each answer compares stamps first. So a lost event makes an answer slower, never
/// wrong. Only an event shows that a file was written without a new stamp.
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

    /// Returns an empty cache for which the document of a table of this many files is composed at once.
    #[cfg(test)]
    pub(crate) fn composing_tables(quick_files: usize) -> Self {
        Self { tables: TableCache::composing(quick_files), ..Self::default() }
    }

    /// Records that the bytes of files may have changed: they are read before they are answered from, whatever their
    /// stamps are.
    pub fn touch(&self, paths: &[RelPath]) {
        self.tracker.touch(paths);
    }

    /// Records that files may have come or gone, or that the rules have changed by which they are listed.
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

    /// Returns how many files are known to have changed and were not read since.
    #[cfg(test)]
    pub fn pending(&self) -> u64 {
        self.tracker.pending()
    }

    /// Returns how the caches have fared.
    pub fn counts(&self) -> WorkspaceCounts {
        WorkspaceCounts { reused: self.documents.reused(), ..self.tracker.counts() }
    }

    /// Returns the files outside of the project on which the listing depends: git's index, its settings, the user's
    /// ignore files. Some may not exist. Empty until the files were listed for the first time.
    pub fn external_dependencies(&self) -> Vec<PathBuf> {
        self.tracker.external_dependencies()
    }

    /// Releases the texts of documents that clients have opened too long before a time, in milliseconds since the epoch.
    pub fn release_opened(&self, at_ms: i64) {
        self.documents.opened.release_texts(at_ms);
    }

    /// Returns how long the steps of answers have taken.
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
