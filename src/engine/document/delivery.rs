//! What a reader has from earlier documents, and what is new to it.
//!
//! What a document shows of each file is remembered under the document's name. The next one of that name may then leave
//! out what the reader has already, and show diffs against it. What counts is what was wanted: a file that a budget has
//! made smaller is not new because there is more room now. But a change that there was no room for is shown again.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Mutex;

use super::cache::{DocumentCache, DocumentKey, ViewKey, lock, lock_documents, view_fingerprint};
use super::gather::{DraftDocument, ShownFile};
use super::render::Renderer;
use super::request::{AggregationRequest, DocumentHistory};
use crate::aggregate::{CandidateFile, FileStability};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::parallel::on_all_cores;
use crate::engine::workspace::{KnownFile, KnownState, Workspace};
use crate::model::{
    ContentHash, DocumentBlock, Omission, OmittedFile, RelPath, RoutingRule, SkipReason, SummaryDetail,
    SummaryProvenance, ViewMode,
};
use crate::store::{DeliveredFile, DeliveryUpdate};
use crate::{aggregate, discover, render};

/// So many bytes of texts are kept for one name. Beyond, it is noticed that a file has changed, and it is shown as if
/// it were new: the texts of a whole project in full would make the cache as large as the project, for each name.
const MOST_BYTES: usize = 32 << 20;
/// What a diff is against.
const BASE: &str = "the last aggregation";

#[derive(Clone)]
pub(super) struct ReaderState {
    history: DocumentHistory,
    delivered: HashMap<RelPath, DeliveredFile>,
    /// The views that were wanted without regard to limits and to what was given, with hashes of what they show.
    wanted: HashMap<RelPath, (ViewMode, ContentHash)>,
}

/// What is to be remembered as soon as the document was given.
pub(in crate::engine) struct PendingDelivery {
    pub(in crate::engine) name: String,
    update: DeliveryUpdate,
    /// The key of the cached document, if the document came from the cache or was put into it.
    pub(in crate::engine) cached_as: Option<DocumentKey>,
}

impl PendingDelivery {
    /// Returns the promise of a document that the reader has already.
    pub(super) const fn unchanged(name: String, key: DocumentKey) -> Self {
        let update = DeliveryUpdate { changed: Vec::new(), removed: Vec::new() };
        Self { name, update, cached_as: Some(key) }
    }
}

pub(in crate::engine) fn confirm_delivery(
    cache: &mut ArtifactCache<'_>,
    documents: Option<&Mutex<DocumentCache>>,
    pending: PendingDelivery,
) {
    let PendingDelivery { name, update, cached_as } = pending;
    let at_s = cache.workspace.world.clock.now_s();
    let tracker = cache.workspace.tracker.clone();
    // Held until the version is read below: with another delivery in between it would be the version of that one.
    let _alone = tracker.as_ref().map(|tracker| tracker.lock_writes());
    if let Some(store) = &mut cache.store
        && let Err(error) = store.record_delivery(&name, &update, at_s)
    {
        cache.workspace.note(format!("what was delivered is not remembered as `{name}`"));
        cache.recover(&error);
    }
    let version = cache.query_store(|store| store.delivery_version(&name)).flatten();
    if let (Some(documents), Some(version)) = (documents, version) {
        lock_documents(documents).record_delivered(name, cached_as.map(|key| (key, version)));
    }
}

/// Looks up what the reader has. Nothing is remembered of a document that shows no files.
pub(super) fn load_reader_state(
    renderer: &mut Renderer<'_, '_>,
    request: &AggregationRequest,
    files: &[ShownFile],
) -> Option<ReaderState> {
    let history = request.history.clone().filter(|_| request.sections.part.has_prefix())?;
    let rows = renderer.cache.query_store(|store| store.delivered_files(&history.name)).unwrap_or_default();
    let delivered = rows.into_iter().map(|row| (row.path.clone(), row)).collect();
    let kept = kept_fingerprints(renderer, files);
    let places: Vec<usize> = (0..files.len()).collect();
    let hashes = on_all_cores(&places, |at| {
        let block = &files[*at].candidate.block;
        kept[*at].unwrap_or_else(|| view_fingerprint(block.view, &block.body))
    });
    let views = files.iter().map(|shown| (shown.file.path.clone(), shown.candidate.block.view));
    let wanted = views.zip(hashes).map(|((path, view), hash)| (path, (view, hash))).collect();
    Some(ReaderState { history, delivered, wanted })
}

/// Returns the hashes that were made when the views were shown first.
fn kept_fingerprints(renderer: &Renderer<'_, '_>, files: &[ShownFile]) -> Vec<Option<ContentHash>> {
    let Some(views) = renderer.views else { return vec![None; files.len()] };
    let mut views = lock(views);
    let find = |shown: &ShownFile| {
        let block = &shown.candidate.block;
        let content = block.content?;
        let by_model = matches!(block.summary, Some(SummaryProvenance::Model { .. }));
        let chosen = renderer.summaries.of(&block.path, &content).filter(|_| by_model);
        let words = chosen.map(|chosen| chosen.summary.hash());
        let key = ViewKey::of(content, block.file_type.id, block.view, shown.detail, words)?;
        views.get(&key).map(|kept| kept.fingerprint)
    };
    files.iter().map(find).collect()
}

/// Leaves out what the reader has, if that is asked for, and shows what has changed as a diff.
pub(super) fn reduce_to_changes(
    cache: &mut ArtifactCache<'_>,
    draft: &mut DraftDocument,
    reader: &ReaderState,
) {
    let name = &reader.history.name;
    if !reader.history.since_last {
        return;
    }
    if reader.delivered.is_empty() {
        cache.workspace.note(format!(
            "no earlier aggregation named `{name}` is remembered, so that everything is shown"
        ));
        return;
    }
    draft.plan.since_last = true;
    add_removed_files(&cache.workspace, draft, reader);
    for mut shown in std::mem::take(&mut draft.files) {
        let path = &shown.file.path;
        let row = reader.delivered.get(path).filter(|_| !is_failed(&shown.candidate));
        let hash = reader.wanted.get(path).map(|(_, hash)| *hash);
        match row {
            // `wanted` matches a file that only a budget made smaller; `shown`, one that is now wanted just as its
            // reader has it.
            Some(row) if Some(row.wanted) == hash || Some(row.shown) == hash => {
                let reason = Omission::Unchanged;
                draft.remarks.omitted.push(OmittedFile { path: path.clone(), reason });
                continue;
            }
            Some(row) => replace_by_diff(cache, &mut shown, row, name),
            None => {}
        }
        draft.files.push(shown);
    }
    draft.remarks.omitted.sort_by(|a, b| a.path.cmp(&b.path));
}

/// Shows a file as what has changed since it was given, unless that takes more room than the file as it is.
fn replace_by_diff(cache: &mut ArtifactCache<'_>, shown: &mut ShownFile, row: &DeliveredFile, name: &str) {
    let block = &shown.candidate.block;
    // The texts of two different views have nothing in common that a diff could show.
    if row.view != block.view || !keeps_base_text(block.view) {
        return;
    }
    let text = cache.query_store(|store| store.delivered_text(name, &row.path)).flatten();
    let Some(old) = text else { return };
    let body = aggregate::render_diff(&row.path, Some(&old), Some(&block.body), BASE);
    let mut diff = DocumentBlock { view: ViewMode::Diff, body, ..block.clone() };
    let by = block.summary.as_ref().map_or("", SummaryProvenance::view_suffix);
    diff.remarks.push(format!("diff against {BASE}, of the view {}{by}", row.view));
    // Compared with their heads and fences, as they are written: that is the room they take.
    if render::block_text(block).len() <= render::block_text(&diff).len() {
        return;
    }
    let changed = format!("changed since the last aggregation named `{name}`");
    shown.candidate.reason = Some(match shown.candidate.reason.take() {
        Some(earlier) => format!("{changed}; {earlier}"),
        None => changed,
    });
    shown.full_block = Some(std::mem::replace(&mut shown.candidate.block, diff));
}

/// Shows the names of files that the reader has and that are not there any more.
fn add_removed_files(workspace: &Workspace<'_>, draft: &mut DraftDocument, reader: &ReaderState) {
    let has_text = |shown: &&ShownFile| matches!(shown.file.state, KnownState::Content { .. });
    let there: HashSet<&RelPath> =
        draft.files.iter().filter(has_text).map(|shown| &shown.file.path).collect();
    let is_gone = |path: &&RelPath| !there.contains(path) && is_gone(workspace, path);
    let gone: HashSet<RelPath> = reader.delivered.keys().filter(is_gone).cloned().collect();
    draft.files.retain(|shown| !gone.contains(&shown.file.path));
    draft.remarks.omitted.retain(|omitted| !gone.contains(&omitted.path));
    draft.files.extend(gone.into_iter().map(removed_file));
    draft.files.sort_by(|a, b| a.file.path.cmp(&b.file.path));
}

fn is_gone(workspace: &Workspace<'_>, path: &RelPath) -> bool {
    let absent =
        |error: io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    workspace.world.files.stat(path).is_err_and(absent)
}

impl ReaderState {
    /// Returns what is new about what the reader has, once it was given these files.
    pub(super) fn pending_delivery(&self, files: &[ShownFile]) -> PendingDelivery {
        let Self { history, delivered, wanted } = self;
        let mut update = DeliveryUpdate { changed: Vec::new(), removed: Vec::new() };
        let mut bytes = 0;
        let mut shown_paths: HashSet<&RelPath> = HashSet::new();
        for shown in files {
            let path = &shown.file.path;
            let known = delivered.get(path);
            let wanted = wanted.get(path).filter(|_| !is_failed(&shown.candidate));
            let Some((wanted_view, wanted)) = wanted else {
                // Forgotten, so that the file is shown in full when it can be read again.
                update.removed.extend(known.map(|row| row.path.clone()));
                continue;
            };
            shown_paths.insert(path);
            let block = shown.settled_block();
            let hash =
                if block.view == *wanted_view { *wanted } else { view_fingerprint(block.view, &block.body) };
            // Counted even if the row is not new: the text that was kept for it earlier takes room as well.
            bytes += block.body.len();
            if history.since_last && known.is_some() && block.view != *wanted_view {
                // There was no room for the change: it is shown when there is, against what the reader has.
                continue;
            }
            let row = DeliveredFile { path: path.clone(), view: block.view, shown: hash, wanted: *wanted };
            let is_kept = keeps_base_text(block.view) && bytes <= MOST_BYTES;
            if known != Some(&row) {
                update.changed.push((row, is_kept.then(|| block.body.clone())));
            }
        }
        // A document that shows everything is all that its reader has; one of changes adds to it.
        if !history.since_last {
            update.removed = delivered.keys().filter(|path| !shown_paths.contains(path)).cloned().collect();
        }
        update.removed.sort();
        PendingDelivery { name: history.name.clone(), update, cached_as: None }
    }
}

/// Returns whether an earlier text of the view is worth to be compared with a later one.
const fn keeps_base_text(view: ViewMode) -> bool {
    match view {
        // A diff is not what the reader has of the file, and a path has no text that could change.
        ViewMode::Diff | ViewMode::Names | ViewMode::Path | ViewMode::None => false,
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
fn is_failed(candidate: &CandidateFile) -> bool {
    let block = &candidate.block;
    block.content.is_none() && candidate.reason.is_some() && block.view != ViewMode::Path
}

fn removed_file(path: RelPath) -> ShownFile {
    let block = DocumentBlock {
        path: path.clone(),
        file_type: discover::unknown_type(),
        view: ViewMode::Path,
        content: None,
        remarks: vec![format!("gone since {BASE}")],
        body: String::new(),
        summary: None,
    };
    let candidate = CandidateFile {
        block,
        wanted: ViewMode::Path,
        rule: RoutingRule::Gone,
        reason: None,
        stability: FileStability::default(),
        request_position: usize::MAX,
        score: None,
        is_stable_part: false,
    };
    let state = KnownState::LeftOut(SkipReason::Vanished);
    ShownFile::new(KnownFile { path, tracked: false, state }, candidate, SummaryDetail::Words)
}
