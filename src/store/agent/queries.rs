//! What is read from the database. A damaged row is counted and treated as missing.

use std::collections::HashSet;

use rusqlite::{Params, params};

use super::db::AgentDb;
use super::rows::{CallBatch, RefusalRow, SpendTotals, StoredSummary, UsageRow};
use super::tables::{summary, work};
use super::totals;
use crate::model::{ContentHash, SummaryKey, Tier};
use crate::store::sqlite::Error;

impl AgentDb {
    /// Returns the summary of that key.
    pub fn summary(&self, key: &SummaryKey) -> Result<Option<StoredSummary>, Error> {
        let found = self.summaries_where("summary.key = ?1", [key.0.as_bytes()])?;
        Ok(found.into_iter().next())
    }

    /// Returns those of the keys that have no summary.
    pub fn missing_keys(&self, keys: &[SummaryKey]) -> Result<Vec<SummaryKey>, Error> {
        /// So many look-ups take as long as reading all keys of a large project.
        const FEW: usize = 200;
        let mut known = HashSet::new();
        if keys.len() < FEW {
            for key in keys {
                known.extend(self.summary(key)?.map(|summary| summary.key));
            }
        } else {
            summary::select_where(&self.database.connection, "TRUE", [], &mut |row| match row {
                Some(summary) => drop(known.insert(summary.key)),
                None => self.database.record_damage(),
            })?;
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
        self.summaries_where(condition, params![subject.as_bytes(), language, tier.number()])
    }

    /// Returns all summaries for a tier, newest first.
    pub fn summaries_for_tier(&self, tier: Tier) -> Result<Vec<StoredSummary>, Error> {
        self.summaries_where("tier = ?1 ORDER BY at_ms DESC, id DESC", [tier.number()])
    }

    /// Returns all summaries, in the order in which they were received.
    pub fn summaries(&self) -> Result<Vec<StoredSummary>, Error> {
        self.summaries_where("TRUE ORDER BY at_ms, id", [])
    }

    fn summaries_where(&self, condition: &str, values: impl Params) -> Result<Vec<StoredSummary>, Error> {
        self.collect(|each| summary::select_where(&self.database.connection, condition, values, each))
    }

    /// Returns the last summary of a path.
    pub fn latest_summary(&self, path: &[u8], tier: Tier) -> Result<Option<StoredSummary>, Error> {
        let key = summary::select_latest_key(&self.database.connection, path, tier)?;
        key.map_or(Ok(None), |key| self.summary(&key))
    }

    /// Returns the last summary of each path, by path.
    pub fn latest_summaries(&self, tier: Tier) -> Result<Vec<(Vec<u8>, StoredSummary)>, Error> {
        self.collect(|each| summary::select_all_latest(&self.database.connection, tier, each))
    }

    /// Returns all refusals, newest first, including those whose tasks may be tried again by now.
    pub fn refusals(&self) -> Result<Vec<RefusalRow>, Error> {
        self.collect(|each| work::select_all_refusals(&self.database.connection, each))
    }

    /// Returns the batches whose answers have not all been recorded, the oldest first.
    pub fn open_batches(&self) -> Result<Vec<CallBatch>, Error> {
        let snapshot = self.database.connection.unchecked_transaction()?;
        let mut batches = self.collect(|each| work::select_all_batches(&snapshot, each))?;
        for (id, item) in self.collect(|each| work::select_all_items(&snapshot, each))? {
            if let Some(batch) = batches.iter_mut().find(|batch| batch.id == id) {
                batch.items.push(item);
            }
        }
        Ok(batches)
    }

    /// Returns how much has been spent: on that day, and in all.
    pub fn spend_totals(&self, day: i64) -> Result<SpendTotals, Error> {
        let snapshot = self.database.connection.unchecked_transaction()?;
        self.totals.borrow_mut().refresh(&snapshot, day)
    }

    /// Returns calls by day and model: the latest day first, and models by name.
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
