//! A connection to a database file: opening it, detecting that the file was replaced, checking its structure, and the
//! operations on the file and its logs that SQLite does not do.
//!
//! All databases are opened here; each decides what happens to a damaged one.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::error::Error;
use super::migrate;
use super::migrate::{DatabaseSchema, SchemaState};
use crate::sys::{file_identity, open_file_identity, open_folder_lock};

/// How long a statement waits for the locks of other processes.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The size of the statement cache, larger than the number of distinct statements.
const STATEMENT_CACHE_SIZE: usize = 64;

/// The settings that must hold before the first byte of a file is read.
const SAFETY_PRAGMAS: &str = "
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA mmap_size = 0;
";

/// The settings of [`DatabaseFile::open_in_place`]. The lock comes first: with it, the index of the log is in memory.
const IN_PLACE_PRAGMAS: &str = "
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA temp_store = MEMORY;
    PRAGMA journal_mode = MEMORY;
";

/// One connection to a database file, which detects that the file was deleted or replaced.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    pub(super) connection: Connection,
    file: PathBuf,
    identity: FileIdentity,
    damaged_rows_found: Cell<u64>,
}

impl DatabaseFile {
    /// Opens a database with the current schema. `None` if it is missing, damaged or outdated.
    pub(super) fn open_current(
        file: &Path,
        schema: &DatabaseSchema,
        pragmas: &str,
    ) -> Result<Option<Self>, Error> {
        let _unmoved = lock_folder(file, File::lock_shared);
        if metadata_if_exists(file)?.is_none() {
            return Ok(None);
        }
        let open = || {
            let connection = connect(file, OpenFlags::empty())?;
            if check_state(&connection, schema)? == SchemaState::Behind {
                return Ok(None);
            }
            Self::new(connection, file.to_owned(), pragmas).map(Some)
        };
        match open() {
            Err(error) if error.is_damage() => Ok(None),
            opened => opened,
        }
    }

    /// Opens a database for writing; creates or migrates it if necessary. The folder must be locked.
    pub(super) fn open_writer(file: &Path, schema: &DatabaseSchema, pragmas: &str) -> Result<Self, Error> {
        let mut connection = connect(file, OpenFlags::SQLITE_OPEN_CREATE)?;
        let state = check_state(&connection, schema)?;
        // A current database already has it, unless it was written by `VACUUM INTO`.
        enable_wal(&connection)?;
        if state == SchemaState::Behind {
            migrate::migrate(&mut connection, schema)?;
        }
        // This also creates the log, which is part of the file's identity.
        check_state(&connection, schema)?;
        let opened = Self::new(connection, file.to_owned(), pragmas)?;
        // A migration may have deleted most of the rows.
        if state == SchemaState::Behind && is_sparse(&opened.connection)? {
            opened.reclaim_space(0)?;
        }
        Ok(opened)
    }

    /// Opens a current database that nobody else has open, and changes it without a log, so that writing needs no room
    /// on the disk. A crash during a transaction damages the file. The folder must be locked.
    pub(super) fn open_in_place(file: &Path, schema: &DatabaseSchema, pragmas: &str) -> Result<Self, Error> {
        let connection = connect(file, OpenFlags::empty())?;
        connection.execute_batch(IN_PLACE_PRAGMAS)?;
        if check_state(&connection, schema)? == SchemaState::Behind {
            return Err(Error::Outdated);
        }
        Self::new(connection, file.to_owned(), pragmas)
    }

    /// Opens an existing database for reading; creates and renames nothing.
    pub(super) fn open_reader(file: &Path, schema: &DatabaseSchema, pragmas: &str) -> Result<Self, Error> {
        let _unmoved = lock_folder(file, File::lock_shared);
        let connection = connect(file, OpenFlags::empty())?;
        if check_state(&connection, schema)? == SchemaState::Behind {
            return Err(if migrate::is_empty(&connection)? {
                Error::NotAStore { what: "a store that is still to be created" }
            } else {
                Error::Outdated
            });
        }
        Self::new(connection, file.to_owned(), pragmas)
    }

    fn new(connection: Connection, file: PathBuf, pragmas: &str) -> Result<Self, Error> {
        connection.execute_batch(pragmas)?;
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
        let identity = FileIdentity::from_path(&file)?;
        Ok(Self { connection, file, identity, damaged_rows_found: Cell::new(0) })
    }

    /// Preserves the log when the connection is closed, because its rows are still needed.
    pub(super) fn preserve_log(&self) {
        disable_checkpoint_on_close(&self.connection);
    }

    /// Returns the path with which the file was opened.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns whether the paths of the file and its log still refer to the opened files.
    pub(super) fn is_file_in_place(&self) -> bool {
        FileIdentity::from_path(&self.file).is_ok_and(|seen| seen == self.identity)
    }

    /// Returns whether the path still refers to the opened file, ignoring its log.
    pub(super) fn is_path_in_place(&self) -> Result<bool, Error> {
        Ok(FileInode::from_path(&self.file)? == self.identity.database)
    }

    /// Begins a write transaction, unless the file was replaced and its data would be lost.
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>, Error> {
        if !self.is_file_in_place() {
            return Err(Error::Gone);
        }
        let behavior = TransactionBehavior::Immediate;
        Ok(self.connection.transaction_with_behavior(behavior)?)
    }

    /// Returns the bytes that the database and its log occupy on disk.
    pub(super) fn bytes_on_disk(&self) -> Result<u64, Error> {
        let mut bytes = 0;
        for file in [&self.file, &with_suffix(&self.file, "-wal")] {
            bytes += metadata_if_exists(file)?.map_or(0, |metadata| metadata.len());
        }
        Ok(bytes)
    }

    /// Returns how many damaged rows this connection has found and skipped.
    #[cfg(test)]
    pub(super) fn damaged_rows(&self) -> u64 {
        self.damaged_rows_found.get()
    }

    /// Counts a damaged row.
    pub(super) fn record_damage(&self) {
        self.damaged_rows_found.set(self.damaged_rows_found.get() + 1);
    }

    /// Returns unused pages to the file system, if there are many and no reader prevents it. Returns by how many bytes
    /// the file has shrunk from `before`.
    pub(super) fn reclaim_space(&self, before: u64) -> Result<u64, Error> {
        // The rows are deleted in any case, and another process may hold its read transaction for long.
        self.connection.busy_timeout(Duration::from_millis(250))?;
        let shrunk = vacuum_if_sparse(&self.connection);
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        match shrunk {
            Err(Error::Damaged(source)) => Err(Error::Damaged(source)),
            Ok(()) | Err(_) => Ok(before.saturating_sub(self.bytes_on_disk()?)),
        }
    }
}

impl Drop for DatabaseFile {
    fn drop(&mut self) {
        // The last connection to be closed deletes the log by its name. If our file was replaced, that name belongs to
        // the other file's log.
        if !self.is_file_in_place() {
            self.preserve_log();
        }
    }
}

/// The inodes of a database and its log. The log exists as long as any connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    database: Option<FileInode>,
    log: Option<FileInode>,
}

impl FileIdentity {
    fn from_path(file: &Path) -> Result<Self, Error> {
        Ok(Self {
            database: FileInode::from_path(file)?,
            log: FileInode::from_path(&with_suffix(file, "-wal"))?,
        })
    }
}

/// The result of checking every row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IntegrityReport {
    /// The number of checked rows.
    pub rows: u64,
    /// Descriptions of the damaged rows, which were deleted.
    pub damaged_rows: Vec<String>,
    /// The error in the file's structure. If set, no row was checked, and the store should be set aside.
    pub structure_error: Option<String>,
}

/// Returns the error in the structure of the file, if there is one.
pub(super) fn check_structure(connection: &Connection) -> Result<Option<String>, Error> {
    // One finding is enough to set the file aside.
    let result = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
    match result.map_err(Error::from) {
        Ok(text) if text == "ok" => Ok(None),
        Ok(text) => Ok(Some(text)),
        Err(Error::Damaged(error)) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

fn connect(file: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    // Through a link, a checked-out project could redirect writes anywhere; opening a FIFO might block forever.
    if metadata_if_exists(file)?.is_some_and(|metadata| !metadata.is_file()) {
        return Err(Error::NotAStore { what: "not a regular file" });
    }
    // NO_MUTEX: a `Connection` is not `Sync`, so the compiler already rules out what SQLite's mutex would prevent.
    let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch(SAFETY_PRAGMAS)?;
    // Otherwise a statement that may use a partial index is planned again for each bound value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Opens a database of another program for reading; `None` if there is none.
pub(super) fn connect_foreign(file: &Path) -> Result<Option<Connection>, Error> {
    match metadata_if_exists(file)? {
        None => return Ok(None),
        Some(metadata) if !metadata.is_file() => {
            return Err(Error::NotAStore { what: "not a regular file" });
        }
        Some(_) => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(absolute(file)?, flags)?;
    // slop should not wait for that program.
    connection.busy_timeout(Duration::from_millis(250))?;
    connection.execute_batch(SAFETY_PRAGMAS)?;
    Ok(Some(connection))
}

/// Returns whether a database has all migrations, and if so checks that it has their tables.
fn check_state(connection: &Connection, schema: &DatabaseSchema) -> Result<SchemaState, Error> {
    let state = migrate::read_state(connection, schema).and_then(|state| match state {
        SchemaState::Behind => Ok(SchemaState::Behind),
        SchemaState::Current => migrate::check_schema(connection, schema).map(|()| SchemaState::Current),
    });
    if state.as_ref().is_err_and(Error::is_damage) {
        // The log may contain more of the rows than the file.
        disable_checkpoint_on_close(connection);
    }
    state
}

/// Keeps the log when the connection is closed.
fn disable_checkpoint_on_close(connection: &Connection) {
    // If even this fails, there is no readable log.
    let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
}

fn enable_wal(connection: &Connection) -> Result<(), Error> {
    // On a file system without shared memory, SQLite uses a rollback journal, which is as safe but slower.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    Ok(())
}

/// Returns whether many pages are unused: VACUUM rewrites the whole file, which is not worth it for a few.
fn is_sparse(connection: &Connection) -> Result<bool, Error> {
    let number = |question| connection.query_row(question, [], |row| row.get::<_, i64>(0));
    let unused = number("PRAGMA freelist_count")?;
    Ok(number("PRAGMA page_count")? <= unused.saturating_mul(4))
}

fn vacuum_if_sparse(connection: &Connection) -> Result<(), Error> {
    if is_sparse(connection)? {
        connection.execute_batch("VACUUM")?;
    }
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// Opens a renamed database and blocks other writers, as far as its state allows, until the result is dropped. Its log
/// is preserved.
pub(super) fn fence(file: &Path) -> Option<Connection> {
    let connection = connect(file, OpenFlags::empty()).ok()?;
    disable_checkpoint_on_close(&connection);
    connection.execute_batch("BEGIN IMMEDIATE").ok()?;
    Some(connection)
}

// The file operations that SQLite does not do: identifying files, locks, renames with logs.

/// The suffixes of the files that SQLite keeps next to a database.
const LOG_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The identity of a file. Inode numbers are reused, but not while the file is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileInode {
    dev: u64,
    ino: u64,
}

impl FileInode {
    /// Returns the identity of a path, without following a link; `None` if it does not exist.
    pub(super) fn from_path(file: &Path) -> Result<Option<Self>, Error> {
        match file_identity(file) {
            Ok((dev, ino)) => Ok(Some(Self { dev, ino })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(file_error("inspected", file, source)),
        }
    }

    /// Returns the identity of an open file.
    pub(super) fn of_file(file: &File) -> io::Result<Self> {
        open_file_identity(file).map(|(dev, ino)| Self { dev, ino })
    }
}

/// Locks the folder of a file until the result is dropped: shared, so that the file is not moved while it is opened, or
/// exclusively, to create or to move it. `None` if the file system does not support locks: then SQLite's own must
/// suffice.
///
/// SQLite finds a file's log by its name, some time after opening the file. If the file were moved in between, it would
/// mistake the next file's log for its own, and eventually delete it.
pub(super) fn lock_folder(file: &Path, lock: fn(&File) -> io::Result<()>) -> Option<File> {
    let folder = open_folder_lock(file.parent()?).ok()?;
    lock(&folder).ok()?;
    Some(folder)
}

/// Returns the metadata of a path, without following a link; `None` if it does not exist.
#[expect(clippy::disallowed_methods, reason = "this is the only access to the database file")]
pub(super) fn metadata_if_exists(file: &Path) -> Result<Option<fs::Metadata>, Error> {
    match fs::symlink_metadata(file) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(file_error("inspected", file, source)),
    }
}

pub(super) fn exists(file: &Path) -> Result<bool, Error> {
    Ok(metadata_if_exists(file)?.is_some())
}

/// Opens a regular file for reading. `None` if it does not exist.
#[expect(clippy::disallowed_methods, reason = "these are the bytes of the database file")]
pub(super) fn open_bytes(path: &Path) -> Result<Option<File>, Error> {
    if !metadata_if_exists(path)?.is_some_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        // The last connection closed it in between.
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(file_error("opened", path, source)),
    }
}

/// Returns the absolute path, because SQLite gives some relative ones a special meaning, such as `:memory:` and
/// `file:…`.
pub(super) fn absolute(file: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(file).map_err(|source| file_error("resolved", file, source))
}

/// Returns the path of the file with `suffix` after its name.
pub(super) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(suffix);
    PathBuf::from(name)
}

/// Deletes the logs that SQLite keeps next to a database.
pub(super) fn remove_logs(file: &Path) -> Result<(), Error> {
    LOG_SUFFIXES.iter().try_for_each(|suffix| remove_if_exists(&with_suffix(file, suffix)))
}

pub(super) fn remove_if_exists(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(file_error("deleted", path, source)),
        Ok(()) | Err(_) => Ok(()),
    }
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).map_err(|source| file_error("renamed", from, source))
}

/// Renames a database and its logs. Together with its log it remains the same database, and a process that has it open
/// shares its locks with one that opens it by the new name.
pub(super) fn rename_with_logs(from: &Path, to: &Path) -> Result<(), Error> {
    for suffix in LOG_SUFFIXES {
        let log = with_suffix(from, suffix);
        if exists(&log)? {
            rename(&log, &with_suffix(to, suffix))?;
        }
    }
    rename(from, to)
}

/// Returns the error that a file cannot be `done`, a past participle.
pub(super) fn file_error(done: &'static str, path: &Path, source: io::Error) -> Error {
    Error::File { done, path: path.to_owned(), source }
}
