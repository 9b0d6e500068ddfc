//! The tables `summary`, with the summaries by models, and `latest`, the last summary of each path.

use rusqlite::{Connection, params};

use super::rows::StoredSummary;
use crate::model::{SummaryKey, SummaryScope, Tier};
use crate::store::error::Error;
use crate::store::row::{RowColumns, RowFields, StoredRow, execute};

/// The last summary of a path for a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LatestRow {
    pub(super) path: Vec<u8>,
    pub(super) tier: Tier,
    pub(super) key: SummaryKey,
}

/// The number of columns of `latest`.
const LATEST_COLUMNS: usize = 4;

/// Returns the summary with this key, if it is intact.
pub(super) fn select(connection: &Connection, key: &SummaryKey) -> Result<Option<StoredSummary>, Error> {
    StoredSummary::select_first(connection, "key = ?1", [key.0.as_bytes()])
}

/// Inserts a summary, unless an intact one with this key exists. Returns whether it was inserted.
pub(super) fn insert_if_absent(connection: &Connection, summary: &StoredSummary) -> Result<bool, Error> {
    if select(connection, &summary.key)?.is_some() {
        return Ok(false);
    }
    summary.upsert(connection).map(|()| true)
}

/// Returns the key of the last summary of a path, if its row is intact.
pub(super) fn select_latest_key(
    connection: &Connection,
    path: &[u8],
    tier: Tier,
) -> Result<Option<SummaryKey>, Error> {
    let values = params![path, tier.number()];
    let latest = LatestRow::select_first(connection, "path = ?1 AND tier = ?2", values)?;
    Ok(latest.map(|latest| latest.key))
}

/// Calls `each` with every path of a tier and its last summary in the table of these rows, by path; `None` where either
/// row is damaged.
pub(super) fn select_all_latest<R: StoredRow>(
    connection: &Connection,
    tier: Tier,
    each: &mut dyn FnMut(Option<(Vec<u8>, R)>),
) -> Result<(), Error> {
    let table = R::TABLE;
    let mut statement = connection.prepare_cached(&format!(
        "SELECT latest.*, {table}.* FROM latest JOIN {table} ON {table}.key = latest.key
         WHERE latest.tier = ?1 ORDER BY latest.path",
    ))?;
    let mut rows = statement.query([tier.number()])?;
    while let Some(row) = rows.next()? {
        let (latest, summary) = RowColumns::from_row(row)?.split_at(LATEST_COLUMNS);
        let path = LatestRow::from_columns(&latest).map(|latest| latest.path);
        each(path.and_then(|path| Some((path, R::from_columns(&summary)?))));
    }
    Ok(())
}

/// Deletes the rows of paths whose last summary is gone.
pub(super) fn delete_orphaned_latest(connection: &Connection) -> Result<(), Error> {
    let query =
        "DELETE FROM latest WHERE key NOT IN (SELECT key FROM summary UNION ALL SELECT key FROM fetched)";
    execute(connection, query, []).map(drop)
}

/// Stores the last summary of a path. Returns whether it has changed.
pub(super) fn upsert_latest(connection: &Connection, latest: &LatestRow) -> Result<bool, Error> {
    if select_latest_key(connection, &latest.path, latest.tier)? == Some(latest.key) {
        return Ok(false);
    }
    latest.upsert(connection).map(|()| true)
}

/// Adds the columns of a summary, which two tables share.
pub(super) fn add_fields<'f>(fields: RowFields<'f>, summary: &'f StoredSummary) -> RowFields<'f> {
    fields
        .bytes(summary.key.0.as_bytes())
        .bytes(summary.subject.as_bytes())
        .text(&summary.language)
        .text(summary.scope.name())
        .number(summary.tier.number().into())
        .text(&summary.prompt)
        .text(&summary.text)
        .model(&summary.model)
        .tokens(&summary.tokens)
        .money(summary.cost)
        .number(summary.at_ms)
}

impl StoredRow for StoredSummary {
    const TABLE: &'static str = "summary";
    const LABEL: &'static str = "summary by a model";
    const COLUMNS: &'static str = "key, subject, language, scope, tier, prompt, text, provider, model, \
        input, cache_read, cache_write, output, cost, at_ms";

    fn fields(&self) -> RowFields<'_> {
        add_fields(RowFields::keyed("summary/1"), self)
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        let scope = columns.text(4)?;
        Some(Self {
            key: columns.key(1)?,
            subject: columns.hash(2)?,
            language: columns.text(3)?.to_owned(),
            scope: SummaryScope::ALL.into_iter().find(|known| known.name() == scope)?,
            tier: Tier::from_number(columns.number(5)?.try_into().ok()?)?,
            prompt: columns.text(6)?.to_owned(),
            model: columns.model(7)?,
            text: columns.text(9)?.to_owned(),
            tokens: columns.tokens(10)?,
            cost: columns.money(14)?,
            at_ms: columns.number(15)?,
        })
    }

    fn merge(&self, connection: &Connection) -> Result<(), Error> {
        insert_if_absent(connection, self).map(drop)
    }
}

impl StoredRow for LatestRow {
    const TABLE: &'static str = "latest";
    const LABEL: &'static str = "last summary of a path";
    const COLUMNS: &'static str = "path, tier, key";

    fn fields(&self) -> RowFields<'_> {
        RowFields::keyed("latest/1")
            .bytes(&self.path)
            .number(self.tier.number().into())
            .bytes(self.key.0.as_bytes())
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        let tier = Tier::from_number(columns.number(1)?.try_into().ok()?)?;
        Some(Self { path: columns.bytes(0)?.to_owned(), tier, key: columns.key(2)? })
    }

    fn merge(&self, connection: &Connection) -> Result<(), Error> {
        upsert_latest(connection, self).map(drop)
    }
}
