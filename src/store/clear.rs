//! Emptying the store, or a part of it, and giving the room back to the disk.

use rusqlite::Connection;

use super::Error;
use super::Store;
use super::artifact;
use super::content;
use super::file;
use super::given;
use super::producer;
use crate::model::ArtifactKind;
use crate::model::RelPath;

/// What is to be cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClearScope {
    /// All there is.
    All,
    /// The artifacts of these kinds.
    Artifacts(Vec<ArtifactKind>),
    /// These files, and what was derived from contents that no other file holds.
    Files(Vec<RelPath>),
}

/// What was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeletedRows {
    /// Contents.
    pub contents: u64,
    /// Artifacts.
    pub artifacts: u64,
    /// Files that were known.
    pub files: u64,
    /// Bytes by which the database became smaller on the disk; what is freed within it is used again.
    pub bytes: u64,
}

impl Store {
    /// Deletes what was asked for.
    pub fn clear(&mut self, what: &ClearScope) -> Result<DeletedRows, Error> {
        let before = self.bytes_on_disk()?;
        let transaction = self.begin()?;
        let freed = match what {
            ClearScope::All => clear_all(&transaction)?,
            ClearScope::Artifacts(kinds) => clear_artifacts(&transaction, kinds)?,
            ClearScope::Files(paths) => clear_files(&transaction, paths)?,
        };
        transaction.commit()?;
        self.reclaim_space(before, freed)
    }

    /// Gives unused pages back to the disk, if there are many and nobody is in the way.
    pub(super) fn reclaim_space(&self, before: u64, freed: DeletedRows) -> Result<DeletedRows, Error> {
        Ok(DeletedRows { bytes: self.database.reclaim_space(before)?, ..freed })
    }
}

fn clear_all(connection: &Connection) -> Result<DeletedRows, Error> {
    let delete = |statement| connection.execute(statement, []).map(|rows| rows as u64);
    delete("DELETE FROM meta")?;
    delete("DELETE FROM token_count")?;
    delete("DELETE FROM given")?;
    delete("DELETE FROM given_text")?;
    let freed = DeletedRows {
        contents: delete("DELETE FROM content")?,
        artifacts: delete("DELETE FROM artifact")?,
        files: delete("DELETE FROM file")?,
        bytes: 0,
    };
    delete("DELETE FROM producer")?;
    Ok(freed)
}

fn clear_artifacts(connection: &Connection, kinds: &[ArtifactKind]) -> Result<DeletedRows, Error> {
    let mut freed = DeletedRows::default();
    for kind in kinds {
        for id in producer::select_by_kind(connection, *kind)? {
            freed.artifacts += artifact::delete_by_producer(connection, id)?;
            producer::delete(connection, id)?;
        }
    }
    Ok(freed)
}

fn clear_files(connection: &Connection, paths: &[RelPath]) -> Result<DeletedRows, Error> {
    let mut freed = DeletedRows::default();
    given::delete_files(connection, paths)?;
    for path in paths {
        let (held, was_known) = file::delete(connection, path.as_bytes())?;
        freed.files += u64::from(was_known);
        let Some(content_id) = held else { continue };
        if file::is_content_referenced(connection, content_id)? {
            continue;
        }
        freed.artifacts += artifact::delete_by_content(connection, content_id)?;
        freed.contents += content::delete(connection, content_id)?;
    }
    Ok(freed)
}

#[cfg(test)]
mod tests {
    use super::super::ArtifactBody;
    use super::super::samples::TempStore;
    use super::super::samples::batch;
    use super::super::samples::hash;
    use super::super::samples::path;
    use super::super::samples::producer;
    use super::super::samples::row;
    use super::super::samples::skeleton;
    use super::*;

    /// A store of two files and two megabytes.
    fn fill_store(sandbox: &TempStore) -> Store {
        let mut store = sandbox.open();
        let mut large = batch(&[("a.py", "a"), ("b.py", "b")], 1);
        large.contents[0].artifacts[1].1 = ArtifactBody::Skeleton(skeleton("x".repeat(2_000_000)));
        store.save(&large).unwrap();
        store
    }

    #[test]
    fn clearing_all_leaves_nothing_and_gives_the_room_back() {
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
    fn one_kind_goes_and_the_others_stay() {
        let sandbox = TempStore::new();
        let mut store = fill_store(&sandbox);
        let freed = store.clear(&ClearScope::Artifacts(vec![ArtifactKind::Summary])).unwrap();
        assert_eq!((freed.files, freed.contents, freed.artifacts), (0, 0, 2));
        assert_eq!(store.summary(&producer(ArtifactKind::Summary), &hash("a")).unwrap(), None);
        assert!(store.has_artifacts(&hash("a"), &[producer(ArtifactKind::Outline)]).unwrap());
        assert_eq!(store.files().unwrap().len(), 2);
    }

    #[test]
    fn a_file_goes_with_its_content_unless_another_holds_it() {
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
    fn clearing_works_beside_a_reader() {
        let sandbox = TempStore::new();
        let mut store = fill_store(&sandbox);
        let reader = Store::open_reader(&sandbox.file()).unwrap();
        reader.database.connection.execute_batch("BEGIN").unwrap();
        assert_eq!(reader.files().unwrap().len(), 2);
        let freed = store.clear(&ClearScope::All).unwrap();
        assert_eq!(freed.files, 2);
        // It still sees what it saw, and after its end what is.
        assert_eq!(reader.files().unwrap().len(), 2);
        reader.database.connection.execute_batch("COMMIT").unwrap();
        assert_eq!(reader.files().unwrap(), []);
        assert!(store.is_file_in_place() && reader.is_file_in_place());
    }
}
