//! The tables `spend`, the ledger, which has a row for each call, written before the call and never deleted; and
//! `counter`.

use rusqlite::{Connection, OptionalExtension};

use super::rows::{SpendId, SpendOutcome, SpendReservation, SpendSettlement};
use crate::model::{ContentHash, ModelName, Money, SummaryKey, TokenUsage};
use crate::store::error::Error;
use crate::store::row::{RowColumns, RowFields, StoredRow, money_to_column};

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SpendRow {
    pub(super) id: SpendId,
    pub(super) reservation: SpendReservation,
    pub(super) settlement: SpendSettlement,
    /// When it was settled; `None` while it is open.
    pub(super) ended_ms: Option<i64>,
}

impl SpendRow {
    /// Returns the amount at which the call counts: its cost if known, else the most that it may cost.
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

/// A row that was read from the ledger.
pub(super) enum LedgerRow {
    /// Its checksum is valid.
    Intact(Box<SpendRow>),
    /// Its checksum is invalid. It counts at the larger of its two amounts, because neither can be trusted.
    Damaged(Money),
}

/// Inserts the row of a call that is about to be made.
pub(super) fn insert_open(connection: &Connection, reservation: &SpendReservation) -> Result<SpendId, Error> {
    // Not assigned by SQLite, because the checksum of the row covers its id.
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
    let row = SpendRow { id, reservation: reservation.clone(), settlement, ended_ms: None };
    row.upsert(connection)?;
    let calls = counter(connection, CounterName::Calls)?.unwrap_or(0);
    set_counter(connection, CounterName::Calls, calls.saturating_add(1))?;
    Ok(id)
}

/// Records the outcome of a call. A settled call is left unchanged.
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
            SpendRow { settlement: settlement.clone(), ended_ms, ..*spend }.upsert(connection)
        }
        LedgerRow::Intact(_) | LedgerRow::Damaged(_) => Ok(()),
    }
}

pub(super) fn get(connection: &Connection, id: SpendId) -> Result<Option<LedgerRow>, Error> {
    let mut statement = connection.prepare_cached("SELECT * FROM spend WHERE id = ?1")?;
    Ok(statement.query_row([id.0], |row| Ok(ledger_row(&RowColumns::from_row(row)?))).optional()?)
}

/// Calls `each` with the rows whose ids are greater than `after`, in order.
pub(super) fn for_each_after(
    connection: &Connection,
    after: i64,
    each: &mut dyn FnMut(i64, LedgerRow),
) -> Result<(), Error> {
    let mut statement = connection.prepare_cached("SELECT * FROM spend WHERE ?1 < id ORDER BY id")?;
    let mut rows = statement.query([after])?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, ledger_row(&RowColumns::from_row(row)?));
    }
    Ok(())
}

fn ledger_row(columns: &RowColumns<'_>) -> LedgerRow {
    match SpendRow::from_columns(columns) {
        Some(spend) => LedgerRow::Intact(Box::new(spend)),
        None => LedgerRow::Damaged(larger_amount(columns)),
    }
}

fn larger_amount(columns: &RowColumns<'_>) -> Money {
    // An amount is never negative, so a sign is damage; dropping it errs on the side of counting too much.
    let amount = |index| columns.number(index).map_or(0, i64::unsigned_abs);
    Money::from_nanos(amount(3).max(amount(4)))
}

impl StoredRow for SpendRow {
    const TABLE: &'static str = "spend";
    const LABEL: &'static str = "call in the ledger (it counts as the larger of its numbers)";
    const COLUMNS: &'static str = "id, errand, state, worst, cost, input, cache_read, cache_write, output, \
        provider, model, day, holder, is_batch, request_id, at_ms, ended_ms";

    fn fields(&self) -> RowFields<'_> {
        let Self { id, reservation, settlement, ended_ms } = self;
        RowFields::new("spend/1")
            .number(id.0)
            .bytes(reservation.task_key.0.as_bytes())
            .text(settlement.outcome.name())
            .money(reservation.max_cost)
            .optional_number(settlement.cost.map(money_to_column))
            .tokens(&settlement.tokens)
            .model(&reservation.model)
            .number(reservation.day)
            .text(&reservation.holder)
            .number(reservation.is_batch.into())
            .optional_text(settlement.request_id.as_deref())
            .number(reservation.at_ms)
            .optional_number(*ended_ms)
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        let state = columns.text(2)?;
        let cost = match columns.optional_number(4)? {
            Some(_) => Some(columns.money(4)?),
            None => None,
        };
        let (at_ms, ended_ms) = (columns.number(15)?, columns.optional_number(16)?);
        Some(Self {
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
        })
    }

    fn merge(&self, connection: &Connection) -> Result<(), Error> {
        match get(connection, self.id)? {
            // A settled call stays settled: an open row of it is older.
            Some(LedgerRow::Intact(there)) if !there.is_open() => Ok(()),
            Some(LedgerRow::Intact(_) | LedgerRow::Damaged(_)) | None => self.upsert(connection),
        }
    }
}

/// Returns a row for calls of which only the possible cost is known.
pub(super) fn unknown_cost_row(id: SpendId, amount: Money, day: i64) -> SpendRow {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CounterName {
    /// Changes whenever a lookup may return something different.
    Generation,
    /// The number of rows in the ledger. If there are fewer, some were lost.
    Calls,
    /// The last day on which nothing more may be spent, because calls of that day may be missing.
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

/// A row of `counter`.
pub(super) struct CounterRow {
    counter: CounterName,
    value: i64,
}

/// Returns a counter; `None` if it was never written, or is damaged.
pub(super) fn counter(connection: &Connection, counter: CounterName) -> Result<Option<i64>, Error> {
    let found = CounterRow::select_first(connection, "name = ?1", [counter.name()])?;
    Ok(found.map(|found| found.value))
}

pub(super) fn set_counter(connection: &Connection, counter: CounterName, value: i64) -> Result<(), Error> {
    CounterRow { counter, value }.upsert(connection)
}

/// Starts the generation at a random number, so that a newly created database is not mistaken for the old one.
pub(super) fn init_generation(connection: &Connection) -> Result<(), Error> {
    // Shifted, because `abs` of the smallest integer is an error in SQLite, and to leave room for increments.
    let start = connection.query_row("SELECT abs(random() >> 16)", [], |row| row.get(0))?;
    set_counter(connection, CounterName::Generation, start)
}

/// Records that a lookup may now return something different.
pub(super) fn bump_generation(connection: &Connection) -> Result<(), Error> {
    match counter(connection, CounterName::Generation)? {
        Some(before) => set_counter(connection, CounterName::Generation, before.wrapping_add(1)),
        None => init_generation(connection),
    }
}

impl StoredRow for CounterRow {
    const TABLE: &'static str = "counter";
    const LABEL: &'static str = "count";
    const COLUMNS: &'static str = "name, value";

    fn fields(&self) -> RowFields<'_> {
        RowFields::new("counter/1").text(self.counter.name()).number(self.value)
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        let (name, value) = (columns.text(0)?, columns.number(1)?);
        let counter = CounterName::ALL.into_iter().find(|counter| counter.name() == name)?;
        Some(Self { counter, value })
    }

    fn merge(&self, connection: &Connection) -> Result<(), Error> {
        match self.counter {
            CounterName::Calls | CounterName::ClosedDay => {
                let there = counter(connection, self.counter)?;
                let value = there.map_or(self.value, |there| there.max(self.value));
                set_counter(connection, self.counter, value)
            }
            // A restored database gets a new one.
            CounterName::Generation => Ok(()),
        }
    }
}
