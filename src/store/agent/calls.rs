//! What a run does with the database: claims tasks, reserves and settles money, records answers and refusals.

use super::db::AgentDb;
use super::rows::{
    BatchId, BatchState, CallBatch, CapExceeded, ClaimStatus, NewBatch, RefusalRow, SpendCaps, SpendId,
    SpendReservation, SpendSettlement, StoredSummary,
};
use super::tables::summary::LatestRow;
use super::tables::{spend, summary, work};
use super::totals::check_caps;
use crate::model::SummaryKey;
use crate::store::sqlite::Error;

impl AgentDb {
    /// Claims a task that is to produce the `wanted` summaries for the process that is known as `holder`. A refusal of
    /// it is stored by the key `refusal`, which also depends on who was asked.
    ///
    /// A task that another thread of the same process holds is held elsewhere. `is_alive` returns whether the process of a
    /// holder still runs; it is called while the database is locked, so it must not block.
    pub fn claim(
        &mut self,
        task_key: &SummaryKey,
        refusal: &SummaryKey,
        wanted: &[SummaryKey],
        holder: &str,
        now_ms: i64,
        is_alive: &dyn Fn(&str) -> bool,
    ) -> Result<ClaimStatus, Error> {
        // Leases are not worth a backup: a lease means nothing once its process has ended.
        let transaction = self.database.begin()?;
        if has_all_summaries(&transaction, wanted)? {
            return Ok(ClaimStatus::Done);
        }
        if work::contains_task(&transaction, task_key)? {
            return Ok(ClaimStatus::InBatch);
        }
        if let Some(refused) = work::select_refusal(&transaction, refusal)?
            && refused.until_ms.is_none_or(|until_ms| now_ms < until_ms)
        {
            return Ok(ClaimStatus::Refused { reason: refused.reason, until_ms: refused.until_ms });
        }
        let holds = work::select_lease_holder(&transaction, task_key)?;
        if holds.is_some_and(|other| other == holder || is_alive(&other)) {
            return Ok(ClaimStatus::HeldElsewhere);
        }
        work::upsert_lease(&transaction, task_key, holder, now_ms)?;
        work::delete_refusal(&transaction, refusal)?;
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

    /// Records what a call cost. A call that is settled stays as it is.
    pub fn settle(&mut self, spend: SpendId, settlement: &SpendSettlement) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        spend::settle(&transaction, spend, settlement)?;
        Ok(transaction.commit()?)
    }

    /// Stores the summaries that a call produced and what it cost, and ends its task. An existing summary stays.
    pub fn record_answer(
        &mut self,
        spend: SpendId,
        settlement: &SpendSettlement,
        task_key: &SummaryKey,
        holder: &str,
        summaries: &[StoredSummary],
        paths: &[Vec<u8>],
    ) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        spend::settle(&transaction, spend, settlement)?;
        let mut is_new = false;
        for summary in summaries {
            is_new |= summary::insert_if_absent(&transaction, summary)?;
            for path in paths {
                let latest = LatestRow { path: path.clone(), tier: summary.tier, key: summary.key };
                is_new |= summary::upsert_latest(&transaction, &latest)?;
            }
        }
        work::delete_lease(&transaction, task_key, holder)?;
        work::delete_refusal(&transaction, task_key)?;
        work::delete_item(&transaction, spend)?;
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
        task_key: &SummaryKey,
        refusal: &SummaryKey,
        holder: &str,
        reason: &str,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        let row = RefusalRow { task_key: *refusal, reason: reason.to_owned(), until_ms, at_ms: now_ms };
        work::upsert_refusal(&transaction, &row)?;
        work::delete_lease(&transaction, task_key, holder)?;
        work::delete_items_of_task(&transaction, task_key)?;
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
        work::upsert_batch(&transaction, &submitted)?;
        Ok(transaction.commit()?)
    }

    /// Deletes a batch. Calls of it that were not settled go on counting as the most that they may cost.
    pub fn delete_batch(&mut self, batch: BatchId) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        work::delete_batch(&transaction, batch)?;
        Ok(transaction.commit()?)
    }

    /// Records which summaries are the last of their paths. A key without a summary is ignored.
    pub fn update_latest(&mut self, latest: &[(Vec<u8>, SummaryKey)]) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        let mut is_new = false;
        for (path, key) in latest {
            if let Some(summary) = summary::select(&transaction, key)? {
                let latest = LatestRow { path: path.clone(), tier: summary.tier, key: *key };
                is_new |= summary::upsert_latest(&transaction, &latest)?;
            }
        }
        if is_new {
            spend::bump_generation(&transaction)?;
        }
        Ok(transaction.commit()?)
    }
}

fn has_all_summaries(connection: &rusqlite::Connection, wanted: &[SummaryKey]) -> Result<bool, Error> {
    for key in wanted {
        if summary::select(connection, key)?.is_none() {
            return Ok(false);
        }
    }
    Ok(!wanted.is_empty())
}
