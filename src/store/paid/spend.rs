//! The table `spend`: a row per call, written before the call is made. Rows are never deleted.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::params;

use super::super::Error;
use super::super::checksum::Checksum;
use super::super::checksum::Summer;
use super::Reservation;
use super::Settlement;
use super::SpendId;
use super::SpendOutcome;
use super::columns::Columns;
use super::columns::money_column;
use super::columns::optional;
use super::columns::sum_model;
use super::columns::sum_tokens;
use super::columns::token_columns;
use super::counter;
use super::counter::Counter;
use crate::model::Money;

/// How many columns [`read`] wants.
pub(super) const COUNT: usize = 18;

/// All columns, in the order in which they are kept.
pub(super) const COLUMNS: &str = "id, errand, state, worst, cost, input, cache_read, cache_write, output, \
    provider, model, day, holder, is_batch, request_id, at_ms, ended_ms, ck";

impl SpendOutcome {
    const ALL: [Self; 4] = [Self::Open, Self::Answered, Self::Refused, Self::Unknown];

    const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

/// A call, as the ledger knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spend {
    pub(super) id: SpendId,
    pub(super) asked: Reservation,
    pub(super) settled: Settlement,
    /// `None` while it is open.
    pub(super) ended_ms: Option<i64>,
}

impl Spend {
    /// What it counts as: its worst, where nobody knows better.
    pub(super) fn amount(&self) -> Money {
        match self.settled.outcome {
            SpendOutcome::Open => self.asked.worst,
            SpendOutcome::Answered | SpendOutcome::Refused | SpendOutcome::Unknown => {
                self.settled.cost.unwrap_or(self.asked.worst)
            }
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.settled.outcome == SpendOutcome::Open
    }
}

/// A row as it was found.
pub(super) enum Found {
    Sound(Box<Spend>),
    /// It counts as the larger of its numbers, for they cannot both be trusted.
    Damaged(Money),
}

/// Writes the row of a call that is to be made.
pub(super) fn open(connection: &Connection, reservation: &Reservation) -> Result<SpendId, Error> {
    let last: i64 = connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM spend")?
        .query_row([], |row| row.get(0))?;
    let id = SpendId(last.saturating_add(1));
    let settled = Settlement {
        outcome: SpendOutcome::Open,
        cost: None,
        tokens: crate::model::Tokens::default(),
        request_id: None,
        at_ms: reservation.at_ms,
    };
    put(connection, &Spend { id, asked: reservation.clone(), settled, ended_ms: None })?;
    let calls = counter::get(connection, Counter::Calls)?.unwrap_or(0);
    counter::put(connection, Counter::Calls, calls.saturating_add(1))?;
    Ok(id)
}

/// Writes what became of a call. The first word about it stands.
pub(super) fn close(connection: &Connection, id: SpendId, settlement: &Settlement) -> Result<(), Error> {
    let Some(found) = get(connection, id)? else {
        return Err(Error::Sqlite(rusqlite::Error::QueryReturnedNoRows));
    };
    match found {
        Found::Sound(spend) if spend.is_open() => {
            let ended_ms = Some(settlement.at_ms);
            put(connection, &Spend { settled: settlement.clone(), ended_ms, ..*spend })
        }
        Found::Sound(_) | Found::Damaged(_) => Ok(()),
    }
}

/// Writes a row, in place of the one with its number.
pub(super) fn put(connection: &Connection, spend: &Spend) -> Result<(), Error> {
    let Spend { id, asked, settled, ended_ms } = spend;
    let [input, cache_read, cache_write, output] = token_columns(&settled.tokens);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO spend (id, errand, state, worst, cost, input, cache_read, cache_write, output,
                 provider, model, day, holder, is_batch, request_id, at_ms, ended_ms, ck)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        )?
        .execute(params![
            id.0,
            asked.errand.0.as_bytes(),
            settled.outcome.name(),
            money_column(asked.worst),
            settled.cost.map(money_column),
            input,
            cache_read,
            cache_write,
            output,
            asked.by.provider,
            asked.by.model,
            asked.day,
            asked.holder,
            asked.is_batch,
            settled.request_id,
            asked.at_ms,
            ended_ms,
            checksum(spend),
        ])?;
    Ok(())
}

/// Returns the row of that number.
pub(super) fn get(connection: &Connection, id: SpendId) -> Result<Option<Found>, Error> {
    let question = format!("SELECT {COLUMNS} FROM spend WHERE id = ?1");
    let mut statement = connection.prepare_cached(&question)?;
    Ok(statement.query_row([id.0], |row| Ok(find(&Columns::of(row, 0, COUNT)?))).optional()?)
}

/// Calls `each` with all rows whose numbers are greater than `after`, in order.
pub(super) fn each_after(
    connection: &Connection,
    after: i64,
    each: &mut dyn FnMut(i64, Found),
) -> Result<(), Error> {
    let question = format!("SELECT {COLUMNS} FROM spend WHERE ?1 < id ORDER BY id");
    let mut statement = connection.prepare_cached(&question)?;
    let mut rows = statement.query([after])?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, find(&Columns::of(row, 0, COUNT)?));
    }
    Ok(())
}

fn find(columns: &Columns<'_>) -> Found {
    match read(columns) {
        Some(spend) => Found::Sound(Box::new(spend)),
        None => Found::Damaged(larger(columns)),
    }
}

fn larger(columns: &Columns<'_>) -> Money {
    let amount = |index| columns.number(index).map_or(0, i64::unsigned_abs);
    Money::from_nanos(amount(3).max(amount(4)))
}

/// Reads a row from its columns. `None` where they are not what was once written.
pub(super) fn read(columns: &Columns<'_>) -> Option<Spend> {
    let state = columns.text(2)?;
    let cost = match columns.optional_number(4)? {
        Some(_) => Some(columns.money(4)?),
        None => None,
    };
    let (at_ms, ended_ms) = (columns.number(15)?, columns.optional_number(16)?);
    let spend = Spend {
        id: SpendId(columns.number(0)?),
        asked: Reservation {
            errand: columns.key(1)?,
            by: columns.model(9)?,
            worst: columns.money(3)?,
            holder: columns.text(12)?.to_owned(),
            is_batch: columns.number(13)? != 0,
            at_ms,
            day: columns.number(11)?,
        },
        settled: Settlement {
            outcome: SpendOutcome::ALL.into_iter().find(|outcome| outcome.name() == state)?,
            cost,
            tokens: columns.tokens(5)?,
            request_id: columns.optional_text(14)?.map(str::to_owned),
            at_ms: ended_ms.unwrap_or(at_ms),
        },
        ended_ms,
    };
    columns.is_sum(17, checksum(&spend))?;
    Some(spend)
}

fn checksum(spend: &Spend) -> Checksum {
    let Spend { id, asked, settled, ended_ms } = spend;
    let sum = Summer::new("spend/1")
        .number(id.0)
        .bytes(asked.errand.0.as_bytes())
        .text(settled.outcome.name())
        .number(money_column(asked.worst));
    let sum = optional(sum, settled.cost.map(money_column));
    let sum = sum_model(sum_tokens(sum, &settled.tokens), &asked.by)
        .number(asked.day)
        .text(&asked.holder)
        .number(asked.is_batch.into())
        .optional_text(settled.request_id.as_deref())
        .number(asked.at_ms);
    optional(sum, *ended_ms).finish()
}
