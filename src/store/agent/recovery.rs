//! Backs up the database, and restores a damaged or missing one.
//!
//! `agent.db.backup` is a complete database that `VACUUM INTO` wrote: when a connection that has written is closed,
//! after each [`ANSWERS_PER_BACKUP`] answers, and whenever summaries are deleted. It is written under another name,
//! synced and renamed, so that a crash or a full disk leaves the previous backup.
//!
//! Restoring takes three names. The damaged file becomes `agent.db.salvage`; the backup is copied to `agent.db.new`,
//! the rows that SQLite can still read from the damaged file are added, and it becomes `agent.db`; then the damaged
//! file becomes `agent.db.corrupt-N` and is kept. If a process dies in between, the existing names show the next one
//! how far it got, so that a partial database is never mistaken for the complete one, and no cap is lost.
//!
//! Only rows written after the last backup that SQLite can no longer read can be lost. Unless the damaged file itself
//! proves that no call is missing, the cap of the day counts as spent.

use std::fs;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::rows::{
    AgentDbRecovery, BatchItem, CallBatch, FetchedSummary, RefusalRow, SpendId, StoredSummary,
};
use super::shared::OutboxRow;
use super::spend::{self, CounterName, CounterRow, LedgerRow, SpendRow};
use super::summary::{self, LatestRow};
use super::wal;
use crate::model::{Money, path_bytes, utc_day};
use crate::store::database::{
    DatabaseFile, FileInode, check_structure, exists, fence, file_error, metadata_if_exists,
    remove_if_exists, remove_logs, rename, rename_with_logs, with_suffix,
};
use crate::store::error::Error;
use crate::store::migrate::AGENT_SCHEMA;
use crate::store::row::{RowColumns, StoredRow};

// FULL, unlike the index's: what was acknowledged was paid for, so it must survive a power failure. Deleted rows are
// overwritten, so that deleted summaries are really gone.
pub(super) const WRITER_PRAGMAS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA journal_size_limit = 16777216;
    PRAGMA cache_size = -8192;
";

/// How many answers, at most, are newer than the backup while a process writes.
///
/// It bounds what damage during a run can cost. A lower number would write the whole database more often, which is
/// noticeable only for the largest ones; a provider takes several seconds for this many answers.
pub(super) const ANSWERS_PER_BACKUP: u32 = 32;

/// The size of a database's header, which is the minimum size of a database.
const MIN_FILE_BYTES: u64 = 100;

pub(super) fn backup_path(file: &Path) -> PathBuf {
    with_suffix(file, ".backup")
}

/// Returns whether the backup may lack rows that the database or its log has.
pub(super) fn is_backup_outdated(file: &Path) -> Result<bool, Error> {
    let Some(backup) = metadata_if_exists(&backup_path(file))? else { return Ok(true) };
    let written = |metadata: &fs::Metadata| metadata.modified().ok();
    for path in [file, &with_suffix(file, "-wal")] {
        let metadata = metadata_if_exists(path)?.filter(|metadata| 0 < metadata.len());
        // Equal times prove nothing: the clock of a file system may advance only every few milliseconds.
        if metadata.is_some_and(|metadata| written(&backup) <= written(&metadata)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Writes a new backup in place of the old one, unless another process is writing one.
///
/// Uses `VACUUM INTO` instead of SQLite's backup API: it reads every record through its table, so an unreadable page
/// fails the backup instead of being copied into it, and deleted rows are left out.
pub(super) fn write_backup(database: &DatabaseFile) -> Result<(), Error> {
    let file = database.file();
    let partial = with_suffix(file, ".backup-new");
    let Some(target) = lock_partial(&partial)? else { return Ok(()) };
    // The log is checkpointed first. Otherwise closing the connection would do that, and make the database look newer
    // than the backup.
    database.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    // Bound as bytes, because a path may not be UTF-8.
    let path = ToSqlOutput::Borrowed(ValueRef::Text(path_bytes(&partial)));
    database.connection.execute("VACUUM INTO ?1", [path])?;
    // A database with a valid structure but without slop's tables must not replace a better backup.
    drop(DatabaseFile::open_reader(&partial, &AGENT_SCHEMA, "")?);
    // SQLite does not guarantee to sync the file that it vacuums into.
    target.sync_all().map_err(|source| file_error("synced", &partial, source))?;
    rename(&partial, &backup_path(file))
}

pub(super) fn delete_backup(file: &Path) -> Result<(), Error> {
    remove_if_exists(&backup_path(file))
}

/// Creates the file that a backup is written to, empty and locked. `None` if another process is writing to it.
fn lock_partial(partial: &Path) -> Result<Option<File>, Error> {
    // Through a link, a checked-out project could redirect the backup anywhere.
    if metadata_if_exists(partial)?.is_some_and(|metadata| !metadata.is_file()) {
        return Err(Error::NotAStore { what: "not a regular file" });
    }
    let failed = |source| file_error("created", partial, source);
    let target = File::options().write(true).create(true).truncate(false).open(partial).map_err(failed)?;
    if let Err(TryLockError::WouldBlock) = target.try_lock() {
        return Ok(None);
    }
    // Another process may have renamed its finished backup between the two calls: then this file is that backup.
    let opened = FileInode::of_file(&target).map_err(failed)?;
    if FileInode::from_path(partial)? != Some(opened) {
        return Ok(None);
    }
    target.set_len(0).map_err(failed)?;
    Ok(Some(target))
}

/// Opens a database for writing, or creates it. The folder must be locked.
pub(super) fn open_intact(file: &Path) -> Result<DatabaseFile, Error> {
    if wal::is_log_broken(file)? {
        return Err(Error::NotAStore { what: "a store with a hole in its log" });
    }
    // SQLite treats a file of no or one byte as a new database. But then, after the ledger was truncated to nothing,
    // all of its money could be spent again.
    if metadata_if_exists(file)?.is_some_and(|metadata| metadata.is_file() && metadata.len() < MIN_FILE_BYTES)
    {
        return Err(Error::NotAStore { what: "an empty file" });
    }
    let mut database = DatabaseFile::open_writer(file, &AGENT_SCHEMA, WRITER_PRAGMAS)?;
    if check_structure(&database.connection)?.is_some() {
        database.preserve_log();
        return Err(Error::NotAStore { what: "a store of a broken structure" });
    }
    if spend::counter(&database.connection, CounterName::Generation)?.is_none() {
        let transaction = database.begin()?;
        spend::init_generation(&transaction)?;
        transaction.commit()?;
    }
    Ok(database)
}

/// Sets a damaged database aside and restores it. The folder must be locked.
pub(super) fn replace_damaged(file: &Path, reason: String) -> Result<AgentDbRecovery, Error> {
    rename_with_logs(file, &with_suffix(file, ".salvage"))?;
    restore(file, reason)
}

/// Finishes a restore whose process died, restores a database that is missing while its backup exists, and creates one
/// where there was none. The folder must be locked.
pub(super) fn finish_or_create(file: &Path) -> Result<Option<AgentDbRecovery>, Error> {
    let aside = with_suffix(file, ".salvage");
    match (exists(&aside)?, exists(file)?) {
        // The restored database is already in place.
        (true, true) => keep_damaged(file, &aside).map(|_| None),
        (true, false) => restore(file, "a restore was interrupted".to_owned()).map(Some),
        // With an empty database, the caps would start over, and its first backup would replace this one.
        (false, false) if exists(&backup_path(file))? => {
            restore(file, "the file is missing".to_owned()).map(Some)
        }
        (false, false) => create(file).map(|()| None),
        (false, true) => Ok(None),
    }
}

/// Creates a database under another name, and renames it. Otherwise a process that is killed meanwhile would leave an
/// empty file, which cannot be distinguished from a truncated ledger.
fn create(file: &Path) -> Result<(), Error> {
    let new = with_suffix(file, ".new");
    remove_logs(&new)?;
    remove_if_exists(&new)?;
    drop(open_intact(&new)?);
    rename(&new, file)
}

fn restore(file: &Path, reason: String) -> Result<AgentDbRecovery, Error> {
    let (aside, new) = (with_suffix(file, ".salvage"), with_suffix(file, ".new"));
    remove_logs(&new)?;
    remove_if_exists(&new)?;
    // Before SQLite reads the log.
    let is_log_broken = wal::is_log_broken(&aside)?;
    // A process that has the damaged file open may be writing its last row: this waits for it, and it will find its
    // file gone before it writes another row.
    let damaged = fence(&aside);
    let mut database = create_from_backup(&backup_path(file), &new)?;
    let transaction = database.begin()?;
    let is_call_count_known = damaged.as_ref().is_some_and(|damaged| {
        // With a hole in its log, the database is in a state before the hole, and its count does not include what
        // followed.
        !is_log_broken && matches!(spend::counter(damaged, CounterName::Calls), Ok(Some(_)))
    });
    if let Some(damaged) = &damaged {
        merge_readable_rows(damaged, &transaction)?;
    }
    let restored = count_rows(&transaction)?;
    let missing = close_ledger(&transaction, is_call_count_known, last_written_day(file, &aside)?)?;
    spend::init_generation(&transaction)?;
    transaction.commit()?;
    // The log is removed with the last connection, so that the database consists of one file.
    drop(database);
    rename(&new, file)?;
    drop(damaged);
    let moved_to = if exists(&aside)? { Some(keep_damaged(file, &aside)?) } else { None };
    let (lost, is_ledger_short) = (missing.unwrap_or(0), missing.is_some());
    Ok(AgentDbRecovery { moved_to, reason, restored, lost, is_ledger_short })
}

/// Creates a database with the rows of the backup; an empty one if the backup is missing or damaged.
fn create_from_backup(backup: &Path, new: &Path) -> Result<DatabaseFile, Error> {
    if metadata_if_exists(backup)?.is_some_and(|metadata| metadata.is_file()) {
        fs::copy(backup, new).map_err(|source| file_error("copied", backup, source))?;
        match open_intact(new) {
            Err(error) if error.is_damage() => {
                remove_logs(new)?;
                remove_if_exists(new)?;
            }
            opened => return opened,
        }
    }
    open_intact(new)
}

/// Adds the rows that SQLite can read from a damaged database. It may return garbage, so only rows with a valid
/// checksum are added.
fn merge_readable_rows(damaged: &Connection, connection: &Connection) -> Result<(), Error> {
    for table in TABLES.iter().chain([&LEDGER]) {
        // From the last row backwards: rows that come before an unreadable page are old, and so in the backup.
        let query = format!("SELECT * FROM {} ORDER BY rowid DESC", table.name);
        let Ok(mut statement) = damaged.prepare(&query) else { continue };
        let Ok(mut rows) = statement.query([]) else { continue };
        while let Ok(Some(row)) = rows.next() {
            if let Ok(columns) = RowColumns::from_row(row) {
                (table.merge)(connection, &columns)?;
            }
        }
    }
    connection.execute("DELETE FROM batch_item WHERE batch_id NOT IN (SELECT id FROM batch)", [])?;
    summary::delete_orphaned_latest(connection)
}

/// Compensates for the calls missing from the ledger, and returns how many are known to be missing. `None` if none can
/// be missing.
///
/// Each missing call counts as the most expensive one that is known, and all of them as no less than the cost of the
/// summaries whose calls are missing. When they were made is not known, so nothing more may be spent on the last day on
/// which the file was written: a smaller sum for that day would be a guess.
fn close_ledger(
    connection: &Connection,
    is_call_count_known: bool,
    last_written: i64,
) -> Result<Option<u64>, Error> {
    let (mut known, mut sum, mut most, mut last_day) = (0_i64, Money::ZERO, Money::ZERO, i64::MIN);
    spend::for_each_after(connection, i64::MIN, &mut |_, found| {
        if let LedgerRow::Intact(spend) = found {
            known += 1;
            sum = sum + spend.amount();
            most = most.max(spend.reservation.max_cost).max(spend.amount());
            last_day = last_day.max(spend.reservation.day);
        }
    })?;
    let counted = spend::counter(connection, CounterName::Calls)?.unwrap_or(known);
    spend::set_counter(connection, CounterName::Calls, known)?;
    if is_call_count_known && counted == known {
        return Ok(None);
    }
    let missing = counted.saturating_sub(known).max(0).cast_unsigned();
    let day = last_written.max(last_day);
    let closed = spend::counter(connection, CounterName::ClosedDay)?.map_or(day, |closed| closed.max(day));
    spend::set_counter(connection, CounterName::ClosedDay, closed)?;
    let by_count = Money::from_nanos(most.nanos().saturating_mul(missing));
    let amount = by_count.max(cost_of_summaries(connection)?.saturating_sub(sum));
    if amount != Money::ZERO {
        let last: i64 =
            connection.query_row("SELECT coalesce(max(id), 0) FROM spend", [], |row| row.get(0))?;
        let id = SpendId(last.saturating_add(1));
        spend::unknown_cost_row(id, amount, day).upsert(connection)?;
        spend::set_counter(connection, CounterName::Calls, known + 1)?;
    }
    Ok(Some(missing))
}

fn cost_of_summaries(connection: &Connection) -> Result<Money, Error> {
    // As a float, because a sum of integers may overflow; a small loss of precision is harmless here.
    let nanos: f64 = connection.query_row(
        "SELECT total(cost) FROM (SELECT DISTINCT subject, provider, model, at_ms, cost FROM summary)",
        [],
        |row| row.get(0),
    )?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    Ok(Money::from_nanos(nanos as u64))
}

fn count_rows(connection: &Connection) -> Result<u64, Error> {
    let count = |table: &RecoveredTable| {
        let query = format!("SELECT count(*) FROM {}", table.name);
        connection.query_row(&query, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
    };
    let mut rows = 0;
    for table in TABLES.iter().filter(|table| table.name != "counter").chain([&LEDGER]) {
        rows += count(table)?;
    }
    Ok(rows)
}

/// Returns the last day on which the damaged file or its log was written, or the backup if the file is missing.
fn last_written_day(file: &Path, aside: &Path) -> Result<i64, Error> {
    let day = |path: &Path| {
        let metadata = metadata_if_exists(path)?;
        let age = metadata.and_then(|metadata| metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok());
        Ok::<_, Error>(age.map(|age| utc_day(age.as_secs().cast_signed())))
    };
    let last = day(aside)?.max(day(&with_suffix(aside, "-wal"))?);
    Ok(last.map_or_else(|| day(&backup_path(file)), |last| Ok(Some(last)))?.unwrap_or(0))
}

/// Renames the damaged file to the name under which it is kept.
fn keep_damaged(file: &Path, aside: &Path) -> Result<PathBuf, Error> {
    // The fence leaves these files, which are no longer needed.
    remove_if_exists(&with_suffix(aside, "-shm"))?;
    let log = with_suffix(aside, "-wal");
    if metadata_if_exists(&log)?.is_some_and(|metadata| metadata.len() == 0) {
        remove_if_exists(&log)?;
    }
    let mut number: u32 = 1;
    loop {
        let kept = with_suffix(file, &format!(".corrupt-{number}"));
        if !exists(&kept)? {
            rename_with_logs(aside, &kept)?;
            return Ok(kept);
        }
        number = number.saturating_add(1);
    }
}

/// A [`StoredRow`] type as a value.
pub(super) struct RecoveredTable {
    pub(super) name: &'static str,
    pub(super) row_label: &'static str,
    /// Returns whether the checksum of a row is valid.
    pub(super) is_intact: fn(&RowColumns<'_>) -> bool,
    pub(super) merge: fn(&Connection, &RowColumns<'_>) -> Result<(), Error>,
}

const fn table<R: StoredRow>() -> RecoveredTable {
    RecoveredTable {
        name: R::TABLE,
        row_label: R::LABEL,
        is_intact: |columns| R::from_columns(columns).is_some(),
        merge: |connection, columns| R::from_columns(columns).map_or(Ok(()), |row| row.merge(connection)),
    }
}

/// The tables whose damaged rows may be deleted. A batch comes before its items, which are nothing without it.
///
/// `lease` is not among them: a lease means nothing once its process has ended.
pub(super) const TABLES: [RecoveredTable; 8] = [
    table::<StoredSummary>(),
    table::<FetchedSummary>(),
    table::<OutboxRow>(),
    table::<LatestRow>(),
    table::<RefusalRow>(),
    table::<CallBatch>(),
    table::<BatchItem>(),
    table::<CounterRow>(),
];

/// The ledger, whose rows are never deleted.
pub(super) const LEDGER: RecoveredTable = table::<SpendRow>();
