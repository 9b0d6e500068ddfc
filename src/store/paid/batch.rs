//! The tables `batch` and `batch_item`: calls that were sent as one, until their answers are taken in.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::params;

use super::super::Error;
use super::super::checksum::Checksum;
use super::super::checksum::Summer;
use super::Batch;
use super::BatchId;
use super::BatchItem;
use super::BatchState;
use super::NewBatch;
use super::Paid;
use super::Question;
use super::SpendId;
use super::columns::Columns;
use super::columns::sum_model;
use super::spend;
use crate::model::ContentHash;
use crate::model::Scope;
use crate::model::SummaryKey;
use crate::model::Tier;

/// How many columns [`read`] wants: `id, provider, model, remote_id, state, at_ms, ck`.
pub(super) const COUNT: usize = 7;

/// All columns of an item, in the order in which they are kept.
const ITEM_COLUMNS: &str = "spend_id, batch_id, errand, subject, language, scope, prompt, keys, paths, ck";
/// How many those are: what [`read_item`] wants.
pub(super) const ITEM_COUNT: usize = 10;
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

impl Paid {
    /// Notes that a provider has a batch, and what it calls it.
    pub fn batch_submitted(&mut self, batch: BatchId, remote_id: &str, at_ms: i64) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        let Some(found) = get(&transaction, batch)? else {
            return Err(Error::Sqlite(rusqlite::Error::QueryReturnedNoRows));
        };
        let remote_id = Some(remote_id.to_owned());
        put(&transaction, &Batch { remote_id, state: BatchState::Submitted, at_ms, ..found })?;
        Ok(transaction.commit()?)
    }

    /// Returns the batches whose answers have not all been taken in, the oldest first.
    pub fn open_batches(&self) -> Result<Vec<Batch>, Error> {
        let one_state = self.database.connection.unchecked_transaction()?;
        let mut batches = Vec::new();
        let mut statement = one_state.prepare_cached(
            "SELECT id, provider, model, remote_id, state, at_ms, ck FROM batch ORDER BY id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match read(&Columns::of(row, 0, COUNT)?) {
                Some(batch) => batches.push(batch),
                None => self.database.note_damage(),
            }
        }
        let mut statement =
            one_state.prepare_cached(&format!("SELECT {ITEM_COLUMNS} FROM batch_item ORDER BY spend_id"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some((of, item)) = read_item(&Columns::of(row, 0, ITEM_COUNT)?) else {
                self.database.note_damage();
                continue;
            };
            if let Some(batch) = batches.iter_mut().find(|batch| batch.id == of) {
                batch.items.push(item);
            }
        }
        Ok(batches)
    }

    /// Forgets a batch. What of it was not settled goes on counting as its worst.
    pub fn batch_done(&mut self, batch: BatchId) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        transaction.execute("DELETE FROM batch_item WHERE batch_id = ?1", [batch.0])?;
        transaction.execute("DELETE FROM batch WHERE id = ?1", [batch.0])?;
        Ok(transaction.commit()?)
    }
}

/// Writes a batch, its items, and their rows of the ledger.
pub(super) fn open(connection: &Connection, new: &NewBatch) -> Result<BatchId, Error> {
    let last: i64 = connection.query_row("SELECT coalesce(max(id), 0) FROM batch", [], |row| row.get(0))?;
    let id = BatchId(last.saturating_add(1));
    put(
        connection,
        &Batch {
            id,
            by: new.by.clone(),
            remote_id: None,
            state: BatchState::Reserved,
            at_ms: new.at_ms,
            items: Vec::new(),
        },
    )?;
    for (reservation, question) in &new.calls {
        let spend = spend::open(connection, reservation)?;
        let item = BatchItem { errand: reservation.errand, spend, question: question.clone() };
        put_item(connection, id, &item)?;
    }
    Ok(id)
}

/// Says whether a piece of work is in a batch.
pub(super) fn holds(connection: &Connection, errand: &SummaryKey) -> Result<bool, Error> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM batch_item WHERE errand = ?1")?;
    Ok(statement.exists([errand.0.as_bytes()])?)
}

/// Notes that the answer to a call of a batch has been taken in.
pub(super) fn remove_item(connection: &Connection, spend: SpendId) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM batch_item WHERE spend_id = ?1")?.execute([spend.0])?;
    Ok(())
}

/// Notes that no answer will come that brings this.
pub(super) fn remove_errand(connection: &Connection, errand: &SummaryKey) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM batch_item WHERE errand = ?1")?.execute([errand.0.as_bytes()])?;
    Ok(())
}

/// Writes the row of a batch, in place of an earlier one.
pub(super) fn put(connection: &Connection, batch: &Batch) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO batch (id, provider, model, remote_id, state, at_ms, ck)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            batch.id.0,
            batch.by.provider,
            batch.by.model,
            batch.remote_id,
            batch.state.name(),
            batch.at_ms,
            checksum(batch),
        ])?;
    Ok(())
}

/// Writes the row of an item, in place of an earlier one.
pub(super) fn put_item(connection: &Connection, batch: BatchId, item: &BatchItem) -> Result<(), Error> {
    let question = &item.question;
    connection
        .prepare_cached(&format!(
            "INSERT OR REPLACE INTO batch_item ({ITEM_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        ))?
        .execute(params![
            item.spend.0,
            batch.0,
            item.errand.0.as_bytes(),
            question.subject.as_bytes(),
            question.language,
            question.scope.name(),
            question.prompt,
            keys_column(question),
            paths_column(question),
            item_checksum(batch, item),
        ])?;
    Ok(())
}

/// Returns the batch of that number, without its items.
pub(super) fn get(connection: &Connection, id: BatchId) -> Result<Option<Batch>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT id, provider, model, remote_id, state, at_ms, ck FROM batch WHERE id = ?1")?;
    let found = statement.query_row([id.0], |row| Ok(read(&Columns::of(row, 0, COUNT)?)));
    Ok(found.optional()?.flatten())
}

/// Reads a batch from its columns, without its items. `None` where they are not what was once written.
pub(super) fn read(columns: &Columns<'_>) -> Option<Batch> {
    let state = columns.text(4)?;
    let batch = Batch {
        id: BatchId(columns.number(0)?),
        by: columns.model(1)?,
        remote_id: columns.optional_text(3)?.map(str::to_owned),
        state: BatchState::ALL.into_iter().find(|known| known.name() == state)?,
        at_ms: columns.number(5)?,
        items: Vec::new(),
    };
    columns.is_sum(6, checksum(&batch))?;
    Some(batch)
}

/// Reads an item from its columns, and of which batch it is. `None` where they are not what was once written.
pub(super) fn read_item(columns: &Columns<'_>) -> Option<(BatchId, BatchItem)> {
    let scope = columns.text(5)?;
    let question = Question {
        subject: columns.hash(3)?,
        language: columns.text(4)?.to_owned(),
        scope: Scope::ALL.into_iter().find(|known| known.name() == scope)?,
        prompt: columns.text(6)?.to_owned(),
        keys: read_keys(columns.bytes(7)?)?,
        paths: read_paths(columns.bytes(8)?),
    };
    let item = BatchItem { spend: SpendId(columns.number(0)?), errand: columns.key(2)?, question };
    let batch = BatchId(columns.number(1)?);
    columns.is_sum(9, item_checksum(batch, &item))?;
    Some((batch, item))
}

fn keys_column(question: &Question) -> Vec<u8> {
    let key = |(tier, key): &(Tier, SummaryKey)| [&[tier.number()], key.0.as_bytes().as_slice()].concat();
    question.keys.iter().flat_map(key).collect()
}

fn read_keys(bytes: &[u8]) -> Option<Vec<(Tier, SummaryKey)>> {
    let read = |bytes: &[u8]| {
        let (tier, key) = bytes.split_first()?;
        Some((Tier::from_number(*tier)?, SummaryKey(ContentHash::from_bytes(key.try_into().ok()?))))
    };
    bytes.chunks(KEY_BYTES).map(read).collect()
}

/// No path has a 0 in it.
fn paths_column(question: &Question) -> Vec<u8> {
    question.paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect()
}

fn read_paths(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes
        .split_inclusive(|byte| *byte == 0)
        .map(|path| path.strip_suffix(&[0]).unwrap_or(path).to_vec())
        .collect()
}

fn checksum(batch: &Batch) -> Checksum {
    let sum = sum_model(Summer::new("batch/1").number(batch.id.0), &batch.by);
    sum.optional_text(batch.remote_id.as_deref()).text(batch.state.name()).number(batch.at_ms).finish()
}

fn item_checksum(batch: BatchId, item: &BatchItem) -> Checksum {
    let question = &item.question;
    Summer::new("batch_item/1")
        .number(item.spend.0)
        .number(batch.0)
        .bytes(item.errand.0.as_bytes())
        .bytes(question.subject.as_bytes())
        .text(&question.language)
        .text(question.scope.name())
        .text(&question.prompt)
        .bytes(&keys_column(question))
        .bytes(&paths_column(question))
        .finish()
}
