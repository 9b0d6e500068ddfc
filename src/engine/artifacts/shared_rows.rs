//! The table of files, as the projects of a process share it in memory.

use std::sync::Arc;

use super::cache::ArtifactCache;
use crate::engine::workspace::{FileRows, TreeSnapshot, TreeTracker};
use crate::store;
use crate::store::Store;
use crate::store::WriteBatch;

impl ArtifactCache<'_> {
    pub(in crate::engine) fn stored_rows(&mut self) -> FileRows {
        let rows = self.query_store(Store::files).unwrap_or_default();
        rows.into_iter().map(|row| (row.path.clone(), Arc::new(row))).collect()
    }

    /// Returns the rows as they are kept between answers, read anew where another process changed them.
    pub(in crate::engine) fn shared_rows(&mut self, tree: &TreeTracker) -> Arc<FileRows> {
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
        if self.workspace.tracker.is_some() {
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
}
