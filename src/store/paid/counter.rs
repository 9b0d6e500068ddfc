//! The table `counter`.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::params;

use super::super::Error;
use super::super::checksum::ChecksumBuilder;
use super::super::checksum::RowChecksum;
use super::columns::RowColumns;

/// Which number it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CounterName {
    /// Changes with everything that a look-up may give.
    Generation,
    /// How many rows the ledger has: fewer are there only where some were lost.
    Calls,
    /// Up to which day nothing may be spent any more, for the ledger lacks calls of that day.
    ClosedDay,
}

impl CounterName {
    const ALL: [Self; 3] = [Self::Generation, Self::Calls, Self::ClosedDay];

    const fn name(self) -> &'static str {
        match self {
            Self::Generation => "generation",
            Self::Calls => "calls",
            Self::ClosedDay => "closed_day",
        }
    }
}

/// How many columns [`read`] wants: `name, value, ck`.
pub(super) const COLUMN_COUNT: usize = 3;

/// Returns the number; `None` where it was never written, or is damaged.
pub(super) fn get(connection: &Connection, counter: CounterName) -> Result<Option<i64>, Error> {
    let mut statement = connection.prepare_cached("SELECT name, value, ck FROM counter WHERE name = ?1")?;
    let found = statement
        .query_row([counter.name()], |row| Ok(from_columns(&RowColumns::from_row(row, 0, COLUMN_COUNT)?)));
    Ok(found.optional()?.flatten().map(|(_, value)| value))
}

/// Writes the number.
pub(super) fn set(connection: &Connection, counter: CounterName, value: i64) -> Result<(), Error> {
    let name = counter.name();
    connection
        .prepare_cached("INSERT OR REPLACE INTO counter (name, value, ck) VALUES (?1, ?2, ?3)")?
        .execute(params![name, value, checksum(name, value)])?;
    Ok(())
}

/// Begins the count of changes somewhere. A database that was made anew must not seem to be the one of before.
pub(super) fn init_generation(connection: &Connection) -> Result<(), Error> {
    let anywhere = connection.query_row("SELECT abs(random() >> 16)", [], |row| row.get(0))?;
    set(connection, CounterName::Generation, anywhere)
}

/// Notes that a look-up may now give something else.
pub(super) fn bump_generation(connection: &Connection) -> Result<(), Error> {
    match get(connection, CounterName::Generation)? {
        Some(before) => set(connection, CounterName::Generation, before.wrapping_add(1)),
        None => init_generation(connection),
    }
}

/// Reads a number from its columns.
pub(super) fn from_columns(columns: &RowColumns<'_>) -> Option<(CounterName, i64)> {
    let (name, value) = (columns.text(0)?, columns.number(1)?);
    columns.verify_checksum(2, checksum(name, value))?;
    let counter = CounterName::ALL.into_iter().find(|counter| counter.name() == name)?;
    Some((counter, value))
}

fn checksum(name: &str, value: i64) -> RowChecksum {
    ChecksumBuilder::new("counter/1").text(name).number(value).finish()
}
