//! The tables of work: `lease`, which process does a task; `refusal`, what was tried without success; `batch` and
//! `batch_item`, calls that were sent as one, until their answers are recorded.

use rusqlite::{Connection, OptionalExtension, params};

use super::spend;
use crate::model::{ContentHash, SummaryKey, SummaryScope, Tier};
use crate::store::agent::rows::{
    BatchId, BatchItem, BatchQuestion, BatchState, CallBatch, NewBatch, RefusalRow, SpendId,
};
use crate::store::sqlite::{ChecksumBuilder, Error, RowChecksum, RowColumns, select_each, select_first};

/// All columns of a refusal, in their order.
const REFUSAL_COLUMNS: &str = "errand, why, until_ms, at_ms, ck";
/// All columns of a batch, in their order.
const BATCH_COLUMNS: &str = "id, provider, model, remote_id, state, at_ms, ck";
/// All columns of an item, in their order.
const ITEM_COLUMNS: &str = "spend_id, batch_id, errand, subject, language, scope, prompt, keys, paths, ck";
/// How many bytes a key in the column `keys` takes, with its tier.
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

/// Returns which process holds a task.
pub(in crate::store::agent) fn select_lease_holder(
    connection: &Connection,
    task_key: &SummaryKey,
) -> Result<Option<String>, Error> {
    let mut statement = connection.prepare_cached("SELECT holder FROM lease WHERE errand = ?1")?;
    // A value that is not text names no process, so that the task is free.
    let found = statement
        .query_row([task_key.0.as_bytes()], |row| Ok(row.get_ref(0)?.as_str().ok().map(str::to_owned)));
    Ok(found.optional()?.flatten())
}

/// Writes that a process holds a task.
pub(in crate::store::agent) fn upsert_lease(
    connection: &Connection,
    task_key: &SummaryKey,
    holder: &str,
    now_ms: i64,
) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO lease (errand, holder, since_ms) VALUES (?1, ?2, ?3)")?
        .execute(params![task_key.0.as_bytes(), holder, now_ms])?;
    Ok(())
}

/// Deletes a lease, if it is still that holder's.
pub(in crate::store::agent) fn delete_lease(
    connection: &Connection,
    task_key: &SummaryKey,
    holder: &str,
) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM lease WHERE errand = ?1 AND holder = ?2")?
        .execute(params![task_key.0.as_bytes(), holder])?;
    Ok(())
}

/// Deletes a refusal; returns how many there were: 1 or 0.
pub(in crate::store::agent) fn delete_refusal(
    connection: &Connection,
    task_key: &SummaryKey,
) -> Result<u64, Error> {
    let mut statement = connection.prepare_cached("DELETE FROM refusal WHERE errand = ?1")?;
    Ok(statement.execute([task_key.0.as_bytes()])? as u64)
}

/// Writes a refusal, in place of the one with its key.
pub(in crate::store::agent) fn upsert_refusal(
    connection: &Connection,
    refused: &RefusalRow,
) -> Result<(), Error> {
    let RefusalRow { task_key, reason, until_ms, at_ms } = refused;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO refusal (errand, why, until_ms, at_ms, ck) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![task_key.0.as_bytes(), reason, until_ms, at_ms, refusal_checksum(refused)])?;
    Ok(())
}

/// Returns the refusal with that key, if it is intact.
pub(in crate::store::agent) fn select_refusal(
    connection: &Connection,
    task_key: &SummaryKey,
) -> Result<Option<RefusalRow>, Error> {
    let query = format!("SELECT {REFUSAL_COLUMNS} FROM refusal WHERE errand = ?1");
    select_first(connection, &query, [task_key.0.as_bytes()], refusal_from_columns)
}

/// Calls `each` with every refusal, newest first; `None` for one that is damaged.
pub(in crate::store::agent) fn select_all_refusals(
    connection: &Connection,
    each: &mut dyn FnMut(Option<RefusalRow>),
) -> Result<(), Error> {
    let query = format!("SELECT {REFUSAL_COLUMNS} FROM refusal ORDER BY at_ms DESC, errand");
    select_each(connection, &query, [], refusal_from_columns, each)
}

/// Reads a refusal; `None` where its columns are not what was once written.
pub(in crate::store::agent) fn refusal_from_columns(columns: &RowColumns<'_>) -> Option<RefusalRow> {
    let refused = RefusalRow {
        task_key: columns.key(0)?,
        reason: columns.text(1)?.to_owned(),
        until_ms: columns.optional_number(2)?,
        at_ms: columns.number(3)?,
    };
    columns.verify_checksum(4, refusal_checksum(&refused))?;
    Some(refused)
}

fn refusal_checksum(refused: &RefusalRow) -> RowChecksum {
    ChecksumBuilder::new("refusal/1")
        .bytes(refused.task_key.0.as_bytes())
        .text(&refused.reason)
        .optional_number(refused.until_ms)
        .number(refused.at_ms)
        .finish()
}

/// Inserts a batch, its items, and their rows of the ledger.
pub(in crate::store::agent) fn insert_batch(
    connection: &Connection,
    new: &NewBatch,
) -> Result<BatchId, Error> {
    let last: i64 = connection.query_row("SELECT coalesce(max(id), 0) FROM batch", [], |row| row.get(0))?;
    let id = BatchId(last.saturating_add(1));
    upsert_batch(
        connection,
        &CallBatch {
            id,
            model: new.model.clone(),
            remote_id: None,
            state: BatchState::Reserved,
            at_ms: new.at_ms,
            items: Vec::new(),
        },
    )?;
    for (reservation, question) in &new.calls {
        let spend = spend::insert_open(connection, reservation)?;
        let item = BatchItem { task_key: reservation.task_key, spend, question: question.clone() };
        upsert_item(connection, id, &item)?;
    }
    Ok(id)
}

/// Returns whether a task is part of a batch.
pub(in crate::store::agent) fn contains_task(
    connection: &Connection,
    task_key: &SummaryKey,
) -> Result<bool, Error> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM batch_item WHERE errand = ?1")?;
    Ok(statement.exists([task_key.0.as_bytes()])?)
}

/// Deletes the item of a call whose answer was recorded.
pub(in crate::store::agent) fn delete_item(connection: &Connection, spend: SpendId) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM batch_item WHERE spend_id = ?1")?.execute([spend.0])?;
    Ok(())
}

/// Deletes the items of a task that will not be answered.
pub(in crate::store::agent) fn delete_items_of_task(
    connection: &Connection,
    task_key: &SummaryKey,
) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM batch_item WHERE errand = ?1")?
        .execute([task_key.0.as_bytes()])?;
    Ok(())
}

/// Writes the row of a batch, in place of the one with its id.
pub(in crate::store::agent) fn upsert_batch(connection: &Connection, batch: &CallBatch) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO batch (id, provider, model, remote_id, state, at_ms, ck)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            batch.id.0,
            batch.model.provider,
            batch.model.model,
            batch.remote_id,
            batch.state.name(),
            batch.at_ms,
            batch_checksum(batch),
        ])?;
    Ok(())
}

/// Writes the row of an item, in place of the one with its id.
pub(in crate::store::agent) fn upsert_item(
    connection: &Connection,
    batch: BatchId,
    item: &BatchItem,
) -> Result<(), Error> {
    let question = &item.question;
    connection
        .prepare_cached(&format!(
            "INSERT OR REPLACE INTO batch_item ({ITEM_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        ))?
        .execute(params![
            item.spend.0,
            batch.0,
            item.task_key.0.as_bytes(),
            question.subject.as_bytes(),
            question.language,
            question.scope.name(),
            question.prompt,
            keys_to_column(question),
            paths_to_column(question),
            item_checksum(batch, item),
        ])?;
    Ok(())
}

/// Returns the batch with that id, without its items, if its row is intact.
pub(in crate::store::agent) fn select_batch(
    connection: &Connection,
    id: BatchId,
) -> Result<Option<CallBatch>, Error> {
    let query = format!("SELECT {BATCH_COLUMNS} FROM batch WHERE id = ?1");
    select_first(connection, &query, [id.0], batch_from_columns)
}

/// Calls `each` with every batch, without its items, the oldest first; `None` for one that is damaged.
pub(in crate::store::agent) fn select_all_batches(
    connection: &Connection,
    each: &mut dyn FnMut(Option<CallBatch>),
) -> Result<(), Error> {
    let query = format!("SELECT {BATCH_COLUMNS} FROM batch ORDER BY id");
    select_each(connection, &query, [], batch_from_columns, each)
}

/// Calls `each` with every item and the id of its batch; `None` for one that is damaged.
pub(in crate::store::agent) fn select_all_items(
    connection: &Connection,
    each: &mut dyn FnMut(Option<(BatchId, BatchItem)>),
) -> Result<(), Error> {
    let query = format!("SELECT {ITEM_COLUMNS} FROM batch_item ORDER BY spend_id");
    select_each(connection, &query, [], item_from_columns, each)
}

/// Deletes a batch and its items.
pub(in crate::store::agent) fn delete_batch(connection: &Connection, id: BatchId) -> Result<(), Error> {
    connection.execute("DELETE FROM batch_item WHERE batch_id = ?1", [id.0])?;
    connection.execute("DELETE FROM batch WHERE id = ?1", [id.0])?;
    Ok(())
}

/// Reads a batch, without its items; `None` where its columns are not what was once written.
pub(in crate::store::agent) fn batch_from_columns(columns: &RowColumns<'_>) -> Option<CallBatch> {
    let state = columns.text(4)?;
    let batch = CallBatch {
        id: BatchId(columns.number(0)?),
        model: columns.model(1)?,
        remote_id: columns.optional_text(3)?.map(str::to_owned),
        state: BatchState::ALL.into_iter().find(|known| known.name() == state)?,
        at_ms: columns.number(5)?,
        items: Vec::new(),
    };
    columns.verify_checksum(6, batch_checksum(&batch))?;
    Some(batch)
}

/// Reads an item and the id of its batch; `None` where its columns are not what was once written.
pub(in crate::store::agent) fn item_from_columns(columns: &RowColumns<'_>) -> Option<(BatchId, BatchItem)> {
    let scope = columns.text(5)?;
    let question = BatchQuestion {
        subject: columns.hash(3)?,
        language: columns.text(4)?.to_owned(),
        scope: SummaryScope::ALL.into_iter().find(|known| known.name() == scope)?,
        prompt: columns.text(6)?.to_owned(),
        keys: keys_from_column(columns.bytes(7)?)?,
        paths: paths_from_column(columns.bytes(8)?),
    };
    let item = BatchItem { spend: SpendId(columns.number(0)?), task_key: columns.key(2)?, question };
    let batch = BatchId(columns.number(1)?);
    columns.verify_checksum(9, item_checksum(batch, &item))?;
    Some((batch, item))
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

fn batch_checksum(batch: &CallBatch) -> RowChecksum {
    ChecksumBuilder::new("batch/1")
        .number(batch.id.0)
        .model(&batch.model)
        .optional_text(batch.remote_id.as_deref())
        .text(batch.state.name())
        .number(batch.at_ms)
        .finish()
}

fn item_checksum(batch: BatchId, item: &BatchItem) -> RowChecksum {
    let question = &item.question;
    ChecksumBuilder::new("batch_item/1")
        .number(item.spend.0)
        .number(batch.0)
        .bytes(item.task_key.0.as_bytes())
        .bytes(question.subject.as_bytes())
        .text(&question.language)
        .text(question.scope.name())
        .text(&question.prompt)
        .bytes(&keys_to_column(question))
        .bytes(&paths_to_column(question))
        .finish()
}
