//! A connection to `agent.db`: opens the file, and restores it if it is damaged.

use std::cell::RefCell;
use std::fs::File;
use std::path::Path;

use rusqlite::Transaction;

use super::rows::AgentDbRecovery;
use super::spend::{self, CounterName};
use super::totals::LedgerTotals;
use super::{recovery, wal};
use crate::model::{WriterKey, error_chain};
use crate::store::database::{
    DatabaseFile, absolute, check_structure, exists, lock_folder, metadata_if_exists, with_suffix,
};
use crate::store::error::Error;
use crate::store::migrate::AGENT_SCHEMA;

const READER_PRAGMAS: &str = "
    PRAGMA query_only = ON;
    PRAGMA cache_size = -8192;
";

/// One connection to the database of what models wrote and what it cost.
#[derive(Debug)]
pub struct AgentDb {
    pub(super) database: DatabaseFile,
    pub(super) totals: RefCell<LedgerTotals>,
    /// Whether the backup lacks rows that this or an earlier connection has written.
    needs_backup: bool,
    answers_since_backup: u32,
    /// The trusted writers, whose fetched summaries are returned.
    pub(super) writers: Vec<WriterKey>,
    /// Whether recorded summaries are added to the outbox.
    pub(super) fills_outbox: bool,
}

#[derive(Debug)]
pub struct OpenedAgentDb {
    pub db: AgentDb,
    /// Set if the file was damaged or missing and was restored.
    pub recovery: Option<AgentDbRecovery>,
}

impl AgentDb {
    /// Opens the database for writing, and creates it if there is none; the folder must exist. A file that is damaged
    /// or not slop's database is set aside and kept, and the database is restored from its backup and from the rows
    /// that can still be read.
    ///
    /// The structure of the file is checked each time: damage must be found before money is spent, not after.
    pub fn open(file: &Path) -> Result<OpenedAgentDb, Error> {
        let file = absolute(file)?;
        // Before SQLite reads the log: the last connection that closes it deletes it.
        let is_log_intact = !wal::is_log_broken(&file)?;
        if is_log_intact
            && let Some(database) =
                DatabaseFile::open_current(&file, &AGENT_SCHEMA, recovery::WRITER_PRAGMAS)?
        {
            if check_structure(&database.connection)?.is_none() {
                return Ok(OpenedAgentDb { db: Self::writer(database)?, recovery: None });
            }
            database.preserve_log();
        }
        let _alone = lock_folder(&file, File::lock);
        let unfinished = recovery::finish_or_create(&file)?;
        match recovery::open_intact(&file) {
            Err(error) if error.is_damage() => {
                let recovery = recovery::replace_damaged(&file, error_chain(&error))?;
                let database = recovery::open_intact(&file)?;
                Ok(OpenedAgentDb { db: Self::writer(database)?, recovery: Some(recovery) })
            }
            opened => Ok(OpenedAgentDb { db: Self::writer(opened?)?, recovery: unfinished }),
        }
    }

    /// Opens the database for writing if it or its backup exists, whatever its state.
    pub fn open_if_exists(file: &Path) -> Result<Option<OpenedAgentDb>, Error> {
        let file = absolute(file)?;
        if exists(&file)? || exists(&recovery::backup_path(&file))? {
            Self::open(&file).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Opens an existing database for reading; creates nothing. `None` if there is none.
    pub fn open_reader(file: &Path) -> Result<Option<Self>, Error> {
        let file = absolute(file)?;
        if !exists(&file)? {
            return Ok(None);
        }
        // A log that no writer has open is left to the next writer, which checks whether it is intact.
        let has_log = metadata_if_exists(&with_suffix(&file, "-wal"))?.is_some_and(|log| 0 < log.len());
        let database = match DatabaseFile::open_reader(&file, &AGENT_SCHEMA, READER_PRAGMAS) {
            // An older version wrote it: it is migrated by the first process that opens it.
            Err(Error::Outdated) => {
                drop(Self::open(&file)?);
                DatabaseFile::open_reader(&file, &AGENT_SCHEMA, READER_PRAGMAS)?
            }
            opened => opened?,
        };
        if has_log {
            database.preserve_log();
        }
        Ok(Some(Self::new(database, false)))
    }

    /// Returns whether the path still refers to the opened file, so that written data would be found again.
    pub fn is_file_in_place(&self) -> bool {
        self.database.is_file_in_place()
    }

    /// Returns a number that changes with everything that a lookup may return, and with the file itself.
    pub fn generation(&self) -> Result<u64, Error> {
        let generation = spend::counter(&self.database.connection, CounterName::Generation)?;
        Ok(generation.unwrap_or(0).cast_unsigned())
    }

    /// Returns how many rows this connection found damaged, and did not return.
    #[cfg(test)]
    pub fn damaged_rows(&self) -> u64 {
        self.database.damaged_rows()
    }

    /// Begins a transaction that writes something worth a backup.
    pub(super) fn begin(&mut self) -> Result<(Transaction<'_>, &mut LedgerTotals), Error> {
        self.needs_backup = true;
        Ok((self.database.begin()?, self.totals.get_mut()))
    }

    /// Counts an answer, and writes a backup after each [`recovery::ANSWERS_PER_BACKUP`] of them.
    pub(super) fn count_answer(&mut self) {
        self.answers_since_backup += 1;
        if recovery::ANSWERS_PER_BACKUP <= self.answers_since_backup {
            self.answers_since_backup = 0;
            // The answer is stored even if the backup fails, which is then retried after the next answer.
            self.needs_backup = recovery::write_backup(&self.database).is_err();
        }
    }

    /// Replaces the backup, which contains deleted rows that must not be restored.
    pub(super) fn replace_backup(&mut self) -> Result<(), Error> {
        recovery::delete_backup(self.database.file())?;
        recovery::write_backup(&self.database)?;
        self.needs_backup = false;
        Ok(())
    }

    fn writer(database: DatabaseFile) -> Result<Self, Error> {
        let needs_backup = recovery::is_backup_outdated(database.file())?;
        Ok(Self::new(database, needs_backup))
    }

    fn new(database: DatabaseFile, needs_backup: bool) -> Self {
        Self {
            database,
            totals: RefCell::default(),
            needs_backup,
            answers_since_backup: 0,
            writers: Vec::new(),
            fills_outbox: false,
        }
    }
}

impl Drop for AgentDb {
    fn drop(&mut self) {
        if self.needs_backup && self.database.is_file_in_place() {
            // An error cannot be reported here: the previous backup is kept, and the next writer retries.
            let _ = recovery::write_backup(&self.database);
        }
    }
}
