//! Finds the files that have changed since an earlier answer. Every stamp is compared, as for any answer, unless events
//! are trusted; only the results for unchanged files are reused.

use std::sync::Arc;

use super::scan::{RowCheck, ScanRequest, Trust, check_row, mark_scanned_all, scan_places};
use super::scope::{NamedPaths, SnapshotScope};
use super::snapshot::{ProjectSnapshot, take_snapshot};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::workspace::{KnownFile, KnownState, TrackedListing, Workspace};
use crate::model::RelPath;
use crate::store::{FileRow, StoredFileState};

/// If more files have changed, all are scanned: that takes no longer, and misses nothing.
const MAX_CHANGED: usize = 2_000;

/// All files of a project as an earlier answer found them, each by its stored row.
#[derive(Clone)]
pub(in crate::engine) struct SeenFiles {
    listed: Arc<TrackedListing>,
    /// In the order of the listing; `None` if no row describes the file.
    rows: Vec<Option<Arc<FileRow>>>,
}

impl SeenFiles {
    /// Returns a record of these files, which are all of the project's; `None` if nothing is cached between answers.
    pub(in crate::engine) fn new(cache: &ArtifactCache<'_>, files: &[KnownFile]) -> Option<Self> {
        let tree = cache.workspace.tracker.as_ref()?;
        let listed = tree.snapshot(&cache.workspace.options.names).listed?;
        let rows = tree.rows()?;
        let paths = listed.listing.files.iter().map(|found| &found.path);
        if !paths.eq(files.iter().map(|file| &file.path)) {
            return None;
        }
        let rows = files
            .iter()
            .map(|file| rows.get(&file.path).filter(|row| describes(row, file, &cache.workspace)));
        Some(Self { listed, rows: rows.map(Option::<&_>::cloned).collect() })
    }

    /// Returns whether a file is known to be unchanged.
    pub(in crate::engine) fn is_same(&self, at: usize, file: &KnownFile, workspace: &Workspace<'_>) -> bool {
        self.rows[at].as_ref().is_some_and(|row| describes(row, file, workspace))
    }

    /// Replaces the rows at these positions.
    pub(in crate::engine) fn replace(&mut self, rows: Vec<(usize, Option<Arc<FileRow>>)>) {
        for (at, row) in rows {
            self.rows[at] = row;
        }
    }
}

/// Returns whether a row matches the state of a file, ignoring masks.
fn describes(row: &FileRow, file: &KnownFile, workspace: &Workspace<'_>) -> bool {
    match (&row.state, &file.state) {
        (
            StoredFileState::Content { hash, language, .. },
            KnownState::Content { hash: found, file_type, .. },
        ) => *hash == workspace.hidden.file_hash(&file.path, *found) && language == file_type.id,
        (StoredFileState::LeftOut(reason), KnownState::LeftOut(found)) => reason == found,
        (_, _) => false,
    }
}

/// Returns the rows that match the states of these files, by their positions.
pub(in crate::engine) fn rows_of(
    cache: &ArtifactCache<'_>,
    files: &[(usize, KnownFile)],
) -> Vec<(usize, Option<Arc<FileRow>>)> {
    let rows = cache.workspace.tracker.as_ref().and_then(|tree| tree.rows()).unwrap_or_default();
    let row =
        |file: &KnownFile| rows.get(&file.path).filter(|row| describes(row, file, &cache.workspace)).cloned();
    files.iter().map(|(at, file)| (*at, row(file))).collect()
}

/// The files that may have changed.
pub(in crate::engine) struct ChangedFiles {
    /// By position in the listing, in their current state.
    pub(in crate::engine) files: Vec<(usize, KnownFile)>,
    /// Whether only files reported by events were checked.
    pub(in crate::engine) trusted_events: bool,
}

/// Returns the files that may have changed, and the `wanted` ones in any case. `None` if files came or went, or very
/// many have changed.
pub(in crate::engine) fn files_changed_since(
    cache: &mut ArtifactCache<'_>,
    seen: &SeenFiles,
    wanted: &dyn Fn(&RelPath) -> bool,
    trusts_events: bool,
) -> Result<Option<ChangedFiles>, Error> {
    // Another answer may have hidden symbols. The caller hides its own.
    cache.workspace.hidden.clear();
    let reported = if trusts_events { reported_files(cache, seen, wanted) } else { None };
    let scope = match &reported {
        Some(paths) => SnapshotScope::Reported(NamedPaths::new(paths)),
        None => SnapshotScope::All,
    };
    let snapshot = take_snapshot(cache, &scope)?;
    if !Arc::ptr_eq(&snapshot.listed, &seen.listed) {
        return Ok(None);
    }
    let trusted_events = reported.is_some();
    let places = if trusted_events {
        Some(snapshot.places.clone())
    } else {
        changed_places(cache, seen, wanted, &snapshot)
    };
    let Some(places) = places else { return Ok(None) };
    let scan = scan_places(cache, &places, &ScanRequest::BY_STAMPS, &snapshot)?;
    if trusted_events {
        cache.workspace.log.record_trusted_events();
    } else {
        mark_scanned_all(cache, &snapshot);
    }
    cache.workspace.log.record_scan(scan.report);
    // Both are sorted by path, and each checked file has a state.
    Ok(Some(ChangedFiles { files: places.into_iter().zip(scan.files).collect(), trusted_events }))
}

/// Returns the files that were reported as changed, or read again, since they were seen, and the `wanted` ones. `None`
/// if events do not reveal that, or there are very many.
fn reported_files(
    cache: &mut ArtifactCache<'_>,
    seen: &SeenFiles,
    wanted: &dyn Fn(&RelPath) -> bool,
) -> Option<Vec<RelPath>> {
    let tree = cache.workspace.tracker.clone()?;
    // Before the rows: they then include files that are read in between.
    let began = tree.snapshot(&cache.workspace.options.names);
    // The snapshot checks the listing of a project in which files may have come or gone.
    let listed = began.listed.as_ref().or(began.suspect.as_ref());
    let is_listed_as_seen = listed.is_some_and(|listed| Arc::ptr_eq(listed, &seen.listed));
    // Some linked folders cannot be watched.
    let is_watched = cache.workspace.files.mounts().is_empty();
    if cache.workspace.paranoid || !began.is_complete || !is_listed_as_seen || !is_watched {
        return None;
    }
    let rows = cache.shared_rows(&tree);
    let is_as_seen = |path: &RelPath, before: Option<&Arc<FileRow>>| {
        !began.is_dirty(path) && rows.get(path).map(Arc::as_ptr) == before.map(Arc::as_ptr)
    };
    let files = seen.listed.listing.files.iter().map(|found| &found.path).zip(&seen.rows);
    let reported = files.filter(|(path, before)| !is_as_seen(path, before.as_ref()) || wanted(path));
    let reported: Vec<RelPath> = reported.map(|(path, _)| path.clone()).take(MAX_CHANGED + 1).collect();
    (reported.len() <= MAX_CHANGED).then_some(reported)
}

/// Returns the positions of the files whose stamps do not show that they are unchanged, and of the `wanted` ones;
/// `None` if very many have changed.
fn changed_places(
    cache: &ArtifactCache<'_>,
    seen: &SeenFiles,
    wanted: &dyn Fn(&RelPath) -> bool,
    snapshot: &ProjectSnapshot,
) -> Option<Vec<usize>> {
    let is_as_seen = |at: usize| match check_row(&cache.workspace, at, snapshot, Trust::Stamps) {
        RowCheck::Unchanged(row) => seen.rows[at].as_ref().is_some_and(|before| Arc::ptr_eq(before, row)),
        // Left out by its name as before, or because of its current state.
        RowCheck::LeftOut(_) => snapshot.files()[at].skip_reason.is_some(),
        RowCheck::Read => false,
    };
    let (mut places, mut changed) = (Vec::new(), 0);
    for (at, found) in snapshot.files().iter().enumerate() {
        let is_changed = !is_as_seen(at);
        changed += usize::from(is_changed);
        if is_changed || wanted(&found.path) {
            places.push(at);
        }
    }
    (changed <= MAX_CHANGED).then_some(places)
}
