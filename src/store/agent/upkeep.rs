//! Maintenance of the database: its size, a check of every row, and deleting summaries on request.

use rusqlite::types::Value;
use rusqlite::{Connection, Params};

use super::db::AgentDb;
use super::recovery;
use super::recovery::{LEDGER, RecoveredTable, TABLES};
use super::rows::{AgentDbSize, DeletedSummaries, SpendId};
use super::spend;
use super::spend::LedgerRow;
use super::summary;
use super::totals::LedgerTotals;
use crate::model::{ContentHash, Money};
use crate::store::database::{IntegrityReport, check_structure, metadata_if_exists};
use crate::store::error::Error;
use crate::store::row::{RowColumns, StoredRow};

impl AgentDb {
    /// Deletes summaries and references to them: all of them, with all refusals, or those of some subjects. The ledger
    /// is kept.
    pub fn clear_summaries(&mut self, subjects: Option<&[ContentHash]>) -> Result<DeletedSummaries, Error> {
        let before = self.database.bytes_on_disk()?;
        let (transaction, _) = self.begin()?;
        let mut deleted = DeletedSummaries::default();
        match subjects {
            None => {
                delete_summaries(&transaction, "TRUE", [], &mut deleted)?;
                deleted.refusals = transaction.execute("DELETE FROM refusal", [])? as u64;
                transaction.execute("DELETE FROM latest", [])?;
                deleted.summaries += transaction.execute("DELETE FROM fetched", [])? as u64;
                transaction.execute("DELETE FROM outbox", [])?;
            }
            Some(subjects) => {
                for subject in subjects {
                    delete_summaries(&transaction, "subject = ?1", [subject.as_bytes()], &mut deleted)?;
                    let query = "DELETE FROM fetched WHERE subject = ?1";
                    deleted.summaries += transaction.execute(query, [subject.as_bytes()])? as u64;
                }
                summary::delete_orphaned_latest(&transaction)?;
            }
        }
        spend::bump_generation(&transaction)?;
        transaction.commit()?;
        let bytes = self.database.reclaim_space(before)?;
        self.replace_backup()?;
        Ok(DeletedSummaries { bytes, ..deleted })
    }

    /// Returns the size of the database.
    pub fn size(&self) -> Result<AgentDbSize, Error> {
        // One transaction, so that all numbers are consistent.
        let snapshot = self.database.connection.unchecked_transaction()?;
        let count = |query| snapshot.query_row(query, [], |row| row.get(0)).map(i64::cast_unsigned);
        let backup = metadata_if_exists(&recovery::backup_path(self.database.file()))?;
        Ok(AgentDbSize {
            summaries: count("SELECT count(*) FROM summary")?,
            // As a blob, because the length of a text is in characters, up to the first NUL.
            text_bytes: count("SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) FROM summary")?,
            refusals: count("SELECT count(*) FROM refusal")?,
            calls: count("SELECT count(*) FROM spend")?,
            spent_total: self.totals.borrow_mut().total_spent(&snapshot)?,
            bytes_on_disk: self.database.bytes_on_disk()? + backup.map_or(0, |backup| backup.len()),
        })
    }

    /// Checks the structure of the file and every row. Damaged rows are deleted, except those of the ledger: such a
    /// call still counts, at the larger of its amounts.
    pub fn verify(&mut self) -> Result<IntegrityReport, Error> {
        let structure_error = check_structure(&self.database.connection)?;
        let mut report = IntegrityReport { structure_error, ..IntegrityReport::default() };
        if report.structure_error.is_some() {
            return Ok(report);
        }
        let (transaction, totals) = self.begin()?;
        for table in &TABLES {
            verify_table(&transaction, table, &mut report)?;
        }
        verify_ledger(&transaction, &mut report)?;
        if !report.damaged_rows.is_empty() {
            spend::bump_generation(&transaction)?;
        }
        transaction.commit()?;
        // Rows that were damaged when they were summed may have been written again.
        *totals = LedgerTotals::default();
        Ok(report)
    }
}

/// Deletes summaries, and sums their cost. One call may have produced several of them.
fn delete_summaries(
    connection: &Connection,
    condition: &str,
    values: impl Params + Clone,
    deleted: &mut DeletedSummaries,
) -> Result<(), Error> {
    let query = format!(
        "SELECT coalesce(sum(cost), 0) FROM
             (SELECT DISTINCT subject, provider, model, at_ms, cost FROM summary WHERE {condition})"
    );
    // Only with a damaged row can the sum overflow.
    let cost: i64 = connection.query_row(&query, values.clone(), |row| row.get(0)).unwrap_or(0);
    deleted.cost = deleted.cost + Money::from_nanos(cost.max(0).cast_unsigned());
    deleted.summaries +=
        connection.execute(&format!("DELETE FROM summary WHERE {condition}"), values)? as u64;
    Ok(())
}

fn verify_table(
    connection: &Connection,
    table: &RecoveredTable,
    report: &mut IntegrityReport,
) -> Result<(), Error> {
    let mut damaged: Vec<Value> = Vec::new();
    let mut statement = connection.prepare(&format!("SELECT rowid, * FROM {}", table.name))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        report.rows += 1;
        // The first column is the id of the row.
        let (_, columns) = RowColumns::from_row(row)?.split_at(1);
        if !(table.is_intact)(&columns) {
            report.damaged_rows.push(table.row_label.to_owned());
            damaged.push(row.get(0)?);
        }
    }
    // Deleted after the scan, so that the table does not change while it is read.
    for id in damaged {
        connection.execute(&format!("DELETE FROM {} WHERE rowid = ?1", table.name), [id])?;
    }
    Ok(())
}

fn verify_ledger(connection: &Connection, report: &mut IntegrityReport) -> Result<(), Error> {
    let (mut damaged, mut last_day) = (Vec::new(), 0);
    spend::for_each_after(connection, i64::MIN, &mut |id, found| {
        report.rows += 1;
        match found {
            LedgerRow::Intact(spend) => last_day = last_day.max(spend.reservation.day),
            LedgerRow::Damaged(amount) => damaged.push((SpendId(id), amount)),
        }
    })?;
    // A damaged row's day cannot be trusted. With the latest day of the ledger it counts against a cap that may still
    // be in force.
    for (id, amount) in damaged {
        report.damaged_rows.push(LEDGER.row_label.to_owned());
        spend::unknown_cost_row(id, amount, last_day).upsert(connection)?;
    }
    Ok(())
}
