//! A look at the whole tree: which files there are, what is known of them, and what the file system says of them now.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use rustc_hash::FxHashSet;

use super::examine::{ExaminedFile, ReadOutcome};
use super::scan::{KnownState, PRODUCERS, ProjectSnapshot};
use crate::engine::artifacts::producers_fingerprint;
use crate::engine::error::Error;
use crate::engine::project::Project;
use crate::engine::workspace::{
    FileRows, ListingState, TrackedListing, TreeSnapshot, WorkspaceCache, is_racy,
};
use crate::model::RelPath;
use crate::store;
use crate::store::FileRow;
use crate::store::Store;
use crate::store::StoredFileState;
use crate::store::WriteBatch;
use crate::sys::FileStat;
use crate::sys::Files;

/// Below so many files one thread is faster than two.
const FILES_FOR_A_THREAD: usize = 512;
/// A change that is older than this should have been told by an event.
pub(in crate::engine) const TOLD_BY_NS: i64 = 2_000_000_000;

impl Project<'_> {
    /// Lists the files, and looks at the stamps of those that are wanted.
    pub(in crate::engine) fn take_snapshot(
        &mut self,
        wanted: &(dyn Fn(&RelPath) -> bool + Sync),
    ) -> Result<ProjectSnapshot, Error> {
        let (rows, began) = match self.shared.clone() {
            Some(tree) => {
                // Before the rows are taken: what another session settles in between is in them.
                let began = tree.snapshot(&self.names_key);
                (self.shared_rows(&tree), Some(began))
            }
            None => (Arc::new(self.stored_rows()), None),
        };
        let kept = began.as_ref().and_then(|began| self.reusable_listing(began));
        let (listed, stats) = match kept {
            Some(listed) => {
                let paths: Vec<Option<&RelPath>> = listed
                    .listing
                    .files
                    .iter()
                    .map(|found| Some(&found.path).filter(|path| wanted(path)))
                    .collect();
                let stats = stat_all(self.world.files, &paths);
                (listed, stats)
            }
            None => self.list_and_stat(&rows, began.as_ref(), wanted)?,
        };
        for note in &listed.listing.notes {
            self.note(note.clone());
        }
        let stored = self.query_store(|store| store.get_meta(PRODUCERS)).flatten();
        // Without a store nothing was made by another program.
        let is_current = stored.as_deref() == Some(producers_fingerprint().as_bytes())
            || (self.store.is_none() && self.shared.is_some());
        Ok(ProjectSnapshot { listed, rows, stats, is_current, tree: began })
    }

    /// Returns the listing that is kept, if a new one would be the same.
    pub(in crate::engine) fn reusable_listing(&self, began: &TreeSnapshot) -> Option<Arc<TrackedListing>> {
        let tree = self.shared.as_ref()?;
        if let Some(listed) = &began.listed {
            match self.check_listing(listed) {
                ListingState::Unchanged | ListingState::SameNames => return Some(Arc::clone(listed)),
                ListingState::Stale { should_be_reported: should_be_told } => {
                    if should_be_told && began.is_complete {
                        tree.count_missed(1);
                    }
                }
            }
        }
        // That files come and go is told of each that an editor saves by way of another name.
        let listed = began.suspect.as_ref()?;
        let is_explained = self.check_listing(listed) == ListingState::SameNames;
        is_explained.then(|| {
            tree.store_listing(listed, began);
            Arc::clone(listed)
        })
    }

    /// Lists the files anew, and looks meanwhile at those that are known.
    fn list_and_stat(
        &self,
        rows: &FileRows,
        began: Option<&TreeSnapshot>,
        wanted: &(dyn Fn(&RelPath) -> bool + Sync),
    ) -> Result<(Arc<TrackedListing>, Vec<Option<FileStat>>), Error> {
        let files = self.world.files;
        let (listed, stats) = self.list_files(began, || {
            let paths: Vec<Option<&RelPath>> = rows.keys().filter(|path| wanted(path)).map(Some).collect();
            let stats = stat_all(files, &paths);
            paths.into_iter().flatten().zip(stats).collect::<FxHashMap<_, _>>()
        })?;
        let stats =
            listed.listing.files.iter().map(|found| stats.get(&found.path).copied().flatten()).collect();
        Ok((listed, stats))
    }

    fn stored_rows(&mut self) -> FileRows {
        let rows = self.query_store(Store::files).unwrap_or_default();
        rows.into_iter().map(|row| (row.path.clone(), Arc::new(row))).collect()
    }

    /// Returns the rows as they are kept between answers, read anew where another process changed them.
    pub(in crate::engine) fn shared_rows(&mut self, tree: &WorkspaceCache) -> Arc<FileRows> {
        self.retry_open();
        if self.store.is_some() {
            tree.catch_up();
        }
        if let Some(rows) = tree.rows()
            && self.has_stored_rows(&rows)
        {
            return rows;
        }
        let _alone = tree.lock_writes();
        // Another project may have been faster.
        if let Some(rows) = tree.rows()
            && self.has_stored_rows(&rows)
        {
            return rows;
        }
        let rows = Arc::new(self.stored_rows());
        tree.store_rows(Arc::clone(&rows));
        self.release_memory();
        rows
    }

    /// Gives back memory after a look at everything, where the process stays: the next one may be a long time off.
    pub(in crate::engine) fn release_memory(&mut self) {
        if self.shared.is_some() {
            let _ = self.query_store(Store::release_memory);
        }
    }

    /// Says whether the store still has these rows. What others write in it is as right as what is in memory, so that
    /// only what they deleted matters.
    fn has_stored_rows(&mut self, rows: &FileRows) -> bool {
        let Some(store) = &self.store else { return true };
        let counted =
            if store.is_file_in_place() { store.file_count_if_changed() } else { Err(store::Error::Gone) };
        match counted {
            Ok(None) => true,
            Ok(Some(files)) => files == rows.len() as u64,
            Err(error) => {
                self.recover(&error);
                false
            }
        }
    }

    /// Writes what came of files that were read after so many touches. One that was touched since is not settled.
    pub(in crate::engine) fn save_scanned(&mut self, batch: WriteBatch, began: Option<&TreeSnapshot>) {
        self.save_read(batch, began.map(|began| began.touches));
    }

    /// Counts the files that are to be read because their stamps have changed, and that no event told of in time.
    pub(in crate::engine) fn count_missed(&self, to_read: &[RelPath], sight: &ProjectSnapshot) {
        let (Some(tree), Some(began)) = (&self.shared, &sight.tree) else { return };
        if !began.is_complete {
            return;
        }
        let told_by = self.world.clock.now_ns().saturating_sub(TOLD_BY_NS);
        let is_missed = |path: &&RelPath| {
            let at = sight.files().binary_search_by(|found| found.path.cmp(path)).ok();
            let stat = at.and_then(|at| sight.stats[at]);
            let row = sight.rows.get(*path);
            !sight.is_dirty(path)
                && row.zip(stat).is_some_and(|(row, stat)| {
                    row.stamp.is_some_and(|stamp| stamp != stat.stamp) && stat.stamp.ctime_ns < told_by
                })
        };
        tree.count_missed(to_read.iter().filter(is_missed).count() as u64);
    }

    /// Tells of a file whose bytes are not what its stamp promised; only who is paranoid finds one.
    pub(in crate::engine) fn report_stamp_mismatch(
        &mut self,
        examined: &ExaminedFile,
        row: Option<&Arc<FileRow>>,
        is_dirty: bool,
    ) {
        let Some(row) = row.filter(|_| self.paranoid && !is_dirty) else { return };
        let is_believed =
            row.stamp.is_some_and(|stamp| Some(stamp) == examined.stamp && !is_racy(&stamp, row.read_at_ns));
        let is_other = match (&row.state, &examined.outcome) {
            (StoredFileState::Content { hash: before, .. }, ReadOutcome::Content { hash, .. }) => {
                before != hash
            }
            (StoredFileState::LeftOut(before), ReadOutcome::LeftOut(reason)) => before != reason,
            (StoredFileState::Content { .. } | StoredFileState::LeftOut(_), _) => true,
        };
        if is_believed && is_other {
            if let Some(tree) = &self.shared {
                tree.count_mismatch();
            }
            self.note(format!(
                "{} has other bytes than its stamp promised; the answer has those of now",
                row.path
            ));
        }
    }
}

/// Looks at files, on two cores where there are many.
fn stat_all(files: &dyn Files, paths: &[Option<&RelPath>]) -> Vec<Option<FileStat>> {
    let stat = |paths: &[Option<&RelPath>]| {
        paths.iter().map(|path| path.and_then(|path| files.stat(path).ok())).collect::<Vec<_>>()
    };
    if paths.len() < 2 * FILES_FOR_A_THREAD {
        return stat(paths);
    }
    let (first, second) = paths.split_at(paths.len() / 2);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| stat(second));
        let mut stats = stat(first);
        stats.extend(second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        stats
    })
}

/// Returns the files that are known and not listed any more, or that have turned into something that is not read.
pub(in crate::engine) fn rows_to_remove(sight: &ProjectSnapshot, kept: &FxHashSet<&RelPath>) -> Vec<RelPath> {
    let mut gone: Vec<RelPath> = sight.rows.keys().filter(|path| !kept.contains(path)).cloned().collect();
    gone.sort();
    gone
}

/// Says whether a stored row is still what the file is.
pub(in crate::engine) fn is_kept(row: &FileRow, state: &KnownState) -> bool {
    match (&row.state, state) {
        (StoredFileState::Content { .. }, KnownState::Content { .. }) => true,
        (StoredFileState::LeftOut(stored), KnownState::LeftOut(now)) => stored == now,
        (StoredFileState::Content { .. }, KnownState::LeftOut(_))
        | (StoredFileState::LeftOut(_), KnownState::Content { .. }) => false,
    }
}
