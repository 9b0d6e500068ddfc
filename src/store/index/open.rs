//! Opening the store, and setting it aside when it is damaged.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction};

use super::meta;
use crate::store::database::{
    DatabaseFile, absolute, describe_error, lock_folder, remove_logs, rename, with_suffix,
};
use crate::store::error::Error;
use crate::store::migrate::INDEX_SCHEMA;
use crate::store::row::are_rows_authenticated;

// Not FULL: a commit may be lost when the power fails, but the file stays whole, and what was lost is derived again.
const WRITER_PRAGMAS: &str = "
    PRAGMA synchronous = NORMAL;
    PRAGMA wal_autocheckpoint = 4000;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -4096;
";

const READER_PRAGMAS: &str = "
    PRAGMA query_only = ON;
    PRAGMA cache_size = -2048;
";

/// The fact that only the user's key could have written.
pub(super) const OWNER: &str = "owner";

/// The fact that is another one after files were deleted that the project may still have.
const GENERATION: &str = "generation";

/// The database of what was derived from files: one connection to it.
#[derive(Debug)]
pub struct Store {
    pub(super) database: DatabaseFile,
    /// Keys of rows in the table `file` that were found damaged, for the next write to delete.
    pub(super) damaged_paths: RefCell<Vec<Vec<u8>>>,
    /// The linked worktree whose files are meant; `None` for the checkout that the cache lies in.
    pub(super) worktree: Option<String>,
}

/// What happened when a foreign or damaged file was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreRecovery {
    pub moved_to: PathBuf,
    pub reason: String,
}

#[derive(Debug)]
pub struct OpenedStore {
    pub store: Store,
    /// Set if another file was in its place.
    pub recovery: Option<StoreRecovery>,
}

impl Store {
    /// Opens the store for writing. Makes it if there is none, and if what is there is damaged or no store at all;
    /// the folder must exist.
    pub fn open(file: &Path) -> Result<OpenedStore, Error> {
        let file = absolute(file)?;
        if let Some(store) = Self::open_current(&file)? {
            let recovery = None;
            return Ok(OpenedStore { store, recovery });
        }
        let _alone = lock_folder(&file, File::lock);
        match Self::open_writer(&file) {
            Err(error) if error.is_damage() => {
                let moved_to = set_file_aside(&file)?;
                let why = describe_error(&error);
                Ok(OpenedStore {
                    store: Self::open_writer(&file)?,
                    recovery: Some(StoreRecovery { moved_to, reason: why }),
                })
            }
            opened => Ok(OpenedStore { store: opened?, recovery: None }),
        }
    }

    /// Opens a store that is there for reading. Makes nothing and moves nothing.
    pub fn open_reader(file: &Path) -> Result<Self, Error> {
        let file = absolute(file)?;
        let store = Self::new(DatabaseFile::open_reader(&file, &INDEX_SCHEMA, READER_PRAGMAS)?);
        if store.is_users()? { Ok(store) } else { Err(Error::NotAStore { what: "not of this user" }) }
    }

    /// Closes a store that turned out to be damaged and renames its file, in place of the one that was set aside
    /// before. `None` where another process has been faster.
    pub fn set_aside(self) -> Result<Option<PathBuf>, Error> {
        let file = self.database.file().to_owned();
        let _alone = lock_folder(&file, File::lock);
        if !self.database.is_path_in_place()? {
            return Ok(None);
        }
        drop(self);
        set_file_aside(&file).map(Some)
    }

    /// Returns whether what is written would be found again: whether the file's name still refers to the file that
    /// was opened, and its log's too.
    pub fn is_file_in_place(&self) -> bool {
        self.database.is_file_in_place()
    }

    /// Returns what is another value in another database, and after [`Store::clear`] or [`Store::verify`] has deleted files:
    /// rows that were read before are then not all stored any more.
    pub fn generation(&self) -> Result<Option<Vec<u8>>, Error> {
        meta::get_intact(&self.database.connection, GENERATION)
    }

    /// Releases the memory that holds pages of the file; they are read again when they are needed.
    pub fn release_memory(&self) -> Result<(), Error> {
        Ok(self.database.connection.execute_batch("PRAGMA shrink_memory")?)
    }

    /// Returns how many rows this connection has found damaged, and served to nobody.
    #[cfg(test)]
    pub fn damaged_rows(&self) -> u64 {
        self.database.damaged_rows()
    }

    /// Returns the bytes that the database and its log take on the disk.
    pub(super) fn bytes_on_disk(&self) -> Result<u64, Error> {
        self.database.bytes_on_disk()
    }

    pub(super) fn record_damage(&self) {
        self.database.record_damage();
    }

    /// Begins a write transaction, unless what it writes could not be found again.
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>, Error> {
        self.database.begin()
    }

    fn open_current(file: &Path) -> Result<Option<Self>, Error> {
        let store = DatabaseFile::open_current(file, &INDEX_SCHEMA, WRITER_PRAGMAS)?.map(Self::new);
        // Any other is opened again below, alone.
        let Some(store) = store else { return Ok(None) };
        match store.is_users() {
            Ok(is_users) => Ok(is_users.then_some(store)),
            Err(error) if error.is_damage() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open_writer(file: &Path) -> Result<Self, Error> {
        let mut store = Self::new(DatabaseFile::open_writer(file, &INDEX_SCHEMA, WRITER_PRAGMAS)?);
        if store.is_users()? {
            return Ok(store);
        }
        if !store.is_empty()? {
            // One that came with a project would say whatever its author likes.
            return Err(Error::NotAStore { what: "not of this user, or of an earlier version" });
        }
        let transaction = store.begin()?;
        meta::upsert(&transaction, OWNER, b"")?;
        renew_generation(&transaction)?;
        transaction.commit()?;
        Ok(store)
    }

    /// Returns whether the store was made with this user's key. Its rows are authenticated one by one; this is for the
    /// note, and so that nothing is looked for in vain.
    fn is_users(&self) -> Result<bool, Error> {
        Ok(!are_rows_authenticated() || meta::get_intact(&self.database.connection, OWNER)?.is_some())
    }

    fn is_empty(&self) -> Result<bool, Error> {
        let query = "SELECT NOT EXISTS (SELECT 1 FROM meta) AND NOT EXISTS (SELECT 1 FROM content)";
        Ok(self.database.connection.query_row(query, [], |row| row.get(0))?)
    }

    fn new(database: DatabaseFile) -> Self {
        Self { database, damaged_paths: RefCell::default(), worktree: None }
    }
}

/// Gives the store another [`Store::generation`].
pub(super) fn renew_generation(connection: &Connection) -> Result<(), Error> {
    let generation: Vec<u8> = connection.query_row("SELECT randomblob(16)", [], |row| row.get(0))?;
    meta::upsert(connection, GENERATION, &generation)
}

/// Renames the file. The folder must be locked, and the file be the one that is meant.
fn set_file_aside(file: &Path) -> Result<PathBuf, Error> {
    let moved_to = with_suffix(file, ".damaged");
    // The logs go first: a new database must never meet the log of an old one, which would be played back into it.
    remove_logs(file)?;
    rename(file, &moved_to)?;
    Ok(moved_to)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test does to the file what a store must survive")]
mod tests {
    use super::super::testing::{TempStore, batch, hash, path, producer, producers};
    use super::*;
    use crate::model::ArtifactKind;
    use std::fs;
    use std::time::Duration;

    /// Opens what is there, which must be set aside, and makes sure that the new store works.
    #[track_caller]
    fn check_recovery(sandbox: &TempStore, why: &str) {
        let opened = Store::open(&sandbox.file()).unwrap();
        let recovery = opened.recovery.unwrap();
        assert!(recovery.reason.contains(why), "{}", recovery.reason);
        assert_eq!(recovery.moved_to, sandbox.path("index.db.damaged"));
        let mut store = opened.store;
        assert_eq!(store.files().unwrap(), []);
        store.save(&batch(&[("a.py", "new")], 1)).unwrap();
        drop(store);
        assert_eq!(sandbox.open().files().unwrap().len(), 1);
    }

    /// Leaves a store with some files behind, all of it in the main file.
    fn fill_store(sandbox: &TempStore) {
        let files: Vec<_> =
            (0..200).map(|number| (format!("{number}.py"), format!("text{number}"))).collect();
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        sandbox.open().save(&batch(&files, 1)).unwrap();
    }

    #[test]
    fn a_store_can_go_to_another_thread() {
        fn check<T: Send>() {}
        check::<Store>();
    }

    #[test]
    fn opening_twice_is_opening_once() {
        let sandbox = TempStore::new();
        sandbox.open().save(&batch(&[("a.py", "a")], 1)).unwrap();
        let before = fs::read(sandbox.file()).unwrap();
        drop(sandbox.open());
        assert!(fs::read(sandbox.file()).unwrap() == before);
        assert_eq!(sandbox.file_names(), ["index.db"]);
    }

    #[test]
    fn an_empty_file_becomes_a_store() {
        let sandbox = TempStore::new();
        fs::write(sandbox.file(), b"").unwrap();
        assert_eq!(sandbox.open().files().unwrap(), []);
    }

    #[test]
    fn garbage_is_set_aside() {
        // SQLite takes a file of one byte for an empty one.
        for size in [2, 15, 100, 5_000] {
            let sandbox = TempStore::new();
            fs::write(sandbox.file(), vec![b'x'; size]).unwrap();
            check_recovery(&sandbox, "not a database");
            assert_eq!(fs::read(sandbox.path("index.db.damaged")).unwrap().len(), size);
        }
    }

    #[test]
    fn another_programs_database_is_set_aside_unchanged() {
        let sandbox = TempStore::new();
        sandbox.raw_connection().execute_batch("CREATE TABLE t (x)").unwrap();
        let before = fs::read(sandbox.file()).unwrap();
        check_recovery(&sandbox, "another program");
        assert!(fs::read(sandbox.path("index.db.damaged")).unwrap() == before);
    }

    #[test]
    fn a_truncated_store_is_set_aside() {
        let sandbox = TempStore::new();
        fill_store(&sandbox);
        let half = fs::metadata(sandbox.file()).unwrap().len() / 2;
        let file = File::options().write(true).open(sandbox.file()).unwrap();
        file.set_len(half).unwrap();
        check_recovery(&sandbox, "malformed");
    }

    #[test]
    fn a_store_without_a_table_is_set_aside() {
        let sandbox = TempStore::new();
        fill_store(&sandbox);
        sandbox.raw_connection().execute_batch("DROP TABLE meta").unwrap();
        check_recovery(&sandbox, "without all of its tables");
    }

    #[test]
    fn a_link_is_not_followed() {
        let sandbox = TempStore::new();
        let target = sandbox.path("elsewhere");
        std::os::unix::fs::symlink(&target, sandbox.file()).unwrap();
        check_recovery(&sandbox, "not a regular file");
        assert!(!target.exists());
    }

    #[test]
    fn a_folder_in_its_place_is_set_aside() {
        let sandbox = TempStore::new();
        fs::create_dir(sandbox.file()).unwrap();
        check_recovery(&sandbox, "not a regular file");
    }

    #[test]
    fn one_damaged_file_is_kept_the_last() {
        let sandbox = TempStore::new();
        for text in ["first damage", "second damage"] {
            fs::write(sandbox.file(), text).unwrap();
            let opened = Store::open(&sandbox.file()).unwrap();
            assert!(opened.recovery.is_some());
        }
        assert_eq!(fs::read(sandbox.path("index.db.damaged")).unwrap(), b"second damage");
        assert_eq!(sandbox.file_names(), ["index.db", "index.db.damaged"]);
    }

    #[test]
    fn no_log_stays_behind_that_could_be_played_into_a_new_store() {
        let sandbox = TempStore::new();
        for name in ["index.db", "index.db-wal", "index.db-shm", "index.db-journal"] {
            fs::write(sandbox.path(name), b"old").unwrap();
        }
        let file = sandbox.file();
        set_file_aside(&file).unwrap();
        assert_eq!(sandbox.file_names(), ["index.db.damaged"]);
    }

    #[test]
    fn a_newer_store_is_refused_and_left_as_it_is() {
        let sandbox = TempStore::new();
        fill_store(&sandbox);
        sandbox.raw_connection().pragma_update(None, "user_version", 77).unwrap();
        let before = fs::read(sandbox.file()).unwrap();
        for _ in 0..2 {
            let error = Store::open(&sandbox.file()).unwrap_err();
            assert!(matches!(error, Error::TooNew { found: 77, known: 9 }));
            let error = Store::open_reader(&sandbox.file()).unwrap_err();
            assert!(matches!(error, Error::TooNew { found: 77, known: 9 }));
        }
        assert!(fs::read(sandbox.file()).unwrap() == before);
        assert_eq!(sandbox.file_names(), ["index.db"]);
    }

    #[test]
    fn a_store_without_its_folder_cannot_be_opened() {
        let sandbox = TempStore::new();
        let error = Store::open(&sandbox.path("missing/index.db")).unwrap_err();
        assert!(matches!(error, Error::CannotOpen(_)), "{error:?}");
    }

    #[test]
    fn a_reader_makes_nothing_and_writes_nothing() {
        let sandbox = TempStore::new();
        assert!(matches!(Store::open_reader(&sandbox.file()), Err(Error::CannotOpen(_))));
        assert!(sandbox.file_names().is_empty());
        fill_store(&sandbox);
        let mut reader = Store::open_reader(&sandbox.file()).unwrap();
        assert_eq!(reader.files().unwrap().len(), 200);
        let error = reader.save(&batch(&[("a.py", "a")], 1)).unwrap_err();
        assert!(matches!(error, Error::ReadOnly(_)), "{error:?}");
    }

    #[test]
    fn two_stores_on_one_file_see_what_the_other_wrote() {
        let sandbox = TempStore::new();
        let (mut first, mut second) = (sandbox.open(), sandbox.open());
        first.save(&batch(&[("a.py", "a")], 1)).unwrap();
        second.save(&batch(&[("b.py", "b")], 2)).unwrap();
        assert!(first.has_artifacts(&hash("b"), &producers()).unwrap());
        assert!(second.has_artifacts(&hash("a"), &producers()).unwrap());
        assert_eq!(first.files().unwrap(), second.files().unwrap());
    }

    #[test]
    fn many_may_open_a_new_store_at_once() {
        let sandbox = TempStore::new();
        std::thread::scope(|scope| {
            for number in 0..16 {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    let name = format!("{number}.py");
                    sandbox.open().save(&batch(&[(&name, &name)], 1)).unwrap();
                });
            }
        });
        assert_eq!(sandbox.open().files().unwrap().len(), 16);
    }

    #[test]
    fn many_may_find_the_same_damage_and_one_sets_it_aside() {
        let sandbox = TempStore::new();
        fs::write(sandbox.file(), vec![b'x'; 5_000]).unwrap();
        let recoveries = std::thread::scope(|scope| {
            let open = |_| scope.spawn(|| Store::open(&sandbox.file()).unwrap());
            let threads: Vec<_> = (0..8).map(open).collect();
            let opened: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(opened.iter().all(|opened| opened.store.is_file_in_place()));
            opened.iter().filter(|opened| opened.recovery.is_some()).count()
        });
        assert_eq!(recoveries, 1);
        assert_eq!(fs::read(sandbox.path("index.db.damaged")).unwrap(), vec![b'x'; 5_000]);
    }

    #[test]
    fn writing_to_a_deleted_store_is_an_error() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        assert!(store.is_file_in_place());
        fs::remove_file(sandbox.file()).unwrap();
        assert!(!store.is_file_in_place());
        let error = store.save(&batch(&[("b.py", "b")], 1)).unwrap_err();
        assert!(matches!(error, Error::Gone));
        // What is there may still be read.
        assert!(store.file(&path("a.py")).unwrap().is_some());
    }

    #[test]
    fn writing_to_a_replaced_store_or_log_is_an_error() {
        for name in ["index.db", "index.db-wal"] {
            let sandbox = TempStore::new();
            let mut store = sandbox.open();
            store.save(&batch(&[("a.py", "a")], 1)).unwrap();
            fs::copy(sandbox.path(name), sandbox.path("copy")).unwrap();
            fs::rename(sandbox.path("copy"), sandbox.path(name)).unwrap();
            let error = store.save(&batch(&[("b.py", "b")], 1)).unwrap_err();
            assert!(matches!(error, Error::Gone));
        }
    }

    #[test]
    fn damage_found_later_can_be_set_aside() {
        let sandbox = TempStore::new();
        fill_store(&sandbox);
        let store = sandbox.open();
        assert_eq!(store.set_aside().unwrap(), Some(sandbox.path("index.db.damaged")));
        assert_eq!(sandbox.open().files().unwrap(), []);
    }

    #[test]
    fn what_another_has_made_anew_is_not_set_aside() {
        let sandbox = TempStore::new();
        let (slow, fast) = (sandbox.open(), sandbox.open());
        assert!(fast.set_aside().unwrap().is_some());
        sandbox.open().save(&batch(&[("a.py", "a")], 1)).unwrap();
        assert_eq!(slow.set_aside().unwrap(), None);
        assert_eq!(sandbox.open().files().unwrap().len(), 1);
    }

    #[test]
    fn a_store_that_is_held_by_another_is_busy_not_damaged() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.database.connection.busy_timeout(Duration::ZERO).unwrap();
        let other = sandbox.raw_connection();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = store.save(&batch(&[("a.py", "a")], 1)).unwrap_err();
        assert!(matches!(error, Error::Busy(_)), "{error:?}");
    }

    #[test]
    fn a_flipped_bit_anywhere_never_changes_an_answer() {
        let sandbox = TempStore::new();
        let files = [("a.py", "alpha"), ("b.py", "beta"), ("c.py", "gamma")];
        sandbox.open().save(&batch(&files, 1)).unwrap();
        let sound = fs::read(sandbox.file()).unwrap();
        let right = sandbox.open().files().unwrap();
        // A prime step, so that every kind of place is hit.
        for place in (0..sound.len() * 8).step_by(499) {
            let mut bytes = sound.clone();
            bytes[place / 8] ^= 1 << (place % 8);
            let _ = fs::remove_file(sandbox.path("index.db-wal"));
            let _ = fs::remove_file(sandbox.path("index.db-shm"));
            fs::write(sandbox.file(), bytes).unwrap();
            check_no_wrong_answer(&sandbox, &right);
        }
    }

    #[track_caller]
    fn check_no_wrong_answer(sandbox: &TempStore, right: &[super::super::FileRow]) {
        let store = match Store::open(&sandbox.file()) {
            Ok(opened) => opened.store,
            Err(Error::TooNew { .. }) => return,
            Err(error) => panic!("{error:?}"),
        };
        for file in store.files().unwrap_or_default() {
            assert!(right.contains(&file), "{file:?}");
        }
        for text in ["alpha", "beta", "gamma"] {
            let hash = hash(text);
            let summary = store.summary(&producer(ArtifactKind::Summary), &hash).unwrap_or(None);
            assert!(summary.is_none_or(|summary| summary == format!("Defines {text}.")));
            let skeleton = store.skeleton(&producer(ArtifactKind::Skeleton), &hash).unwrap_or(None);
            assert!(skeleton.is_none_or(|skeleton| skeleton.text == format!("def {text}(): ...")));
            let outline = store.outline(&producer(ArtifactKind::Outline), &hash).unwrap_or(None);
            assert!(outline.is_none_or(|outline| outline == super::super::testing::outline(text)));
        }
    }
}
