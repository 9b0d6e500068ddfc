//! Looking after what was paid for: how much it is, whether it is whole, and deleting it when a person asks.

use rusqlite::Connection;
use rusqlite::Params;
use rusqlite::types::Value;

use super::super::Error;
use super::super::IntegrityReport;
use super::super::verify::check_structure;
use super::AgentDb;
use super::AgentDbSize;
use super::DeletedSummaries;
use super::SpendId;
use super::SpendOutcome;
use super::SpendReservation;
use super::SpendSettlement;
use super::batch;
use super::columns::RowColumns;
use super::columns::money_to_column;
use super::counter;
use super::latest;
use super::spend;
use super::spend::LedgerRow;
use super::spend::SpendRow;
use super::summary;
use super::work;
use crate::model::ContentHash;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::model::TokenUsage;

/// Words for a row, and a statement that reads all of its kind with the row's number before them.
type TableCheck = (&'static str, &'static str, usize, fn(&RowColumns<'_>) -> bool);

/// The tables whose damaged rows are deleted. A batch goes before its items, which are nothing without it.
const TABLE_CHECKS: [TableCheck; 6] = [
    ("summary by a model", "summary", summary::COLUMN_COUNT, |columns| {
        summary::from_columns(columns).is_some()
    }),
    ("last summary of a path", "latest", latest::COLUMN_COUNT, |columns| {
        latest::from_columns(columns).is_some()
    }),
    ("refusal of a model", "refusal", work::COLUMN_COUNT, |columns| work::from_columns(columns).is_some()),
    ("batch of calls", "batch", batch::COLUMN_COUNT, |columns| batch::from_columns(columns).is_some()),
    ("call of a batch", "batch_item", batch::ITEM_COLUMN_COUNT, |columns| {
        batch::item_from_columns(columns).is_some()
    }),
    ("count", "counter", counter::COLUMN_COUNT, |columns| counter::from_columns(columns).is_some()),
];

impl AgentDb {
    /// Deletes summaries, and what is noted of them: all, with what was tried in vain, or those of some subjects. The
    /// ledger stays: money that was spent stays spent.
    pub fn clear_summaries(&mut self, subjects: Option<&[ContentHash]>) -> Result<DeletedSummaries, Error> {
        let before = self.database.bytes_on_disk()?;
        let transaction = self.database.begin()?;
        let mut freed = DeletedSummaries::default();
        match subjects {
            None => {
                delete_summaries(&transaction, "TRUE", [], &mut freed)?;
                freed.refusals = transaction.execute("DELETE FROM refusal", [])? as u64;
                transaction.execute("DELETE FROM latest", [])?;
            }
            Some(subjects) => {
                for subject in subjects {
                    delete_summaries(&transaction, "subject = ?1", [subject.as_bytes()], &mut freed)?;
                }
                transaction.execute("DELETE FROM latest WHERE key NOT IN (SELECT key FROM summary)", [])?;
            }
        }
        counter::bump_generation(&transaction)?;
        transaction.commit()?;
        Ok(DeletedSummaries { bytes: self.database.reclaim_space(before)?, ..freed })
    }

    /// Says how much there is.
    pub fn size(&self) -> Result<AgentDbSize, Error> {
        let one_state = self.database.connection.unchecked_transaction()?;
        let count = |question| one_state.query_row(question, [], |row| row.get(0)).map(i64::cast_unsigned);
        Ok(AgentDbSize {
            summaries: count("SELECT count(*) FROM summary")?,
            text_bytes: count("SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) FROM summary")?,
            refusals: count("SELECT count(*) FROM refusal")?,
            calls: count("SELECT count(*) FROM spend")?,
            spent_total: self.totals.borrow_mut().total_spent(&one_state)?,
            bytes_on_disk: self.database.bytes_on_disk()?,
        })
    }

    /// Checks the file's structure and every row. Rows that are not what was once written are deleted, but for those of
    /// the ledger: such a call goes on counting, as the larger of its numbers.
    pub fn verify(&mut self) -> Result<IntegrityReport, Error> {
        let structure = check_structure(&self.database.connection)?;
        let mut verdict = IntegrityReport { structure_error: structure, ..IntegrityReport::default() };
        if verdict.structure_error.is_some() {
            return Ok(verdict);
        }
        let transaction = self.database.begin()?;
        for kind in TABLE_CHECKS {
            verify_table(&transaction, kind, &mut verdict)?;
        }
        verify_ledger(&transaction, &mut verdict)?;
        if !verdict.damaged_rows.is_empty() {
            counter::bump_generation(&transaction)?;
        }
        transaction.commit()?;
        // What was damaged when it was added up may have been written anew.
        *self.totals.get_mut() = super::ledger::LedgerTotals::default();
        Ok(verdict)
    }
}

/// Deletes summaries, and adds up what they were. One call may have brought more than one of them.
fn delete_summaries(
    connection: &Connection,
    condition: &str,
    values: impl Params + Clone,
    freed: &mut DeletedSummaries,
) -> Result<(), Error> {
    let question = format!(
        "SELECT coalesce(sum(cost), 0) FROM
             (SELECT DISTINCT subject, provider, model, at_ms, cost FROM summary WHERE {condition})"
    );
    // A sum that no number can hold is that of a damaged row.
    let cost: i64 = connection.query_row(&question, values.clone(), |row| row.get(0)).unwrap_or(0);
    freed.cost = freed.cost + Money::from_nanos(cost.max(0).cast_unsigned());
    freed.summaries += connection.execute(&format!("DELETE FROM summary WHERE {condition}"), values)? as u64;
    Ok(())
}

fn verify_table(
    connection: &Connection,
    kind: TableCheck,
    verdict: &mut IntegrityReport,
) -> Result<(), Error> {
    let (words, table, count, is_sound) = kind;
    let mut doomed: Vec<Value> = Vec::new();
    let mut statement = connection.prepare(&format!("SELECT rowid, * FROM {table}"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        verdict.rows += 1;
        if !is_sound(&RowColumns::from_row(row, 1, count)?) {
            verdict.damaged_rows.push(words.to_owned());
            doomed.push(row.get(0)?);
        }
    }
    for id in doomed {
        connection.execute(&format!("DELETE FROM {table} WHERE rowid = ?1"), [id])?;
    }
    Ok(())
}

fn verify_ledger(connection: &Connection, verdict: &mut IntegrityReport) -> Result<(), Error> {
    let (mut damaged, mut last_day) = (Vec::new(), 0);
    spend::for_each_after(connection, i64::MIN, &mut |id, found| {
        verdict.rows += 1;
        match found {
            LedgerRow::Intact(spend) => last_day = last_day.max(spend.reservation.day),
            LedgerRow::Damaged(amount) => damaged.push((SpendId(id), amount)),
        }
    })?;
    for (id, amount) in damaged {
        verdict.damaged_rows.push("call in the ledger (it counts as the larger of its numbers)".to_owned());
        spend::upsert(connection, &unknown_cost_row(id, amount, last_day))?;
    }
    Ok(())
}

/// Returns a row for calls of which nothing is known but what they may have cost.
pub(super) fn unknown_cost_row(id: SpendId, amount: Money, day: i64) -> SpendRow {
    let amount = Money::from_nanos(money_to_column(amount).cast_unsigned());
    let nobody = ContentHash::digest(b"");
    SpendRow {
        id,
        reservation: SpendReservation {
            task_key: SummaryKey(nobody),
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
