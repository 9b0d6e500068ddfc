//! The state of a project's tree between two answers, shared by all projects of one process.
//!
//! A watcher reports possible changes here; an answer checks here before it asks git and the store. The absence of
//! events is not trusted: each answer compares stamps first. So a lost event makes an answer slower, never wrong. Only
//! an event can reveal that a file was written without a new stamp.
//!
//! One lock guards all of it, and is held only briefly: never while a file is read or git runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use rustc_hash::{FxHashMap, FxHashSet};

use super::files::is_racy;
use super::lister::ListedMount;
use crate::discover;
use crate::discover::{FileListing, HeaderNeighbors};
use crate::engine::fingerprint::Fingerprint;
use crate::model::{ContentHash, FileStamp, LinkedFolder, RelPath, lock};
use crate::store::{FileRow, WriteBatch};

/// The rows of the table of files, by path.
pub(in crate::engine) type FileRows = FxHashMap<RelPath, Arc<FileRow>>;

/// The state of a project's tree between two answers.
#[derive(Default)]
pub(in crate::engine) struct TreeTracker {
    known: Mutex<TreeState>,
    /// Held while a project writes to the store, or reads all of its rows: SQLite would make them wait by sleeping.
    saving: Mutex<()>,
}

/// Statistics of the shared caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorkspaceCounts {
    /// Files that the project lists, as far as known.
    pub files: u64,
    /// Changes that stamps revealed although no event reported them.
    pub missed: u64,
    /// Files whose bytes changed although their stamps did not.
    pub mistakes: u64,
    /// Documents that were served from the cache.
    pub reused: u64,
}

/// The maximum number of files that are recorded as read since they changed.
const MAX_SETTLED: usize = 16_384;

#[derive(Default)]
struct TreeState {
    is_trusted: bool,
    /// How often events were lost.
    epoch: u64,
    /// The number of reports of changed files, and of changes to the list of files.
    touches: u64,
    relists: u64,
    /// Files that were reported as changed and have not been read since, each with the number of the last report.
    dirty: Arc<FxHashMap<RelPath, u64>>,
    /// Files that were read since they were reported as changed, each with the number of reports when that read began.
    /// A read that began earlier no longer counts, whenever it ends.
    settled: FxHashMap<RelPath, u64>,
    listed: Option<Arc<TrackedListing>>,
    /// The listing that was valid until files were reported to have come or gone.
    suspect: Option<Arc<TrackedListing>>,
    rows: Option<Arc<FileRows>>,
    /// The generation of the store that the rows were read from.
    generation: Option<Vec<u8>>,
    /// Files that answers found changed and that no refresh has reported yet, each with its previous row.
    unreported: FxHashMap<RelPath, Option<Arc<FileRow>>>,
    /// Files that were reported as gone with their linked folder.
    gone: FxHashSet<RelPath>,
    /// Whether every file was checked since events were lost, so that an unreported change counts as missed.
    is_complete: bool,
    /// Whether there are rows that some project could not store.
    is_behind: bool,
    missed: u64,
    mistakes: u64,
}

/// The state when an answer began.
pub(in crate::engine) struct TreeSnapshot {
    pub(in crate::engine) is_trusted: bool,
    pub(in crate::engine) is_complete: bool,
    /// The number of touches and relists so far: results are not settled if more arrive in the meantime.
    pub(in crate::engine) touches: u64,
    relists: u64,
    epoch: u64,
    dirty: Arc<FxHashMap<RelPath, u64>>,
    pub(in crate::engine) listed: Option<Arc<TrackedListing>>,
    /// The listing that was valid until files were reported to have come or gone.
    pub(in crate::engine) suspect: Option<Arc<TrackedListing>>,
}

impl TreeSnapshot {
    /// Returns whether a file was reported as changed, and not read since.
    pub(in crate::engine) fn is_dirty(&self, path: &RelPath) -> bool {
        self.dirty.contains_key(path)
    }
}

impl TreeTracker {
    /// Records that the bytes of files may have changed: they are read before the next answer about them, whatever
    /// their stamps.
    pub(in crate::engine) fn touch(&self, paths: &[RelPath]) {
        let mut known = lock(&self.known);
        known.touches += 1;
        let touch = known.touches;
        // Replaces the number of an earlier report: a read that began between the two settles neither.
        Arc::make_mut(&mut known.dirty).extend(paths.iter().map(|path| (path.clone(), touch)));
    }

    /// Records that files may have come or gone, or that the rules for listing them have changed.
    pub(in crate::engine) fn invalidate_listing(&self) {
        let mut known = lock(&self.known);
        known.relists += 1;
        // Kept aside: after an editor saved through a temporary file, the names are unchanged.
        known.suspect = known.listed.take().or_else(|| known.suspect.take());
    }

    /// Records that events were lost, so that anything may have changed.
    pub(in crate::engine) fn invalidate_all(&self) {
        let mut known = lock(&self.known);
        // `dirty` is kept: these files have to be read even if a rescan finds their stamps unchanged.
        known.epoch += 1;
        known.relists += 1;
        known.is_complete = false;
        known.listed = None;
        known.suspect = None;
        known.rows = None;
    }

    /// Sets whether changes are reported by events. If not, every answer lists the files again.
    pub(in crate::engine) fn set_trusted(&self, is_trusted: bool) {
        let mut known = lock(&self.known);
        if known.is_trusted != is_trusted {
            known.is_trusted = is_trusted;
            // A listing that was begun before must not be cached: no event has reported the changes in between.
            known.relists += 1;
            known.is_complete = false;
            known.listed = None;
            known.suspect = None;
        }
    }

    /// Returns how many files are known to have changed and have not been read since.
    #[cfg(test)]
    pub(in crate::engine) fn pending(&self) -> u64 {
        lock(&self.known).dirty.len() as u64
    }

    /// Returns statistics of the tree. Documents are counted elsewhere.
    pub(in crate::engine) fn counts(&self) -> WorkspaceCounts {
        let known = lock(&self.known);
        let listed = known.listed.as_ref().map(|listed| listed.listing.files.len());
        let files = listed.or_else(|| known.rows.as_ref().map(|rows| rows.len())).unwrap_or_default();
        WorkspaceCounts { files: files as u64, missed: known.missed, mistakes: known.mistakes, reused: 0 }
    }

    /// Returns the files outside of the project that the listing depends on: git's index and settings, and the user's
    /// ignore files. Some may not exist. Empty until the files are first listed.
    pub(in crate::engine) fn external_dependencies(&self) -> Vec<PathBuf> {
        let known = lock(&self.known);
        let listed = known.listed.clone().or_else(|| known.suspect.clone());
        drop(known);
        listed.map(|listed| listed.external_paths()).unwrap_or_default()
    }

    /// Returns the current state; the listing is included only if it was made with the same name options.
    pub(in crate::engine) fn snapshot(&self, names: &discover::Options) -> TreeSnapshot {
        let known = lock(&self.known);
        let is_ours = |listed: &Arc<TrackedListing>| known.is_trusted && listed.name_options == *names;
        TreeSnapshot {
            is_trusted: known.is_trusted,
            is_complete: known.is_complete && known.is_trusted,
            touches: known.touches,
            relists: known.relists,
            epoch: known.epoch,
            dirty: Arc::clone(&known.dirty),
            listed: known.listed.clone().filter(is_ours),
            suspect: known.suspect.clone().filter(is_ours),
        }
    }

    /// Caches a listing, unless it may already be outdated.
    pub(super) fn store_listing(&self, listed: &Arc<TrackedListing>, began: &TreeSnapshot) {
        let mut known = lock(&self.known);
        if known.is_trusted && known.relists == began.relists {
            known.listed = Some(Arc::clone(listed));
            known.suspect = None;
        }
    }

    /// Drops a listing that turned out to be invalid.
    pub(super) fn drop_listing(&self, began: &TreeSnapshot) {
        let mut known = lock(&self.known);
        if known.relists == began.relists {
            known.listed = None;
            known.suspect = None;
        }
    }

    /// Prevents all other projects of this process from writing.
    pub(in crate::engine) fn lock_writes(&self) -> MutexGuard<'_, ()> {
        lock(&self.saving)
    }

    pub(in crate::engine) fn rows(&self) -> Option<Arc<FileRows>> {
        lock(&self.known).rows.clone()
    }

    /// Returns the rows, if they were read from a store of this generation.
    pub(in crate::engine) fn rows_of(&self, generation: Option<&[u8]>) -> Option<Arc<FileRows>> {
        let known = lock(&self.known);
        known.rows.clone().filter(|_| known.generation.as_deref() == generation)
    }

    /// Caches the rows as stored in the store of this generation. Nobody may write in the meantime.
    pub(in crate::engine) fn store_rows(&self, rows: Arc<FileRows>, generation: Option<Vec<u8>>) {
        let mut known = lock(&self.known);
        known.rows = Some(rows);
        known.generation = generation;
    }

    /// Drops the rows, because the store has others.
    pub(in crate::engine) fn drop_rows(&self) {
        let mut known = lock(&self.known);
        // Until everything has been scanned again, an unreported change cannot be distinguished from an earlier one.
        known.rows = None;
        known.is_complete = false;
    }

    /// Records that the store lacks some of the rows in memory.
    pub(in crate::engine) fn mark_behind(&self) {
        lock(&self.known).is_behind = true;
    }

    /// Forgets the rows if the store lacks some of them: a project that has a store again, or never lost it, reads
    /// again what another project could not store.
    pub(in crate::engine) fn catch_up(&self) {
        let is_behind = std::mem::take(&mut lock(&self.known).is_behind);
        if is_behind {
            self.drop_rows();
        }
    }

    /// Applies a batch that is about to be written.
    pub(in crate::engine) fn apply_batch(&self, batch: &WriteBatch) {
        if batch.files.is_empty() && batch.removed.is_empty() {
            return;
        }
        let mut known = lock(&self.known);
        let TreeState { rows: Some(rows), unreported, is_complete, .. } = &mut *known else {
            return;
        };
        // Copied while an answer still holds them: the data of an answer must not change while it is made.
        let rows = Arc::make_mut(rows);
        let mut keep_before = |path: &RelPath, before: Option<Arc<FileRow>>| {
            // If not, everything will be scanned, which reports it.
            if *is_complete {
                unreported.entry(path.clone()).or_insert(before);
            }
        };
        for path in &batch.removed {
            if let Some(before) = rows.remove(path) {
                keep_before(path, Some(before));
            }
        }
        for row in &batch.files {
            let before = rows.insert(row.path.clone(), Arc::new(row.clone()));
            if before.as_ref().is_none_or(|before| before.state != row.state) {
                keep_before(&row.path, before);
            }
        }
    }

    /// Removes from a batch rows that were read before later touches if the file has been read again since. Files
    /// touched in the meantime are kept without their stamps, which may belong to half-written bytes.
    pub(in crate::engine) fn drop_outdated(&self, batch: &mut WriteBatch, touches: u64) {
        let known = lock(&self.known);
        let is_later = |at: Option<&u64>| at.is_some_and(|at| touches < *at);
        batch.files.retain(|row| !is_later(known.settled.get(&row.path)));
        for row in &mut batch.files {
            if is_later(known.dirty.get(&row.path)) {
                row.stamp = None;
            }
        }
    }

    /// Returns whether an answer found a new file that no refresh has reported yet.
    pub(in crate::engine) fn is_unreported_addition(&self, path: &RelPath) -> bool {
        lock(&self.known).unreported.get(path).is_some_and(Option::is_none)
    }

    /// Returns the files that have changed since they were last reported, each with its row at that time. They count as
    /// reported now.
    pub(in crate::engine) fn take_unreported(
        &self,
        is_meant: &dyn Fn(&RelPath) -> bool,
    ) -> FxHashMap<RelPath, Option<Arc<FileRow>>> {
        lock(&self.known).unreported.extract_if(|path, _| is_meant(path)).collect()
    }

    /// Records that a file is gone with its linked folder; returns whether that is new.
    pub(in crate::engine) fn mark_gone(&self, path: &RelPath) -> bool {
        lock(&self.known).gone.insert(path.clone())
    }

    /// Returns the files that were gone with their linked folders, and exist again.
    pub(in crate::engine) fn take_returned(&self, is_gone: &dyn Fn(&RelPath) -> bool) -> Vec<RelPath> {
        lock(&self.known).gone.extract_if(|path| !is_gone(path)).collect()
    }

    /// Records that files were read, and how many reports there were when the read began.
    pub(in crate::engine) fn mark_read<'p>(&self, paths: impl Iterator<Item = &'p RelPath>, touches: u64) {
        let mut known = lock(&self.known);
        if known.dirty.is_empty() {
            return;
        }
        for path in paths {
            if known.dirty.get(path).is_some_and(|touch| *touch <= touches) {
                Arc::make_mut(&mut known.dirty).remove(path);
                if MAX_SETTLED <= known.settled.len() {
                    // Reads take moments; those of long ago have ended.
                    known.settled.clear();
                }
                known.settled.insert(path.clone(), touches);
            }
        }
    }

    /// Records that every file was scanned.
    pub(in crate::engine) fn mark_scanned_all(&self, began: &TreeSnapshot) {
        let mut known = lock(&self.known);
        // Events that were lost during the scan may concern files that it had already passed.
        known.is_complete = known.epoch == began.epoch && known.is_trusted;
        let seen = began.touches;
        // Files that are not listed will not be read.
        if !known.dirty.is_empty() {
            Arc::make_mut(&mut known.dirty).retain(|_, touch| seen < *touch);
        }
    }

    pub(in crate::engine) fn count_missed(&self, missed: u64) {
        lock(&self.known).missed += missed;
    }

    pub(in crate::engine) fn count_mismatch(&self) {
        lock(&self.known).mistakes += 1;
    }
}

pub(in crate::engine) struct TrackedListing {
    pub(in crate::engine) listing: FileListing,
    /// The linked folders, by name.
    pub(super) mounts: Vec<ListedMount>,
    pub(in crate::engine) neighbors: Arc<HeaderNeighbors>,
    /// The name options of the listing: another session may have others.
    pub(super) name_options: discover::Options,
    /// When it was begun, in the file system's time. Later changes may or may not be included.
    pub(super) began_ns: i64,
    /// The files outside of the project; `None` if a file did not exist.
    pub(super) rule_files: Vec<(PathBuf, Option<FileStamp>)>,
    pub(super) ignore_files: Vec<(RelPath, FileStamp)>,
    pub(in crate::engine) folders: Vec<ListedFolder>,
    /// Folders that were read again because their stamps had changed, but whose names had not, by position.
    pub(super) rechecked: Mutex<FxHashMap<usize, (FileStamp, i64)>>,
}

impl TrackedListing {
    /// Returns the files outside of the project that the listing depends on.
    pub(super) fn external_paths(&self) -> Vec<PathBuf> {
        self.rule_files.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Returns a hash of the linked folders, and of the stamps of all files that git's history depends on; git's data
    /// about commits does not change without one of them. `None` if the stamps are not settled or not known.
    pub(in crate::engine) fn history_key(&self) -> Option<ContentHash> {
        let is_known = !self.rule_files.is_empty() && self.has_rested();
        is_known.then(|| {
            let mut hash = Fingerprint::default();
            // The same folder may have been linked under another name, or as another kind of folder.
            for mount in &self.mounts {
                let LinkedFolder { name, kind, .. } = &mount.linked;
                hash.bytes(name.as_bytes()).bytes(kind.name().as_bytes());
                hash.number(u64::from(mount.source.is_some()));
            }
            hash.bytes(hash_stamps(&self.rule_files).as_bytes()).finish()
        })
    }

    /// Returns whether the stamps of the rule files were settled and can be trusted.
    pub(super) fn has_rested(&self) -> bool {
        self.rule_files.iter().all(|(_, stamp)| stamp.is_none_or(|stamp| !is_racy(&stamp, self.began_ns)))
    }
}

/// A folder that may contain files of the project.
pub(in crate::engine) struct ListedFolder {
    /// `None` for the root.
    pub(super) path: Option<RelPath>,
    pub(super) stamp: Option<FileStamp>,
    /// A hash of its entries; `None` if these may differ from what was listed.
    pub(super) names: Option<ContentHash>,
}

fn hash_stamps(files: &[(PathBuf, Option<FileStamp>)]) -> ContentHash {
    let mut hash = Fingerprint::default();
    for (path, stamp) in files {
        hash.bytes(path.as_os_str().as_encoded_bytes());
        hash.number(u64::from(stamp.is_some()));
        if let Some(FileStamp { dev, ino, size, mtime_ns, ctime_ns }) = stamp {
            hash.number(*dev).number(*ino).number(*size);
            hash.bytes(&mtime_ns.to_le_bytes()).bytes(&ctime_ns.to_le_bytes());
        }
    }
    hash.finish()
}
