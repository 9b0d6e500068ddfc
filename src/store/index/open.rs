//! Opens the store, and sets it aside if it is damaged.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction};

use super::meta;
use crate::model::error_chain;
use crate::store::database::{DatabaseFile, absolute, lock_folder, remove_logs, rename, with_suffix};
use crate::store::error::Error;
use crate::store::migrate::INDEX_SCHEMA;
use crate::store::row::are_rows_authenticated;

// Not FULL: a commit may be lost in a power failure, but the file stays intact, and lost data is derived again.
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

/// The key of a fact that proves that the store was written with the user's key.
pub(super) const OWNER: &str = "owner";

/// The key of a fact that changes after rows of existing files were deleted.
const GENERATION: &str = "generation";

/// One connection to the database of derived data.
#[derive(Debug)]
pub struct Store {
    pub(super) database: DatabaseFile,
    /// Keys of damaged rows in the table `file`, which the next write deletes.
    pub(super) damaged_paths: RefCell<Vec<Vec<u8>>>,
    /// The selected linked worktree; `None` for the checkout that contains the cache.
    pub(super) worktree: Option<String>,
}

/// How a foreign or damaged file was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreRecovery {
    pub moved_to: PathBuf,
    pub reason: String,
}

#[derive(Debug)]
pub struct OpenedStore {
    pub store: Store,
    /// Set if a foreign or damaged file was set aside.
    pub recovery: Option<StoreRecovery>,
}

impl Store {
    /// Opens the store for writing. Creates it if there is none, or if the existing file is damaged or not a store; the
    /// folder must exist.
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
                let why = error_chain(&error);
                Ok(OpenedStore {
                    store: Self::open_writer(&file)?,
                    recovery: Some(StoreRecovery { moved_to, reason: why }),
                })
            }
            opened => Ok(OpenedStore { store: opened?, recovery: None }),
        }
    }

    /// Opens an existing store for reading. Creates and renames nothing.
    pub fn open_reader(file: &Path) -> Result<Self, Error> {
        let file = absolute(file)?;
        let store = Self::new(DatabaseFile::open_reader(&file, &INDEX_SCHEMA, READER_PRAGMAS)?);
        if store.is_users()? { Ok(store) } else { Err(Error::NotAStore { what: "not of this user" }) }
    }

    /// Opens an existing store that nobody else has open, so that writing needs no room on the disk. The folder must be
    /// locked.
    pub(super) fn open_in_place(file: &Path, worktree: Option<&str>) -> Result<Self, Error> {
        let database = DatabaseFile::open_in_place(&absolute(file)?, &INDEX_SCHEMA, WRITER_PRAGMAS)?;
        let store = Self { worktree: worktree.map(str::to_owned), ..Self::new(database) };
        if store.is_users()? { Ok(store) } else { Err(Error::NotAStore { what: "not of this user" }) }
    }

    /// Closes a store that turned out to be damaged and renames its file, replacing the one that was set aside before.
    /// `None` if another process has already done so.
    pub fn set_aside(self) -> Result<Option<PathBuf>, Error> {
        let file = self.database.file().to_owned();
        let _alone = lock_folder(&file, File::lock);
        if !self.database.is_path_in_place()? {
            return Ok(None);
        }
        drop(self);
        set_file_aside(&file).map(Some)
    }

    /// Returns whether the paths of the file and its log still refer to the opened files, so that written data would be
    /// found again.
    pub fn is_file_in_place(&self) -> bool {
        self.database.is_file_in_place()
    }

    /// Returns a value that differs between databases, and changes when [`Store::clear`] or [`Store::verify`] has
    /// deleted files, so that rows read earlier may no longer be stored.
    pub fn generation(&self) -> Result<Option<Vec<u8>>, Error> {
        meta::get_intact(&self.database.connection, GENERATION)
    }

    /// Releases the memory of cached pages, which are read again when they are needed.
    pub fn release_memory(&self) -> Result<(), Error> {
        Ok(self.database.connection.execute_batch("PRAGMA shrink_memory")?)
    }

    /// Returns how many damaged rows this connection has found and skipped.
    #[cfg(test)]
    pub fn damaged_rows(&self) -> u64 {
        self.database.damaged_rows()
    }

    /// Returns the bytes that the database and its log occupy on disk.
    pub(super) fn bytes_on_disk(&self) -> Result<u64, Error> {
        self.database.bytes_on_disk()
    }

    pub(super) fn record_damage(&self) {
        self.database.record_damage();
    }

    /// Begins a write transaction, unless the file was replaced and its data would be lost.
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>, Error> {
        self.database.begin()
    }

    fn open_current(file: &Path) -> Result<Option<Self>, Error> {
        let store = DatabaseFile::open_current(file, &INDEX_SCHEMA, WRITER_PRAGMAS)?.map(Self::new);
        // Any other file is opened again below, with the folder locked.
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
            // A store that came with a project could contain anything.
            return Err(Error::NotAStore { what: "not of this user, or of an earlier version" });
        }
        let transaction = store.begin()?;
        meta::upsert(&transaction, OWNER, b"")?;
        renew_generation(&transaction)?;
        transaction.commit()?;
        Ok(store)
    }

    /// Returns whether the store was created with this user's key. Rows are authenticated individually; this check is
    /// for the note, and to avoid useless lookups.
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

/// Gives the store a new [`Store::generation`].
pub(super) fn renew_generation(connection: &Connection) -> Result<(), Error> {
    let generation: Vec<u8> = connection.query_row("SELECT randomblob(16)", [], |row| row.get(0))?;
    meta::upsert(connection, GENERATION, &generation)
}

/// Renames the file. The folder must be locked, and the file checked to be the right one.
fn set_file_aside(file: &Path) -> Result<PathBuf, Error> {
    let moved_to = with_suffix(file, ".damaged");
    // The logs are deleted first: a new database must never find the log of an old one, which SQLite would replay into
    // it.
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

    /// Opens the existing file, which must be set aside, and checks that the new store works.
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

    /// Creates a store with a few files and without a log.
    fn fill_store(sandbox: &TempStore) {
        let files: Vec<_> =
            (0..200).map(|number| (format!("{number}.py"), format!("text{number}"))).collect();
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        sandbox.open().save(&batch(&files, 1)).unwrap();
    }

    #[test]
    fn a_store_can_be_sent_to_another_thread() {
        fn check<T: Send>() {}
        check::<Store>();
    }

    #[test]
    fn opening_is_idempotent() {
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
        // SQLite treats a file of one byte as empty.
        for size in [2, 15, 100, 5_000] {
            let sandbox = TempStore::new();
            fs::write(sandbox.file(), vec![b'x'; size]).unwrap();
            check_recovery(&sandbox, "not a database");
            assert_eq!(fs::read(sandbox.path("index.db.damaged")).unwrap().len(), size);
        }
    }

    #[test]
    fn a_foreign_database_is_set_aside_unchanged() {
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
    fn only_the_last_damaged_file_is_kept() {
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
    fn no_log_is_left_that_could_be_replayed_into_a_new_store() {
        let sandbox = TempStore::new();
        for name in ["index.db", "index.db-wal", "index.db-shm", "index.db-journal"] {
            fs::write(sandbox.path(name), b"old").unwrap();
        }
        let file = sandbox.file();
        set_file_aside(&file).unwrap();
        assert_eq!(sandbox.file_names(), ["index.db.damaged"]);
    }

    #[test]
    fn a_newer_store_is_rejected_and_left_unchanged() {
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
    fn a_reader_creates_and_writes_nothing() {
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
    fn two_connections_see_each_others_writes() {
        let sandbox = TempStore::new();
        let (mut first, mut second) = (sandbox.open(), sandbox.open());
        first.save(&batch(&[("a.py", "a")], 1)).unwrap();
        second.save(&batch(&[("b.py", "b")], 2)).unwrap();
        assert!(first.has_artifacts(&hash("b"), &producers()).unwrap());
        assert!(second.has_artifacts(&hash("a"), &producers()).unwrap());
        assert_eq!(first.files().unwrap(), second.files().unwrap());
    }

    #[test]
    fn a_new_store_can_be_opened_concurrently() {
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
    fn of_many_processes_that_find_damage_one_sets_it_aside() {
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
        // Existing data may still be read.
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
    fn a_store_that_another_process_recreated_is_not_set_aside() {
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
        // A prime step, so that every kind of position is hit.
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
