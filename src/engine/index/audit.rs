//! Compares the index with the project, without using the code that builds the index, and compares stored artifacts of
//! some files with newly derived ones.

use std::collections::BTreeSet;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::changes::{refresh, refresh_all};
use crate::discover::{DiscoveredFile, HeaderNeighbors};
use crate::engine::artifacts::{ArtifactCache, check_skeleton, derive, identify};
use crate::engine::error::Error;
use crate::model::{ContentHash, ParseHealth, RelPath, Skeleton, SkipReason, on_all_cores};
use crate::store;
use crate::store::{ArtifactBody, ContentArtifacts, FileRow, Store, StoredFileState};
use crate::sys::Files;

/// The delays after which files that differ are checked again.
const AGAIN_AFTER: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(500)];

/// The number of files whose artifacts are derived again and compared in each audit; the sample differs each time.
const SAMPLE: usize = 100;

/// The result of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditReport {
    pub files: u64,
    pub bytes: u64,
    /// The number of files whose artifacts were derived again.
    pub derived: u64,
    /// The differences, by path.
    pub differences: Vec<IndexDifference>,
}

/// A file whose row in the index differs from the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexDifference {
    pub path: RelPath,
    pub kind: IndexDifferenceKind,
}

/// How index and project differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexDifferenceKind {
    /// The index does not have the file.
    NotIndexed,
    OtherContent,
    /// The index has a file that is not in the project.
    StillIndexed,
    /// The index and the project disagree on whether, or why, the file has no text.
    OtherReason,
    DamagedRow,
    /// The stored outline, skeleton or summary differ from newly derived ones.
    OtherArtifact,
}

impl IndexDifferenceKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotIndexed => "not_indexed",
            Self::OtherContent => "other_content",
            Self::StillIndexed => "still_indexed",
            Self::OtherReason => "other_reason",
            Self::DamagedRow => "damaged_row",
            Self::OtherArtifact => "other_artifact",
        }
    }
}

pub(in crate::engine) fn audit(cache: &mut ArtifactCache<'_>) -> Result<AuditReport, Error> {
    replace_deleted_store(cache)?;
    let mut report = AuditReport::default();
    report.files = compare_with_index(cache, &mut report, None)?;
    recheck(cache, &mut report)?;
    derive_sample(cache, &mut report)?;
    report.differences.sort();
    Ok(report)
}

/// Derives everything from the bytes of some files whose rows are correct, and compares it with the stored artifacts.
fn derive_sample(cache: &ArtifactCache<'_>, report: &mut AuditReport) -> Result<(), Error> {
    let workspace = &cache.workspace;
    let store = cache.store.as_ref().ok_or(Error::NoCache)?;
    let rows = audited_rows(cache)?;
    let neighbors = HeaderNeighbors::from_paths(rows.keys());
    let wrong: BTreeSet<&RelPath> = report.differences.iter().map(|difference| &difference.path).collect();
    let seed = workspace.world.clock.now_ns().to_le_bytes();
    let place = |path: &RelPath| ContentHash::digest(&[&seed[..], path.as_bytes()].concat());
    let of_content = rows.iter().filter_map(|(path, row)| match &row.state {
        StoredFileState::Content { hash, .. } if !wrong.contains(path) => Some((path, hash)),
        StoredFileState::Content { .. } | StoredFileState::LeftOut(_) => None,
    });
    let mut sample: Vec<(&RelPath, &ContentHash)> = of_content.collect();
    sample.sort_by_cached_key(|(path, _)| place(path));
    sample.truncate(SAMPLE);
    let (most, timeout) = (workspace.options.structure_max_bytes, workspace.options.parse_timeout);
    let derived = on_all_cores(&sample, |(path, hash)| {
        let reading = workspace.files.read(path, most).ok()?;
        let content = identify(path, &reading.bytes, &neighbors).ok()?;
        // A file written in the meantime is left to the next audit.
        (content.hash == **hash).then(|| {
            let derived = derive(&content, timeout, &workspace.steps);
            let checked =
                unchecked_skeleton(&derived).and_then(|plain| check_skeleton(workspace, &content, plain));
            (derived, checked)
        })
    });
    let mut found = Vec::new();
    for ((path, _), derived) in sample.iter().zip(derived) {
        workspace.check_cancelled()?;
        let Some((derived, checked)) = derived else { continue };
        report.derived += 1;
        if !is_as_stored(store, &derived, checked.as_ref())? {
            found.push(IndexDifference { path: (*path).clone(), kind: IndexDifferenceKind::OtherArtifact });
        }
    }
    report.differences.extend(found);
    Ok(())
}

/// Returns the derived skeleton if it is checked only before its first use.
fn unchecked_skeleton(derived: &ContentArtifacts) -> Option<&Skeleton> {
    derived.artifacts.iter().find_map(|(_, body)| match body {
        ArtifactBody::Skeleton(skeleton) => (!skeleton.is_checked).then_some(skeleton),
        _ => None,
    })
}

/// Returns whether the stored artifacts of a content equal the derived ones. Missing ones will be derived when they are
/// needed. `checked` is the skeleton that replaces the unchecked one once it was shown.
fn is_as_stored(
    store: &Store,
    derived: &ContentArtifacts,
    checked: Option<&Skeleton>,
) -> Result<bool, Error> {
    let hash = &derived.hash;
    let mut is_same = true;
    for (producer, body) in &derived.artifacts {
        match body {
            ArtifactBody::Outline(outline) => {
                let Some(stored) = store.outline(producer, hash)? else { continue };
                // Which parse exceeds the time limit depends on the machine, and the other artifacts depend on the
                // outline.
                if is_incomplete(&stored.health) || is_incomplete(&outline.health) {
                    return Ok(true);
                }
                is_same &= stored == *outline;
            }
            ArtifactBody::Skeleton(skeleton) => {
                let stored = store.skeleton(producer, hash)?;
                is_same &= stored.is_none_or(|stored| stored == *skeleton || Some(&stored) == checked);
            }
            ArtifactBody::Summary(summary) => {
                is_same &= store.summary(producer, hash)?.is_none_or(|stored| stored == *summary);
            }
            // Derived on demand, and not by what an audit runs.
            ArtifactBody::References(_)
            | ArtifactBody::Terms(_)
            | ArtifactBody::Facts(_)
            | ArtifactBody::SymbolHashes(_) => {}
        }
    }
    Ok(is_same)
}

const fn is_incomplete(health: &ParseHealth) -> bool {
    health.fallback.is_some()
}

/// Compares the rows of the suspected files with the files, or all rows if none is suspected. Returns the number of
/// files in the project.
fn compare_with_index(
    cache: &ArtifactCache<'_>,
    report: &mut AuditReport,
    suspects: Option<&[RelPath]>,
) -> Result<u64, Error> {
    let workspace = &cache.workspace;
    // Listed and read again, never from the cache: an audit must not share a mistake with what it checks.
    let (listing, _) = workspace.list_anew()?;
    let neighbors = HeaderNeighbors::from_paths(listing.files.iter().map(|found| &found.path));
    let rows = audited_rows(cache)?;
    // Both, because a row may lack a file just as a file may lack a row.
    let all = || {
        let listed = listing.files.iter().map(|found| &found.path);
        // Files in a linked folder that does not exist now cannot be compared, and their rows are kept until it is
        // back.
        listed.chain(rows.keys()).filter(|path| !workspace.files.is_gone(path))
    };
    let paths: BTreeSet<&RelPath> =
        suspects.map_or_else(|| all().collect(), |suspects| suspects.iter().collect());
    let paths: Vec<&RelPath> = paths.into_iter().collect();
    let (files, most) = (&workspace.files, workspace.options.structure_max_bytes);
    let states =
        on_all_cores(&paths, |path| match listing.files.binary_search_by(|found| found.path.cmp(path)) {
            Ok(at) => read_actual_state(files, &listing.files[at], &neighbors, most),
            Err(_) => (ActualState::NotListed, 0),
        });
    for (path, (state, bytes)) in paths.into_iter().zip(states) {
        report.bytes += bytes;
        report.differences.extend(compare(path, &state, rows.get(path)));
    }
    Ok(listing.files.len() as u64)
}

/// Opens the store that has replaced a deleted one. Between answers, this may not have been noticed yet.
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

/// Returns the stored rows; those in memory prove nothing.
fn audited_rows(cache: &ArtifactCache<'_>) -> Result<FxHashMap<RelPath, FileRow>, Error> {
    let store = cache.store.as_ref().ok_or(Error::NoCache)?;
    Ok(store.files()?.into_iter().map(|row| (row.path.clone(), row)).collect())
}

/// Checks differing files again: one may have been written after it was indexed, or indexed after it was checked.
/// Events are waited for if there are any.
fn recheck(cache: &mut ArtifactCache<'_>, report: &mut AuditReport) -> Result<(), Error> {
    for wait in AGAIN_AFTER {
        if report.differences.is_empty() {
            return Ok(());
        }
        cache.workspace.world.clock.sleep(wait);
        let suspects: Vec<RelPath> = report.differences.drain(..).map(|difference| difference.path).collect();
        if cache.workspace.tracker.is_some() {
            refresh_reported(cache, &suspects)?;
        }
        compare_with_index(cache, report, Some(&suspects))?;
    }
    mark_damaged_rows(cache, report)
}

/// Refreshes the files that an event has reported: their rows are not wrong, only not yet updated.
fn refresh_reported(cache: &mut ArtifactCache<'_>, suspects: &[RelPath]) -> Result<(), Error> {
    let Some(tree) = cache.workspace.tracker.clone() else { return Ok(()) };
    let began = tree.snapshot(&cache.workspace.options.names);
    // No others: refreshing a file without an event would repair the very row that the audit has to report.
    let touched: Vec<RelPath> = suspects.iter().filter(|path| began.is_dirty(path)).cloned().collect();
    if !touched.is_empty() {
        refresh(cache, &touched)?;
    }
    Ok(())
}

/// Distinguishes damaged rows from missing ones.
fn mark_damaged_rows(cache: &mut ArtifactCache<'_>, report: &mut AuditReport) -> Result<(), Error> {
    let store = cache.store.as_ref().ok_or(Error::NoCache)?;
    for difference in &mut report.differences {
        // Every query treats a damaged row as absent, so the comparison cannot distinguish the two.
        if difference.kind == IndexDifferenceKind::NotIndexed && store.has_file_row(&difference.path)? {
            difference.kind = IndexDifferenceKind::DamagedRow;
        }
    }
    Ok(())
}

enum ActualState {
    Content(ContentHash, &'static str),
    /// It has no text; a row records that.
    LeftOut(SkipReason),
    Unkept,
    NotListed,
}

/// Reads a file, and returns its state and the number of bytes read.
fn read_actual_state(
    files: &dyn Files,
    found: &DiscoveredFile,
    neighbors: &HeaderNeighbors,
    most: u64,
) -> (ActualState, u64) {
    if found.skip_reason.is_some() {
        return (ActualState::Unkept, 0);
    }
    // No row is kept of a file that could not be read, because the next attempt may succeed.
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
