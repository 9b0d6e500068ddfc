//! Maintenance of the store: clearing it, collecting garbage, checking every row.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use rusqlite::Connection;

use super::open::{OWNER, Store, renew_generation};
use super::{artifact, content, delivered, file, fragment, meta, producer, worktree};
use crate::model::{ArtifactKind, Producer, RelPath};
use crate::store::database::{IntegrityReport, check_structure, lock_folder};
use crate::store::error::Error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClearScope {
    All,
    Artifacts(Vec<ArtifactKind>),
    /// These files, and the artifacts of contents that no other file has.
    Files(Vec<RelPath>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeletedRows {
    pub contents: u64,
    pub artifacts: u64,
    pub files: u64,
    /// Bytes by which the database shrank on disk; pages freed within it are reused.
    pub bytes: u64,
    /// How many other worktrees of the repository have files in the store, whose data is kept.
    pub other_worktrees: u64,
}

impl Store {
    /// Deletes everything although the disk is full. Fails if another connection to the store is open.
    pub fn clear_in_place(file: &Path, worktree: Option<&str>) -> Result<DeletedRows, Error> {
        let _alone = lock_folder(file, File::lock);
        Self::open_in_place(file, worktree)?.clear(&ClearScope::All)
    }

    /// Deletes everything in a scope.
    pub fn clear(&mut self, what: &ClearScope) -> Result<DeletedRows, Error> {
        let before = self.bytes_on_disk()?;
        let worktree = self.worktree.clone();
        let transaction = self.begin()?;
        let others = count_other_worktrees(&transaction, worktree.as_deref())?;
        let freed = match what {
            ClearScope::All if others == 0 => clear_all(&transaction)?,
            ClearScope::All => clear_worktree(&transaction, worktree.as_deref())?,
            ClearScope::Artifacts(kinds) => clear_artifacts(&transaction, kinds)?,
            ClearScope::Files(paths) => clear_files(&transaction, worktree.as_deref(), paths)?,
        };
        let freed = DeletedRows { other_worktrees: others, ..freed };
        if 0 < freed.files {
            renew_generation(&transaction)?;
        }
        transaction.commit()?;
        self.reclaim_space(before, freed)
    }

    /// Returns unused pages to the file system, if there are many and no reader prevents it.
    pub(super) fn reclaim_space(&self, before: u64, freed: DeletedRows) -> Result<DeletedRows, Error> {
        Ok(DeletedRows { bytes: self.database.reclaim_space(before)?, ..freed })
    }
}

/// Counts the other worktrees with files, including the checkout that contains the cache.
fn count_other_worktrees(connection: &Connection, worktree: Option<&str>) -> Result<u64, Error> {
    let query = "SELECT count(*) FROM worktree
         WHERE name IS NOT ?1 AND id IN (SELECT worktree_id FROM worktree_page)";
    let linked: i64 = connection.query_row(query, [worktree], |row| row.get(0))?;
    let has_files: bool = connection.query_row("SELECT EXISTS (SELECT 1 FROM file)", [], |row| row.get(0))?;
    Ok(linked.cast_unsigned() + u64::from(worktree.is_some() && has_files))
}

/// Deletes what belongs only to one worktree: its files, its deliveries, and contents that no other one has, with their
/// artifacts.
fn clear_worktree(connection: &Connection, worktree: Option<&str>) -> Result<DeletedRows, Error> {
    let delete = |statement: &str| connection.execute(statement, []).map(|rows| rows as u64);
    let mut freed = DeletedRows::default();
    fragment::clear_worktree(connection, worktree)?;
    if let Some(name) = worktree {
        freed.files = worktree::delete(connection, name)?;
    } else {
        freed.files = delete("DELETE FROM file")?;
        delete(&format!("DELETE FROM meta WHERE key <> '{OWNER}' AND substr(key, 1, 1) <> char(1)"))?;
        delete("DELETE FROM given WHERE substr(name, 1, 1) <> char(1)")?;
        delete("DELETE FROM given_document WHERE substr(name, 1, 1) <> char(1)")?;
        delivered::delete_orphaned_texts(connection)?;
    }
    let held = worktree::held_contents(connection)?;
    for id in content::select_unreferenced(connection)? {
        if !held.contains(&id) {
            freed.artifacts += artifact::delete_by_content(connection, id)?;
            freed.contents += content::delete(connection, id)?;
        }
    }
    Ok(freed)
}

fn clear_all(connection: &Connection) -> Result<DeletedRows, Error> {
    let delete = |statement: &str| connection.execute(statement, []).map(|rows| rows as u64);
    // The proof of ownership is kept.
    delete(&format!("DELETE FROM meta WHERE key <> '{OWNER}'"))?;
    delete("DELETE FROM token_count")?;
    delete("DELETE FROM given")?;
    delete("DELETE FROM given_text")?;
    delete("DELETE FROM given_document")?;
    fragment::clear(connection)?;
    let listed: i64 =
        connection.query_row("SELECT coalesce(sum(files), 0) FROM worktree_page", [], |row| row.get(0))?;
    let freed = DeletedRows {
        contents: delete("DELETE FROM content")?,
        artifacts: delete("DELETE FROM artifact")?,
        files: delete("DELETE FROM file")? + listed.cast_unsigned(),
        ..DeletedRows::default()
    };
    for table in ["producer", "worktree_page", "worktree", "listing"] {
        delete(&format!("DELETE FROM {table}"))?;
    }
    Ok(freed)
}

fn clear_artifacts(connection: &Connection, kinds: &[ArtifactKind]) -> Result<DeletedRows, Error> {
    let mut freed = DeletedRows::default();
    for kind in kinds {
        for id in producer::of_kind(connection, *kind)? {
            freed.artifacts += artifact::delete_by_producer(connection, id)?;
            producer::delete(connection, id)?;
        }
    }
    Ok(freed)
}

fn clear_files(
    connection: &Connection,
    worktree: Option<&str>,
    paths: &[RelPath],
) -> Result<DeletedRows, Error> {
    let mut freed = DeletedRows::default();
    delivered::delete_files(connection, worktree, paths)?;
    fragment::delete_files(connection, worktree, paths)?;
    let mut left = BTreeSet::new();
    if let Some(worktree) = worktree {
        freed.files = worktree::delete_files(connection, worktree, paths, &mut left)?;
    } else {
        for path in paths {
            let (held, was_known) = file::delete(connection, path.as_bytes())?;
            freed.files += u64::from(was_known);
            left.extend(held);
        }
    }
    let listed = worktree::held_contents(connection)?;
    for content_id in left {
        if listed.contains(&content_id) || file::is_content_referenced(connection, content_id)? {
            continue;
        }
        freed.artifacts += artifact::delete_by_content(connection, content_id)?;
        freed.contents += content::delete(connection, content_id)?;
    }
    Ok(freed)
}

impl Store {
    /// Deletes contents that no file has had since before `idle_before_s`, with their artifacts, and the artifacts of
    /// producers that are not in `current`.
    ///
    /// Token counts from before `idle_before_s` are deleted, too: it is unknown whether their texts are still rendered,
    /// and counting again is cheap. So are deliveries under names that have not been used since then.
    ///
    /// Contents of files are kept, and so are those that were abandoned recently, because a branch may be switched
    /// back.
    pub fn collect_garbage(
        &mut self,
        idle_before_s: i64,
        current: &[Producer],
    ) -> Result<DeletedRows, Error> {
        let before = self.bytes_on_disk()?;
        let transaction = self.begin()?;
        let mut freed = DeletedRows::default();
        for id in producer::stale(&transaction, current)? {
            freed.artifacts += artifact::delete_by_producer(&transaction, id)?;
            producer::delete(&transaction, id)?;
        }
        // The table does not cover contents of files in linked worktrees.
        let listed = worktree::held_contents(&transaction)?;
        let idle = content::select_idle(&transaction, idle_before_s)?.into_iter();
        for id in idle.filter(|id| !listed.contains(id)) {
            freed.artifacts += artifact::delete_by_content(&transaction, id)?;
            freed.contents += content::delete(&transaction, id)?;
        }
        meta::delete_older_token_counts(&transaction, idle_before_s)?;
        delivered::delete_older(&transaction, idle_before_s)?;
        transaction.commit()?;
        self.reclaim_space(before, freed)
    }
}

impl Store {
    /// Checks the file's structure and every row; deletes damaged rows.
    pub fn verify(&mut self) -> Result<IntegrityReport, Error> {
        let mut report = IntegrityReport {
            structure_error: check_structure(&self.database.connection)?,
            ..IntegrityReport::default()
        };
        if report.structure_error.is_some() {
            return Ok(report);
        }
        let transaction = self.begin()?;
        // Contents first, so that artifacts of deleted contents are then found orphaned.
        content::verify(&transaction, &mut report)?;
        artifact::verify(&transaction, &mut report)?;
        let damaged = report.damaged_rows.len();
        file::verify(&transaction, &mut report)?;
        worktree::verify(&transaction, &mut report)?;
        if damaged < report.damaged_rows.len() {
            renew_generation(&transaction)?;
        }
        meta::verify_meta(&transaction, &mut report)?;
        meta::verify_token_counts(&transaction, &mut report)?;
        delivered::verify(&transaction, &mut report)?;
        fragment::verify(&transaction, &mut report)?;
        transaction.commit()?;
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        TempStore, batch, dense_text, hash, path, producer, producers, removal, row, skeleton,
    };
    use super::super::write::ArtifactBody;
    use super::*;

    /// A store of two files and two megabytes.
    fn fill_store(sandbox: &TempStore) -> Store {
        let mut store = sandbox.open();
        let mut large = batch(&[("a.py", "a"), ("b.py", "b")], 1);
        large.contents[0].artifacts[1].1 = ArtifactBody::Skeleton(skeleton(dense_text(2_500_000)));
        store.save(&large).unwrap();
        store
    }

    #[test]
    fn a_store_is_cleared_where_no_log_can_be_created() {
        let sandbox = TempStore::new();
        sandbox.open().save(&batch(&[("a.py", "a"), ("b.py", "b")], 1)).unwrap();
        // As on a full disk, SQLite cannot create the index of its log: it follows no link.
        std::os::unix::fs::symlink("nowhere", sandbox.path("index.db-shm")).unwrap();
        assert!(Store::open(&sandbox.file()).is_err());
        let freed = Store::clear_in_place(&sandbox.file(), None).unwrap();
        assert_eq!((freed.files, freed.contents), (2, 2));
        std::fs::remove_file(sandbox.path("index.db-shm")).unwrap();
        assert_eq!(sandbox.open().files().unwrap(), []);
        assert_eq!(sandbox.file_names(), ["index.db"]);
    }

    #[test]
    fn clearing_all_leaves_nothing_and_frees_the_space() {
        let sandbox = TempStore::new();
        let mut store = fill_store(&sandbox);
        store.set_meta("key", b"value").unwrap();
        let freed = store.clear(&ClearScope::All).unwrap();
        assert_eq!((freed.files, freed.contents, freed.artifacts), (2, 2, 6));
        assert!(2_000_000 < freed.bytes, "{freed:?}");
        let size = store.size().unwrap();
        assert_eq!((size.files, size.contents), (0, 0));
        assert!(size.bytes_on_disk < 100_000);
        assert_eq!(store.get_meta("key").unwrap(), None);
        assert_eq!(store.clear(&ClearScope::All).unwrap(), DeletedRows::default());
        store.save(&batch(&[("a.py", "a")], 2)).unwrap();
        assert_eq!(store.files().unwrap(), [row("a.py", "a")]);
    }

    #[test]
    fn one_kind_is_cleared_and_the_others_are_kept() {
        let sandbox = TempStore::new();
        let mut store = fill_store(&sandbox);
        let freed = store.clear(&ClearScope::Artifacts(vec![ArtifactKind::Summary])).unwrap();
        assert_eq!((freed.files, freed.contents, freed.artifacts), (0, 0, 2));
        assert_eq!(store.summary(&producer(ArtifactKind::Summary), &hash("a")).unwrap(), None);
        assert!(store.has_artifacts(&hash("a"), &[producer(ArtifactKind::Outline)]).unwrap());
        assert_eq!(store.files().unwrap().len(), 2);
    }

    #[test]
    fn a_file_is_cleared_with_its_content_unless_another_has_it() {
        let sandbox = TempStore::new();
        let mut store = fill_store(&sandbox);
        store.save(&batch(&[("c.py", "b")], 2)).unwrap();
        let what = ClearScope::Files(vec![path("a.py"), path("b.py"), path("unknown.py")]);
        let freed = store.clear(&what).unwrap();
        assert_eq!((freed.files, freed.contents, freed.artifacts), (2, 1, 3));
        assert_eq!(store.files().unwrap(), [row("c.py", "b")]);
        assert!(store.has_artifacts(&hash("b"), &[producer(ArtifactKind::Outline)]).unwrap());
        assert_eq!(store.facts(&hash("a")).unwrap(), None);
    }

    #[test]
    fn clearing_works_during_a_read_transaction() {
        let sandbox = TempStore::new();
        let mut store = fill_store(&sandbox);
        let reader = Store::open_reader(&sandbox.file()).unwrap();
        reader.database.connection.execute_batch("BEGIN").unwrap();
        assert_eq!(reader.files().unwrap().len(), 2);
        let freed = store.clear(&ClearScope::All).unwrap();
        assert_eq!(freed.files, 2);
        // The reader sees the old state until its end, and then the new one.
        assert_eq!(reader.files().unwrap().len(), 2);
        reader.database.connection.execute_batch("COMMIT").unwrap();
        assert_eq!(reader.files().unwrap(), []);
        assert!(store.is_file_in_place() && reader.is_file_in_place());
    }

    #[test]
    fn what_a_file_holds_or_held_lately_stays() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let files = [("a.py", "held"), ("b.py", "idle long"), ("c.py", "idle lately")];
        store.save(&batch(&files, 1)).unwrap();
        store.save(&removal(&["b.py"], 10)).unwrap();
        store.save(&removal(&["c.py"], 20)).unwrap();
        let freed = store.collect_garbage(20, &producers()).unwrap();
        assert_eq!((freed.contents, freed.artifacts, freed.files), (1, 3, 0));
        assert!(store.has_artifacts(&hash("held"), &producers()).unwrap());
        assert!(store.has_artifacts(&hash("idle lately"), &producers()).unwrap());
        assert_eq!(store.facts(&hash("idle long")).unwrap(), None);
    }

    #[test]
    fn artifacts_of_outdated_producers_are_collected() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        let current = [producer(ArtifactKind::Outline), producer(ArtifactKind::Summary)];
        let freed = store.collect_garbage(0, &current).unwrap();
        assert_eq!((freed.contents, freed.artifacts), (0, 1));
        assert!(store.has_artifacts(&hash("a"), &current).unwrap());
        assert!(!store.has_artifacts(&hash("a"), &producers()).unwrap());
        assert_eq!(store.files().unwrap().len(), 1);
    }

    fn filled(sandbox: &TempStore) -> Store {
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a"), ("b.py", "b")], 1)).unwrap();
        store.set_meta("key", b"value").unwrap();
        store
    }

    /// Damages a store, and compares the report; afterwards everything must be intact.
    #[track_caller]
    fn check(harm: &str, expected: &[&str]) {
        let sandbox = TempStore::new();
        let mut store = filled(&sandbox);
        sandbox.raw_connection().execute_batch(harm).unwrap();
        let verdict = store.verify().unwrap();
        assert_eq!(verdict.structure_error, None);
        assert_eq!(verdict.damaged_rows, expected);
        let again = store.verify().unwrap();
        assert!(again.damaged_rows.is_empty());
        store.save(&batch(&[("a.py", "a"), ("b.py", "b")], 2)).unwrap();
        assert_eq!(store.files().unwrap(), [row("a.py", "a"), row("b.py", "b")]);
    }

    #[test]
    fn an_intact_store_passes_verification() {
        let sandbox = TempStore::new();
        let verdict = filled(&sandbox).verify().unwrap();
        let sound = IntegrityReport { rows: 2 + 6 + 2 + 1, ..IntegrityReport::default() };
        assert_eq!(verdict, sound);
    }

    #[test]
    fn damaged_rows_are_reported_and_deleted() {
        check("UPDATE file SET size = 99 WHERE content_id = 1", &["file a.py"]);
        check("UPDATE file SET path = CAST('/' AS BLOB) WHERE content_id = 1", &["file of no path"]);
        check("UPDATE meta SET value = x'00'", &["fact key"]);
        check("UPDATE artifact SET made_at = 2 WHERE key = 1 << 40 | 1", &["outline of ca978112ca1b"]);
    }

    #[test]
    fn artifacts_of_a_damaged_content_are_deleted_with_it() {
        check(
            "UPDATE content SET size = 99 WHERE id = 1",
            &[
                "content ca978112ca1b",
                "outline of no content",
                "skeleton of no content",
                "summary of no content",
                "file a.py",
            ],
        );
    }

    #[test]
    fn artifacts_of_a_renamed_producer_are_damaged() {
        check(
            "UPDATE producer SET version = 'outline/2' WHERE id = 1",
            &["outline of ca978112ca1b", "outline of 3e23e8160039"],
        );
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test does harm to the file")]
    fn a_broken_structure_is_reported_and_no_row_is_deleted() {
        let sandbox = TempStore::new();
        drop(filled(&sandbox));
        let mut bytes = std::fs::read(sandbox.file()).unwrap();
        // The header of a table's first page claims ten thousand rows.
        bytes[2 * 4096 + 3..2 * 4096 + 5].copy_from_slice(&10_000_u16.to_be_bytes());
        std::fs::write(sandbox.file(), bytes).unwrap();
        let mut store = sandbox.open();
        let verdict = store.verify().unwrap();
        assert!(verdict.structure_error.is_some());
        assert_eq!((verdict.rows, verdict.damaged_rows.len()), (0, 0));
        assert!(store.set_aside().unwrap().is_some());
    }
}
