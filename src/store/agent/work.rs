//! The tables of tasks: `lease`, the process that has claimed a task; `refusal`, failed tasks; `batch` and
//! `batch_item`, calls that were sent as a batch, until their answers are recorded.

use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{BatchId, BatchItem, BatchQuestion, BatchState, CallBatch, NewBatch, RefusalRow, SpendId};
use super::spend;
use crate::model::{ContentHash, SummaryKey, SummaryScope, Tier};
use crate::store::error::Error;
use crate::store::row::{RowColumns, RowFields, StoredRow, execute};

/// The bytes of a key in the column `keys`, including its tier.
const KEY_BYTES: usize = 33;

impl BatchState {
    const ALL: [Self; 2] = [Self::Reserved, Self::Submitted];

    const fn name(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Submitted => "submitted",
        }
    }
}

pub(super) fn select_lease_holder(
    connection: &Connection,
    task_key: &SummaryKey,
) -> Result<Option<String>, Error> {
    let mut statement = connection.prepare_cached("SELECT holder FROM lease WHERE errand = ?1")?;
    // A value that is not text names no process, so the task is free.
    let found = statement
        .query_row([task_key.0.as_bytes()], |row| Ok(row.get_ref(0)?.as_str().ok().map(str::to_owned)));
    Ok(found.optional()?.flatten())
}

/// Stores that a process holds a task.
pub(super) fn upsert_lease(
    connection: &Connection,
    task_key: &SummaryKey,
    holder: &str,
    now_ms: i64,
) -> Result<(), Error> {
    let query = "INSERT OR REPLACE INTO lease (errand, holder, since_ms) VALUES (?1, ?2, ?3)";
    execute(connection, query, params![task_key.0.as_bytes(), holder, now_ms]).map(drop)
}

/// Deletes a lease if this holder still has it.
pub(super) fn delete_lease(
    connection: &Connection,
    task_key: &SummaryKey,
    holder: &str,
) -> Result<(), Error> {
    let query = "DELETE FROM lease WHERE errand = ?1 AND holder = ?2";
    execute(connection, query, params![task_key.0.as_bytes(), holder]).map(drop)
}

/// Deletes a refusal; returns how many there were: 1 or 0.
pub(super) fn delete_refusal(connection: &Connection, task_key: &SummaryKey) -> Result<u64, Error> {
    execute(connection, "DELETE FROM refusal WHERE errand = ?1", [task_key.0.as_bytes()])
}

/// Returns the refusal with that key, if it is intact.
pub(super) fn select_refusal(
    connection: &Connection,
    task_key: &SummaryKey,
) -> Result<Option<RefusalRow>, Error> {
    RefusalRow::select_first(connection, "errand = ?1", [task_key.0.as_bytes()])
}

/// Inserts a batch, its items, and their rows in the ledger.
pub(super) fn insert_batch(connection: &Connection, new: &NewBatch) -> Result<BatchId, Error> {
    let last: i64 = connection.query_row("SELECT coalesce(max(id), 0) FROM batch", [], |row| row.get(0))?;
    let batch = CallBatch {
        id: BatchId(last.saturating_add(1)),
        model: new.model.clone(),
        remote_id: None,
        state: BatchState::Reserved,
        at_ms: new.at_ms,
        items: Vec::new(),
    };
    batch.upsert(connection)?;
    for (reservation, question) in &new.calls {
        let spend = spend::insert_open(connection, reservation)?;
        let (task_key, question) = (reservation.task_key, question.clone());
        BatchItem { batch: batch.id, task_key, spend, question }.upsert(connection)?;
    }
    Ok(batch.id)
}

/// Returns whether a task is part of a batch.
pub(super) fn contains_task(connection: &Connection, task_key: &SummaryKey) -> Result<bool, Error> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM batch_item WHERE errand = ?1")?;
    Ok(statement.exists([task_key.0.as_bytes()])?)
}

/// Deletes the item of a call whose answer was recorded.
pub(super) fn delete_item(connection: &Connection, spend: SpendId) -> Result<(), Error> {
    execute(connection, "DELETE FROM batch_item WHERE spend_id = ?1", [spend.0]).map(drop)
}

/// Deletes the items of a task that will not be answered.
pub(super) fn delete_items_of_task(connection: &Connection, task_key: &SummaryKey) -> Result<(), Error> {
    execute(connection, "DELETE FROM batch_item WHERE errand = ?1", [task_key.0.as_bytes()]).map(drop)
}

/// Returns the batch with this id, without its items, if its row is intact.
pub(super) fn select_batch(connection: &Connection, id: BatchId) -> Result<Option<CallBatch>, Error> {
    CallBatch::select_first(connection, "id = ?1", [id.0])
}

pub(super) fn delete_batch(connection: &Connection, id: BatchId) -> Result<(), Error> {
    connection.execute("DELETE FROM batch_item WHERE batch_id = ?1", [id.0])?;
    connection.execute("DELETE FROM batch WHERE id = ?1", [id.0])?;
    Ok(())
}

impl StoredRow for RefusalRow {
    const TABLE: &'static str = "refusal";
    const LABEL: &'static str = "refusal of a model";
    const COLUMNS: &'static str = "errand, why, until_ms, at_ms";

    fn fields(&self) -> RowFields<'_> {
        RowFields::new("refusal/1")
            .bytes(self.task_key.0.as_bytes())
            .text(&self.reason)
            .optional_number(self.until_ms)
            .number(self.at_ms)
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        let (task_key, reason) = (columns.key(0)?, columns.text(1)?.to_owned());
        Some(Self { task_key, reason, until_ms: columns.optional_number(2)?, at_ms: columns.number(3)? })
    }
}

impl StoredRow for CallBatch {
    const TABLE: &'static str = "batch";
    const LABEL: &'static str = "batch of calls";
    const COLUMNS: &'static str = "id, provider, model, remote_id, state, at_ms";

    fn fields(&self) -> RowFields<'_> {
        RowFields::new("batch/1")
            .number(self.id.0)
            .model(&self.model)
            .optional_text(self.remote_id.as_deref())
            .text(self.state.name())
            .number(self.at_ms)
    }

    /// Parses a batch without its items, which are separate rows.
    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        let state = columns.text(4)?;
        Some(Self {
            id: BatchId(columns.number(0)?),
            model: columns.model(1)?,
            remote_id: columns.optional_text(3)?.map(str::to_owned),
            state: BatchState::ALL.into_iter().find(|known| known.name() == state)?,
            at_ms: columns.number(5)?,
            items: Vec::new(),
        })
    }

    fn merge(&self, connection: &Connection) -> Result<(), Error> {
        match select_batch(connection, self.id)? {
            // Without the provider's name for it, its answers could not be fetched.
            Some(there) if there.remote_id.is_some() => Ok(()),
            Some(_) | None => self.upsert(connection),
        }
    }
}

impl StoredRow for BatchItem {
    const TABLE: &'static str = "batch_item";
    const LABEL: &'static str = "call of a batch";
    const COLUMNS: &'static str = "spend_id, batch_id, errand, subject, language, scope, prompt, keys, paths";

    fn fields(&self) -> RowFields<'_> {
        let question = &self.question;
        RowFields::new("batch_item/1")
            .number(self.spend.0)
            .number(self.batch.0)
            .bytes(self.task_key.0.as_bytes())
            .bytes(question.subject.as_bytes())
            .text(&question.language)
            .text(question.scope.name())
            .text(&question.prompt)
            .owned_bytes(keys_to_column(question))
            .owned_bytes(paths_to_column(question))
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        let scope = columns.text(5)?;
        let question = BatchQuestion {
            subject: columns.hash(3)?,
            language: columns.text(4)?.to_owned(),
            scope: SummaryScope::ALL.into_iter().find(|known| known.name() == scope)?,
            prompt: columns.text(6)?.to_owned(),
            keys: keys_from_column(columns.bytes(7)?)?,
            paths: paths_from_column(columns.bytes(8)?),
        };
        let (spend, batch) = (SpendId(columns.number(0)?), BatchId(columns.number(1)?));
        Some(Self { batch, task_key: columns.key(2)?, spend, question })
    }
}

fn keys_to_column(question: &BatchQuestion) -> Vec<u8> {
    let key = |(tier, key): &(Tier, SummaryKey)| [&[tier.number()], key.0.as_bytes().as_slice()].concat();
    question.keys.iter().flat_map(key).collect()
}

fn keys_from_column(bytes: &[u8]) -> Option<Vec<(Tier, SummaryKey)>> {
    let read = |bytes: &[u8]| {
        let (tier, key) = bytes.split_first()?;
        Some((Tier::from_number(*tier)?, SummaryKey(ContentHash::from_bytes(key.try_into().ok()?))))
    };
    bytes.chunks(KEY_BYTES).map(read).collect()
}

/// Returns the paths with a 0 after each, which no path contains.
fn paths_to_column(question: &BatchQuestion) -> Vec<u8> {
    question.paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect()
}

fn paths_from_column(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes
        .split_inclusive(|byte| *byte == 0)
        .map(|path| path.strip_suffix(&[0]).unwrap_or(path).to_vec())
        .collect()
}
