//! Updates the cache for reported changes before an answer needs them.

use std::sync::Arc;

use super::scan::{ScanRequest, mark_scanned_all, scan_places};
use super::scope::{NamedPaths, SnapshotScope, place_of};
use super::snapshot::{ProjectSnapshot, take_snapshot};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::workspace::{FileRows, KnownFile, KnownState};
use crate::model::{ContentHash, RelPath, SkipReason};
use crate::store::{FileRow, StoredFileState, WriteBatch};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub path: RelPath,
    pub kind: FileChangeKind,
    /// Its current bytes; `None` if it has no text.
    pub content: Option<ContentHash>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileChangeKind {
    /// The file is new.
    Added,
    Modified,
    /// The file is no longer part of the project.
    Removed,
}

pub(in crate::engine) fn refresh(
    cache: &mut ArtifactCache<'_>,
    paths: &[RelPath],
) -> Result<Vec<FileChange>, Error> {
    let (snapshot, changes) = refresh_scope(cache, &SnapshotScope::Named(NamedPaths::new(paths)))?;
    if let (Some(tree), Some(began)) = (&cache.workspace.tracker, &snapshot.tree) {
        // Files that are not listed will not be read.
        tree.mark_read(paths.iter(), began.touches);
    }
    Ok(changes)
}

pub(in crate::engine) fn refresh_all(cache: &mut ArtifactCache<'_>) -> Result<Vec<FileChange>, Error> {
    let (snapshot, changes) = refresh_scope(cache, &SnapshotScope::All)?;
    mark_scanned_all(cache, &snapshot);
    cache.release_memory();
    Ok(changes)
}

fn refresh_scope(
    cache: &mut ArtifactCache<'_>,
    scope: &SnapshotScope<'_>,
) -> Result<(ProjectSnapshot, Vec<FileChange>), Error> {
    let snapshot = take_snapshot(cache, scope)?;
    let is_listed = |path: &RelPath| place_of(path, snapshot.files()).is_some();
    let gone = snapshot.rows.keys().filter(|path| scope.matches(path) && !is_listed(path));
    let gone: Vec<RelPath> = gone.cloned().collect();
    // Files that need not be read have not changed.
    let request = ScanRequest { keeps_known: &|_, _| false, ..ScanRequest::BY_STAMPS };
    let scan = scan_places(cache, &snapshot.places, &request, &snapshot)?;
    if !gone.is_empty() {
        let batch = WriteBatch { removed: gone.clone(), ..cache.new_batch() };
        cache.save(batch, snapshot.tree.as_ref());
    }
    // An answer may have stored a change before this refresh; it is reported relative to the row before that answer.
    let mut unreported = cache
        .workspace
        .tracker
        .as_ref()
        .map(|tree| tree.take_unreported(&|path| scope.matches(path)))
        .unwrap_or_default();
    let mut changes = Vec::new();
    for file in &scan.files {
        let before = unreported.remove(&file.path);
        let before = before.as_ref().map_or_else(|| snapshot.rows.get(&file.path), Option::as_ref);
        // Their rows are kept for when the folder comes back, so they differ each time.
        let is_gone = matches!(file.state, KnownState::LeftOut(SkipReason::ResourceGone));
        let tracker = cache.workspace.tracker.as_ref().filter(|_| is_gone);
        let is_new = tracker.is_none_or(|tree| tree.mark_gone(&file.path));
        changes.extend(change(file, before).filter(|_| is_new));
    }
    for path in gone {
        // A file that was created and removed in between was never reported.
        if unreported.remove(&path) != Some(None) {
            changes.push(FileChange { path, kind: FileChangeKind::Removed, content: None });
        }
    }
    // An answer was faster and has already stored the change.
    let rows = cache.workspace.tracker.as_ref().and_then(|tree| tree.rows()).unwrap_or_default();
    changes.extend(unreported.into_iter().filter_map(|(path, before)| {
        let now = rows.get(&path);
        stored_change(path, before.as_ref(), now)
    }));
    changes.extend(returned(cache, &rows, &changes));
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((snapshot, changes))
}

/// Returns the files that are back with their linked folder and unchanged; those that have changed are in `changes`
/// already.
fn returned(cache: &ArtifactCache<'_>, rows: &FileRows, changes: &[FileChange]) -> Vec<FileChange> {
    let Some(tree) = &cache.workspace.tracker else { return Vec::new() };
    let files = &cache.workspace.files;
    let returned = tree.take_returned(&|path| files.is_gone(path));
    let same = returned.into_iter().filter(|path| !changes.iter().any(|change| change.path == *path));
    let modified = |path: RelPath| {
        let StoredFileState::Content { hash, .. } = rows.get(&path)?.state else { return None };
        Some(FileChange { path, kind: FileChangeKind::Modified, content: Some(hash) })
    };
    same.filter_map(modified).collect()
}

fn stored_change(
    path: RelPath,
    before: Option<&Arc<FileRow>>,
    now: Option<&Arc<FileRow>>,
) -> Option<FileChange> {
    let kind = match (before, now) {
        (Some(_), None) => FileChangeKind::Removed,
        (None, Some(_)) => FileChangeKind::Added,
        (Some(before), Some(now)) if before.state != now.state => FileChangeKind::Modified,
        (Some(_), Some(_)) | (None, None) => return None,
    };
    let content = now.and_then(|now| match &now.state {
        StoredFileState::Content { hash, .. } => Some(*hash),
        StoredFileState::LeftOut(_) => None,
    });
    Some(FileChange { path, kind, content })
}

fn change(file: &KnownFile, row: Option<&Arc<FileRow>>) -> Option<FileChange> {
    let (kind, content) = match (&file.state, row.map(|row| &row.state)) {
        (KnownState::Content { hash, .. }, Some(StoredFileState::Content { hash: before, .. })) => {
            (hash != before).then_some((FileChangeKind::Modified, Some(*hash)))
        }
        (KnownState::Content { hash, .. }, Some(StoredFileState::LeftOut(_))) => {
            Some((FileChangeKind::Modified, Some(*hash)))
        }
        (KnownState::Content { hash, .. }, None) => Some((FileChangeKind::Added, Some(*hash))),
        (KnownState::LeftOut(SkipReason::Vanished), Some(_)) => Some((FileChangeKind::Removed, None)),
        (KnownState::LeftOut(now), Some(StoredFileState::LeftOut(before))) => {
            (now != before).then_some((FileChangeKind::Modified, None))
        }
        (KnownState::LeftOut(_), Some(StoredFileState::Content { .. })) => {
            Some((FileChangeKind::Modified, None))
        }
        // The other reasons have no rows, so a new file cannot be distinguished from an existing one.
        (KnownState::LeftOut(now), None) => matches!(now, SkipReason::Binary | SkipReason::Undecodable)
            .then_some((FileChangeKind::Added, None)),
    }?;
    Some(FileChange { path: file.path.clone(), kind, content })
}
