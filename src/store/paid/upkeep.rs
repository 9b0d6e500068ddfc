//! Looking after what was paid for: how much it is, whether it is whole, and deleting it when a person asks.

use rusqlite::Connection;
use rusqlite::Params;
use rusqlite::types::Value;

use super::super::Error;
use super::super::Verdict;
use super::super::verify::broken_structure;
use super::FreedPaid;
use super::Paid;
use super::PaidSize;
use super::Reservation;
use super::Settlement;
use super::SpendId;
use super::SpendOutcome;
use super::batch;
use super::columns::Columns;
use super::columns::money_column;
use super::counter;
use super::latest;
use super::spend;
use super::spend::Found;
use super::spend::Spend;
use super::summary;
use super::work;
use crate::model::ContentHash;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::model::Tokens;

/// Words for a row, and a statement that reads all of its kind with the row's number before them.
type Kind = (&'static str, &'static str, usize, fn(&Columns<'_>) -> bool);

/// The tables whose damaged rows are deleted. A batch goes before its items, which are nothing without it.
const KINDS: [Kind; 6] = [
    ("summary by a model", "summary", summary::COUNT, |columns| summary::read(columns).is_some()),
    ("last summary of a path", "latest", latest::COUNT, |columns| latest::read(columns).is_some()),
    ("refusal of a model", "refusal", work::COUNT, |columns| work::read(columns).is_some()),
    ("batch of calls", "batch", batch::COUNT, |columns| batch::read(columns).is_some()),
    ("call of a batch", "batch_item", batch::ITEM_COUNT, |columns| batch::read_item(columns).is_some()),
    ("count", "counter", counter::COUNT, |columns| counter::read(columns).is_some()),
];

impl Paid {
    /// Deletes summaries, and what is noted of them: all, with what was tried in vain, or those of some subjects. The
    /// ledger stays: money that was spent stays spent.
    pub fn clear_summaries(&mut self, subjects: Option<&[ContentHash]>) -> Result<FreedPaid, Error> {
        let before = self.database.bytes_on_disk()?;
        let transaction = self.database.begin()?;
        let mut freed = FreedPaid::default();
        match subjects {
            None => {
                remove(&transaction, "TRUE", [], &mut freed)?;
                freed.refusals = transaction.execute("DELETE FROM refusal", [])? as u64;
                transaction.execute("DELETE FROM latest", [])?;
            }
            Some(subjects) => {
                for subject in subjects {
                    remove(&transaction, "subject = ?1", [subject.as_bytes()], &mut freed)?;
                }
                transaction.execute("DELETE FROM latest WHERE key NOT IN (SELECT key FROM summary)", [])?;
            }
        }
        counter::raise_generation(&transaction)?;
        transaction.commit()?;
        Ok(FreedPaid { bytes: self.database.shrink(before)?, ..freed })
    }

    /// Says how much there is.
    pub fn size(&self) -> Result<PaidSize, Error> {
        let one_state = self.database.connection.unchecked_transaction()?;
        let count = |question| one_state.query_row(question, [], |row| row.get(0)).map(i64::cast_unsigned);
        Ok(PaidSize {
            summaries: count("SELECT count(*) FROM summary")?,
            text_bytes: count("SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) FROM summary")?,
            refusals: count("SELECT count(*) FROM refusal")?,
            calls: count("SELECT count(*) FROM spend")?,
            spent: self.ledger.borrow_mut().total(&one_state)?,
            bytes_on_disk: self.database.bytes_on_disk()?,
        })
    }

    /// Checks the file's structure and every row. Rows that are not what was once written are deleted, but for those of
    /// the ledger: such a call goes on counting, as the larger of its numbers.
    pub fn verify(&mut self) -> Result<Verdict, Error> {
        let structure = broken_structure(&self.database.connection)?;
        let mut verdict = Verdict { structure, ..Verdict::default() };
        if verdict.structure.is_some() {
            return Ok(verdict);
        }
        let transaction = self.database.begin()?;
        for kind in KINDS {
            verify_kind(&transaction, kind, &mut verdict)?;
        }
        verify_ledger(&transaction, &mut verdict)?;
        if !verdict.damaged.is_empty() {
            counter::raise_generation(&transaction)?;
        }
        transaction.commit()?;
        // What was damaged when it was added up may have been written anew.
        *self.ledger.get_mut() = super::ledger::Ledger::default();
        Ok(verdict)
    }
}

/// Deletes summaries, and adds up what they were. One call may have brought more than one of them.
fn remove(
    connection: &Connection,
    condition: &str,
    values: impl Params + Clone,
    freed: &mut FreedPaid,
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

fn verify_kind(connection: &Connection, kind: Kind, verdict: &mut Verdict) -> Result<(), Error> {
    let (words, table, count, is_sound) = kind;
    let mut doomed: Vec<Value> = Vec::new();
    let mut statement = connection.prepare(&format!("SELECT rowid, * FROM {table}"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        verdict.rows += 1;
        if !is_sound(&Columns::of(row, 1, count)?) {
            verdict.damaged.push(words.to_owned());
            doomed.push(row.get(0)?);
        }
    }
    for id in doomed {
        connection.execute(&format!("DELETE FROM {table} WHERE rowid = ?1"), [id])?;
    }
    Ok(())
}

fn verify_ledger(connection: &Connection, verdict: &mut Verdict) -> Result<(), Error> {
    let (mut damaged, mut last_day) = (Vec::new(), 0);
    spend::each_after(connection, i64::MIN, &mut |id, found| {
        verdict.rows += 1;
        match found {
            Found::Sound(spend) => last_day = last_day.max(spend.asked.day),
            Found::Damaged(amount) => damaged.push((SpendId(id), amount)),
        }
    })?;
    for (id, amount) in damaged {
        verdict.damaged.push("call in the ledger (it counts as the larger of its numbers)".to_owned());
        spend::put(connection, &of_unknown_cost(id, amount, last_day))?;
    }
    Ok(())
}

/// Returns a row for calls of which nothing is known but what they may have cost.
pub(super) fn of_unknown_cost(id: SpendId, amount: Money, day: i64) -> Spend {
    let amount = Money::from_nanos(money_column(amount).cast_unsigned());
    let nobody = ContentHash::of(b"");
    Spend {
        id,
        asked: Reservation {
            errand: SummaryKey(nobody),
            by: ModelName { provider: "unknown".to_owned(), model: "unknown".to_owned() },
            worst: amount,
            holder: String::new(),
            is_batch: false,
            at_ms: 0,
            day,
        },
        settled: Settlement {
            outcome: SpendOutcome::Unknown,
            cost: None,
            tokens: Tokens::default(),
            request_id: None,
            at_ms: 0,
        },
        ended_ms: None,
    }
}
