//! The tables `batch` and `batch_item`: calls that were sent as one, until their answers are taken in.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::params;

use super::super::Error;
use super::super::checksum::ChecksumBuilder;
use super::super::checksum::RowChecksum;
use super::AgentDb;
use super::BatchId;
use super::BatchItem;
use super::BatchQuestion;
use super::BatchState;
use super::CallBatch;
use super::NewBatch;
use super::SpendId;
use super::columns::RowColumns;
use super::columns::hash_model;
use super::spend;
use crate::model::ContentHash;
use crate::model::SummaryKey;
use crate::model::SummaryScope;
use crate::model::Tier;

/// How many columns [`read`] wants: `id, provider, model, remote_id, state, at_ms, ck`.
pub(super) const COLUMN_COUNT: usize = 7;

/// All columns of an item, in the order in which they are kept.
const ITEM_COLUMNS: &str = "spend_id, batch_id, errand, subject, language, scope, prompt, keys, paths, ck";
/// How many those are: what [`read_item`] wants.
pub(super) const ITEM_COLUMN_COUNT: usize = 10;
/// How many bytes a key of a question takes, with its tier.
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

impl AgentDb {
    /// Notes that a provider has a batch, and what it calls it.
    pub fn mark_batch_submitted(&mut self, batch: BatchId, remote_id: &str, at_ms: i64) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        let Some(found) = get(&transaction, batch)? else {
            return Err(Error::Sqlite(rusqlite::Error::QueryReturnedNoRows));
        };
        let remote_id = Some(remote_id.to_owned());
        upsert(&transaction, &CallBatch { remote_id, state: BatchState::Submitted, at_ms, ..found })?;
        Ok(transaction.commit()?)
    }

    /// Returns the batches whose answers have not all been taken in, the oldest first.
    pub fn open_batches(&self) -> Result<Vec<CallBatch>, Error> {
        let one_state = self.database.connection.unchecked_transaction()?;
        let mut batches = Vec::new();
        let mut statement = one_state.prepare_cached(
            "SELECT id, provider, model, remote_id, state, at_ms, ck FROM batch ORDER BY id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match from_columns(&RowColumns::from_row(row, 0, COLUMN_COUNT)?) {
                Some(batch) => batches.push(batch),
                None => self.database.record_damage(),
            }
        }
        let mut statement =
            one_state.prepare_cached(&format!("SELECT {ITEM_COLUMNS} FROM batch_item ORDER BY spend_id"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some((of, item)) = item_from_columns(&RowColumns::from_row(row, 0, ITEM_COLUMN_COUNT)?)
            else {
                self.database.record_damage();
                continue;
            };
            if let Some(batch) = batches.iter_mut().find(|batch| batch.id == of) {
                batch.items.push(item);
            }
        }
        Ok(batches)
    }

    /// Forgets a batch. What of it was not settled goes on counting as its worst.
    pub fn delete_batch(&mut self, batch: BatchId) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        transaction.execute("DELETE FROM batch_item WHERE batch_id = ?1", [batch.0])?;
        transaction.execute("DELETE FROM batch WHERE id = ?1", [batch.0])?;
        Ok(transaction.commit()?)
    }
}

/// Writes a batch, its items, and their rows of the ledger.
pub(super) fn insert(connection: &Connection, new: &NewBatch) -> Result<BatchId, Error> {
    let last: i64 = connection.query_row("SELECT coalesce(max(id), 0) FROM batch", [], |row| row.get(0))?;
    let id = BatchId(last.saturating_add(1));
    upsert(
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

/// Says whether a piece of work is in a batch.
pub(super) fn contains_task(connection: &Connection, errand: &SummaryKey) -> Result<bool, Error> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM batch_item WHERE errand = ?1")?;
    Ok(statement.exists([errand.0.as_bytes()])?)
}

/// Notes that the answer to a call of a batch has been taken in.
pub(super) fn delete_item(connection: &Connection, spend: SpendId) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM batch_item WHERE spend_id = ?1")?.execute([spend.0])?;
    Ok(())
}

/// Notes that no answer will come that brings this.
pub(super) fn delete_items_of_task(connection: &Connection, errand: &SummaryKey) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM batch_item WHERE errand = ?1")?.execute([errand.0.as_bytes()])?;
    Ok(())
}

/// Writes the row of a batch, in place of an earlier one.
pub(super) fn upsert(connection: &Connection, batch: &CallBatch) -> Result<(), Error> {
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
            checksum(batch),
        ])?;
    Ok(())
}

/// Writes the row of an item, in place of an earlier one.
pub(super) fn upsert_item(connection: &Connection, batch: BatchId, item: &BatchItem) -> Result<(), Error> {
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

/// Returns the batch of that number, without its items.
pub(super) fn get(connection: &Connection, id: BatchId) -> Result<Option<CallBatch>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT id, provider, model, remote_id, state, at_ms, ck FROM batch WHERE id = ?1")?;
    let found =
        statement.query_row([id.0], |row| Ok(from_columns(&RowColumns::from_row(row, 0, COLUMN_COUNT)?)));
    Ok(found.optional()?.flatten())
}

/// Reads a batch from its columns, without its items. `None` where they are not what was once written.
pub(super) fn from_columns(columns: &RowColumns<'_>) -> Option<CallBatch> {
    let state = columns.text(4)?;
    let batch = CallBatch {
        id: BatchId(columns.number(0)?),
        model: columns.model(1)?,
        remote_id: columns.optional_text(3)?.map(str::to_owned),
        state: BatchState::ALL.into_iter().find(|known| known.name() == state)?,
        at_ms: columns.number(5)?,
        items: Vec::new(),
    };
    columns.verify_checksum(6, checksum(&batch))?;
    Some(batch)
}

/// Reads an item from its columns, and of which batch it is. `None` where they are not what was once written.
pub(super) fn item_from_columns(columns: &RowColumns<'_>) -> Option<(BatchId, BatchItem)> {
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

/// No path has a 0 in it.
fn paths_to_column(question: &BatchQuestion) -> Vec<u8> {
    question.paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect()
}

fn paths_from_column(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes
        .split_inclusive(|byte| *byte == 0)
        .map(|path| path.strip_suffix(&[0]).unwrap_or(path).to_vec())
        .collect()
}

fn checksum(batch: &CallBatch) -> RowChecksum {
    let sum = hash_model(ChecksumBuilder::new("batch/1").number(batch.id.0), &batch.model);
    sum.optional_text(batch.remote_id.as_deref()).text(batch.state.name()).number(batch.at_ms).finish()
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
