//! The table `spend`: a row per call, written before the call is made. Rows are never deleted.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::params;

use super::super::Error;
use super::super::checksum::ChecksumBuilder;
use super::super::checksum::RowChecksum;
use super::SpendId;
use super::SpendOutcome;
use super::SpendReservation;
use super::SpendSettlement;
use super::columns::RowColumns;
use super::columns::hash_model;
use super::columns::hash_optional_number;
use super::columns::hash_tokens;
use super::columns::money_to_column;
use super::columns::tokens_to_columns;
use super::counter;
use super::counter::CounterName;
use crate::model::Money;

/// How many columns [`read`] wants.
pub(super) const COLUMN_COUNT: usize = 18;

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
pub(super) struct SpendRow {
    pub(super) id: SpendId,
    pub(super) reservation: SpendReservation,
    pub(super) settlement: SpendSettlement,
    /// `None` while it is open.
    pub(super) ended_ms: Option<i64>,
}

impl SpendRow {
    /// What it counts as: its worst, where nobody knows better.
    pub(super) fn amount(&self) -> Money {
        match self.settlement.outcome {
            SpendOutcome::Open => self.reservation.max_cost,
            SpendOutcome::Answered | SpendOutcome::Refused | SpendOutcome::Unknown => {
                self.settlement.cost.unwrap_or(self.reservation.max_cost)
            }
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.settlement.outcome == SpendOutcome::Open
    }
}

/// A row as it was found.
pub(super) enum LedgerRow {
    Intact(Box<SpendRow>),
    /// It counts as the larger of its numbers, for they cannot both be trusted.
    Damaged(Money),
}

/// Writes the row of a call that is to be made.
pub(super) fn insert_open(connection: &Connection, reservation: &SpendReservation) -> Result<SpendId, Error> {
    let last: i64 = connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM spend")?
        .query_row([], |row| row.get(0))?;
    let id = SpendId(last.saturating_add(1));
    let settled = SpendSettlement {
        outcome: SpendOutcome::Open,
        cost: None,
        tokens: crate::model::TokenUsage::default(),
        request_id: None,
        at_ms: reservation.at_ms,
    };
    upsert(
        connection,
        &SpendRow { id, reservation: reservation.clone(), settlement: settled, ended_ms: None },
    )?;
    let calls = counter::get(connection, CounterName::Calls)?.unwrap_or(0);
    counter::set(connection, CounterName::Calls, calls.saturating_add(1))?;
    Ok(id)
}

/// Writes what became of a call. The first word about it stands.
pub(super) fn settle(
    connection: &Connection,
    id: SpendId,
    settlement: &SpendSettlement,
) -> Result<(), Error> {
    let Some(found) = get(connection, id)? else {
        return Err(Error::Sqlite(rusqlite::Error::QueryReturnedNoRows));
    };
    match found {
        LedgerRow::Intact(spend) if spend.is_open() => {
            let ended_ms = Some(settlement.at_ms);
            upsert(connection, &SpendRow { settlement: settlement.clone(), ended_ms, ..*spend })
        }
        LedgerRow::Intact(_) | LedgerRow::Damaged(_) => Ok(()),
    }
}

/// Writes a row, in place of the one with its number.
pub(super) fn upsert(connection: &Connection, spend: &SpendRow) -> Result<(), Error> {
    let SpendRow { id, reservation: asked, settlement: settled, ended_ms } = spend;
    let [input, cache_read, cache_write, output] = tokens_to_columns(&settled.tokens);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO spend (id, errand, state, worst, cost, input, cache_read, cache_write, output,
                 provider, model, day, holder, is_batch, request_id, at_ms, ended_ms, ck)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        )?
        .execute(params![
            id.0,
            asked.task_key.0.as_bytes(),
            settled.outcome.name(),
            money_to_column(asked.max_cost),
            settled.cost.map(money_to_column),
            input,
            cache_read,
            cache_write,
            output,
            asked.model.provider,
            asked.model.model,
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
pub(super) fn get(connection: &Connection, id: SpendId) -> Result<Option<LedgerRow>, Error> {
    let question = format!("SELECT {COLUMNS} FROM spend WHERE id = ?1");
    let mut statement = connection.prepare_cached(&question)?;
    Ok(statement
        .query_row([id.0], |row| Ok(ledger_row(&RowColumns::from_row(row, 0, COLUMN_COUNT)?)))
        .optional()?)
}

/// Calls `each` with all rows whose numbers are greater than `after`, in order.
pub(super) fn for_each_after(
    connection: &Connection,
    after: i64,
    each: &mut dyn FnMut(i64, LedgerRow),
) -> Result<(), Error> {
    let question = format!("SELECT {COLUMNS} FROM spend WHERE ?1 < id ORDER BY id");
    let mut statement = connection.prepare_cached(&question)?;
    let mut rows = statement.query([after])?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, ledger_row(&RowColumns::from_row(row, 0, COLUMN_COUNT)?));
    }
    Ok(())
}

fn ledger_row(columns: &RowColumns<'_>) -> LedgerRow {
    match from_columns(columns) {
        Some(spend) => LedgerRow::Intact(Box::new(spend)),
        None => LedgerRow::Damaged(larger_amount(columns)),
    }
}

fn larger_amount(columns: &RowColumns<'_>) -> Money {
    let amount = |index| columns.number(index).map_or(0, i64::unsigned_abs);
    Money::from_nanos(amount(3).max(amount(4)))
}

/// Reads a row from its columns. `None` where they are not what was once written.
pub(super) fn from_columns(columns: &RowColumns<'_>) -> Option<SpendRow> {
    let state = columns.text(2)?;
    let cost = match columns.optional_number(4)? {
        Some(_) => Some(columns.money(4)?),
        None => None,
    };
    let (at_ms, ended_ms) = (columns.number(15)?, columns.optional_number(16)?);
    let spend = SpendRow {
        id: SpendId(columns.number(0)?),
        reservation: SpendReservation {
            task_key: columns.key(1)?,
            model: columns.model(9)?,
            max_cost: columns.money(3)?,
            holder: columns.text(12)?.to_owned(),
            is_batch: columns.number(13)? != 0,
            at_ms,
            day: columns.number(11)?,
        },
        settlement: SpendSettlement {
            outcome: SpendOutcome::ALL.into_iter().find(|outcome| outcome.name() == state)?,
            cost,
            tokens: columns.tokens(5)?,
            request_id: columns.optional_text(14)?.map(str::to_owned),
            at_ms: ended_ms.unwrap_or(at_ms),
        },
        ended_ms,
    };
    columns.verify_checksum(17, checksum(&spend))?;
    Some(spend)
}

fn checksum(spend: &SpendRow) -> RowChecksum {
    let SpendRow { id, reservation: asked, settlement: settled, ended_ms } = spend;
    let sum = ChecksumBuilder::new("spend/1")
        .number(id.0)
        .bytes(asked.task_key.0.as_bytes())
        .text(settled.outcome.name())
        .number(money_to_column(asked.max_cost));
    let sum = hash_optional_number(sum, settled.cost.map(money_to_column));
    let sum = hash_model(hash_tokens(sum, &settled.tokens), &asked.model)
        .number(asked.day)
        .text(&asked.holder)
        .number(asked.is_batch.into())
        .optional_text(settled.request_id.as_deref())
        .number(asked.at_ms);
    hash_optional_number(sum, *ended_ms).finish()
}
