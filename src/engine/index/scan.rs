//! Scans the project: determines the current state of each listed file.
//!
//! Unchanged files are not read. Contents that were seen before, under any name, are read but not parsed. Known files
//! are stat'ed while git lists the files, because neither needs the other.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use rustc_hash::FxHashSet;

use super::examine::{ExaminedFile, ReadOutcome, examiner, reason_not_to_read};
use super::scope::SnapshotScope;
use super::snapshot::{ProjectSnapshot, count_missed, report_stamp_mismatch, take_snapshot};
use crate::aggregate::Selector;
use crate::discover;
use crate::discover::{DiscoveredFile, HeaderNeighbors};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::options::IndexReport;
use crate::engine::workspace::{
    FileRows, HashedText, KnownFile, KnownState, TreeSnapshot, Workspace, is_racy, window_ns,
};
use crate::model::{ContentHash, FileStamp, RelPath, SkipReason};
use crate::store::{FileRow, StoredFileState, WriteBatch};

/// The maximum size of a transaction: files, and bytes of derived data.
const BATCH_FILES: usize = 500;
const BATCH_BYTES: u64 = 4 << 20;
/// The number of batches that may wait for the writer; more would only take memory.
const RESULTS_WAITING: usize = 2;
/// How long a scan may wait for recently written files to settle.
const MAX_REST_NS: i64 = 200_000_000;

/// Whether stamps may save a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// A file whose stamp is unchanged and settled is not read.
    Stamps,
    /// Every file is read and hashed.
    Nothing,
}

pub(in crate::engine) struct ScanRequest<'a> {
    pub(in crate::engine) trust: Trust,
    /// The files to scan; empty for all.
    pub(in crate::engine) scope: &'a [Selector],
    /// Whether a file's text will be needed, so that it is kept if the file is read anyway.
    pub(in crate::engine) keeps_text: &'a (dyn Fn(&RelPath) -> bool + Sync),
    /// Which contents, by hash and file type, will be needed in the result. Files that had to be read are included in
    /// any case.
    pub(in crate::engine) keeps_known: &'a dyn Fn(&ContentHash, &'static str) -> bool,
    /// Whether recently written files are read once more when they have settled.
    pub(in crate::engine) settles: bool,
}

impl ScanRequest<'_> {
    /// All files, reading those whose stamps have changed.
    pub(in crate::engine) const BY_STAMPS: ScanRequest<'static> = ScanRequest {
        trust: Trust::Stamps,
        scope: &[],
        keeps_text: &|_| false,
        keeps_known: &|_, _| true,
        settles: false,
    };
}

#[derive(Default)]
pub(in crate::engine) struct ScanResult {
    /// By path: all files, or those that had to be read or are left out.
    pub(in crate::engine) files: Vec<KnownFile>,
    pub(in crate::engine) texts: HashMap<RelPath, HashedText>,
    pub(in crate::engine) report: IndexReport,
    /// A hash of the rules by which the files were listed, if the rule files have settled.
    pub(in crate::engine) rules: Option<ContentHash>,
}

/// What a file's stamp implies for its stored row.
pub(super) enum RowCheck<'s> {
    /// The row is current, unless a header's neighbors have changed its type.
    Unchanged(&'s Arc<FileRow>),
    Read,
    /// There is nothing to read.
    LeftOut(SkipReason),
}

/// What a file's stamp implies.
pub(super) enum StampCheck {
    Unchanged(KnownState),
    Read,
    /// There is nothing to read.
    LeftOut(SkipReason),
}

pub(in crate::engine) fn index(cache: &mut ArtifactCache<'_>, trust: Trust) -> Result<IndexReport, Error> {
    let request = ScanRequest { trust, keeps_known: &|_, _| false, settles: true, ..ScanRequest::BY_STAMPS };
    let report = scan(cache, &request)?.report;
    cache.delete_lost_worktrees();
    cache.release_memory();
    Ok(report)
}

/// Updates the state of the project's files.
pub(in crate::engine) fn scan(
    cache: &mut ArtifactCache<'_>,
    request: &ScanRequest<'_>,
) -> Result<ScanResult, Error> {
    let is_selected = |path: &RelPath| request.scope.iter().any(|word| word.selects(path));
    let scope =
        if request.scope.is_empty() { SnapshotScope::All } else { SnapshotScope::Matching(&is_selected) };
    let snapshot = take_snapshot(cache, &scope)?;
    let scan = scan_places(cache, &snapshot.places, request, &snapshot)?;
    if request.scope.is_empty() {
        mark_scanned_all(cache, &snapshot);
    }
    cache.workspace.log.record_scan(scan.report.clone());
    Ok(scan)
}

/// Records that every file was scanned.
pub(super) fn mark_scanned_all(cache: &mut ArtifactCache<'_>, snapshot: &ProjectSnapshot) {
    if !snapshot.is_current {
        cache.remember_producers();
    }
    if let (Some(tree), Some(began)) = (&cache.workspace.tracker, &snapshot.tree) {
        tree.mark_scanned_all(began);
    }
}

/// Updates the state of the listed files at these indices.
pub(super) fn scan_places(
    cache: &mut ArtifactCache<'_>,
    places: &[usize],
    request: &ScanRequest<'_>,
    snapshot: &ProjectSnapshot,
) -> Result<ScanResult, Error> {
    let began = cache.workspace.world.clock.monotonic();
    let rules = snapshot.listed.history_key();
    let mut scan = ScanResult { rules, ..ScanResult::default() };
    let (to_read, kept) = check_places(cache, places, request, snapshot, &mut scan);
    count_missed(cache, &to_read, snapshot);
    // A scan of some files says nothing about the rows of the others.
    let is_all = places.len() == snapshot.files().len() && request.scope.is_empty();
    let removed = if is_all { kept.removed(&snapshot.rows) } else { Vec::new() };
    scan.report.removed = removed.len() as u64;
    let young = read_all(cache, &to_read, removed, snapshot, request, &mut scan);
    // Before anything is marked as read: after a cancellation, some files were not.
    cache.workspace.check_cancelled()?;
    if request.settles {
        reread_young(cache, &young, snapshot, request);
    }
    if !to_read.is_empty() {
        scan.files.sort_by(|a, b| a.path.cmp(&b.path));
    }
    scan.finish_counts(cache.workspace.world.clock.monotonic().saturating_sub(began));
    let unstable = scan.report.left_out.get(&SkipReason::Unstable).copied();
    cache.workspace.log.count_unstable(unstable.unwrap_or_default());
    Ok(scan)
}

/// The files whose rows are kept.
#[derive(Default)]
struct KeptRows<'s> {
    paths: Vec<&'s RelPath>,
    /// How many of them have a row.
    rows: usize,
}

impl<'s> KeptRows<'s> {
    fn keep(&mut self, path: &'s RelPath, has_row: bool) {
        self.paths.push(path);
        self.rows += usize::from(has_row);
    }

    /// Returns the known files that are no longer listed, or have become something that is not read.
    fn removed(&self, rows: &FileRows) -> Vec<RelPath> {
        // The usual case: nothing was removed, and each path is listed once.
        if self.rows == rows.len() {
            return Vec::new();
        }
        let kept: FxHashSet<&RelPath> = self.paths.iter().copied().collect();
        let mut removed: Vec<RelPath> = rows.keys().filter(|path| !kept.contains(path)).cloned().collect();
        removed.sort();
        removed
    }
}

/// Compares the stamps of the listed files at these indices, and adds those that need not be read to the result.
/// Returns the files to read, and all whose rows are kept.
fn check_places<'s>(
    cache: &ArtifactCache<'_>,
    places: &[usize],
    request: &ScanRequest<'_>,
    snapshot: &'s ProjectSnapshot,
    scan: &mut ScanResult,
) -> (Vec<RelPath>, KeptRows<'s>) {
    let (mut to_read, mut kept) = (Vec::new(), KeptRows::default());
    // Usually all or none of the files are added.
    kept.paths.reserve(places.len());
    scan.files.reserve(places.len());
    for at in places {
        let found = &snapshot.files()[*at];
        // A stamp of a file that is left out by its name may or may not be present, depending on how the listing was
        // made; it is not used.
        let stat = snapshot.stat(*at).filter(|_| found.skip_reason.is_none());
        let stamp = stat.map(|stat| stat.stamp);
        match check_stamp(&cache.workspace, *at, snapshot, request.trust) {
            StampCheck::Read => {
                kept.keep(&found.path, snapshot.rows.contains_key(&found.path));
                to_read.push(found.path.clone());
            }
            StampCheck::Unchanged(state) => {
                kept.keep(&found.path, true);
                let is_kept = match &state {
                    KnownState::Content { hash, file_type, .. } => (request.keeps_known)(hash, file_type.id),
                    KnownState::LeftOut(_) => true,
                };
                scan.add_known(found, state, stamp, is_kept);
            }
            StampCheck::LeftOut(reason) => {
                // Another row belongs to an earlier file of that name, unless it gives the same reason.
                let row = snapshot.rows.get(&found.path);
                if row.is_some_and(|row| row.state == StoredFileState::LeftOut(reason))
                    // Data about a folder that does not exist now is kept, so that it need not be derived again when it
                    // is back.
                    || reason == SkipReason::ResourceGone
                {
                    kept.keep(&found.path, row.is_some());
                }
                scan.add_known(found, KnownState::LeftOut(reason), stamp, true);
            }
        }
    }
    (to_read, kept)
}

/// Returns the state of a file as far as it is known without reading it.
pub(super) fn check_stamp(
    workspace: &Workspace<'_>,
    at: usize,
    snapshot: &ProjectSnapshot,
    trust: Trust,
) -> StampCheck {
    match check_row(workspace, at, snapshot, trust) {
        RowCheck::LeftOut(reason) => StampCheck::LeftOut(reason),
        RowCheck::Read => StampCheck::Read,
        RowCheck::Unchanged(row) => state_from_row(row, Some(&snapshot.listed.neighbors))
            .map_or(StampCheck::Read, StampCheck::Unchanged),
    }
}

/// Returns the stored row of a file, if its stamp shows that it need not be read.
pub(super) fn check_row<'s>(
    workspace: &Workspace<'_>,
    at: usize,
    snapshot: &'s ProjectSnapshot,
    trust: Trust,
) -> RowCheck<'s> {
    let found = &snapshot.files()[at];
    if let Some(reason) = found.skip_reason {
        return RowCheck::LeftOut(reason);
    }
    let Some(stat) = snapshot.stat(at) else { return RowCheck::Read };
    let is_dirty = snapshot.is_dirty(&found.path);
    let unread = reason_not_to_read(&stat, workspace.options.structure_max_bytes);
    let row = match (snapshot.rows.get(&found.path), unread) {
        (Some(row), None) => row,
        // Otherwise, each answer would try to read a link again, and write that there is no row.
        (None, Some(reason)) if !is_dirty => return RowCheck::LeftOut(reason),
        // The attempt deletes the existing row: it belongs to an earlier file of that name, or the limit was higher
        // then.
        (_, _) => return RowCheck::Read,
    };
    let is_same = row.stamp == Some(stat.stamp) && !is_racy(&stat.stamp, row.read_at_ns);
    let is_doubted = workspace.paranoid || is_dirty || trust == Trust::Nothing;
    if is_doubted || !is_same || !snapshot.is_current { RowCheck::Read } else { RowCheck::Unchanged(row) }
}

/// Rows and artifacts that are written in one transaction.
pub(super) struct PendingRows {
    pub(super) batch: WriteBatch,
    /// The size of the files that were read.
    bytes: u64,
}

impl PendingRows {
    pub(super) fn new(cache: &ArtifactCache<'_>) -> Self {
        Self { batch: cache.new_batch(), bytes: 0 }
    }

    /// Writes the batch once it is large. `bytes` is the size of the file that was added last.
    pub(super) fn save_if_large(
        &mut self,
        cache: &mut ArtifactCache<'_>,
        began: Option<&TreeSnapshot>,
        bytes: u64,
    ) {
        self.bytes += bytes;
        if BATCH_FILES <= self.batch.files.len() || BATCH_BYTES <= self.bytes {
            self.save(cache, began);
        }
    }

    pub(super) fn save(&mut self, cache: &mut ArtifactCache<'_>, began: Option<&TreeSnapshot>) {
        let Self { batch, .. } = std::mem::replace(self, Self::new(cache));
        cache.save(batch, began);
    }
}

/// Reads files on all cores while this thread writes the results. Returns those that are too recently written for their
/// stamps to be trusted next time.
fn read_all(
    cache: &mut ArtifactCache<'_>,
    paths: &[RelPath],
    removed: Vec<RelPath>,
    snapshot: &ProjectSnapshot,
    request: &ScanRequest<'_>,
    scan: &mut ScanResult,
) -> Vec<FileRow> {
    let began = snapshot.tree.as_ref();
    let mut pending = PendingRows::new(cache);
    pending.batch.removed = removed;
    let mut young = Vec::new();
    if !paths.is_empty() {
        cache.workspace.world.progress.begin(paths.len());
        let progress = cache.workspace.world.progress;
        let examiner = examiner(cache, &snapshot.listed.neighbors, request.keeps_text);
        let (sender, results) = sync_channel::<Vec<ExaminedFile>>(RESULTS_WAITING);
        // This thread has the only writing connection, so the readers send their results. The queue is short: readers
        // that are faster than the disk wait instead of filling memory.
        std::thread::scope(|scope| {
            let reader = &examiner;
            let read = move || reader.examine_all(paths, &sender, progress);
            let started = std::thread::Builder::new().spawn_scoped(scope, read);
            // If no thread can be started, this one reads too, and there are no other results.
            let own_paths: &[RelPath] = if started.is_ok() { &[] } else { paths };
            let own = own_paths.iter().take_while(|_| !progress.is_cancelled()).map(|path| {
                progress.advance();
                examiner.examine(path)
            });
            for examined in results.into_iter().flatten().chain(own) {
                let bytes = examined.bytes;
                report_stamp_mismatch(
                    cache,
                    &examined,
                    snapshot.rows.get(&examined.path),
                    snapshot.is_dirty(&examined.path),
                );
                let is_tracked = snapshot.is_tracked(&examined.path);
                let row = scan.add_examined(examined, is_tracked, &mut pending.batch);
                young
                    .extend(row.filter(|row| row.stamp.is_some_and(|stamp| is_racy(&stamp, row.read_at_ns))));
                pending.save_if_large(cache, began, bytes);
            }
        });
    }
    pending.save(cache, began);
    young
}

/// Waits until recently written files have settled, if that is soon, and reads them once more. Then their stamps can be
/// trusted, and the next run reads nothing.
fn reread_young(
    cache: &mut ArtifactCache<'_>,
    young: &[FileRow],
    snapshot: &ProjectSnapshot,
    request: &ScanRequest<'_>,
) {
    if young.is_empty() {
        return;
    }
    let examiner = examiner(cache, &snapshot.listed.neighbors, request.keeps_text);
    // By the file system's clock, which has a coarse resolution and lags slightly: stamps are compared with it.
    let now = cache.workspace.world.clock.now_ns().saturating_add(examiner.skew_ns);
    let rests_at = |row: &FileRow| row.stamp.map(|stamp| stamp.ctime_ns.saturating_add(window_ns(&stamp)));
    let soon: Vec<&FileRow> = young
        .iter()
        .filter(|row| rests_at(row).is_some_and(|at| at < now.saturating_add(MAX_REST_NS)))
        .collect();
    let Some(last) = soon.iter().filter_map(|row| rests_at(row)).max() else { return };
    // A millisecond more, because a read at the very end of the window is still racy.
    let wait = u64::try_from(last.saturating_sub(now)).unwrap_or(0).saturating_add(1_000_000);
    cache.workspace.world.clock.sleep(std::time::Duration::from_nanos(wait));
    let mut batch = cache.new_batch();
    for row in soon {
        let again = examiner.examine(&row.path);
        // A file that has changed again is left to the next run, which sees that by its stamp.
        if again.stamp == row.stamp && again.outcome.is_as_stored(&row.state) {
            batch.files.push(FileRow { read_at_ns: again.read_at_ns, ..row.clone() });
        }
    }
    drop(examiner);
    cache.save(batch, snapshot.tree.as_ref());
}

impl ScanResult {
    /// Adds a file that need not be read to the result.
    fn add_known(
        &mut self,
        found: &DiscoveredFile,
        state: KnownState,
        stamp: Option<FileStamp>,
        is_kept: bool,
    ) {
        // Counted and dropped: an index run needs no more, and the states of all files of a large project take much
        // memory.
        if !is_kept && matches!(state, KnownState::Content { .. }) {
            self.report.files += 1;
            return;
        }
        self.files.push(KnownFile { path: found.path.clone(), tracked: found.tracked, state, stamp });
    }

    /// Adds a file that was read to the result; returns the row to be stored, if there is one.
    pub(super) fn add_examined(
        &mut self,
        examined: ExaminedFile,
        tracked: bool,
        batch: &mut WriteBatch,
    ) -> Option<FileRow> {
        let ExaminedFile { path, stamp, unread, read_at_ns, bytes, outcome } = examined;
        if stamp.is_some() {
            self.report.hashed += 1;
            self.report.bytes += bytes;
        }
        let (known, state) = match outcome {
            ReadOutcome::LeftOut(reason) => (KnownState::LeftOut(reason), StoredFileState::LeftOut(reason)),
            ReadOutcome::Content { hash, file_type, facts, derived, text } => {
                if let Some(derived) = derived {
                    self.report.parsed += 1;
                    batch.contents.push(*derived);
                }
                if let Some(text) = text {
                    self.texts.insert(path.clone(), (hash, text));
                }
                let language = file_type.id.to_owned();
                let state = StoredFileState::Content { hash, language, facts: facts.clone() };
                (KnownState::Content { hash, file_type, facts }, state)
            }
        };
        self.files.push(KnownFile { path: path.clone(), tracked, state: known, stamp: stamp.or(unread) });
        // A file that could not be read is tried again each time.
        let Some(stamp) = stamp else {
            batch.removed.push(path);
            return None;
        };
        let row = FileRow { path, stamp: Some(stamp), read_at_ns, state };
        batch.files.push(row.clone());
        Some(row)
    }

    fn finish_counts(&mut self, elapsed: std::time::Duration) {
        for file in &self.files {
            match &file.state {
                KnownState::Content { .. } => self.report.files += 1,
                KnownState::LeftOut(reason) => *self.report.left_out.entry(*reason).or_default() += 1,
            }
        }
        self.report.reused = self.report.files.saturating_sub(self.report.parsed);
        self.report.elapsed = elapsed;
    }
}

/// Returns the state of a file with an unchanged stamp, from its stored row; `None` if it has to be read as another
/// type. Without neighbors, the recorded type is assumed to be right.
pub(super) fn state_from_row(row: &FileRow, neighbors: Option<&HeaderNeighbors>) -> Option<KnownState> {
    match &row.state {
        StoredFileState::LeftOut(reason) => Some(KnownState::LeftOut(*reason)),
        StoredFileState::Content { hash, language, facts } => {
            // Determined again for a header: its language depends on other files, so its own stamp is no guarantee.
            let file_type = match neighbors {
                Some(neighbors) if discover::is_header(&row.path) => {
                    discover::detect_file_type(&row.path, facts, neighbors)
                }
                Some(_) | None => discover::file_type_by_id(language)?,
            };
            let is_same = file_type.id == language;
            is_same.then(|| KnownState::Content { hash: *hash, file_type, facts: facts.clone() })
        }
    }
}
