//! The one window to a database file: opening it, knowing it again, and locking the folder around it.
//!
//! Both databases are opened through here, [`super::Store`] and [`super::paid::Paid`]; what is done about a damaged one
//! is theirs.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OpenFlags;
use rusqlite::Transaction;
use rusqlite::TransactionBehavior;
use rusqlite::config::DbConfig;

use super::Error;
use super::migrate;
use super::migrate::DatabaseSchema;
use super::migrate::SchemaState;

/// How long a statement waits for other processes.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// More than there are statements in this room.
const STATEMENT_CACHE_SIZE: usize = 64;

/// What must hold before the first byte of a file is trusted.
const SAFETY_PRAGMAS: &str = "
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA mmap_size = 0;
";

/// One connection to a database file, which must stay the file that was opened.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    pub(super) connection: Connection,
    file: PathBuf,
    identity: FileIdentity,
    damaged_rows_found: Cell<u64>,
}

impl DatabaseFile {
    /// Opens a database with which nothing is to be done first. `None` where there is none, or a damaged one.
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

    /// Opens a database for writing; makes or migrates it if need be. Nobody else may be at it.
    pub(super) fn open_writer(file: &Path, schema: &DatabaseSchema, pragmas: &str) -> Result<Self, Error> {
        let mut connection = connect(file, OpenFlags::SQLITE_OPEN_CREATE)?;
        if check_state(&connection, schema)? == SchemaState::Behind {
            enable_wal(&connection)?;
            migrate::migrate(&mut connection, schema)?;
            check_state(&connection, schema)?;
        }
        Self::new(connection, file.to_owned(), pragmas)
    }

    /// Opens a database that is there for reading. Makes nothing and moves nothing.
    pub(super) fn open_reader(file: &Path, schema: &DatabaseSchema, pragmas: &str) -> Result<Self, Error> {
        let _unmoved = lock_folder(file, File::lock_shared);
        let connection = connect(file, OpenFlags::empty())?;
        if check_state(&connection, schema)? == SchemaState::Behind {
            return Err(Error::NotAStore { what: "a store that is yet to be made or migrated" });
        }
        Self::new(connection, file.to_owned(), pragmas)
    }

    fn new(connection: Connection, file: PathBuf, pragmas: &str) -> Result<Self, Error> {
        connection.execute_batch(pragmas)?;
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
        let seen = FileIdentity::from_path(&file)?;
        Ok(Self { connection, file, identity: seen, damaged_rows_found: Cell::new(0) })
    }

    /// Has the log stay as it is when the connection is closed, for someone will look for rows in it.
    pub(super) fn preserve_log(&self) {
        disable_checkpoint_on_close(&self.connection);
    }

    /// Returns the path that it was opened by.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Says whether the file's name still stands for the file that was opened, and its log's too.
    pub(super) fn is_file_in_place(&self) -> bool {
        FileIdentity::from_path(&self.file).is_ok_and(|seen| seen == self.identity)
    }

    /// Says whether the file's name still stands for the file that was opened, whatever became of its log.
    pub(super) fn is_path_in_place(&self) -> Result<bool, Error> {
        Ok(FileInode::from_path(&self.file)? == self.identity.database)
    }

    /// Begins to write, unless it would be in vain.
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>, Error> {
        if !self.is_file_in_place() {
            return Err(Error::Gone);
        }
        let behavior = TransactionBehavior::Immediate;
        Ok(self.connection.transaction_with_behavior(behavior)?)
    }

    /// Returns the bytes that the database and its log take on the disk.
    pub(super) fn bytes_on_disk(&self) -> Result<u64, Error> {
        let mut bytes = 0;
        for file in [&self.file, &with_suffix(&self.file, "-wal")] {
            bytes += metadata_if_exists(file)?.map_or(0, |metadata| metadata.len());
        }
        Ok(bytes)
    }

    /// Returns how many rows this connection has found damaged, and served to nobody.
    pub(super) fn damaged_rows(&self) -> u64 {
        self.damaged_rows_found.get()
    }

    pub(super) fn record_damage(&self) {
        self.damaged_rows_found.set(self.damaged_rows_found.get() + 1);
    }

    /// Gives unused pages back to the disk, if there are many and nobody is in the way; returns the bytes by which the
    /// file has become smaller since it had `before`.
    pub(super) fn reclaim_space(&self, before: u64) -> Result<u64, Error> {
        // The rows are gone, whatever comes of this: another process may read on for long, and is not waited for.
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
        // The last one out deletes the log, by its name. Where another file has taken the place of ours, the name is
        // that of its log.
        if !self.is_file_in_place() {
            self.preserve_log();
        }
    }
}

/// What a name in the folder stands for; inode numbers are used again, but not while the file is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileInode {
    dev: u64,
    ino: u64,
}

impl FileInode {
    fn from_path(file: &Path) -> Result<Option<Self>, Error> {
        Ok(metadata_if_exists(file)?.map(|metadata| Self { dev: metadata.dev(), ino: metadata.ino() }))
    }
}

/// The database and its log. The log is there as long as any connection is.
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

fn connect(file: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    // A link would have us write wherever a checked-out project points to; opening a FIFO might never end.
    if metadata_if_exists(file)?.is_some_and(|metadata| !metadata.is_file()) {
        return Err(Error::NotAStore { what: "no regular file" });
    }
    let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch(SAFETY_PRAGMAS)?;
    // Or else a statement that a partial index may serve is planned anew for each value that is bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Says how far a database is, and makes sure that one with all migrations has their tables.
fn check_state(connection: &Connection, schema: &DatabaseSchema) -> Result<SchemaState, Error> {
    let state = migrate::read_state(connection, schema).and_then(|state| match state {
        SchemaState::Behind => Ok(SchemaState::Behind),
        SchemaState::Current => migrate::check_schema(connection, schema).map(|()| SchemaState::Current),
    });
    if state.as_ref().is_err_and(Error::is_damage) {
        // The log may hold more of it than the file.
        disable_checkpoint_on_close(connection);
    }
    state
}

/// Has the log stay when the connection is closed.
fn disable_checkpoint_on_close(connection: &Connection) {
    // If even that cannot be said, there is no log that anybody could read.
    let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
}

fn enable_wal(connection: &Connection) -> Result<(), Error> {
    // A file system without shared memory stays with another journal, which is as safe, only slower.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    Ok(())
}

pub(super) fn remove_logs(file: &Path) -> Result<(), Error> {
    for suffix in ["-wal", "-shm", "-journal"] {
        let path = with_suffix(file, suffix);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(source) if source.kind() == io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(Error::File { attempt: "remove", path, source });
            }
        }
    }
    Ok(())
}

/// Locks the folder until the result is dropped: shared, so that the file is not moved while it is opened, or alone, to
/// make or to move it. `None` where the file system knows no locks: then SQLite's own must do.
///
/// SQLite finds a file's log by its name, some time after it has opened the file. Were the file moved in between, it
/// would take the next one's log for its own, and delete it in the end.
#[expect(clippy::disallowed_methods, reason = "this is the window to the database file")]
pub(super) fn lock_folder(file: &Path, lock: fn(&File) -> io::Result<()>) -> Option<File> {
    let folder = File::open(file.parent()?).ok()?;
    lock(&folder).ok()?;
    Some(folder)
}

#[expect(clippy::disallowed_methods, reason = "this is the window to the database file")]
pub(super) fn metadata_if_exists(file: &Path) -> Result<Option<fs::Metadata>, Error> {
    match fs::symlink_metadata(file) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File { attempt: "look at", path: file.to_owned(), source }),
    }
}

/// Returns the path with the folders before it, for SQLite takes some relative ones for something else: `:memory:`,
/// `file:…`.
pub(super) fn absolute(file: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(file).map_err(|source| Error::File { attempt: "find", path: file.to_owned(), source })
}

pub(super) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(suffix);
    PathBuf::from(name)
}

pub(super) fn describe_error(error: &Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn vacuum_if_sparse(connection: &Connection) -> Result<(), Error> {
    let number = |question| connection.query_row(question, [], |row| row.get::<_, i64>(0));
    let unused = number("PRAGMA freelist_count")?;
    // To pack the file is to write it anew.
    if number("PRAGMA page_count")? <= unused.saturating_mul(4) {
        connection.execute_batch("VACUUM")?;
    }
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// Opens a database that was renamed and keeps others from writing to it, as far as its state allows, until the result
/// is dropped. Its log stays as it is.
pub(super) fn fence(file: &Path) -> Option<Connection> {
    let connection = connect(file, OpenFlags::empty()).ok()?;
    disable_checkpoint_on_close(&connection);
    connection.execute_batch("BEGIN IMMEDIATE").ok()?;
    Some(connection)
}
