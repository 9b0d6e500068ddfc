//! Adding up the ledger, and keeping to its caps.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use rusqlite::Connection;

use super::super::Error;
use super::AgentDb;
use super::BatchId;
use super::CapExceeded;
use super::NewBatch;
use super::SpendCaps;
use super::SpendId;
use super::SpendOutcome;
use super::SpendReservation;
use super::SpendSettlement;
use super::SpendTotals;
use super::StoredSummary;
use super::UsageRow;
use super::batch;
use super::counter;
use super::counter::CounterName;
use super::latest;
use super::latest::LatestRow;
use super::spend;
use super::spend::LedgerRow;
use super::spend::SpendRow;
use super::summary;
use super::work;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::model::TokenUsage;

/// What the rows add up to that this connection has read. A row that was settled stays as it is, so it is read once;
/// those that were open are looked at again each time.
#[derive(Debug, Default)]
pub(super) struct LedgerTotals {
    last_row_id: i64,
    settled_by_day: BTreeMap<i64, (Money, u64)>,
    settled: Money,
    open_rows: BTreeSet<i64>,
    /// Rows that nobody can say the day of: they count for each.
    damaged: (Money, u64),
}

impl AgentDb {
    /// Puts the money for a call aside, unless it would pass what may be spent. What is open counts as its worst.
    pub fn reserve(
        &mut self,
        reservation: &SpendReservation,
        caps: &SpendCaps,
    ) -> Result<Result<SpendId, CapExceeded>, Error> {
        let transaction = self.database.begin()?;
        let spent = self.totals.get_mut().refresh(&transaction, reservation.day)?;
        if let Err(over) = check_caps(&transaction, spent, &[reservation], caps)? {
            return Ok(Err(over));
        }
        let id = spend::insert_open(&transaction, reservation)?;
        transaction.commit()?;
        Ok(Ok(id))
    }

    /// Puts the money for a batch aside, all of it or none.
    pub fn reserve_batch(
        &mut self,
        new: &NewBatch,
        caps: &SpendCaps,
    ) -> Result<Result<BatchId, CapExceeded>, Error> {
        let transaction = self.database.begin()?;
        let all: Vec<&SpendReservation> = new.calls.iter().map(|(reservation, _)| reservation).collect();
        if let Some(first) = all.first() {
            let spent = self.totals.get_mut().refresh(&transaction, first.day)?;
            if let Err(over) = check_caps(&transaction, spent, &all, caps)? {
                return Ok(Err(over));
            }
        }
        let id = batch::insert(&transaction, new)?;
        transaction.commit()?;
        Ok(Ok(id))
    }

    /// Says what a call cost. The first word about it stands.
    pub fn settle(&mut self, spend: SpendId, settlement: &SpendSettlement) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        spend::settle(&transaction, spend, settlement)?;
        Ok(transaction.commit()?)
    }

    /// Keeps what a call brought, and what it cost; the work is done then. A summary that is there stays.
    pub fn record_answer(
        &mut self,
        spend: SpendId,
        settlement: &SpendSettlement,
        errand: &SummaryKey,
        holder: &str,
        summaries: &[StoredSummary],
        paths: &[Vec<u8>],
    ) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        spend::settle(&transaction, spend, settlement)?;
        let mut is_new = false;
        for summary in summaries {
            is_new |= summary::insert_if_absent(&transaction, summary)?;
            for path in paths {
                let latest = LatestRow { path: path.clone(), tier: summary.tier, key: summary.key };
                is_new |= latest::upsert(&transaction, &latest)?;
            }
        }
        work::delete_lease(&transaction, errand, holder)?;
        work::delete_refusal(&transaction, errand)?;
        batch::delete_item(&transaction, spend)?;
        if is_new {
            counter::bump_generation(&transaction)?;
        }
        Ok(transaction.commit()?)
    }

    /// Says how much has been spent: on that day, and in all.
    pub fn spend_totals(&self, day: i64) -> Result<SpendTotals, Error> {
        let one_state = self.database.connection.unchecked_transaction()?;
        self.totals.borrow_mut().refresh(&one_state, day)
    }

    /// Returns calls by day and model: the latest day first, and models by name.
    pub fn usage(&self) -> Result<Vec<UsageRow>, Error> {
        let mut rows: BTreeMap<(i64, ModelName), UsageRow> = BTreeMap::new();
        let mut add = |_, found| match found {
            LedgerRow::Intact(spend) => {
                let key = (spend.reservation.day.saturating_neg(), spend.reservation.model.clone());
                add_usage(rows.entry(key).or_insert_with(|| empty_usage(&spend)), &spend);
            }
            // What cannot be told by whom and when it was asked is in the sums of `spent` alone.
            LedgerRow::Damaged(_) => self.database.record_damage(),
        };
        spend::for_each_after(&self.database.connection, i64::MIN, &mut add)?;
        Ok(rows.into_values().collect())
    }
}

impl LedgerTotals {
    /// Reads what is new, and returns what has been spent. Only what is committed may be in sight, for it is kept.
    fn refresh(&mut self, connection: &Connection, day: i64) -> Result<SpendTotals, Error> {
        let mut fresh = Vec::new();
        for id in &self.open_rows {
            if let Some(found) = spend::get(connection, SpendId(*id))? {
                fresh.push((*id, found));
            }
        }
        spend::for_each_after(connection, self.last_row_id, &mut |id, found| fresh.push((id, found)))?;
        // Nothing may fail from here on, or else what was open would be forgotten.
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

    /// Returns what has been spent in all.
    pub(super) fn total_spent(&mut self, connection: &Connection) -> Result<Money, Error> {
        // Whatever the day is.
        Ok(self.refresh(connection, 0)?.total)
    }

    fn add_settled(&mut self, spend: &SpendRow) {
        let (amount, calls) = self.settled_by_day.entry(spend.reservation.day).or_default();
        *amount = *amount + spend.amount();
        *calls += 1;
        self.settled = self.settled + spend.amount();
    }
}

/// Says whether these calls may be made after what has been spent.
fn check_caps(
    connection: &Connection,
    spent: SpendTotals,
    calls: &[&SpendReservation],
    caps: &SpendCaps,
) -> Result<Result<(), CapExceeded>, Error> {
    let worst: Money = calls.iter().map(|call| call.max_cost).sum();
    let last_closed = counter::get(connection, CounterName::ClosedDay)?;
    let is_closed = calls.iter().any(|call| last_closed.is_some_and(|closed| call.day <= closed));
    if caps.calls_a_day < spent.calls.saturating_add(calls.len() as u64) {
        return Ok(Err(CapExceeded::Calls));
    }
    // What costs nothing is not kept from anybody by money that is gone.
    if worst == Money::ZERO {
        return Ok(Ok(()));
    }
    if caps.total < spent.total + worst {
        return Ok(Err(CapExceeded::Total));
    }
    Ok(if is_closed || caps.day < spent.day + worst { Err(CapExceeded::Day) } else { Ok(()) })
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

/// Adds what was reported. Where nothing ever was, nothing is known.
fn add_count(sum: &mut Option<u64>, count: Option<u64>) {
    if let Some(count) = count {
        *sum = Some(sum.unwrap_or(0).saturating_add(count));
    }
}
