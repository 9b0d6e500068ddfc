//! Adding up the ledger, and keeping to its caps.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use rusqlite::Connection;

use super::super::Error;
use super::BatchId;
use super::Caps;
use super::NewBatch;
use super::OverCap;
use super::Paid;
use super::Reservation;
use super::Settlement;
use super::SpendId;
use super::SpendOutcome;
use super::Spent;
use super::Summary;
use super::UsageRow;
use super::batch;
use super::counter;
use super::counter::Counter;
use super::latest;
use super::latest::Latest;
use super::spend;
use super::spend::Found;
use super::spend::Spend;
use super::summary;
use super::work;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::model::Tokens;

/// What the rows add up to that this connection has read. A row that was settled stays as it is, so it is read once;
/// those that were open are looked at again each time.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    read_to: i64,
    days: BTreeMap<i64, (Money, u64)>,
    settled: Money,
    open: BTreeSet<i64>,
    /// Rows that nobody can say the day of: they count for each.
    damaged: (Money, u64),
}

impl Paid {
    /// Puts the money for a call aside, unless it would pass what may be spent. What is open counts as its worst.
    pub fn reserve(
        &mut self,
        reservation: &Reservation,
        caps: &Caps,
    ) -> Result<Result<SpendId, OverCap>, Error> {
        let transaction = self.database.begin()?;
        let spent = self.ledger.get_mut().add_up(&transaction, reservation.day)?;
        if let Err(over) = check(&transaction, spent, &[reservation], caps)? {
            return Ok(Err(over));
        }
        let id = spend::open(&transaction, reservation)?;
        transaction.commit()?;
        Ok(Ok(id))
    }

    /// Puts the money for a batch aside, all of it or none.
    pub fn reserve_batch(&mut self, new: &NewBatch, caps: &Caps) -> Result<Result<BatchId, OverCap>, Error> {
        let transaction = self.database.begin()?;
        let all: Vec<&Reservation> = new.calls.iter().map(|(reservation, _)| reservation).collect();
        if let Some(first) = all.first() {
            let spent = self.ledger.get_mut().add_up(&transaction, first.day)?;
            if let Err(over) = check(&transaction, spent, &all, caps)? {
                return Ok(Err(over));
            }
        }
        let id = batch::open(&transaction, new)?;
        transaction.commit()?;
        Ok(Ok(id))
    }

    /// Says what a call cost. The first word about it stands.
    pub fn settle(&mut self, spend: SpendId, settlement: &Settlement) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        spend::close(&transaction, spend, settlement)?;
        Ok(transaction.commit()?)
    }

    /// Keeps what a call brought, and what it cost; the work is done then. A summary that is there stays.
    pub fn accept(
        &mut self,
        spend: SpendId,
        settlement: &Settlement,
        errand: &SummaryKey,
        holder: &str,
        summaries: &[Summary],
        paths: &[Vec<u8>],
    ) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        spend::close(&transaction, spend, settlement)?;
        let mut is_new = false;
        for summary in summaries {
            is_new |= summary::keep(&transaction, summary)?;
            for path in paths {
                let latest = Latest { path: path.clone(), tier: summary.tier, key: summary.key };
                is_new |= latest::note(&transaction, &latest)?;
            }
        }
        work::end_lease(&transaction, errand, holder)?;
        work::remove_refusal(&transaction, errand)?;
        batch::remove_item(&transaction, spend)?;
        if is_new {
            counter::raise_generation(&transaction)?;
        }
        Ok(transaction.commit()?)
    }

    /// Says how much has been spent: on that day, and in all.
    pub fn spent(&self, day: i64) -> Result<Spent, Error> {
        let one_state = self.database.connection.unchecked_transaction()?;
        self.ledger.borrow_mut().add_up(&one_state, day)
    }

    /// Returns calls by day and model: the latest day first, and models by name.
    pub fn usage(&self) -> Result<Vec<UsageRow>, Error> {
        let mut rows: BTreeMap<(i64, ModelName), UsageRow> = BTreeMap::new();
        let mut add = |_, found| match found {
            Found::Sound(spend) => {
                let key = (spend.asked.day.saturating_neg(), spend.asked.by.clone());
                add_usage(rows.entry(key).or_insert_with(|| empty_usage(&spend)), &spend);
            }
            // What cannot be told by whom and when it was asked is in the sums of `spent` alone.
            Found::Damaged(_) => self.database.note_damage(),
        };
        spend::each_after(&self.database.connection, i64::MIN, &mut add)?;
        Ok(rows.into_values().collect())
    }
}

impl Ledger {
    /// Reads what is new, and returns what has been spent. Only what is committed may be in sight, for it is kept.
    fn add_up(&mut self, connection: &Connection, day: i64) -> Result<Spent, Error> {
        let mut fresh = Vec::new();
        for id in &self.open {
            if let Some(found) = spend::get(connection, SpendId(*id))? {
                fresh.push((*id, found));
            }
        }
        spend::each_after(connection, self.read_to, &mut |id, found| fresh.push((id, found)))?;
        // Nothing may fail from here on, or else what was open would be forgotten.
        self.open.clear();
        let mut open = (Money::ZERO, Money::ZERO, 0);
        for (id, found) in fresh {
            self.read_to = self.read_to.max(id);
            match found {
                Found::Sound(spend) if spend.is_open() => {
                    self.open.insert(id);
                    open.0 = open.0 + spend.amount();
                    if spend.asked.day == day {
                        open.1 = open.1 + spend.amount();
                        open.2 += 1;
                    }
                }
                Found::Sound(spend) => self.take(&spend),
                Found::Damaged(amount) => self.damaged = (self.damaged.0 + amount, self.damaged.1 + 1),
            }
        }
        let (of_day, calls) = self.days.get(&day).copied().unwrap_or_default();
        Ok(Spent {
            day: of_day + open.1 + self.damaged.0,
            total: self.settled + open.0 + self.damaged.0,
            calls: calls + open.2 + self.damaged.1,
            open: open.0,
        })
    }

    /// Returns what has been spent in all.
    pub(super) fn total(&mut self, connection: &Connection) -> Result<Money, Error> {
        // Whatever the day is.
        Ok(self.add_up(connection, 0)?.total)
    }

    fn take(&mut self, spend: &Spend) {
        let (amount, calls) = self.days.entry(spend.asked.day).or_default();
        *amount = *amount + spend.amount();
        *calls += 1;
        self.settled = self.settled + spend.amount();
    }
}

/// Says whether these calls may be made after what has been spent.
fn check(
    connection: &Connection,
    spent: Spent,
    calls: &[&Reservation],
    caps: &Caps,
) -> Result<Result<(), OverCap>, Error> {
    let worst: Money = calls.iter().map(|call| call.worst).sum();
    let last_closed = counter::get(connection, Counter::ClosedDay)?;
    let is_closed = calls.iter().any(|call| last_closed.is_some_and(|closed| call.day <= closed));
    if caps.calls_a_day < spent.calls.saturating_add(calls.len() as u64) {
        return Ok(Err(OverCap::Calls));
    }
    // What costs nothing is not kept from anybody by money that is gone.
    if worst == Money::ZERO {
        return Ok(Ok(()));
    }
    if caps.total < spent.total + worst {
        return Ok(Err(OverCap::Total));
    }
    Ok(if is_closed || caps.day < spent.day + worst { Err(OverCap::Day) } else { Ok(()) })
}

fn empty_usage(spend: &Spend) -> UsageRow {
    UsageRow {
        day: spend.asked.day,
        by: spend.asked.by.clone(),
        calls: 0,
        answered: 0,
        tokens: Tokens::default(),
        cost: Money::ZERO,
        open: Money::ZERO,
    }
}

fn add_usage(row: &mut UsageRow, spend: &Spend) {
    row.calls += 1;
    row.answered += u64::from(spend.settled.outcome == SpendOutcome::Answered);
    row.cost = row.cost + spend.amount();
    if spend.is_open() {
        row.open = row.open + spend.amount();
    }
    let tokens = &spend.settled.tokens;
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
