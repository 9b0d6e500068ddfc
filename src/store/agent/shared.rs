//! The tables of what a team shares: `fetched`, the summaries that others paid for; and `outbox`, the user's own that
//! the team's cache may lack.

use rusqlite::{Connection, params};

use super::rows::{FetchedSummary, StoredSummary};
use super::summary;
use crate::model::{SummaryKey, WriterKey};
use crate::store::error::Error;
use crate::store::row::{RowColumns, RowFields, StoredRow, execute};

/// A summary to be stored in the team's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutboxRow(pub(super) SummaryKey);

/// Returns the fetched summary with this key, if its row is intact and its writer is trusted.
pub(super) fn select_fetched(
    connection: &Connection,
    key: &SummaryKey,
    writers: &[WriterKey],
) -> Result<Option<StoredSummary>, Error> {
    if writers.is_empty() {
        return Ok(None);
    }
    let found = FetchedSummary::select_first(connection, "key = ?1", [key.0.as_bytes()])?;
    Ok(found.filter(|fetched| writers.contains(&fetched.writer)).map(|fetched| fetched.summary))
}

/// Deletes the fetched summary of that key.
pub(super) fn delete_fetched(connection: &Connection, key: &SummaryKey) -> Result<(), Error> {
    execute(connection, "DELETE FROM fetched WHERE key = ?1", [key.0.as_bytes()]).map(drop)
}

/// Returns at most `most` own summaries in the outbox, and removes keys without a summary.
pub(super) fn select_outbox(connection: &Connection, most: u32) -> Result<Vec<StoredSummary>, Error> {
    let orphaned = "DELETE FROM outbox WHERE key NOT IN (SELECT key FROM summary)";
    execute(connection, orphaned, [])?;
    let mut found = Vec::new();
    let condition = "key IN (SELECT key FROM outbox) ORDER BY id LIMIT ?1";
    StoredSummary::select_each(connection, condition, params![most], &mut |row| found.extend(row))?;
    Ok(found)
}

pub(super) fn delete_from_outbox(connection: &Connection, key: &SummaryKey) -> Result<(), Error> {
    execute(connection, "DELETE FROM outbox WHERE key = ?1", [key.0.as_bytes()]).map(drop)
}

impl StoredRow for FetchedSummary {
    const TABLE: &'static str = "fetched";
    const LABEL: &'static str = "fetched summary";
    const COLUMNS: &'static str = "key, subject, language, scope, tier, prompt, text, provider, model, \
        input, cache_read, cache_write, output, cost, at_ms, writer";

    fn fields(&self) -> RowFields<'_> {
        summary::add_fields(RowFields::keyed("fetched/1"), &self.summary).bytes(&self.writer.0)
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        let writer = WriterKey(columns.bytes(16)?.try_into().ok()?);
        Some(Self { summary: StoredSummary::parse(columns)?, writer })
    }

    fn merge(&self, connection: &Connection) -> Result<(), Error> {
        let key = &self.summary.key;
        let is_there = Self::select_first(connection, "key = ?1", [key.0.as_bytes()])?.is_some();
        // Own summaries are never replaced by fetched ones.
        if is_there || summary::select(connection, key)?.is_some() { Ok(()) } else { self.upsert(connection) }
    }
}

impl StoredRow for OutboxRow {
    const TABLE: &'static str = "outbox";
    const LABEL: &'static str = "summary to be shared";
    const COLUMNS: &'static str = "key";

    fn fields(&self) -> RowFields<'_> {
        RowFields::new("outbox/1").bytes(self.0.0.as_bytes())
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        columns.key(0).map(Self)
    }
}
