//! The use cases of an open project, each implemented in one of this room's folders.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::error::Error;
use super::options::{IndexReport, Options, World};
use super::queries::OutlineAnswer;
use super::shared::WorkspaceCache;
use super::source_texts::{SourceRequest, SourceText, source_texts};
use super::symbols::{SymbolAnswer, SymbolRequest};
use super::{artifacts, document, find, index, queries, references, summaries, symbols, table};
use crate::aggregate::{Covering, DocumentLimits, cover_files};
use crate::engine::artifacts::{ArtifactCache, CacheStatus, ClearedCache, ExportedArtifacts};
use crate::engine::document::{
    AggregationRequest, CachedDocument, DeliveredFileDiff, DeliveredFileStatus, DocumentCacheKey,
    DocumentInputs, DocumentRun, Explanation, HydrationAnswer, HydrationRequest, InputsDigest,
    NamedFragments, OpenedDocument, OpenedDocuments, PendingDelivery, PreparedDocument, PriorOutputs,
    RecordName, ViewAnswer, ViewRequest,
};
use crate::engine::find::{FindAnswer, FindRequest};
use crate::engine::index::{AuditReport, FileChange, FileStatus, Trust};
use crate::engine::ranking::{SearchAnswer, SearchCaches, SearchRequest, search};
use crate::engine::references::{
    CallAnswer, CallRequest, ImpactAnswer, ImpactRequest, ReferenceGraph, UsesAnswer,
};
use crate::engine::summaries::{
    PromptPreparer, PromptPreview, SubjectKey, SubjectLocation, SummaryLookup, SummaryPolicy, SummaryTasks,
    TaskSkipReason, WantedSummary,
};
use crate::engine::table::{TableAnswer, TableClock, TableRequest};
use crate::engine::workspace::Workspace;
use crate::model::{
    ArtifactKind, Document, DocumentBlock, DocumentLayout, DocumentText, Fragment, FragmentName, Pin,
    PrefixCaching, RelPath, Slice, SliceResolution,
};
use crate::store::{DeliveredDocument, IntegrityReport, Store};

/// An open project.
///
/// It holds the shared state of its use cases: the cache, and what is kept between answers. Each use case is a method
/// here and a function in a folder of this room.
pub struct Project<'w> {
    pub(super) cache: ArtifactCache<'w>,
    /// What other projects of this process know about the same files.
    shared: Option<Arc<WorkspaceCache>>,
    summary_lookup: Arc<Mutex<SummaryLookup>>,
    /// The contents of the last composed document, until its reader has received it.
    pub(super) pending_delivery: Option<PendingDelivery>,
}

impl<'w> Project<'w> {
    /// Opens the project in the folder `root`, and its cache.
    pub fn open(root: &Path, options: Options, world: World<'w>) -> Result<Self, Error> {
        let cache = ArtifactCache::open(Workspace::open(root, options, world)?)?;
        Ok(Self { cache, shared: None, summary_lookup: Arc::default(), pending_delivery: None })
    }

    /// Returns the preparer of the prompts for these tasks, which were listed under this policy.
    pub fn preparer(&self, tasks: &SummaryTasks, policy: &SummaryPolicy) -> PromptPreparer<'w> {
        summaries::preparer(&self.cache.workspace, tasks, policy)
    }

    fn documents(&mut self) -> DocumentRun<'_, 'w> {
        DocumentRun {
            cache: &mut self.cache,
            caches: self.shared.as_deref().map(WorkspaceCache::documents),
            lookup: &self.summary_lookup,
        }
    }
}

/// How answers are made.
impl Project<'_> {
    /// Shares the state between answers with other projects that have the same root and options.
    pub fn share_cache(&mut self, shared: Arc<WorkspaceCache>) {
        self.summary_lookup = shared.summary_lookup();
        self.cache.workspace.tracker = Some(shared.tracker());
        self.cache.workspace.clean = shared.clean();
        self.cache.kept_vectors = shared.vectors();
        self.cache.workspace.steps.timings = Some(Arc::clone(shared.timings()));
        self.shared = Some(shared);
    }

    /// Sets whether every file of an answer is hashed even if its stamp is trusted, and differences are reported.
    pub const fn set_paranoid(&mut self, paranoid: bool) {
        self.cache.workspace.paranoid = paranoid;
    }

    /// Checks which linked folders exist now; must be called before each answer of a long-running process.
    pub fn reopen_linked(&mut self) {
        self.cache.workspace.files.reopen();
    }

    /// Releases memory that the next answer does not need.
    pub fn release_memory(&self) {
        self.cache.release_memory();
    }

    /// Returns how many files could not be read because they kept changing, since the last call.
    pub const fn take_unstable(&mut self) -> u64 {
        self.cache.workspace.log.take_unstable()
    }

    /// Returns whether, since the last call, an answer was based only on files reported by events.
    pub const fn take_trusted_events(&mut self) -> bool {
        self.cache.workspace.log.take_trusted_events()
    }

    /// Adds a note for the user.
    pub fn add_note(&mut self, note: String) {
        self.cache.workspace.note(note);
    }

    /// Returns the notes added since the last call.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.cache.workspace.log.take_notes()
    }

    /// Returns the report of the last scan of the project's files; `None` if no answer needed one.
    pub const fn last_scan(&self) -> Option<&IndexReport> {
        self.cache.workspace.log.last_scan()
    }
}

/// The index.
impl Project<'_> {
    /// Updates the cache for all files of the project.
    pub fn index(&mut self, trust: Trust) -> Result<IndexReport, Error> {
        index::index(&mut self.cache, trust)
    }

    /// Updates the cache for these files, and for all files in those that are folders. Returns the files that have
    /// changed, by path.
    pub fn refresh(&mut self, paths: &[RelPath]) -> Result<Vec<FileChange>, Error> {
        index::refresh(&mut self.cache, paths)
    }

    /// Updates the cache for all files, and returns those that have changed, by path.
    pub fn refresh_all(&mut self) -> Result<Vec<FileChange>, Error> {
        index::refresh_all(&mut self.cache)
    }

    /// Returns the status of every listed file, by path. Reads no file and stores nothing.
    pub fn status(&mut self) -> Result<Vec<FileStatus>, Error> {
        let mut files = index::status(&mut self.cache)?;
        summaries::add_summarized_tiers(&mut self.cache, &self.summary_lookup, &mut files);
        Ok(files)
    }

    /// Returns the entries that cover the files selected by paths, folders and patterns.
    pub fn cover_files(&mut self, words: &[String]) -> Result<Covering, Error> {
        let listed = index::listed_files(&mut self.cache)?;
        Ok(cover_files(listed.paths(), &|path| listed.may_show(path), words))
    }

    /// Returns the table of all files for a choice, or the changes in it.
    pub fn file_table(&mut self, request: &TableRequest) -> Result<TableAnswer, Error> {
        let shared = self.shared.clone();
        table::file_table(&mut self.documents(), shared.as_deref().map(WorkspaceCache::tables), request)
    }

    /// Returns the files of these rows of a table; `None` if files came or went since that clock.
    pub fn table_files(
        &mut self,
        clock: TableClock,
        rows: &[RangeInclusive<usize>],
    ) -> Result<Option<Vec<RelPath>>, Error> {
        let Some(shared) = self.shared.clone() else { return Ok(None) };
        table::table_files(&mut self.documents(), shared.tables(), clock, rows)
    }

    /// Compares the stored row of every file with the file. Writes nothing itself, but files that were reported as
    /// changed and not read since are first refreshed: the index is known to be behind there.
    pub fn audit(&mut self) -> Result<AuditReport, Error> {
        index::audit(&mut self.cache)
    }
}

/// Questions about single files.
impl Project<'_> {
    /// Returns the outlines of the named files, or of all files that have one, by path.
    pub fn outlines(&mut self, files: &[String], trust: Trust) -> Result<Vec<OutlineAnswer>, Error> {
        queries::outlines(&mut self.cache, files, trust)
    }

    /// Returns outlines as [`Project::outlines`] does, including symbols that masks hide.
    pub fn unmasked_outlines(&mut self, files: &[String], trust: Trust) -> Result<Vec<OutlineAnswer>, Error> {
        queries::unmasked_outlines(&mut self.cache, files, trust)
    }

    /// Returns the requested symbols, likeliest first.
    pub fn symbols(&mut self, request: &SymbolRequest, trust: Trust) -> Result<Vec<SymbolAnswer>, Error> {
        let names = self.shared.as_deref().map(WorkspaceCache::symbol_names);
        symbols::symbols(&mut self.cache, names, request, trust)
    }

    /// Returns the files and symbols that match a text, best first.
    pub fn search(&mut self, request: &SearchRequest, trust: Trust) -> Result<SearchAnswer, Error> {
        let documents = self.shared.as_deref().map(WorkspaceCache::documents);
        let caches = documents.map(|caches| SearchCaches {
            commits: &caches.commits,
            past: &caches.past_commits,
            sources: &caches.sources,
        });
        search(&mut self.cache, caches.as_ref(), request, trust)
    }

    /// Returns the files and symbols whose names contain the characters of a query in order, best first.
    pub fn find_names(&mut self, request: &FindRequest) -> Result<FindAnswer, Error> {
        let known = self.shared.as_deref().map(WorkspaceCache::defined_symbols);
        find::find_names(&mut self.cache, known, request)
    }

    /// Returns the texts of files or of an editor's buffers, in the order of the requests; `None` for what is not a
    /// file of the project, or is not shown. Nothing is stored of buffers.
    pub fn source_texts(
        &mut self,
        requests: &[SourceRequest],
        with_outlines: bool,
    ) -> Result<Vec<Option<SourceText>>, Error> {
        source_texts(&mut self.cache, requests, with_outlines)
    }

    /// Marks the lines `start_line` to `end_line` of a file, from 1 and inclusive. Writes nothing.
    pub fn make_slice(&self, file: &str, start_line: u32, end_line: u32) -> Result<Slice, Error> {
        queries::make_slice(&self.cache.workspace, file, start_line, end_line)
    }

    /// Returns where each of several slices is in a file now, which is read once for all of them. If the file no longer
    /// has text, they are stale.
    pub fn resolve_slices(&self, file: &str, slices: &[Slice]) -> Result<Vec<SliceResolution>, Error> {
        queries::resolve_slices(&self.cache.workspace, file, slices)
    }

    /// Returns one view of each named file, in the order of their paths within each argument. Without a mode, this is
    /// the text, or the largest view that the limits allow.
    pub fn views(&mut self, request: &ViewRequest) -> Result<Vec<ViewAnswer>, Error> {
        self.documents().views(request)
    }

    /// Returns an image of the project, with its media type.
    pub fn image(&self, path: &str) -> Result<(&'static str, Vec<u8>), Error> {
        document::project_image(&self.cache.workspace, path)
    }

    /// Returns the number of tokens of each text, counted as the settings specify.
    pub fn count_tokens(&mut self, texts: &[&str]) -> Vec<u64> {
        self.cache.count_tokens(texts)
    }
}

/// References.
impl Project<'_> {
    /// Returns the references of the whole project in its current state.
    pub fn reference_graph(&mut self) -> Result<Arc<ReferenceGraph>, Error> {
        let kept = self.shared.as_deref().map(WorkspaceCache::references);
        references::reference_graph(&mut self.cache, kept)
    }

    /// Returns the uses of a symbol: `name`, `Class.method`, or either of them after a path and a colon. A name that
    /// several symbols have selects all of them.
    pub fn uses(&mut self, symbol: &str) -> Result<UsesAnswer, Error> {
        let kept = self.shared.as_deref().map(WorkspaceCache::references);
        references::uses(&mut self.cache, kept, symbol)
    }

    /// Returns who calls a symbol, or what it calls.
    pub fn calls(&mut self, request: &CallRequest) -> Result<CallAnswer, Error> {
        let kept = self.shared.as_deref().map(WorkspaceCache::references);
        references::calls(&mut self.cache, kept, request)
    }

    /// Returns what a change of a file, of a symbol, or since a revision may affect.
    pub fn impact(&mut self, request: &ImpactRequest) -> Result<ImpactAnswer, Error> {
        let kept = self.shared.as_deref().map(WorkspaceCache::references);
        references::impact(&mut self.cache, kept, request)
    }
}

/// Documents.
impl Project<'_> {
    /// Composes a document from the current files.
    pub fn aggregate(&mut self, request: &AggregationRequest) -> Result<Document, Error> {
        let (document, pending) = self.documents().aggregate(request)?;
        self.pending_delivery = pending;
        Ok(document)
    }

    /// Selects the files of a document, and determines their current state.
    pub fn select_for(&mut self, request: &AggregationRequest) -> Result<DocumentInputs, Error> {
        self.documents().select_for(request)
    }

    /// Composes a document from files that were selected for it. Also returns the data that the document is later
    /// compared with.
    pub fn aggregate_selected(
        &mut self,
        request: &AggregationRequest,
        inputs: DocumentInputs,
    ) -> Result<(Document, InputsDigest), Error> {
        let (document, pending, digest) = self.documents().aggregate_selected(request, inputs)?;
        self.pending_delivery = pending;
        Ok((document, digest))
    }

    /// Reads the current files of a document, and renders each in its view.
    pub fn prepare(&mut self, request: &AggregationRequest) -> Result<PreparedDocument, Error> {
        self.documents().prepare(request)
    }

    /// Composes a prepared document within other limits. No file is read again.
    pub fn compose(
        &mut self,
        prepared: &mut PreparedDocument,
        limits: DocumentLimits,
    ) -> Result<Document, Error> {
        let (document, pending) = self.documents().compose(prepared, limits)?;
        self.pending_delivery = pending;
        Ok(document)
    }

    /// Returns the cached document, if a new one would be equal. It is delivered like any other, unless it is only a
    /// preview.
    pub fn cached_document(
        &mut self,
        request: &Arc<DocumentCacheKey>,
        inputs: &DocumentInputs,
        is_preview: bool,
    ) -> Option<Arc<CachedDocument>> {
        let (document, pending) = self.documents().cached_document(request, inputs, is_preview)?;
        self.pending_delivery = pending;
        Some(document)
    }

    /// Caches a document for later requests, unless something changed while it was composed.
    pub fn cache_document(
        &mut self,
        request: &Arc<DocumentCacheKey>,
        inputs: &InputsDigest,
        blocks: &[DocumentBlock],
        cached: &Arc<CachedDocument>,
    ) {
        let key = self.documents().cache_document(request, inputs, blocks, cached);
        // The delivery needs the key: the request is only answered from the cache as long as this document is the last
        // one delivered under its name.
        if let (Some(key), Some(pending)) = (key, &mut self.pending_delivery) {
            pending.cached_as = Some(key);
        }
    }

    /// Records the layout of the last composed document, to be stored with its delivery.
    pub fn describe_delivery(&mut self, layout: &Arc<DocumentLayout>, caching: PrefixCaching) {
        let at_ms = self.now_ms();
        if let Some(pending) = &mut self.pending_delivery {
            pending.describe(at_ms, layout, caching);
        }
    }

    /// Records the delivery of the last composed document; must be called when its reader has it.
    pub fn confirm_delivery(&mut self) {
        if let Some(pending) = self.pending_delivery.take() {
            let caches = self.shared.as_deref().map(WorkspaceCache::documents);
            document::confirm_delivery(&mut self.cache, caches, pending);
        }
    }

    /// Discards the delivery of the last composed document, because nobody gets it.
    pub fn discard_delivery(&mut self) {
        self.pending_delivery = None;
    }

    /// Holds a document for clients that read parts of it, if this process is long-running. `settings` identifies the
    /// settings that it was composed with.
    pub fn open_document(
        &self,
        document: &Arc<CachedDocument>,
        caching: PrefixCaching,
        settings: String,
    ) -> OpenedDocument {
        // Another process holds nothing, but the document still gets an id.
        let nothing = OpenedDocuments::default();
        let opened = self.shared.as_deref().map_or(&nothing, |shared| &shared.documents().opened);
        opened.open(Arc::clone(document), caching, settings, self.now_ms())
    }

    /// Returns a document that a client has opened; `None` if it is no longer known.
    pub fn opened_document(&self, id: &str) -> Option<OpenedDocument> {
        self.shared.as_deref()?.documents().opened.get(id, self.now_ms())
    }

    /// Returns the last documents delivered under a name, newest first, and at most `count`.
    pub fn delivered_documents(&mut self, record: &RecordName, count: usize) -> Vec<DeliveredDocument> {
        let key = record.key();
        self.cache.query_store(|store| store.delivered_documents(&key, count)).unwrap_or_default()
    }

    /// Returns the names under which documents were delivered.
    pub fn delivered_names(&mut self) -> Vec<RecordName> {
        let keys = self.cache.query_store(Store::delivered_names).unwrap_or_default();
        keys.iter().map(|key| RecordName::from_key(key)).collect()
    }

    /// Returns the current state of the files in a document that was delivered at a time in milliseconds, by path.
    pub fn delivered_files(
        &mut self,
        record: &RecordName,
        at_ms: Option<i64>,
    ) -> Result<Vec<DeliveredFileStatus>, Error> {
        self.documents().delivered_files(record, at_ms.map(|at_ms| at_ms.saturating_mul(1_000_000)))
    }

    /// Returns what has changed in a file since a document was delivered; `None` if the document did not contain it.
    pub fn delivered_diff(
        &mut self,
        record: &RecordName,
        file: &str,
    ) -> Result<Option<DeliveredFileDiff>, Error> {
        self.documents().delivered_diff(record, file)
    }

    fn now_ms(&self) -> i64 {
        self.cache.workspace.world.clock.now_ms()
    }

    /// Places the files of the project, by the criteria with which a document for the request would select them.
    pub fn hydrate(&mut self, request: &HydrationRequest) -> Result<HydrationAnswer, Error> {
        self.documents().hydrate(request)
    }

    /// Returns the fragments as they were last placed, by name.
    pub fn fragments(&mut self) -> Result<Vec<Fragment>, Error> {
        document::fragments(&mut self.cache)
    }

    /// Returns the current text of fragments, by name, as a hydrated document for the request would show them. Files
    /// that no longer exist are left out.
    pub fn fragment_texts(
        &mut self,
        fragments: &[Fragment],
        request: &AggregationRequest,
    ) -> Result<BTreeMap<FragmentName, String>, Error> {
        self.documents().fragment_texts(fragments, request)
    }

    /// Pins fragments, so that they are HOT after the next hydration, or unpins them.
    pub fn pin(&mut self, named: NamedFragments<'_>, pin: Option<Pin>) -> Result<Vec<Fragment>, Error> {
        self.documents().pin(named, pin)
    }

    /// Forgets the places, pins and uses of fragments.
    pub fn forget(&mut self, named: NamedFragments<'_>) -> Result<Vec<Fragment>, Error> {
        self.documents().forget(named)
    }

    /// Returns a request with the places of files, if it is for a hydrated document.
    pub fn with_places(&mut self, request: AggregationRequest) -> Result<AggregationRequest, Error> {
        document::with_places(&mut self.cache, request)
    }

    /// Counts a delivery of all HOT files to an agent.
    pub fn count_uses(&mut self) -> Result<(), Error> {
        document::count_uses(&mut self.cache)
    }

    /// Explains why a file would be shown in its view.
    pub fn explain(&mut self, file: &str, request: &AggregationRequest) -> Result<Vec<Explanation>, Error> {
        self.documents().explain(file, request)
    }

    /// Returns the numbered outputs in a folder that slop recorded writing under a name.
    pub fn prior_outputs(&self, folder: &Path, name: &str) -> PriorOutputs {
        document::prior_outputs(&self.cache, folder, name)
    }

    /// Deletes the oldest prior outputs, so that `keep` remain, including the one just written; 0 keeps all. A file
    /// whose bytes differ from what slop wrote was edited by a person, and is not deleted.
    pub fn prune_outputs(&mut self, folder: &Path, prior: PriorOutputs, keep: u32) {
        document::prune_outputs(&mut self.cache, folder, prior, keep);
    }

    /// Writes a document to `{folder}/{name}_{NNN}.{extension}` and returns the path. The number is one higher than the
    /// highest existing one, has at least three digits, and is never shared with another document.
    pub fn write_numbered(
        &mut self,
        folder: &Path,
        name: &str,
        extension: &str,
        text: &DocumentText,
    ) -> Result<PathBuf, Error> {
        document::write_numbered(&mut self.cache, folder, name, extension, text)
    }

    /// Replaces a file with a document, atomically.
    pub fn write_file(&self, path: &Path, text: &DocumentText) -> Result<(), Error> {
        document::write_file(&self.cache.workspace, path, text)
    }
}

/// Summaries by models.
impl Project<'_> {
    /// Returns the summaries to ask a model for, after a scan of all files.
    ///
    /// Folders become ready when everything in them is summarized, so a caller that wants them too asks again after
    /// these tasks are done, until none is ready.
    pub fn summary_tasks(&mut self, policy: &SummaryPolicy) -> Result<SummaryTasks, Error> {
        summaries::summary_tasks(&mut self.cache, policy)
    }

    /// Returns the missing summaries, whether or not a model may be asked for them now, after a scan of all files.
    pub fn wanted_summaries(&mut self, policy: &SummaryPolicy) -> Result<Vec<WantedSummary>, Error> {
        summaries::wanted_summaries(&mut self.cache, policy)
    }

    /// Returns the subjects among the selected files and folders, summarized or not, by location.
    pub fn summary_subjects(
        &mut self,
        policy: &SummaryPolicy,
    ) -> Result<Vec<(SubjectLocation, SubjectKey)>, Error> {
        summaries::summary_subjects(&mut self.cache, policy)
    }

    /// Returns the prompt for the file or folder with that path, or for the project if it is the root. The file may
    /// have been written just now, and may have a summary already.
    pub fn preview(&mut self, path: &str, policy: &SummaryPolicy) -> Result<PromptPreview, Error> {
        summaries::preview(&mut self.cache, path, policy)
    }

    /// Returns why no model is asked about files that were named individually. Files that are to be summarized, or have
    /// summaries, are not included.
    pub fn skipped_files(
        &mut self,
        policy: &SummaryPolicy,
    ) -> Result<BTreeMap<RelPath, TaskSkipReason>, Error> {
        summaries::skipped_files(&mut self.cache, policy)
    }
}

/// The cache itself.
impl Project<'_> {
    /// Returns the path of the database of summaries by models; the file may not exist yet.
    pub fn agent_db_path(&self) -> PathBuf {
        self.cache.workspace.agent_db_path()
    }

    /// Salvages the database of summaries by models if it is damaged, and notes that. Must be called before tasks are
    /// listed: a reader repairs nothing, and a damaged file does not even show that nothing is known.
    pub fn salvage_agent_db(&mut self) -> Result<(), Error> {
        artifacts::salvage_agent_db(&mut self.cache)
    }

    /// Returns the size of the cache.
    pub fn cache_status(&mut self) -> Result<CacheStatus, Error> {
        artifacts::cache_status(&mut self.cache)
    }

    /// Empties the cache. Model summaries cost money to make again, so they are deleted only if `with_paid` is set.
    pub fn clear_cache(&mut self, with_paid: bool) -> Result<ClearedCache, Error> {
        artifacts::clear_cache(&mut self.cache, with_paid)
    }

    /// Deletes derived artifacts of these kinds, and model summaries if `with_paid` is set.
    pub fn clear_artifacts(
        &mut self,
        kinds: &[ArtifactKind],
        with_paid: bool,
    ) -> Result<ClearedCache, Error> {
        artifacts::clear_artifacts(&mut self.cache, kinds, with_paid)
    }

    /// Deletes cached data of the selected files: only model summaries if `paid_alone` is set, everything else if not.
    pub fn clear_files(&mut self, files: &[String], paid_alone: bool) -> Result<ClearedCache, Error> {
        artifacts::clear_files(&mut self.cache, files, paid_alone)
    }

    /// Checks every byte in the cache, and deletes damaged data.
    pub fn verify_cache(&mut self) -> Result<IntegrityReport, Error> {
        artifacts::verify_cache(&mut self.cache)
    }

    /// Deletes artifacts of contents that no file has had for `days`, and artifacts made by older versions of
    /// this program.
    pub fn collect_garbage(&mut self, days: u32) -> Result<ClearedCache, Error> {
        artifacts::collect_garbage(&mut self.cache, days)
    }

    /// Returns an error if one of the files, folders or patterns has no cached data.
    pub fn require_cached(&mut self, files: &[String]) -> Result<(), Error> {
        artifacts::require_cached(&mut self.cache, files)
    }

    /// Calls `each` with the cached data of the selected files after the path `after`, by path, until it breaks.
    /// Summaries of folders belong to no file and are left out.
    pub fn export_cache(
        &mut self,
        files: &[String],
        after: Option<&[u8]>,
        each: &mut dyn FnMut(ExportedArtifacts) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        artifacts::export_cache(&mut self.cache, files, after, each)
    }
}
