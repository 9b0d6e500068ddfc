//! The tables `spend`, the ledger, with a row per call that is written before the call is made and never deleted, and
//! `counter`.

use rusqlite::{Connection, OptionalExtension, params};

use crate::model::{ContentHash, ModelName, Money, SummaryKey, TokenUsage};
use crate::store::agent::rows::{SpendId, SpendOutcome, SpendReservation, SpendSettlement};
use crate::store::sqlite::{
    ChecksumBuilder, Error, RowChecksum, RowColumns, money_to_column, select_first, tokens_to_columns,
};

/// All columns of the ledger, in their order.
const COLUMNS: &str = "id, errand, state, worst, cost, input, cache_read, cache_write, output, \
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

/// A row of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::store::agent) struct SpendRow {
    pub(in crate::store::agent) id: SpendId,
    pub(in crate::store::agent) reservation: SpendReservation,
    pub(in crate::store::agent) settlement: SpendSettlement,
    /// `None` while it is open.
    pub(in crate::store::agent) ended_ms: Option<i64>,
}

impl SpendRow {
    /// Returns what the call counts as: the most that it may cost, unless its cost is known.
    pub(in crate::store::agent) fn amount(&self) -> Money {
        match self.settlement.outcome {
            SpendOutcome::Open => self.reservation.max_cost,
            SpendOutcome::Answered | SpendOutcome::Refused | SpendOutcome::Unknown => {
                self.settlement.cost.unwrap_or(self.reservation.max_cost)
            }
        }
    }

    /// Returns whether the call was not settlement.
    pub(in crate::store::agent) fn is_open(&self) -> bool {
        self.settlement.outcome == SpendOutcome::Open
    }
}

/// A row of the ledger as it was read.
pub(in crate::store::agent) enum LedgerRow {
    /// Its checksum holds.
    Intact(Box<SpendRow>),
    /// Its checksum does not hold. It counts as the larger of its two amounts, since neither can be trusted.
    Damaged(Money),
}

/// Inserts the row of a call that is to be made.
pub(in crate::store::agent) fn insert_open(
    connection: &Connection,
    reservation: &SpendReservation,
) -> Result<SpendId, Error> {
    let last: i64 = connection
        .prepare_cached("SELECT coalesce(max(id), 0) FROM spend")?
        .query_row([], |row| row.get(0))?;
    let id = SpendId(last.saturating_add(1));
    let settlement = SpendSettlement {
        outcome: SpendOutcome::Open,
        cost: None,
        tokens: TokenUsage::default(),
        request_id: None,
        at_ms: reservation.at_ms,
    };
    upsert(connection, &SpendRow { id, reservation: reservation.clone(), settlement, ended_ms: None })?;
    let calls = counter(connection, CounterName::Calls)?.unwrap_or(0);
    set_counter(connection, CounterName::Calls, calls.saturating_add(1))?;
    Ok(id)
}

/// Records the outcome of a call. A call that is settled stays as it is.
pub(in crate::store::agent) fn settle(
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

/// Writes a row, in place of the one with its id.
pub(in crate::store::agent) fn upsert(connection: &Connection, spend: &SpendRow) -> Result<(), Error> {
    let SpendRow { id, reservation, settlement, ended_ms } = spend;
    let [input, cache_read, cache_write, output] = tokens_to_columns(&settlement.tokens);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO spend (id, errand, state, worst, cost, input, cache_read, cache_write, output,
                 provider, model, day, holder, is_batch, request_id, at_ms, ended_ms, ck)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        )?
        .execute(params![
            id.0,
            reservation.task_key.0.as_bytes(),
            settlement.outcome.name(),
            money_to_column(reservation.max_cost),
            settlement.cost.map(money_to_column),
            input,
            cache_read,
            cache_write,
            output,
            reservation.model.provider,
            reservation.model.model,
            reservation.day,
            reservation.holder,
            reservation.is_batch,
            settlement.request_id,
            reservation.at_ms,
            ended_ms,
            checksum(spend),
        ])?;
    Ok(())
}

/// Returns the row with that id.
pub(in crate::store::agent) fn get(connection: &Connection, id: SpendId) -> Result<Option<LedgerRow>, Error> {
    let query = format!("SELECT {COLUMNS} FROM spend WHERE id = ?1");
    let mut statement = connection.prepare_cached(&query)?;
    Ok(statement.query_row([id.0], |row| Ok(ledger_row(&RowColumns::from_row(row, 0)?))).optional()?)
}

/// Calls `each` with the rows whose ids are greater than `after`, in order.
pub(in crate::store::agent) fn for_each_after(
    connection: &Connection,
    after: i64,
    each: &mut dyn FnMut(i64, LedgerRow),
) -> Result<(), Error> {
    let query = format!("SELECT {COLUMNS} FROM spend WHERE ?1 < id ORDER BY id");
    let mut statement = connection.prepare_cached(&query)?;
    let mut rows = statement.query([after])?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, ledger_row(&RowColumns::from_row(row, 0)?));
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

/// Reads a row; `None` where its columns are not what was once written.
pub(in crate::store::agent) fn from_columns(columns: &RowColumns<'_>) -> Option<SpendRow> {
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
    let SpendRow { id, reservation, settlement, ended_ms } = spend;
    ChecksumBuilder::new("spend/1")
        .number(id.0)
        .bytes(reservation.task_key.0.as_bytes())
        .text(settlement.outcome.name())
        .number(money_to_column(reservation.max_cost))
        .optional_number(settlement.cost.map(money_to_column))
        .tokens(&settlement.tokens)
        .model(&reservation.model)
        .number(reservation.day)
        .text(&reservation.holder)
        .number(reservation.is_batch.into())
        .optional_text(settlement.request_id.as_deref())
        .number(reservation.at_ms)
        .optional_number(*ended_ms)
        .finish()
}

/// Returns a row for calls of which nothing is known except what they may have cost.
pub(in crate::store::agent) fn unknown_cost_row(id: SpendId, amount: Money, day: i64) -> SpendRow {
    let amount = Money::from_nanos(money_to_column(amount).cast_unsigned());
    let no_task = ContentHash::digest(b"");
    SpendRow {
        id,
        reservation: SpendReservation {
            task_key: SummaryKey(no_task),
            model: ModelName { provider: "unknown".to_owned(), model: "unknown".to_owned() },
            max_cost: amount,
            holder: String::new(),
            is_batch: false,
            at_ms: 0,
            day,
        },
        settlement: SpendSettlement {
            outcome: SpendOutcome::Unknown,
            cost: None,
            tokens: TokenUsage::default(),
            request_id: None,
            at_ms: 0,
        },
        ended_ms: None,
    }
}

/// The name of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store::agent) enum CounterName {
    /// Changes whenever a look-up may return something else.
    Generation,
    /// How many rows the ledger has. If it has fewer, some were lost.
    Calls,
    /// The last day on which nothing more may be spent, since calls of that day may be missing.
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

/// Returns a counter; `None` where it was never written, or is damaged.
pub(in crate::store::agent) fn counter(
    connection: &Connection,
    counter: CounterName,
) -> Result<Option<i64>, Error> {
    let query = "SELECT name, value, ck FROM counter WHERE name = ?1";
    let found = select_first(connection, query, [counter.name()], counter_from_columns)?;
    Ok(found.map(|(_, value)| value))
}

/// Writes a counter.
pub(in crate::store::agent) fn set_counter(
    connection: &Connection,
    counter: CounterName,
    value: i64,
) -> Result<(), Error> {
    let name = counter.name();
    connection
        .prepare_cached("INSERT OR REPLACE INTO counter (name, value, ck) VALUES (?1, ?2, ?3)")?
        .execute(params![name, value, counter_checksum(name, value)])?;
    Ok(())
}

/// Starts the generation at a random number, so that a database that was created again does not pass for the old one.
pub(in crate::store::agent) fn init_generation(connection: &Connection) -> Result<(), Error> {
    let start = connection.query_row("SELECT abs(random() >> 16)", [], |row| row.get(0))?;
    set_counter(connection, CounterName::Generation, start)
}

/// Records that a look-up may now return something else.
pub(in crate::store::agent) fn bump_generation(connection: &Connection) -> Result<(), Error> {
    match counter(connection, CounterName::Generation)? {
        Some(before) => set_counter(connection, CounterName::Generation, before.wrapping_add(1)),
        None => init_generation(connection),
    }
}

/// Reads a counter; `None` where its columns are not what was once written.
pub(in crate::store::agent) fn counter_from_columns(columns: &RowColumns<'_>) -> Option<(CounterName, i64)> {
    let (name, value) = (columns.text(0)?, columns.number(1)?);
    columns.verify_checksum(2, counter_checksum(name, value))?;
    let counter = CounterName::ALL.into_iter().find(|counter| counter.name() == name)?;
    Some((counter, value))
}

fn counter_checksum(name: &str, value: i64) -> RowChecksum {
    ChecksumBuilder::new("counter/1").text(name).number(value).finish()
}
