//! Compares the index with the project, without the code that makes the index.

use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::changes::{refresh, refresh_all};
use crate::discover::{DiscoveredFile, HeaderNeighbors};
use crate::engine::artifacts::{ArtifactCache, identify};
use crate::engine::error::Error;
use crate::engine::parallel::on_all_cores;
use crate::model::{ContentHash, RelPath, SkipReason};
use crate::store::{FileRow, Store, StoredFileState};
use crate::sys::Files;
use crate::{discover, store};

/// When files that differ are looked at again.
const AGAIN_AFTER: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(500)];

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditReport {
    /// Files that were looked at.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// What is wrong, by path.
    pub differences: Vec<IndexDifference>,
}

/// A file whose row in the index differs from the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexDifference {
    /// The file.
    pub path: RelPath,
    /// What is wrong.
    pub kind: IndexDifferenceKind,
}

/// How index and project differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexDifferenceKind {
    /// The index does not have the file.
    NotIndexed,
    /// The index has other bytes.
    OtherContent,
    /// The index has a file that is none of the project's.
    StillIndexed,
    /// The index has another reason why the file has no text, or none, or the file has text.
    OtherReason,
    /// What the index has is damaged.
    DamagedRow,
}

impl IndexDifferenceKind {
    /// Returns the stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotIndexed => "not_indexed",
            Self::OtherContent => "other_content",
            Self::StillIndexed => "still_indexed",
            Self::OtherReason => "other_reason",
            Self::DamagedRow => "damaged_row",
        }
    }
}

/// Compares the stored row of every file with the file. Writes nothing itself, except that a file reported as changed
/// and not read since is brought up to date: the index is known to be behind there.
pub(in crate::engine) fn audit(cache: &mut ArtifactCache<'_>) -> Result<AuditReport, Error> {
    replace_deleted_store(cache)?;
    let listing =
        discover::list(&cache.workspace.root, &cache.workspace.names, cache.workspace.world.processes)?;
    let neighbors = HeaderNeighbors::from_paths(listing.files.iter().map(|found| &found.path));
    let rows = audited_rows(cache)?;
    let (files, most) = (cache.workspace.world.files, cache.workspace.options.structure_max_bytes);
    let truths = on_all_cores(&listing.files, |found| read_actual_state(files, found, &neighbors, most));
    let mut report = AuditReport { files: listing.files.len() as u64, ..AuditReport::default() };
    for (found, (truth, bytes)) in listing.files.iter().zip(truths) {
        report.bytes += bytes;
        report.differences.extend(compare(&found.path, &truth, rows.get(&found.path)));
    }
    let listed: FxHashSet<&RelPath> = listing.files.iter().map(|found| &found.path).collect();
    let stale = rows.keys().filter(|path| !listed.contains(path));
    let kind = IndexDifferenceKind::StillIndexed;
    report.differences.extend(stale.map(|path| IndexDifference { path: path.clone(), kind }));
    report.differences.sort();
    recheck(cache, &mut report, &neighbors)?;
    Ok(report)
}

/// Opens the store that has replaced a deleted one. Between answers this may not have been noticed yet.
fn replace_deleted_store(cache: &mut ArtifactCache<'_>) -> Result<(), Error> {
    if cache.store.as_ref().is_none_or(Store::is_file_in_place) {
        return Ok(());
    }
    cache.recover(&store::Error::Gone);
    if cache.workspace.tracker.is_some() {
        refresh_all(cache)?;
    }
    Ok(())
}

/// Returns the rows as they are stored; what is in memory proves nothing.
fn audited_rows(cache: &ArtifactCache<'_>) -> Result<FxHashMap<RelPath, FileRow>, Error> {
    let store = cache.store.as_ref().ok_or(Error::NoCache)?;
    Ok(store.files()?.into_iter().map(|row| (row.path.clone(), row)).collect())
}

/// Looks again at the files that differ: one may have been written after it was indexed, or indexed after it was
/// looked at. Where events are to be had these are waited for.
fn recheck(
    cache: &mut ArtifactCache<'_>,
    report: &mut AuditReport,
    neighbors: &HeaderNeighbors,
) -> Result<(), Error> {
    for wait in AGAIN_AFTER {
        if report.differences.is_empty() {
            return Ok(());
        }
        cache.workspace.world.clock.sleep(wait);
        let suspects: Vec<RelPath> =
            report.differences.iter().map(|difference| difference.path.clone()).collect();
        if cache.workspace.tracker.is_some() {
            refresh_reported(cache, &suspects)?;
        }
        let listing =
            discover::list(&cache.workspace.root, &cache.workspace.names, cache.workspace.world.processes)?;
        let rows = audited_rows(cache)?;
        let (files, most) = (cache.workspace.world.files, cache.workspace.options.structure_max_bytes);
        report.differences.clear();
        for path in suspects {
            let found = listing.files.binary_search_by(|found| found.path.cmp(&path));
            let (truth, bytes) = match found {
                Ok(at) => read_actual_state(files, &listing.files[at], neighbors, most),
                Err(_) => (ActualState::NotListed, 0),
            };
            report.bytes += bytes;
            report.differences.extend(compare(&path, &truth, rows.get(&path)));
        }
    }
    mark_damaged_rows(cache, report)
}

/// Refreshes those of the files that an event has reported: their rows are not wrong, only not yet updated.
fn refresh_reported(cache: &mut ArtifactCache<'_>, suspects: &[RelPath]) -> Result<(), Error> {
    let Some(tree) = cache.workspace.tracker.clone() else { return Ok(()) };
    let dirty = tree.snapshot(&cache.workspace.options.names).dirty;
    let touched: Vec<RelPath> = suspects.iter().filter(|path| dirty.contains(path)).cloned().collect();
    if !touched.is_empty() {
        refresh(cache, &touched)?;
    }
    Ok(())
}

/// Tells a row that is damaged from one that is not there.
fn mark_damaged_rows(cache: &mut ArtifactCache<'_>, report: &mut AuditReport) -> Result<(), Error> {
    let store = cache.store.as_ref().ok_or(Error::NoCache)?;
    for difference in &mut report.differences {
        if difference.kind == IndexDifferenceKind::NotIndexed && store.has_file_row(&difference.path)? {
            difference.kind = IndexDifferenceKind::DamagedRow;
        }
    }
    Ok(())
}

/// What a file is.
enum ActualState {
    Content(ContentHash, &'static str),
    /// It has no text, which a row is kept of.
    LeftOut(SkipReason),
    /// No row is kept of it.
    Unkept,
    NotListed,
}

/// Reads a file and returns what it is, and how many bytes were read.
fn read_actual_state(
    files: &dyn Files,
    found: &DiscoveredFile,
    neighbors: &HeaderNeighbors,
    most: u64,
) -> (ActualState, u64) {
    if found.skip_reason.is_some() {
        return (ActualState::Unkept, 0);
    }
    let Ok(reading) = files.read(&found.path, most) else { return (ActualState::Unkept, 0) };
    let bytes = reading.bytes.len() as u64;
    match identify(&found.path, &reading.bytes, neighbors) {
        Ok(content) => (ActualState::Content(content.hash, content.file_type.id), bytes),
        Err(reason) => (ActualState::LeftOut(reason), bytes),
    }
}

fn compare(path: &RelPath, truth: &ActualState, row: Option<&FileRow>) -> Option<IndexDifference> {
    let kind = match (truth, row.map(|row| &row.state)) {
        (ActualState::Content(hash, id), Some(StoredFileState::Content { hash: stored, language, .. })) => {
            (hash != stored || id != language).then_some(IndexDifferenceKind::OtherContent)
        }
        (ActualState::LeftOut(reason), Some(StoredFileState::LeftOut(stored))) => {
            (reason != stored).then_some(IndexDifferenceKind::OtherReason)
        }
        (ActualState::Content(..), Some(StoredFileState::LeftOut(_)))
        | (ActualState::LeftOut(_), Some(StoredFileState::Content { .. })) => {
            Some(IndexDifferenceKind::OtherReason)
        }
        (ActualState::Content(..) | ActualState::LeftOut(_), None) => Some(IndexDifferenceKind::NotIndexed),
        (ActualState::Unkept | ActualState::NotListed, Some(_)) => Some(IndexDifferenceKind::StillIndexed),
        (ActualState::Unkept | ActualState::NotListed, None) => None,
    }?;
    Some(IndexDifference { path: path.clone(), kind })
}
