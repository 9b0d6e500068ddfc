//! The tables `lease` and `refusal`: who is at a piece of work, and what was tried in vain.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::params;

use super::super::Error;
use super::super::checksum::ChecksumBuilder;
use super::super::checksum::RowChecksum;
use super::AgentDb;
use super::ClaimStatus;
use super::RefusalRow;
use super::batch;
use super::columns::RowColumns;
use super::columns::hash_optional_number;
use super::summary;
use crate::model::SummaryKey;

/// How many columns [`read`] wants: `errand, why, until_ms, at_ms, ck`.
pub(super) const COLUMN_COUNT: usize = 5;

impl AgentDb {
    /// Claims a piece of work that is to bring the `wanted` summaries, for a process that is known as `holder`. Where it
    /// was tried in vain, that is known by `refusal`, which also says who tried.
    ///
    /// What another thread of the same process holds is taken. `is_alive` says of
    /// a holder whether its process still runs; it is asked while the database is locked, so it must not wait.
    pub fn claim(
        &mut self,
        errand: &SummaryKey,
        refusal: &SummaryKey,
        wanted: &[SummaryKey],
        holder: &str,
        now_ms: i64,
        is_alive: &dyn Fn(&str) -> bool,
    ) -> Result<ClaimStatus, Error> {
        let transaction = self.database.begin()?;
        if has_all_summaries(&transaction, wanted)? {
            return Ok(ClaimStatus::Done);
        }
        if batch::contains_task(&transaction, errand)? {
            return Ok(ClaimStatus::InBatch);
        }
        if let Some(refused) = self::select_refusal(&transaction, refusal)?
            && refused.until_ms.is_none_or(|until_ms| now_ms < until_ms)
        {
            return Ok(ClaimStatus::Refused { reason: refused.reason, until_ms: refused.until_ms });
        }
        if select_lease_holder(&transaction, errand)?.is_some_and(|other| other == holder || is_alive(&other))
        {
            return Ok(ClaimStatus::HeldElsewhere);
        }
        transaction
            .prepare_cached("INSERT OR REPLACE INTO lease (errand, holder, since_ms) VALUES (?1, ?2, ?3)")?
            .execute(params![errand.0.as_bytes(), holder, now_ms])?;
        delete_refusal(&transaction, refusal)?;
        transaction.commit()?;
        Ok(ClaimStatus::Acquired)
    }

    /// Gives a piece of work back that was not done. Nothing happens where another has it by now.
    pub fn release(&mut self, errand: &SummaryKey, holder: &str) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        delete_lease(&transaction, errand, holder)?;
        Ok(transaction.commit()?)
    }

    /// Gives a piece of work back that cannot be done, and is not to be tried before a moment or ever again.
    pub fn record_refusal(
        &mut self,
        errand: &SummaryKey,
        refusal: &SummaryKey,
        holder: &str,
        why: &str,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        upsert_refusal(
            &transaction,
            &RefusalRow { task_key: *refusal, reason: why.to_owned(), until_ms, at_ms: now_ms },
        )?;
        delete_lease(&transaction, errand, holder)?;
        batch::delete_items_of_task(&transaction, errand)?;
        Ok(transaction.commit()?)
    }

    /// Returns what was tried in vain, newest first; what may be tried again by now is among it.
    pub fn refusals(&self) -> Result<Vec<RefusalRow>, Error> {
        let mut statement = self.database.connection.prepare_cached(
            "SELECT errand, why, until_ms, at_ms, ck FROM refusal ORDER BY at_ms DESC, errand",
        )?;
        let mut rows = statement.query([])?;
        let mut refusals = Vec::new();
        while let Some(row) = rows.next()? {
            match from_columns(&RowColumns::from_row(row, 0, COLUMN_COUNT)?) {
                Some(refused) => refusals.push(refused),
                None => self.database.record_damage(),
            }
        }
        Ok(refusals)
    }

    /// Lets these be tried again that were tried in vain; returns how many of them there are.
    pub fn delete_refusals_of(&mut self, errands: &[SummaryKey]) -> Result<u64, Error> {
        let transaction = self.database.begin()?;
        let mut forgiven = 0;
        for errand in errands {
            forgiven += transaction
                .prepare_cached("DELETE FROM refusal WHERE errand = ?1")?
                .execute([errand.0.as_bytes()])?;
        }
        transaction.commit()?;
        Ok(forgiven as u64)
    }

    /// Lets everything be tried again that was tried in vain; returns how much that is.
    pub fn delete_refusals(&mut self) -> Result<u64, Error> {
        let transaction = self.database.begin()?;
        let forgiven = transaction.execute("DELETE FROM refusal", [])?;
        transaction.commit()?;
        Ok(forgiven as u64)
    }
}

fn has_all_summaries(connection: &Connection, wanted: &[SummaryKey]) -> Result<bool, Error> {
    for key in wanted {
        if summary::get(connection, key)?.is_none() {
            return Ok(false);
        }
    }
    Ok(!wanted.is_empty())
}

fn select_lease_holder(connection: &Connection, errand: &SummaryKey) -> Result<Option<String>, Error> {
    let mut statement = connection.prepare_cached("SELECT holder FROM lease WHERE errand = ?1")?;
    // What is no text names no process: nobody holds it.
    let found = statement
        .query_row([errand.0.as_bytes()], |row| Ok(row.get_ref(0)?.as_str().ok().map(str::to_owned)));
    Ok(found.optional()?.flatten())
}

/// Ends a lease, if it is still that holder's.
pub(super) fn delete_lease(connection: &Connection, errand: &SummaryKey, holder: &str) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM lease WHERE errand = ?1 AND holder = ?2")?
        .execute(params![errand.0.as_bytes(), holder])?;
    Ok(())
}

/// Forgets that a piece of work was tried in vain.
pub(super) fn delete_refusal(connection: &Connection, errand: &SummaryKey) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM refusal WHERE errand = ?1")?.execute([errand.0.as_bytes()])?;
    Ok(())
}

/// Writes a refusal, in place of an earlier one.
pub(super) fn upsert_refusal(connection: &Connection, refused: &RefusalRow) -> Result<(), Error> {
    let RefusalRow { task_key: errand, reason: why, until_ms, at_ms } = refused;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO refusal (errand, why, until_ms, at_ms, ck) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![errand.0.as_bytes(), why, until_ms, at_ms, checksum(refused)])?;
    Ok(())
}

fn select_refusal(connection: &Connection, errand: &SummaryKey) -> Result<Option<RefusalRow>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT errand, why, until_ms, at_ms, ck FROM refusal WHERE errand = ?1")?;
    let found = statement.query_row([errand.0.as_bytes()], |row| {
        Ok(from_columns(&RowColumns::from_row(row, 0, COLUMN_COUNT)?))
    });
    Ok(found.optional()?.flatten())
}

/// Reads a refusal from its columns. `None` where they are not what was once written.
pub(super) fn from_columns(columns: &RowColumns<'_>) -> Option<RefusalRow> {
    let refused = RefusalRow {
        task_key: columns.key(0)?,
        reason: columns.text(1)?.to_owned(),
        until_ms: columns.optional_number(2)?,
        at_ms: columns.number(3)?,
    };
    columns.verify_checksum(4, checksum(&refused))?;
    Some(refused)
}

fn checksum(refused: &RefusalRow) -> RowChecksum {
    let sum = ChecksumBuilder::new("refusal/1").bytes(refused.task_key.0.as_bytes()).text(&refused.reason);
    hash_optional_number(sum, refused.until_ms).number(refused.at_ms).finish()
}
