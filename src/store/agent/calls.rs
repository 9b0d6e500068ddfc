//! The operations of a run: claiming tasks, reserving and settling money, recording answers and refusals, and queries.
//! A damaged row is counted and treated as missing.

use std::collections::HashSet;

use rusqlite::{Params, params};

use super::db::AgentDb;
use super::rows::{
    BatchId, BatchItem, BatchState, CallBatch, CapExceeded, ClaimStatus, FetchedSummary, NewBatch,
    RefusalRow, SpendCaps, SpendId, SpendReservation, SpendSettlement, SpendTotals, StoredSummary, TaskKeys,
    UsageRow,
};
use super::shared::{self, OutboxRow};
use super::summary::LatestRow;
use super::totals::check_caps;
use super::{spend, summary, totals, work};
use crate::model::{ContentHash, SummaryKey, Tier, WriterKey};
use crate::store::error::Error;
use crate::store::row::StoredRow;

impl AgentDb {
    /// Claims a task that is to produce the `wanted` summaries for the process named `holder`.
    ///
    /// A task that another thread of the same process holds counts as held elsewhere. `is_alive` returns whether the
    /// process of a holder still runs; it is called while the database is locked, so it must not block.
    pub fn claim(
        &mut self,
        keys: TaskKeys,
        wanted: &[SummaryKey],
        holder: &str,
        now_ms: i64,
        is_alive: &dyn Fn(&str) -> bool,
    ) -> Result<ClaimStatus, Error> {
        // Leases are not worth a backup: a lease means nothing once its process has ended.
        let transaction = self.database.begin()?;
        if has_all_summaries(&transaction, wanted, &self.writers)? {
            return Ok(ClaimStatus::Done);
        }
        if work::contains_task(&transaction, &keys.task)? {
            return Ok(ClaimStatus::InBatch);
        }
        if let Some(refused) = work::select_refusal(&transaction, &keys.refusal)?
            && refused.until_ms.is_none_or(|until_ms| now_ms < until_ms)
        {
            return Ok(ClaimStatus::Refused { reason: refused.reason, until_ms: refused.until_ms });
        }
        let holds = work::select_lease_holder(&transaction, &keys.task)?;
        if holds.is_some_and(|other| other == holder || is_alive(&other)) {
            return Ok(ClaimStatus::HeldElsewhere);
        }
        work::upsert_lease(&transaction, &keys.task, holder, now_ms)?;
        // The refusal, if there is one, has expired: otherwise it was returned above.
        work::delete_refusal(&transaction, &keys.refusal)?;
        transaction.commit()?;
        Ok(ClaimStatus::Acquired)
    }

    /// Releases a task that was not done. Does nothing if another process holds it by now.
    pub fn release(&mut self, task_key: &SummaryKey, holder: &str) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        work::delete_lease(&transaction, task_key, holder)?;
        Ok(transaction.commit()?)
    }

    /// Reserves the most that a call may cost, unless that would exceed a cap.
    pub fn reserve(
        &mut self,
        reservation: &SpendReservation,
        caps: &SpendCaps,
    ) -> Result<Result<SpendId, CapExceeded>, Error> {
        let (transaction, totals) = self.begin()?;
        // The sums are read within the write transaction: no process can reserve between the check and the insert.
        let spent = totals.refresh(&transaction, reservation.day)?;
        if let Err(exceeded) = check_caps(&transaction, spent, &[reservation], caps)? {
            return Ok(Err(exceeded));
        }
        let id = spend::insert_open(&transaction, reservation)?;
        transaction.commit()?;
        Ok(Ok(id))
    }

    /// Reserves the most that a batch may cost: all of its calls or none.
    pub fn reserve_batch(
        &mut self,
        new: &NewBatch,
        caps: &SpendCaps,
    ) -> Result<Result<BatchId, CapExceeded>, Error> {
        let (transaction, totals) = self.begin()?;
        let all: Vec<&SpendReservation> = new.calls.iter().map(|(reservation, _)| reservation).collect();
        if let Some(first) = all.first() {
            let spent = totals.refresh(&transaction, first.day)?;
            if let Err(exceeded) = check_caps(&transaction, spent, &all, caps)? {
                return Ok(Err(exceeded));
            }
        }
        let id = work::insert_batch(&transaction, new)?;
        transaction.commit()?;
        Ok(Ok(id))
    }

    /// Records the cost of a call. A settled call is left unchanged.
    pub fn settle(&mut self, spend: SpendId, settlement: &SpendSettlement) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        spend::settle(&transaction, spend, settlement)?;
        Ok(transaction.commit()?)
    }

    /// Stores the summaries and the cost of a call, and ends its task. Existing summaries are kept.
    pub fn record_answer(
        &mut self,
        spend: SpendId,
        settlement: &SpendSettlement,
        task_key: &SummaryKey,
        holder: &str,
        summaries: &[StoredSummary],
        paths: &[Vec<u8>],
    ) -> Result<(), Error> {
        let fills_outbox = self.fills_outbox;
        let (transaction, _) = self.begin()?;
        spend::settle(&transaction, spend, settlement)?;
        let mut is_new = false;
        for summary in summaries {
            if summary::insert_if_absent(&transaction, summary)? {
                is_new = true;
                shared::delete_fetched(&transaction, &summary.key)?;
                if fills_outbox {
                    OutboxRow(summary.key).upsert(&transaction)?;
                }
            }
            for path in paths {
                let latest = LatestRow { path: path.clone(), tier: summary.tier, key: summary.key };
                is_new |= summary::upsert_latest(&transaction, &latest)?;
            }
        }
        work::delete_lease(&transaction, task_key, holder)?;
        work::delete_refusal(&transaction, task_key)?;
        work::delete_item(&transaction, spend)?;
        // Existing summaries change nothing that a reader may have cached.
        if is_new {
            spend::bump_generation(&transaction)?;
        }
        transaction.commit()?;
        self.count_answer();
        Ok(())
    }

    /// Records that a task cannot be done and must not be tried again before a time, or ever; releases it.
    pub fn record_refusal(
        &mut self,
        keys: TaskKeys,
        holder: &str,
        reason: &str,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        let row = RefusalRow { task_key: keys.refusal, reason: reason.to_owned(), until_ms, at_ms: now_ms };
        row.upsert(&transaction)?;
        work::delete_lease(&transaction, &keys.task, holder)?;
        work::delete_items_of_task(&transaction, &keys.task)?;
        Ok(transaction.commit()?)
    }

    /// Deletes some refusals, so that their tasks are tried again; returns how many there were.
    pub fn delete_refusals_of(&mut self, refusals: &[SummaryKey]) -> Result<u64, Error> {
        let (transaction, _) = self.begin()?;
        let mut deleted = 0;
        for refusal in refusals {
            deleted += work::delete_refusal(&transaction, refusal)?;
        }
        transaction.commit()?;
        Ok(deleted)
    }

    /// Records that a provider has accepted a batch, and its name for it.
    pub fn mark_batch_submitted(&mut self, batch: BatchId, remote_id: &str, at_ms: i64) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        let Some(found) = work::select_batch(&transaction, batch)? else {
            return Err(Error::Sqlite(rusqlite::Error::QueryReturnedNoRows));
        };
        let remote_id = Some(remote_id.to_owned());
        let submitted = CallBatch { remote_id, state: BatchState::Submitted, at_ms, ..found };
        submitted.upsert(&transaction)?;
        Ok(transaction.commit()?)
    }

    /// Deletes a batch. Its unsettled calls still count at their worst cost.
    pub fn delete_batch(&mut self, batch: BatchId) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        work::delete_batch(&transaction, batch)?;
        Ok(transaction.commit()?)
    }
}

fn has_all_summaries(
    connection: &rusqlite::Connection,
    wanted: &[SummaryKey],
    writers: &[WriterKey],
) -> Result<bool, Error> {
    for key in wanted {
        if summary::select(connection, key)?.is_none()
            && shared::select_fetched(connection, key, writers)?.is_none()
        {
            return Ok(false);
        }
    }
    Ok(!wanted.is_empty())
}

/// Merges summaries of two tables, each ordered newest first.
fn newest_first(mut all: Vec<StoredSummary>) -> Vec<StoredSummary> {
    all.sort_by_key(|summary| std::cmp::Reverse(summary.at_ms));
    all
}

impl AgentDb {
    /// Returns the summary of that key.
    pub fn summary(&self, key: &SummaryKey) -> Result<Option<StoredSummary>, Error> {
        let found = self.summaries_where("key = ?1", [key.0.as_bytes()])?;
        Ok(found.into_iter().next())
    }

    /// Returns the keys that have no summary.
    pub fn missing_keys(&self, keys: &[SummaryKey]) -> Result<Vec<SummaryKey>, Error> {
        /// The number of look-ups that take as long as reading all keys of a large project.
        const MANY_LOOKUPS: usize = 200;
        let mut known = HashSet::new();
        if keys.len() < MANY_LOOKUPS {
            for key in keys {
                known.extend(self.summary(key)?.map(|summary| summary.key));
            }
        } else {
            StoredSummary::select_each(&self.database.connection, "TRUE", [], &mut |row| match row {
                Some(summary) => drop(known.insert(summary.key)),
                None => self.database.record_damage(),
            })?;
            let fetched = self.fetched_where("TRUE", [])?;
            known.extend(fetched.iter().map(|summary| summary.key));
        }
        Ok(keys.iter().filter(|key| !known.contains(*key)).copied().collect())
    }

    /// Returns the summaries of a subject for a tier, newest first.
    pub fn summaries_of_subject(
        &self,
        subject: &ContentHash,
        language: &str,
        tier: Tier,
    ) -> Result<Vec<StoredSummary>, Error> {
        let condition = "subject = ?1 AND language = ?2 AND tier = ?3 ORDER BY at_ms DESC, id DESC";
        let values = params![subject.as_bytes(), language, tier.number()];
        self.summaries_where(condition, values).map(newest_first)
    }

    /// Returns all summaries for a tier, newest first.
    pub fn summaries_for_tier(&self, tier: Tier) -> Result<Vec<StoredSummary>, Error> {
        self.summaries_where("tier = ?1 ORDER BY at_ms DESC, id DESC", [tier.number()]).map(newest_first)
    }

    /// Returns all summaries, in the order in which they were received.
    pub fn summaries(&self) -> Result<Vec<StoredSummary>, Error> {
        let mut all = self.summaries_where("TRUE ORDER BY at_ms, id", [])?;
        all.sort_by_key(|summary| summary.at_ms);
        Ok(all)
    }

    /// Returns own summaries, followed by those of trusted writers.
    fn summaries_where(
        &self,
        condition: &str,
        values: impl Params + Clone,
    ) -> Result<Vec<StoredSummary>, Error> {
        let connection = &self.database.connection;
        let mut found =
            self.collect(|each| StoredSummary::select_each(connection, condition, values.clone(), each))?;
        found.extend(self.fetched_where(condition, values)?);
        Ok(found)
    }

    fn fetched_where(&self, condition: &str, values: impl Params) -> Result<Vec<StoredSummary>, Error> {
        if self.writers.is_empty() {
            return Ok(Vec::new());
        }
        let connection = &self.database.connection;
        let found: Vec<FetchedSummary> =
            self.collect(|each| FetchedSummary::select_each(connection, condition, values, each))?;
        let believed = found.into_iter().filter(|fetched| self.writers.contains(&fetched.writer));
        Ok(believed.map(|fetched| fetched.summary).collect())
    }

    /// Returns the last summary of a path.
    pub fn latest_summary(&self, path: &[u8], tier: Tier) -> Result<Option<StoredSummary>, Error> {
        let key = summary::select_latest_key(&self.database.connection, path, tier)?;
        key.map_or(Ok(None), |key| self.summary(&key))
    }

    /// Returns the last summary of each path, by path.
    pub fn latest_summaries(&self, tier: Tier) -> Result<Vec<(Vec<u8>, StoredSummary)>, Error> {
        let connection = &self.database.connection;
        let mut all = self.collect(|each| summary::select_all_latest(connection, tier, each))?;
        if !self.writers.is_empty() {
            let fetched: Vec<(Vec<u8>, FetchedSummary)> =
                self.collect(|each| summary::select_all_latest(connection, tier, each))?;
            let believed = fetched.into_iter().filter(|(_, row)| self.writers.contains(&row.writer));
            all.extend(believed.map(|(path, row)| (path, row.summary)));
            all.sort_by(|a, b| a.0.cmp(&b.0));
        }
        Ok(all)
    }

    /// Returns all refusals, newest first, including those whose tasks may be tried again by now.
    pub fn refusals(&self) -> Result<Vec<RefusalRow>, Error> {
        let condition = "TRUE ORDER BY at_ms DESC, errand";
        self.collect(|each| RefusalRow::select_each(&self.database.connection, condition, [], each))
    }

    /// Returns the batches whose answers have not all been recorded, oldest first.
    pub fn open_batches(&self) -> Result<Vec<CallBatch>, Error> {
        let snapshot = self.database.connection.unchecked_transaction()?;
        let mut batches =
            self.collect(|each| CallBatch::select_each(&snapshot, "TRUE ORDER BY id", [], each))?;
        let items =
            self.collect(|each| BatchItem::select_each(&snapshot, "TRUE ORDER BY spend_id", [], each))?;
        for item in items {
            if let Some(batch) = batches.iter_mut().find(|batch| batch.id == item.batch) {
                batch.items.push(item);
            }
        }
        Ok(batches)
    }

    /// Returns how much has been spent, on that day and in total.
    pub fn spend_totals(&self, day: i64) -> Result<SpendTotals, Error> {
        let snapshot = self.database.connection.unchecked_transaction()?;
        self.totals.borrow_mut().refresh(&snapshot, day)
    }

    /// Returns the calls by day, latest first, and model, sorted by name.
    pub fn usage(&self) -> Result<Vec<UsageRow>, Error> {
        totals::usage(&self.database.connection, &mut || self.database.record_damage())
    }

    /// Returns the intact rows of a query and counts the others.
    fn collect<T>(
        &self,
        query: impl FnOnce(&mut dyn FnMut(Option<T>)) -> Result<(), Error>,
    ) -> Result<Vec<T>, Error> {
        let mut rows = Vec::new();
        query(&mut |row| match row {
            Some(row) => rows.push(row),
            None => self.database.record_damage(),
        })?;
        Ok(rows)
    }
}
