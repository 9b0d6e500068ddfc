//! The sums of the ledger, and the check of the caps.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::rows::{CapExceeded, SpendCaps, SpendId, SpendOutcome, SpendReservation, SpendTotals, UsageRow};
use super::spend;
use super::spend::{CounterName, LedgerRow, SpendRow};
use crate::model::{ModelName, Money, TokenUsage};
use crate::store::error::Error;

/// The sums of the rows that this connection has read. A settled row never changes, so it is read once; open rows are
/// read again each time.
#[derive(Debug, Default)]
pub(super) struct LedgerTotals {
    last_row_id: i64,
    settled_by_day: BTreeMap<i64, (Money, u64)>,
    settled: Money,
    open_rows: BTreeSet<i64>,
    /// Damaged rows, whose day is unknown: they count for every day.
    damaged: (Money, u64),
}

impl LedgerTotals {
    /// Reads new rows and returns what has been spent. The connection must see only committed rows, because their sums
    /// are kept.
    pub(super) fn refresh(&mut self, connection: &Connection, day: i64) -> Result<SpendTotals, Error> {
        let mut fresh = Vec::new();
        for id in &self.open_rows {
            if let Some(found) = spend::get(connection, SpendId(*id))? {
                fresh.push((*id, found));
            }
        }
        spend::for_each_after(connection, self.last_row_id, &mut |id, found| fresh.push((id, found)))?;
        // Nothing may fail from here on, or the open rows would be lost from the sums.
        self.open_rows.clear();
        let mut open = (Money::ZERO, Money::ZERO, 0);
        for (id, found) in fresh {
            self.last_row_id = self.last_row_id.max(id);
            match found {
                LedgerRow::Intact(spend) if spend.is_open() => {
                    self.open_rows.insert(id);
                    open.0 = open.0 + spend.amount();
                    if spend.reservation.day == day {
                        open.1 = open.1 + spend.amount();
                        open.2 += 1;
                    }
                }
                LedgerRow::Intact(spend) => self.add_settled(&spend),
                LedgerRow::Damaged(amount) => self.damaged = (self.damaged.0 + amount, self.damaged.1 + 1),
            }
        }
        let (of_day, calls) = self.settled_by_day.get(&day).copied().unwrap_or_default();
        Ok(SpendTotals {
            day: of_day + open.1 + self.damaged.0,
            total: self.settled + open.0 + self.damaged.0,
            calls: calls + open.2 + self.damaged.1,
            reserved: open.0,
        })
    }

    pub(super) fn total_spent(&mut self, connection: &Connection) -> Result<Money, Error> {
        // The total is the same on every day.
        Ok(self.refresh(connection, 0)?.total)
    }

    fn add_settled(&mut self, spend: &SpendRow) {
        let (amount, calls) = self.settled_by_day.entry(spend.reservation.day).or_default();
        *amount = *amount + spend.amount();
        *calls += 1;
        self.settled = self.settled + spend.amount();
    }
}

/// Returns the cap that the calls would exceed in addition to what has been spent.
pub(super) fn check_caps(
    connection: &Connection,
    spent: SpendTotals,
    calls: &[&SpendReservation],
    caps: &SpendCaps,
) -> Result<Result<(), CapExceeded>, Error> {
    let worst: Money = calls.iter().map(|call| call.max_cost).sum();
    let last_closed = spend::counter(connection, CounterName::ClosedDay)?;
    let is_closed = calls.iter().any(|call| last_closed.is_some_and(|closed| call.day <= closed));
    // Checked first, because it is the only cap that also applies to free calls.
    if caps.calls_a_day < spent.calls.saturating_add(calls.len() as u64) {
        return Ok(Err(CapExceeded::Calls));
    }
    // A free call is not refused because money has been spent.
    if worst == Money::ZERO {
        return Ok(Ok(()));
    }
    if caps.total < spent.total + worst {
        return Ok(Err(CapExceeded::Total));
    }
    if is_closed {
        return Ok(Err(CapExceeded::DayClosed));
    }
    Ok(if caps.day < spent.day + worst { Err(CapExceeded::Day) } else { Ok(()) })
}

/// Returns the calls by day, latest first, and model, sorted by name. Calls `damaged` for each damaged row, which is
/// only in the totals, because its model and day are unknown.
pub(super) fn usage(connection: &Connection, damaged: &mut dyn FnMut()) -> Result<Vec<UsageRow>, Error> {
    let mut rows: BTreeMap<(i64, ModelName), UsageRow> = BTreeMap::new();
    spend::for_each_after(connection, i64::MIN, &mut |_, found| match found {
        LedgerRow::Intact(spend) => {
            // Negated, because the map is in ascending order and the latest day comes first.
            let key = (spend.reservation.day.saturating_neg(), spend.reservation.model.clone());
            add_usage(rows.entry(key).or_insert_with(|| empty_usage(&spend)), &spend);
        }
        LedgerRow::Damaged(_) => damaged(),
    })?;
    Ok(rows.into_values().collect())
}

fn empty_usage(spend: &SpendRow) -> UsageRow {
    UsageRow {
        day: spend.reservation.day,
        model: spend.reservation.model.clone(),
        calls: 0,
        answered: 0,
        tokens: TokenUsage::default(),
        cost: Money::ZERO,
        reserved: Money::ZERO,
    }
}

fn add_usage(row: &mut UsageRow, spend: &SpendRow) {
    row.calls += 1;
    row.answered += u64::from(spend.settlement.outcome == SpendOutcome::Answered);
    row.cost = row.cost + spend.amount();
    if spend.is_open() {
        row.reserved = row.reserved + spend.amount();
    }
    let tokens = &spend.settlement.tokens;
    add_count(&mut row.tokens.input, tokens.input);
    add_count(&mut row.tokens.cache_read, tokens.cache_read);
    add_count(&mut row.tokens.cache_write, tokens.cache_write);
    add_count(&mut row.tokens.output, tokens.output);
}

/// Adds a reported count. The sum of only unreported counts stays unknown.
fn add_count(sum: &mut Option<u64>, count: Option<u64>) {
    if let Some(count) = count {
        *sum = Some(sum.unwrap_or(0).saturating_add(count));
    }
}
