//! Putting a damaged database aside, and carrying over what is whole.
//!
//! It takes three names: the damaged file becomes `agent.db.salvage`, a new one is made as `agent.db.new` and takes the
//! place, then the damaged one becomes `agent.db.corrupt-N` and is kept. A process that dies in between leaves names
//! from which the next one can tell how far it was, so that no half-filled database is ever taken for the whole, and no
//! cap is forgotten.

use std::collections::HashSet;
use std::fs;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::super::Error;
use super::super::database;
use super::super::database::metadata_if_exists;
use super::super::database::remove_logs;
use super::super::database::with_suffix;
use super::AgentDbRecovery;
use super::SpendId;
use super::batch;
use super::carve::Remains;
use super::columns::RowColumns;
use super::counter;
use super::counter::CounterName;
use super::latest;
use super::log;
use super::open::create;
use super::spend;
use super::spend::LedgerRow;
use super::summary;
use super::upkeep::unknown_cost_row;
use super::work;
use crate::model::Money;
use crate::model::SummaryKey;

const SECONDS_A_DAY: i64 = 86_400;
/// What SQLite keeps beside a database.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Puts the file aside and makes another of what is whole in it. The folder must be locked.
pub(super) fn begin(file: &Path, why: String) -> Result<AgentDbRecovery, Error> {
    rename_with_logs(file, &with_suffix(file, ".salvage"))?;
    proceed(file, why)
}

/// Ends what a process began that died over it. The folder must be locked.
pub(super) fn finish(file: &Path) -> Result<Option<AgentDbRecovery>, Error> {
    let aside = with_suffix(file, ".salvage");
    if metadata_if_exists(&aside)?.is_none() {
        return Ok(None);
    }
    if metadata_if_exists(file)?.is_some() {
        // All had been carried over.
        keep(file, &aside)?;
        return Ok(None);
    }
    proceed(file, "a salvage that was broken off".to_owned()).map(Some)
}

fn proceed(file: &Path, why: String) -> Result<AgentDbRecovery, Error> {
    let (aside, new) = (with_suffix(file, ".salvage"), with_suffix(file, ".new"));
    remove_logs(&new)?;
    remove_if_there(&new)?;
    // A process that has the damaged file open may be writing its last row: it is waited for, and finds its file gone
    // before it writes another.
    let fence = database::fence(&aside);
    let mut database = create(&new)?;
    let transaction = database.begin()?;
    let haul = carry_over(&aside, &transaction)?;
    transaction.commit()?;
    // The log goes with the last connection, so that one name stands for all of it.
    drop(database);
    rename(&new, file)?;
    drop(fence);
    tidy(&aside)?;
    let moved_to = keep(file, &aside)?;
    let Haul { carried_over, lost, is_ledger_short } = haul;
    Ok(AgentDbRecovery { moved_to, reason: why, carried_over, lost, is_ledger_short })
}

/// Removes what the fence left beside the file and nobody needs.
fn tidy(aside: &Path) -> Result<(), Error> {
    remove_if_there(&with_suffix(aside, "-shm"))?;
    let log = with_suffix(aside, "-wal");
    if metadata_if_exists(&log)?.is_some_and(|metadata| metadata.len() == 0) {
        remove_if_there(&log)?;
    }
    Ok(())
}

/// Gives the damaged file its last name.
fn keep(file: &Path, aside: &Path) -> Result<PathBuf, Error> {
    let mut number: u32 = 1;
    loop {
        let kept = with_suffix(file, &format!(".corrupt-{number}"));
        if metadata_if_exists(&kept)?.is_none() {
            rename_with_logs(aside, &kept)?;
            return Ok(kept);
        }
        number = number.saturating_add(1);
    }
}

struct Haul {
    carried_over: u64,
    lost: u64,
    is_ledger_short: bool,
}

/// What was found that is not simply a row of the new database.
#[derive(Default)]
struct Finds {
    calls: Option<i64>,
    closed_day: Option<i64>,
    /// Keys of summaries that are not whole; another copy of them may be.
    broken: HashSet<SummaryKey>,
    broken_without_key: u64,
}

fn carry_over(aside: &Path, connection: &Connection) -> Result<Haul, Error> {
    let mut finds = Finds::default();
    let mut failed = Ok(());
    let remains = open_remains(aside)?;
    if let Some(remains) = &remains {
        let mut each = |id, columns: Vec<ValueRef<'_>>| {
            if failed.is_ok() {
                failed = take(connection, id, columns, &mut finds);
            }
        };
        remains.each_row(&mut each).map_err(|source| Error::File {
            attempt: "salvage",
            path: aside.to_owned(),
            source,
        })?;
    }
    failed?;
    connection.execute("DELETE FROM batch_item WHERE batch_id NOT IN (SELECT id FROM batch)", [])?;
    connection.execute("DELETE FROM latest WHERE key NOT IN (SELECT key FROM summary)", [])?;
    let mut lost = finds.broken_without_key;
    for key in &finds.broken {
        lost += u64::from(summary::get(connection, key)?.is_none());
    }
    let carried_over = rows(connection)?;
    let short = close_the_books(connection, &finds, last_written_day(aside)?)?;
    Ok(Haul { carried_over, lost: lost + short.unwrap_or(0), is_ledger_short: short.is_some() })
}

/// Puts what looks like a row where it belongs, if its checksum says so.
fn take(
    connection: &Connection,
    id: i64,
    mut values: Vec<ValueRef<'_>>,
    finds: &mut Finds,
) -> Result<(), Error> {
    // A column that is the row's number is not written once more.
    if let Some(first) = values.first_mut()
        && *first == ValueRef::Null
    {
        *first = ValueRef::Integer(id);
    }
    let count = values.len();
    let columns = RowColumns::new(values);
    if count == summary::COLUMN_COUNT {
        return take_summary(connection, &columns, finds);
    }
    if count == spend::COLUMN_COUNT
        && let Some(spend) = spend::from_columns(&columns)
    {
        // What was settled stays so: a copy that is still open is an older one.
        return match spend::get(connection, spend.id)? {
            Some(LedgerRow::Intact(there)) if !there.is_open() => Ok(()),
            Some(LedgerRow::Intact(_) | LedgerRow::Damaged(_)) | None => spend::upsert(connection, &spend),
        };
    }
    if count == work::COLUMN_COUNT
        && let Some(refused) = work::from_columns(&columns)
    {
        return work::upsert_refusal(connection, &refused);
    }
    if count == batch::COLUMN_COUNT
        && let Some(batch) = batch::from_columns(&columns)
    {
        let there = batch::get(connection, batch.id)?;
        let is_newer = there.is_none_or(|there| there.remote_id.is_none());
        return if is_newer { batch::upsert(connection, &batch) } else { Ok(()) };
    }
    take_small(connection, &columns, finds)
}

fn take_summary(connection: &Connection, columns: &RowColumns<'_>, finds: &mut Finds) -> Result<(), Error> {
    if let Some(summary) = summary::from_columns(columns) {
        summary::insert_if_absent(connection, &summary)?;
        return Ok(());
    }
    match columns.key(1) {
        Some(key) => {
            finds.broken.insert(key);
        }
        None => finds.broken_without_key += 1,
    }
    Ok(())
}

fn take_small(connection: &Connection, columns: &RowColumns<'_>, finds: &mut Finds) -> Result<(), Error> {
    if let Some(latest) = latest::from_columns(columns) {
        latest::upsert(connection, &latest)?;
        return Ok(());
    }
    if let Some((of, item)) = batch::item_from_columns(columns) {
        return batch::upsert_item(connection, of, &item);
    }
    match counter::from_columns(columns) {
        Some((CounterName::Calls, value)) => finds.calls = finds.calls.max(Some(value)),
        Some((CounterName::ClosedDay, value)) => finds.closed_day = finds.closed_day.max(Some(value)),
        Some((CounterName::Generation, _)) | None => {}
    }
    Ok(())
}

/// Makes up for what the ledger lacks, and returns how many calls that is. `None` where it lacks nothing.
///
/// Each call that is missing counts as the dearest one that is known, and all of them as no less than what is known of
/// summaries whose calls are missing. When they were made is not known, so nothing more may be spent on the last day
/// that the damaged file was written: today's caps would be guesses.
fn close_the_books(connection: &Connection, finds: &Finds, last_written: i64) -> Result<Option<u64>, Error> {
    let (mut known, mut sum, mut dearest, mut last_day) = (0_i64, Money::ZERO, Money::ZERO, i64::MIN);
    spend::for_each_after(connection, i64::MIN, &mut |_, found| {
        if let LedgerRow::Intact(spend) = found {
            known += 1;
            sum = sum + spend.amount();
            dearest = dearest.max(spend.reservation.max_cost).max(spend.amount());
            last_day = last_day.max(spend.reservation.day);
        }
    })?;
    if let Some(closed) = finds.closed_day {
        counter::set(connection, CounterName::ClosedDay, closed)?;
    }
    counter::set(connection, CounterName::Calls, known)?;
    if finds.calls == Some(known) {
        return Ok(None);
    }
    let missing = finds.calls.unwrap_or(known).saturating_sub(known).max(0).cast_unsigned();
    let of_summaries = cost_of_summaries(connection)?;
    let day = last_written.max(last_day);
    let closed = finds.closed_day.map_or(day, |closed| closed.max(day));
    counter::set(connection, CounterName::ClosedDay, closed)?;
    let by_count = Money::from_nanos(dearest.nanos().saturating_mul(missing));
    let amount = by_count.max(of_summaries.saturating_sub(sum));
    if amount != Money::ZERO {
        let last: i64 =
            connection.query_row("SELECT coalesce(max(id), 0) FROM spend", [], |row| row.get(0))?;
        spend::upsert(connection, &unknown_cost_row(SpendId(last.saturating_add(1)), amount, day))?;
        counter::set(connection, CounterName::Calls, known + 1)?;
    }
    Ok(Some(missing))
}

fn cost_of_summaries(connection: &Connection) -> Result<Money, Error> {
    // As a fraction, for a sum of integers may be too large for one; a few lost digits do no harm here.
    let nanos: f64 = connection.query_row(
        "SELECT total(cost) FROM (SELECT DISTINCT subject, provider, model, at_ms, cost FROM summary)",
        [],
        |row| row.get(0),
    )?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    Ok(Money::from_nanos(nanos as u64))
}

fn rows(connection: &Connection) -> Result<u64, Error> {
    let count: i64 = connection.query_row(
        "SELECT (SELECT count(*) FROM summary) + (SELECT count(*) FROM spend) + (SELECT count(*) FROM latest)
              + (SELECT count(*) FROM refusal) + (SELECT count(*) FROM batch) + (SELECT count(*) FROM batch_item)",
        [],
        |row| row.get(0),
    )?;
    Ok(count.cast_unsigned())
}

/// Returns the day on which the file or its log was last written.
fn last_written_day(aside: &Path) -> Result<i64, Error> {
    let mut day = 0;
    for path in [aside, &with_suffix(aside, "-wal")] {
        day = metadata_if_exists(path)?
            .map_or(day, |metadata| day.max(metadata.mtime().div_euclid(SECONDS_A_DAY)));
    }
    Ok(day)
}

/// Opens the bytes of the file that was put aside. `None` where it is no file: there is nothing to read then.
fn open_remains(aside: &Path) -> Result<Option<Remains>, Error> {
    let Some(file) = open_bytes(aside)? else { return Ok(None) };
    let remains = Remains::new(file, open_bytes(&with_suffix(aside, "-wal"))?);
    remains.map(Some).map_err(|source| Error::File { attempt: "salvage", path: aside.to_owned(), source })
}

/// Says whether the log of a database lacks commits that were acknowledged.
pub(super) fn is_log_broken(file: &Path) -> Result<bool, Error> {
    let path = with_suffix(file, "-wal");
    let Some(bytes) = open_bytes(&path)? else { return Ok(false) };
    // Twice: whoever writes to it meanwhile may seem to leave a gap.
    let is_broken = log::lacks_commits(&bytes).and_then(|once| Ok(once && log::lacks_commits(&bytes)?));
    is_broken.map_err(|source| Error::File { attempt: "read", path, source })
}

/// Opens a file for reading. `None` where there is none.
#[expect(clippy::disallowed_methods, reason = "these are the bytes of the database file")]
fn open_bytes(path: &Path) -> Result<Option<File>, Error> {
    if !metadata_if_exists(path)?.is_some_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        // Its last user closed it in between.
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File { attempt: "salvage", path: path.to_owned(), source }),
    }
}

/// Renames a database and what belongs to it: with its log it stays the database that it is, and whoever has it open
/// shares the locks of whoever opens it by its new name.
fn rename_with_logs(from: &Path, to: &Path) -> Result<(), Error> {
    for suffix in LOGS {
        let log = with_suffix(from, suffix);
        if metadata_if_exists(&log)?.is_some() {
            rename(&log, &with_suffix(to, suffix))?;
        }
    }
    rename(from, to)
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).map_err(|source| Error::File {
        attempt: "move aside",
        path: from.to_owned(),
        source,
    })
}

fn remove_if_there(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::File { attempt: "remove", path: path.to_owned(), source })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
