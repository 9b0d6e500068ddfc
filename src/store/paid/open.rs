//! Opening the database of what was paid for. A damaged one is put aside and salvaged.

use std::cell::RefCell;
use std::fs::File;
use std::path::Path;

use super::super::Error;
use super::super::database::DatabaseFile;
use super::super::database::absolute;
use super::super::database::describe_error;
use super::super::database::lock_folder;
use super::super::database::metadata_if_exists;
use super::super::database::with_suffix;
use super::super::migrate::AGENT_SCHEMA;
use super::super::verify::check_structure;
use super::AgentDbRecovery;
use super::counter;
use super::counter::CounterName;
use super::ledger::LedgerTotals;
use super::salvage;

// FULL, unlike the store's: what was acknowledged was paid for, so it must outlive a power failure. What is deleted is
// overwritten, so that a person who clears words is rid of them, and no salvage brings them back.
const WRITER_PRAGMAS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA journal_size_limit = 16777216;
    PRAGMA cache_size = -8192;
";

const READER_PRAGMAS: &str = "
    PRAGMA query_only = ON;
    PRAGMA cache_size = -8192;
";

/// No database is smaller than its header.
const MIN_FILE_BYTES: u64 = 100;

/// The database of what was paid for: one connection to it.
#[derive(Debug)]
pub struct AgentDb {
    pub(super) database: DatabaseFile,
    pub(super) totals: RefCell<LedgerTotals>,
}

/// A database that was opened.
#[derive(Debug)]
pub struct OpenedAgentDb {
    /// The database.
    pub db: AgentDb,
    /// Set where a damaged file stood in its place.
    pub recovery: Option<AgentDbRecovery>,
}

impl AgentDb {
    /// Opens the database for writing. Makes it if there is none; the folder must exist. One that is damaged, or no
    /// database of ours at all, is put aside and kept, and every row of it that is whole is carried over.
    ///
    /// The structure of the file is looked at each time: this is no place to find damage late.
    pub fn open(file: &Path) -> Result<OpenedAgentDb, Error> {
        let file = absolute(file)?;
        // Before SQLite has a look at the log: whoever closes it last deletes it.
        let is_log_whole = !salvage::is_log_broken(&file)?;
        if is_log_whole
            && let Some(database) = DatabaseFile::open_current(&file, &AGENT_SCHEMA, WRITER_PRAGMAS)?
        {
            if check_structure(&database.connection)?.is_none() {
                return Ok(OpenedAgentDb { db: Self::new(database), recovery: None });
            }
            database.preserve_log();
        }
        let _alone = lock_folder(&file, File::lock);
        let unfinished = salvage::finish(&file)?;
        match open_writer(&file) {
            Err(error) if error.is_damage() => {
                let recovery = salvage::begin(&file, describe_error(&error))?;
                Ok(OpenedAgentDb { db: Self::new(open_writer(&file)?), recovery: Some(recovery) })
            }
            opened => Ok(OpenedAgentDb { db: Self::new(opened?), recovery: unfinished }),
        }
    }

    /// Opens a database that is there for reading. Makes nothing and moves nothing. `None` where there is none, for
    /// nothing was paid for yet.
    pub fn open_reader(file: &Path) -> Result<Option<Self>, Error> {
        let file = absolute(file)?;
        if metadata_if_exists(&file)?.is_none() {
            return Ok(None);
        }
        // A log that no writer has open is left to the next one, who finds out whether it is whole.
        let has_log = metadata_if_exists(&with_suffix(&file, "-wal"))?.is_some_and(|log| 0 < log.len());
        let database = DatabaseFile::open_reader(&file, &AGENT_SCHEMA, READER_PRAGMAS)?;
        if has_log {
            database.preserve_log();
        }
        Ok(Some(Self::new(database)))
    }

    /// Closes a database that turned out to be damaged, and opens it again as [`Paid::open`] does.
    pub fn reopen(self) -> Result<OpenedAgentDb, Error> {
        let file = self.database.file().to_owned();
        self.database.preserve_log();
        drop(self);
        Self::open(&file)
    }

    /// Says whether what is written would be found again.
    pub fn is_file_in_place(&self) -> bool {
        self.database.is_file_in_place()
    }

    /// Returns a number that changes with everything that a look-up may give, and with the file itself.
    pub fn generation(&self) -> Result<u64, Error> {
        let generation = counter::get(&self.database.connection, CounterName::Generation)?;
        Ok(generation.unwrap_or(0).cast_unsigned())
    }

    /// Returns how many rows this connection has found damaged, and served to nobody.
    pub fn damaged_rows(&self) -> u64 {
        self.database.damaged_rows()
    }

    fn new(database: DatabaseFile) -> Self {
        Self { database, totals: RefCell::default() }
    }
}

/// Opens a database for writing; makes it if need be. Nobody else may be at it.
fn open_writer(file: &Path) -> Result<DatabaseFile, Error> {
    if salvage::is_log_broken(file)? {
        return Err(Error::NotAStore { what: "a store with a hole in its log" });
    }
    // SQLite takes a file of no byte or of one for a new database. But then a ledger that was cut to nothing would let
    // all of it be spent once more.
    if metadata_if_exists(file)?.is_some_and(|metadata| metadata.is_file() && metadata.len() < MIN_FILE_BYTES)
    {
        return Err(Error::NotAStore { what: "an empty file" });
    }
    let database = create(file)?;
    if check_structure(&database.connection)?.is_some() {
        database.preserve_log();
        return Err(Error::NotAStore { what: "a store of a broken structure" });
    }
    Ok(database)
}

/// Opens a database for writing, as it is; makes it if need be.
pub(super) fn create(file: &Path) -> Result<DatabaseFile, Error> {
    let mut database = DatabaseFile::open_writer(file, &AGENT_SCHEMA, WRITER_PRAGMAS)?;
    if counter::get(&database.connection, CounterName::Generation)?.is_none() {
        let transaction = database.begin()?;
        counter::init_generation(&transaction)?;
        transaction.commit()?;
    }
    Ok(database)
}
