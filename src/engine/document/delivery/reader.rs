//! What a reader has from earlier documents, and what is new.
//!
//! What a document shows of each file is recorded under the document's name, with the file's content. The next document
//! of that name may then leave out what the reader already has, and show only what has changed. A file that a limit has
//! reduced or left out does not become new because there is more room now; but a change that did not fit is shown
//! again. If the request differs from the last one of the name, the document has whatever it wants beyond what the
//! reader has.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use super::delta::{BASE, DeliveredVersion, delta_block, is_of_structure, renamed_block};
use super::known_views::{covers, with_earlier_views};
use crate::aggregate;
use crate::aggregate::{CandidateFile, FilePart, FileStability, SymbolsByName};
use crate::discover;
use crate::engine::artifacts::{
    ArtifactCache, ContentRef, TextVersions, has_lost_symbols, hide_in_earlier, save_symbol_hashes,
    stored_structure,
};
use crate::engine::document::cache::{DeliveredRows, DocumentCaches, DocumentKey};
use crate::engine::document::draft::{DraftDocument, ShownFile};
use crate::engine::document::packing::is_ranked;
use crate::engine::document::rendering::{Renderer, ViewKey, view_fingerprint};
use crate::engine::document::request::{AggregationRequest, CURATION_MARK, DocumentHistory};
use crate::engine::workspace::{KnownFile, KnownState, Workspace};
use crate::model::{
    ContentHash, DocumentBlock, DocumentLayout, FileDetails, Omission, OmittedFile, PrefixCaching, RelPath,
    RoutingRule, SkipReason, SummaryDetail, SummaryProvenance, ViewMode, lock, on_all_cores,
};
use crate::store::{DeliveredDocument, DeliveredFile, DeliveryUpdate, VersionChange};
use crate::sys::Files;

/// The maximum size of the texts that are kept for one name. Beyond it, a changed file is still noticed, but shown as
/// if it were new: the texts of a whole project in full would make the cache as large as the project, for each name.
const MAX_BYTES: usize = 32 << 20;

#[derive(Clone)]
pub(in crate::engine::document) struct ReaderState {
    history: DocumentHistory,
    delivered: Arc<DeliveredRows>,
    /// A hash of the request, and whether it differs from the last one.
    request: ContentHash,
    is_other_request: bool,
    /// Whether the document is about the whole project.
    is_whole: bool,
}

/// What is recorded once the document has been delivered.
pub(in crate::engine) struct PendingDelivery {
    /// The key of the record.
    record: String,
    /// Whether the document is complete by itself, rather than the changes since an earlier one.
    is_whole: bool,
    update: DeliveryUpdate,
    /// The files whose symbols are compared when they have changed.
    outlined: Vec<KnownFile>,
    /// The key of the cached document, if the document came from the cache or was put into it.
    pub(in crate::engine) cached_as: Option<DocumentKey>,
}

impl PendingDelivery {
    /// Returns the pending delivery of a document that the reader already has.
    pub(in crate::engine::document) const fn unchanged(record: String, key: DocumentKey) -> Self {
        let update =
            DeliveryUpdate { changed: Vec::new(), removed: Vec::new(), document: None, request: None };
        Self { record, is_whole: true, update, outlined: Vec::new(), cached_as: Some(key) }
    }

    /// Records what the document consists of. Changes since an earlier document follow that one in a prompt, and are
    /// not a document that a provider's cache would be asked for.
    pub(in crate::engine) fn describe(
        &mut self,
        at_ms: i64,
        layout: &Arc<DocumentLayout>,
        caching: PrefixCaching,
    ) {
        if self.is_whole {
            self.update.document = Some(DeliveredDocument { at_ms, layout: Arc::clone(layout), caching });
        }
    }
}

pub(in crate::engine) fn confirm_delivery(
    cache: &mut ArtifactCache<'_>,
    caches: Option<&DocumentCaches>,
    pending: PendingDelivery,
) {
    let PendingDelivery { record, update, outlined, cached_as, .. } = pending;
    save_symbol_hashes(cache, &outlined.iter().collect::<Vec<_>>());
    let at_s = cache.workspace.world.clock.now_s();
    let tracker = cache.workspace.tracker.clone();
    // Held until the version is read below: after a delivery in between, it would be the version of that one.
    let _alone = tracker.as_ref().map(|tracker| tracker.lock_writes());
    let recorded = cache.store.as_mut().map(|store| store.record_delivery(&record, &update, at_s));
    if let Some(Err(error)) = &recorded {
        let name = record.split(CURATION_MARK).next().unwrap_or_default();
        cache.workspace.note(format!("what was delivered is not remembered as `{name}`"));
        cache.recover(error);
    }
    let version = cache.query_store(|store| store.delivery_version(&record)).flatten();
    let (Some(caches), Some(version)) = (caches, version) else { return };
    if let Some(Ok(Some(VersionChange { before: Some(before), after }))) = recorded
        && let Some(rows) = caches.delivered.get(&(record.clone(), before))
    {
        caches.delivered.insert((record.clone(), after), &Arc::new(updated(&rows, &update)));
    }
    lock(&caches.documents).record_delivered(record, cached_as.map(|key| (key, version)));
}

/// Returns the rows of a delivery after an update.
fn updated(rows: &DeliveredRows, update: &DeliveryUpdate) -> DeliveredRows {
    let mut rows = rows.clone();
    rows.extend(update.changed.iter().map(|(row, _)| (row.path.clone(), row.clone())));
    for path in &update.removed {
        rows.remove(path);
    }
    rows
}

/// Loads what the reader has. Documents that show no files are not recorded.
pub(in crate::engine::document) fn load_reader_state(
    renderer: &mut Renderer<'_, '_>,
    caches: Option<&DocumentCaches>,
    request: &AggregationRequest,
) -> Option<ReaderState> {
    let history = request.history.clone().filter(|_| request.sections.part.has_prefix())?;
    let record = history.record_key();
    let delivered = load_delivered(renderer.cache, caches, &record);
    let is_whole = request.is_whole();
    let request = request.choice_hash();
    let last = renderer.cache.query_store(|store| store.delivered_request(&record)).flatten();
    let is_other_request = last.is_some_and(|last| last != request);
    Some(ReaderState { history, delivered, request, is_other_request, is_whole })
}

/// Returns what was delivered under a name, from memory if the store still has that version.
fn load_delivered(
    cache: &mut ArtifactCache<'_>,
    caches: Option<&DocumentCaches>,
    record: &str,
) -> Arc<DeliveredRows> {
    // Read before the rows: if another process delivers in between, these belong to a version that is never asked for.
    let version = cache.query_store(|store| store.delivery_version(record)).flatten();
    let kept = caches.filter(|_| !cache.workspace.paranoid).zip(version);
    let kept = kept.map(|(caches, version)| (&caches.delivered, (record.to_owned(), version)));
    if let Some(rows) = kept.as_ref().and_then(|(last, key)| last.get(key)) {
        return rows;
    }
    let rows = cache.query_store(|store| store.delivered_files(record)).unwrap_or_default();
    let rows: Arc<DeliveredRows> = Arc::new(rows.into_iter().map(|row| (row.path.clone(), row)).collect());
    if let Some((last, key)) = kept {
        last.insert(key, &rows);
    }
    rows
}

/// Returns hashes of what is shown of the files, for comparison with what the reader has.
pub(in crate::engine::document) fn shown_fingerprints(
    renderer: &Renderer<'_, '_>,
    files: &[ShownFile],
) -> Vec<ContentHash> {
    let kept = kept_fingerprints(renderer, files);
    let places: Vec<usize> = (0..files.len()).collect();
    on_all_cores(&places, |at| {
        let block = files[*at].settled_block();
        kept[*at].unwrap_or_else(|| view_fingerprint(block.view, &block.body.text()))
    })
}

/// Returns the hashes that were computed when the views were first shown.
fn kept_fingerprints(renderer: &Renderer<'_, '_>, files: &[ShownFile]) -> Vec<Option<ContentHash>> {
    let Some(caches) = renderer.caches else { return vec![None; files.len()] };
    let find = |shown: &ShownFile| {
        let block = shown.settled_block();
        let content = block.content?;
        let by_model = matches!(block.summary, Some(SummaryProvenance::Model { .. }));
        let chosen = renderer.summaries.get(&block.path, &content).filter(|_| by_model);
        let words = chosen.map(|chosen| chosen.summary.hash());
        let key = ViewKey::new(content, block.file_type.id, block.view, shown.detail, renderer.docs, words)?;
        // In a document with a limit, a summary may have signatures that the cached view does not have.
        let kept = caches.views.get(&key).filter(|kept| block.body.is_shared_with(&kept.body))?;
        Some(kept.fingerprint)
    };
    files.iter().map(find).collect()
}

/// If requested, leaves out what the reader already has, and shows only the changes of the rest. Files that a limit
/// decides on have no view yet; `wanted_block` renders the wanted one.
pub(in crate::engine::document) fn reduce_to_changes(
    renderer: &mut Renderer<'_, '_>,
    draft: &mut DraftDocument,
    reader: &ReaderState,
    wanted_block: &mut dyn FnMut(&mut Renderer<'_, '_>, &ShownFile) -> DocumentBlock,
) {
    let name = &reader.history.name;
    if !reader.history.since_last {
        return;
    }
    if reader.delivered.is_empty() {
        renderer
            .cache
            .workspace
            .note(format!("no earlier document named `{name}` is recorded, so everything is shown"));
        return;
    }
    draft.plan.since_last = true;
    let gone = add_removed_files(&renderer.cache.workspace, draft, reader);
    let files = std::mem::take(&mut draft.files);
    let fingerprints = shown_fingerprints(renderer, &files);
    for (mut shown, hash) in files.into_iter().zip(fingerprints) {
        let is_undecided = draft.remarks.limits.is_some() && is_ranked(&shown.candidate);
        // That a file is gone is news, however it was shown.
        let is_compared = !is_failed(&shown.candidate) && shown.candidate.rule != RoutingRule::Gone;
        let row = reader.delivered.get(&shown.file.path).filter(|_| is_compared);
        let Some(row) = row else {
            let content = shown.candidate.block.content;
            if let Some(row) = content.and_then(|content| gone.get(&content)).filter(|_| !is_undecided) {
                show_as_renamed(&mut shown, row, name);
            }
            draft.files.push(shown);
            continue;
        };
        if is_known(row, &shown, hash, is_undecided) {
            // It is compared once it is decided how the file is shown.
            if reader.is_other_request {
                draft.files.push(shown);
                continue;
            }
            let reason = Omission::Unchanged;
            let details = shown.file.details();
            draft.remarks.omitted.push(OmittedFile { path: shown.file.path, details, reason });
            continue;
        }
        let settled = if is_undecided {
            delivered_view(renderer, &shown, row, wanted_block)
        } else {
            Some(shown.candidate.block.clone())
        };
        // Two different views cannot be compared.
        if let Some(settled) = settled.filter(|settled| settled.view == row.view) {
            let candidate = shown.candidate.clone();
            replace_by_delta(renderer, &mut shown, row, settled, reader);
            let may_show_more = reader.is_other_request && is_undecided && row.view != ViewMode::Full;
            let is_delta = shown.candidate.block.view == ViewMode::Delta;
            shown.unreduced = (may_show_more && is_delta).then(|| Box::new(candidate));
        }
        draft.files.push(shown);
    }
    draft.remarks.omitted.sort_by(|a, b| a.path.cmp(&b.path));
    draft.plan.is_unchanged = draft.files.is_empty();
}

/// Returns whether the reader has what would be shown. `hash` is that of the view, unless a limit decides on the view.
fn is_known(row: &DeliveredFile, shown: &ShownFile, hash: ContentHash, is_undecided: bool) -> bool {
    let is_same_content = Some(row.wanted) == shown.candidate.block.content;
    // The view may differ even so, for example by a model's new summary. A larger view because there is more room does
    // not count.
    let is_reduced = matches!(row.view, ViewMode::Excerpt | ViewMode::Names | ViewMode::Path);
    let is_same_view = row.shown == hash && !is_undecided && (is_same_content || !is_of_structure(row.view));
    let is_covered = covers(row.view, &shown.candidate.block);
    is_same_view || is_same_content && (is_undecided || is_reduced || is_covered)
}

/// Returns a file that a limit decides on in the view that the reader has; `None` if there is nothing to compare.
fn delivered_view(
    renderer: &mut Renderer<'_, '_>,
    shown: &ShownFile,
    row: &DeliveredFile,
    wanted_block: &mut dyn FnMut(&mut Renderer<'_, '_>, &ShownFile) -> DocumentBlock,
) -> Option<DocumentBlock> {
    if row.view == shown.candidate.wanted && keeps_base_text(row.view) {
        return Some(wanted_block(renderer, shown));
    }
    let block = &shown.candidate.block;
    let body = match row.view {
        ViewMode::Full => {
            let read = renderer.cache.workspace.read_text(&row.path).ok();
            read.filter(|(hash, _)| Some(*hash) == block.content)?.1
        }
        // What these views show depends on the limit; the symbols are compared instead.
        view if is_of_structure(view) => String::new(),
        ViewMode::Path => String::new(),
        _ => return None,
    };
    Some(DocumentBlock { view: row.view, body: body.into(), ..block.clone() })
}

/// Shows a file as the changes since its delivery, unless that is larger than the file as it is.
fn replace_by_delta(
    renderer: &mut Renderer<'_, '_>,
    shown: &mut ShownFile,
    row: &DeliveredFile,
    settled: DocumentBlock,
    reader: &ReaderState,
) {
    let Some(subject) = ContentRef::from_file(&shown.file) else { return };
    // The file may have been read again, with another content than was listed.
    if settled.content != Some(subject.hash) {
        return;
    }
    let text = reader.given_text(renderer, &row.path);
    let text = text.map(|text| aggregate::split_shown(&text).0.to_owned());
    if shows_hidden(renderer.cache, &subject, row, text.as_deref(), &settled) {
        return;
    }
    let delivered = DeliveredVersion { row, text };
    if let Some(delta) = delta_block(renderer, &subject, &delivered, &settled) {
        let changed = format!("changed since the last aggregation named `{}`", reader.history.name);
        show_as_delta(shown, delta, settled, changed);
    }
}

/// Returns whether a comparison might reveal something that is hidden now, but was not hidden, or had another name or
/// place, at the delivery.
fn shows_hidden(
    cache: &mut ArtifactCache<'_>,
    subject: &ContentRef<'_>,
    row: &DeliveredFile,
    text: Option<&str>,
    settled: &DocumentBlock,
) -> bool {
    if cache.workspace.hidden.keys.is_empty() {
        return false;
    }
    let hidden = cache.workspace.hidden.get(subject.path).cloned();
    let is_compared_by_structure = is_of_structure(settled.view) || settled.view == ViewMode::Path;
    if hidden.is_some() && is_compared_by_structure {
        return true;
    }
    if let (Some(hidden), Some(text)) = (&hidden, text)
        && !hidden.hides_nothing()
        && has_lost_symbols(&cache.workspace, subject.path, text, hidden, subject.file_type)
    {
        return true;
    }
    let text_shows = text.is_some_and(|text| {
        let mask = hidden.as_ref().map(|hidden| hidden.mask.as_slice()).unwrap_or_default();
        let now = settled.body.text();
        let versions = TextVersions { old: text.to_owned(), new: Some(&*now) };
        hide_in_earlier(&cache.workspace, subject.path, versions, mask, subject.file_type).text != text
    });
    if text_shows || !is_compared_by_structure {
        return text_shows;
    }
    let Some(old) = stored_structure(cache, &row.wanted, subject.file_type) else { return false };
    let new = cache.outline(subject);
    let old = SymbolsByName::new(&old.outline);
    let new = new.as_ref().map(SymbolsByName::new).unwrap_or_default();
    cache.workspace.hidden.keys.iter().any(|key| new.has_lost(&old, key))
}

fn show_as_renamed(shown: &mut ShownFile, row: &DeliveredFile, name: &str) {
    let settled = shown.candidate.block.clone();
    if row.view == settled.view {
        let delta = renamed_block(&settled, &row.path);
        let renamed = format!("renamed since the last aggregation named `{name}`");
        show_as_delta(shown, delta, settled, renamed);
    }
}

fn show_as_delta(shown: &mut ShownFile, delta: DocumentBlock, settled: DocumentBlock, reason: String) {
    shown.candidate.reason = Some(match shown.candidate.reason.take() {
        Some(earlier) => format!("{reason}; {earlier}"),
        None => reason,
    });
    shown.candidate.block = delta;
    shown.full_block = Some(Box::new(settled));
}

/// Lists the files that the reader has and that no longer exist or are no longer shown. Returns them by their contents.
fn add_removed_files<'r>(
    workspace: &Workspace<'_>,
    draft: &mut DraftDocument,
    reader: &'r ReaderState,
) -> HashMap<ContentHash, &'r DeliveredFile> {
    let has_text = |shown: &&ShownFile| matches!(shown.file.state, KnownState::Content { .. });
    let there: HashSet<&RelPath> =
        draft.files.iter().filter(has_text).map(|shown| &shown.file.path).collect();
    // The file exists, but is not shown any more: it is no longer text, or too large.
    let left_out = draft.remarks.omitted.iter().filter_map(|omitted| match omitted.reason {
        Omission::LeftOut(reason) if !reason.is_error() => Some((&omitted.path, reason)),
        _ => None,
    });
    let left_out: HashMap<&RelPath, SkipReason> = left_out.collect();
    let omitted = draft.remarks.omitted.iter().map(|omitted| &omitted.path);
    let listed: HashSet<&RelPath> = draft.files.iter().map(|shown| &shown.file.path).chain(omitted).collect();
    let reason_of = |path: &RelPath| {
        if !there.contains(path) && is_gone(workspace, path) {
            return Some(SkipReason::Vanished);
        }
        let is_unlisted = reader.is_whole && !listed.contains(path);
        if is_unlisted { Some(SkipReason::Unlisted) } else { left_out.get(path).copied() }
    };
    let gone = reader.delivered.keys().filter_map(|path| Some((path.clone(), reason_of(path)?)));
    let gone: HashMap<RelPath, SkipReason> = gone.collect();
    draft.files.retain(|shown| !gone.contains_key(&shown.file.path));
    draft.remarks.omitted.retain(|omitted| !gone.contains_key(&omitted.path));
    draft.files.extend(gone.iter().map(|(path, reason)| removed_file(path.clone(), *reason)));
    draft.files.sort_by(|a, b| a.file.path.cmp(&b.file.path));
    let mut rows: Vec<&DeliveredFile> =
        reader.delivered.values().filter(|row| gone.contains_key(&row.path)).collect();
    rows.sort_by(|a, b| b.path.cmp(&a.path));
    rows.into_iter().map(|row| (row.wanted, row)).collect()
}

fn is_gone(workspace: &Workspace<'_>, path: &RelPath) -> bool {
    let absent =
        |error: io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    workspace.files.stat(path).is_err_and(absent)
}

impl ReaderState {
    /// Returns whether what the reader has may be less than what is requested now.
    pub(in crate::engine::document) fn wants_more(&self) -> bool {
        self.history.since_last && self.is_other_request && !self.delivered.is_empty()
    }

    /// Returns what the reader has of a file.
    pub(in crate::engine::document) fn row(&self, path: &RelPath) -> Option<&DeliveredFile> {
        self.delivered.get(path)
    }

    /// Returns what the reader has of a file whose content is the same.
    pub(super) fn unchanged_row(&self, block: &DocumentBlock) -> Option<&DeliveredFile> {
        self.row(&block.path).filter(|row| block.content == Some(row.wanted))
    }

    /// Returns the text that the reader has of a file, if it was kept.
    pub(super) fn given_text(&self, renderer: &mut Renderer<'_, '_>, path: &RelPath) -> Option<String> {
        let record = self.history.record_key();
        renderer.cache.query_store(|store| store.delivered_text(&record, path)).flatten()
    }

    /// Returns the lines of a file that the reader has seen, if they were kept.
    pub(super) fn seen_text(&self, renderer: &mut Renderer<'_, '_>, path: &RelPath) -> Option<String> {
        self.given_text(renderer, path).map(|text| aggregate::seen_lines(&text).to_owned())
    }

    /// Returns whether the reader lacks lines of the recorded view, because a delta only named what had changed.
    pub(super) fn lacks_lines(&self, renderer: &mut Renderer<'_, '_>, path: &RelPath) -> bool {
        self.given_text(renderer, path).is_some_and(|text| aggregate::lacks_lines(&text))
    }

    /// Returns whether changes of the file must be shown, because the reader has something of it.
    pub(in crate::engine::document) fn follows(&self, path: &RelPath) -> bool {
        self.history.since_last && self.delivered.contains_key(path)
    }

    /// Returns the update of the reader's record for the delivery of this draft. `fingerprints` are those of its files.
    pub(in crate::engine::document) fn pending_delivery(
        &self,
        renderer: &mut Renderer<'_, '_>,
        draft: &DraftDocument,
        fingerprints: &[ContentHash],
        known: &HashMap<RelPath, KnownFile>,
    ) -> PendingDelivery {
        let Self { history, delivered, request, is_other_request, .. } = self;
        // The first document of a name is whole, even if only changes were requested.
        let adds_changes = draft.plan.since_last;
        let request = Some(*request);
        let mut update = DeliveryUpdate { changed: Vec::new(), removed: Vec::new(), document: None, request };
        let mut bytes = 0;
        let mut known_paths: HashSet<&RelPath> = HashSet::new();
        let mut outlined = Vec::new();
        for (shown, hash) in draft.files.iter().zip(fingerprints) {
            let path = &shown.file.path;
            let block = shown.settled_block();
            let Some(content) = block.content.filter(|_| !is_failed(&shown.candidate)) else { continue };
            known_paths.insert(path);
            // Counted even if the row is not new: the text that was kept for it earlier takes space too.
            bytes += block.body.len();
            let row = DeliveredFile { path: path.clone(), view: block.view, shown: *hash, wanted: content };
            let is_kept = keeps_base_text(block.view) && bytes <= MAX_BYTES;
            // The texts of a document that shows everything replace those accumulated so far.
            let is_reset = *is_other_request && !adds_changes;
            let is_new = is_reset || delivered.get(path) != Some(&row);
            if is_new && (is_of_structure(block.view) || block.view == ViewMode::Path) {
                outlined.push(shown.file.clone());
            }
            if is_new {
                let text = is_kept.then(|| block.body.text().into_owned());
                let is_delta = shown.candidate.block.view == ViewMode::Delta && delivered.contains_key(path);
                update.changed.push(match text {
                    Some(text) if is_delta && !text.is_empty() => {
                        let kept = self.given_text(renderer, path).unwrap_or_default();
                        let delta = shown.candidate.block.body.text();
                        (row, Some(aggregate::after_delta(&kept, &delta, &text)))
                    }
                    Some(text) if adds_changes => with_earlier_views(renderer, self, row, text),
                    text => (row, text),
                });
            }
        }
        // A file that is only named, or not even that, is not new later; but a change of what the reader has is.
        let named = draft.listed.iter().map(|listed| &listed.file);
        let (view, shown) = (ViewMode::Path, view_fingerprint(ViewMode::Path, ""));
        for candidate in named.chain(draft.dropped.iter().map(|shown| &shown.candidate)) {
            let block = &candidate.block;
            let Some(content) = block.content else { continue };
            known_paths.insert(&block.path);
            // There was no room for its change, or for a new file; there may be when the same is requested again.
            if adds_changes && (!is_other_request || delivered.contains_key(&block.path)) {
                continue;
            }
            let row = DeliveredFile { path: block.path.clone(), view, shown, wanted: content };
            let is_new = delivered.get(&block.path) != Some(&row);
            let named = known.get(&block.path).filter(|_| is_new && block.view == ViewMode::Names);
            outlined.extend(named.cloned());
            update.changed.extend(is_new.then_some((row, None)));
        }
        // Removed, so that a file is shown in full once it can be read again. A document that shows everything is all
        // that its reader has; one of changes adds to it.
        let is_gone = |shown: &&ShownFile| !known_paths.contains(&shown.file.path);
        let failed: HashSet<&RelPath> =
            draft.files.iter().filter(is_gone).map(|shown| &shown.file.path).collect();
        let is_removed =
            |path: &&RelPath| failed.contains(*path) || !adds_changes && !known_paths.contains(*path);
        update.removed = delivered.keys().filter(is_removed).cloned().collect();
        update.removed.sort();
        let (record, is_whole) = (history.record_key(), !adds_changes);
        PendingDelivery { record, is_whole, update, outlined, cached_as: None }
    }
}

/// Returns whether an earlier text of the view is worth comparing with a later one.
const fn keeps_base_text(view: ViewMode) -> bool {
    match view {
        // Changes are not what the reader has of the file, and a path has no text that could change.
        ViewMode::Diff | ViewMode::Delta | ViewMode::Names | ViewMode::Path | ViewMode::None => false,
        ViewMode::Full
        | ViewMode::Skeleton
        | ViewMode::Outline
        | ViewMode::Summary
        | ViewMode::Window
        | ViewMode::Masked
        | ViewMode::Custom
        | ViewMode::Signatures
        | ViewMode::Definitions
        | ViewMode::Excerpt => true,
    }
}

/// Returns whether an error is shown in place of the file; that is repeated each time.
pub(super) fn is_failed(candidate: &CandidateFile) -> bool {
    let block = &candidate.block;
    block.content.is_none() && candidate.reason.is_some() && block.view != ViewMode::Path
}

fn removed_file(path: RelPath, reason: SkipReason) -> ShownFile {
    let remark = match reason {
        SkipReason::Vanished => format!("gone since {BASE}"),
        _ => format!("left out since {BASE}: {}", reason.description()),
    };
    let block = DocumentBlock {
        path: path.clone(),
        file_type: discover::unknown_type(),
        view: ViewMode::Path,
        content: None,
        remarks: vec![remark],
        body: String::new().into(),
        summary: None,
    };
    let candidate = CandidateFile {
        block,
        details: FileDetails::default(),
        wanted: ViewMode::Path,
        rule: RoutingRule::Gone,
        reason: None,
        fault: None,
        stability: FileStability::default(),
        request_position: usize::MAX,
        score: None,
        part: FilePart::default(),
    };
    let state = KnownState::LeftOut(reason);
    let file = KnownFile { path, tracked: false, state, stamp: None };
    ShownFile::new(file, candidate, SummaryDetail::Words)
}
