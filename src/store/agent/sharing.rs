//! The operations for a team's cache: storing fetched summaries, and reading own ones.

use super::db::AgentDb;
use super::rows::{FetchedSummary, StoredSummary};
use super::shared::{self, OutboxRow};
use super::spend;
use super::summary::{self, LatestRow};
use crate::model::{SummaryKey, WriterKey};
use crate::store::error::Error;
use crate::store::row::StoredRow;

impl AgentDb {
    /// Sets the trusted writers, whose fetched summaries are returned from now on; initially there are none.
    pub fn trust_writers(&mut self, writers: &[WriterKey]) {
        writers.clone_into(&mut self.writers);
    }

    /// Returns the trusted writers.
    pub fn trusted_writers(&self) -> &[WriterKey] {
        &self.writers
    }

    /// Enables adding recorded summaries to the outbox, in the same transaction.
    pub const fn fill_outbox(&mut self) {
        self.fills_outbox = true;
    }

    /// Stores fetched summaries, each with the paths whose last summary it is. Own ones are kept. Returns how many were
    /// new.
    pub fn store_fetched(&mut self, fetched: &[(FetchedSummary, Vec<Vec<u8>>)]) -> Result<u64, Error> {
        let (transaction, _) = self.begin()?;
        let mut stored = 0;
        for (row, paths) in fetched {
            if summary::select(&transaction, &row.summary.key)?.is_some() {
                continue;
            }
            // A summary by a writer who is no longer trusted is replaced.
            row.upsert(&transaction)?;
            stored += 1;
            for path in paths {
                let (tier, key) = (row.summary.tier, row.summary.key);
                summary::upsert_latest(&transaction, &LatestRow { path: path.clone(), tier, key })?;
            }
        }
        if 0 < stored {
            spend::bump_generation(&transaction)?;
        }
        transaction.commit()?;
        Ok(stored)
    }

    /// Returns at most `most` own summaries in the outbox, oldest first.
    pub fn outbox(&mut self, most: u32) -> Result<Vec<StoredSummary>, Error> {
        let transaction = self.database.begin()?;
        let found = shared::select_outbox(&transaction, most)?;
        transaction.commit()?;
        Ok(found)
    }

    /// Removes summaries that the team's cache has from the outbox.
    pub fn remove_from_outbox(&mut self, keys: &[SummaryKey]) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        for key in keys {
            shared::delete_from_outbox(&transaction, key)?;
        }
        Ok(transaction.commit()?)
    }

    /// Puts all own summaries into the outbox.
    pub fn fill_outbox_with_all(&mut self) -> Result<(), Error> {
        let (transaction, _) = self.begin()?;
        let mut keys = Vec::new();
        StoredSummary::select_each(&transaction, "TRUE", [], &mut |row| {
            keys.extend(row.map(|summary| summary.key));
        })?;
        for key in keys {
            OutboxRow(key).upsert(&transaction)?;
        }
        Ok(transaction.commit()?)
    }

    /// Returns the user's own summaries, without those that were fetched.
    pub fn own_summaries(&self) -> Result<Vec<StoredSummary>, Error> {
        let mut own = Vec::new();
        StoredSummary::select_each(
            &self.database.connection,
            "TRUE ORDER BY id",
            [],
            &mut |row| match row {
                Some(summary) => own.push(summary),
                None => self.database.record_damage(),
            },
        )?;
        Ok(own)
    }

    /// Returns the writer of a summary; `None` if it is the user's own, or there is none.
    pub fn writer_of(&self, key: &SummaryKey) -> Result<Option<WriterKey>, Error> {
        let connection = &self.database.connection;
        if summary::select(connection, key)?.is_some() {
            return Ok(None);
        }
        let found = FetchedSummary::select_first(connection, "key = ?1", [key.0.as_bytes()])?;
        Ok(found.map(|fetched| fetched.writer))
    }

    /// Returns the fetched summaries of all writers, trusted or not.
    pub fn fetched_summaries(&self) -> Result<Vec<FetchedSummary>, Error> {
        let mut fetched = Vec::new();
        FetchedSummary::select_each(
            &self.database.connection,
            "TRUE ORDER BY id",
            [],
            &mut |row| match row {
                Some(row) => fetched.push(row),
                None => self.database.record_damage(),
            },
        )?;
        Ok(fetched)
    }

    /// Returns how many summaries are in the outbox.
    pub fn outbox_size(&self) -> Result<u64, Error> {
        let count: i64 =
            self.database.connection.query_row("SELECT count(*) FROM outbox", [], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Tier;
    use crate::store::agent::testing::{TempAgentDb, record_paid_summary, summary};

    fn fetched(name: &str, writer: u8) -> (FetchedSummary, Vec<Vec<u8>>) {
        let row = FetchedSummary { summary: summary(name, 5), writer: WriterKey([writer; 32]) };
        (row, vec![b"a.py".to_vec()])
    }

    #[test]
    fn a_fetched_summary_is_returned_as_long_as_its_writer_is_believed() {
        let file = TempAgentDb::new();
        let mut db = file.open();
        let before = db.generation().unwrap();
        assert_eq!(db.store_fetched(&[fetched("a", 1)]).unwrap(), 1);
        assert!(before < db.generation().unwrap());
        let wanted = summary("a", 5);
        let returned = |db: &AgentDb| {
            let by_path = db.latest_summary(b"a.py", Tier::Orchestrator).unwrap();
            let by_tier = db.summaries_for_tier(Tier::Orchestrator).unwrap();
            let all_latest = db.latest_summaries(Tier::Orchestrator).unwrap();
            let missing = db.missing_keys(&[wanted.key]).unwrap().len();
            assert_eq!(db.summary(&wanted.key).unwrap(), by_path);
            assert_eq!((by_tier.len(), all_latest.len()), (1 - missing, 1 - missing));
            by_path.is_some()
        };
        // No writer is trusted by default.
        assert!(!returned(&db));
        db.trust_writers(&[WriterKey([2; 32]), WriterKey([1; 32])]);
        assert!(returned(&db));
        db.trust_writers(&[WriterKey([2; 32])]);
        assert!(!returned(&db));
        // A trusted writer's summary replaces it.
        assert_eq!(db.store_fetched(&[fetched("a", 2)]).unwrap(), 1);
        assert!(returned(&db));
    }

    #[test]
    fn own_summaries_precede_fetched_ones_and_enter_the_outbox_with_their_answer() {
        let file = TempAgentDb::new();
        let mut db = file.open();
        db.trust_writers(&[WriterKey([1; 32])]);
        db.store_fetched(&[fetched("a", 1)]).unwrap();
        record_paid_summary(&mut db, "b", 5);
        assert_eq!(db.outbox_size().unwrap(), 0);
        db.fill_outbox();
        record_paid_summary(&mut db, "a", 6);
        assert!(db.fetched_summaries().unwrap().is_empty());
        assert_eq!(db.store_fetched(&[fetched("a", 1)]).unwrap(), 0);
        let keys = |all: Vec<StoredSummary>| all.iter().map(|summary| summary.key).collect::<Vec<_>>();
        assert_eq!(keys(db.outbox(9).unwrap()), [summary("a", 0).key]);
        db.fill_outbox_with_all().unwrap();
        assert_eq!(keys(db.outbox(9).unwrap()), [summary("b", 0).key, summary("a", 0).key]);
        db.remove_from_outbox(&[summary("b", 0).key]).unwrap();
        drop(db);
        assert_eq!(keys(file.open().outbox(9).unwrap()), [summary("a", 0).key]);
    }

    #[test]
    fn a_reader_migrates_the_database_of_an_older_version() {
        let file = TempAgentDb::new();
        record_paid_summary(&mut file.open(), "a", 5);
        let older = "DROP TABLE fetched; DROP TABLE outbox; PRAGMA user_version = 1";
        rusqlite::Connection::open(file.file()).unwrap().execute_batch(older).unwrap();
        let db = AgentDb::open_reader(&file.file()).unwrap().unwrap();
        assert!(db.summary(&summary("a", 0).key).unwrap().is_some());
        assert_eq!(db.outbox_size().unwrap(), 0);
    }

    #[test]
    fn clearing_summaries_clears_fetched_ones_too() {
        let file = TempAgentDb::new();
        let mut db = file.open();
        db.store_fetched(&[fetched("a", 1), fetched("b", 1)]).unwrap();
        assert_eq!(db.clear_summaries(Some(&[summary("a", 0).subject])).unwrap().summaries, 1);
        assert_eq!(db.fetched_summaries().unwrap().len(), 1);
        assert_eq!(db.clear_summaries(None).unwrap().summaries, 1);
        assert!(db.fetched_summaries().unwrap().is_empty());
    }
}
