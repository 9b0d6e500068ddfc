//! The tables `summary`, which holds what models wrote, and `latest`: the last summary of each path.

use rusqlite::{Connection, Params, params};

use crate::model::{SummaryKey, SummaryScope, Tier};
use crate::store::agent::rows::StoredSummary;
use crate::store::sqlite::{
    ChecksumBuilder, Error, RowChecksum, RowColumns, money_to_column, select_each, select_first,
    tokens_to_columns,
};

/// All columns of a summary, in their order.
const COLUMNS: &str = "summary.id, summary.key, subject, language, scope, summary.tier, prompt, \
    provider, model, text, input, cache_read, cache_write, output, cost, at_ms, summary.ck";

/// Which summary was the last of a path and a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::store::agent) struct LatestRow {
    pub(in crate::store::agent) path: Vec<u8>,
    pub(in crate::store::agent) tier: Tier,
    pub(in crate::store::agent) key: SummaryKey,
}

/// Returns the summary of that key, if it is intact.
pub(in crate::store::agent) fn select(
    connection: &Connection,
    key: &SummaryKey,
) -> Result<Option<StoredSummary>, Error> {
    let query = format!("SELECT {COLUMNS} FROM summary WHERE key = ?1");
    select_first(connection, &query, [key.0.as_bytes()], from_columns)
}

/// Calls `each` with the summaries that meet a condition; `None` for one that is damaged.
pub(in crate::store::agent) fn select_where(
    connection: &Connection,
    condition: &str,
    values: impl Params,
    each: &mut dyn FnMut(Option<StoredSummary>),
) -> Result<(), Error> {
    let query = format!("SELECT {COLUMNS} FROM summary WHERE {condition}");
    select_each(connection, &query, values, from_columns, each)
}

/// Inserts a summary, unless an intact one of that key exists. Returns whether it was inserted.
pub(in crate::store::agent) fn insert_if_absent(
    connection: &Connection,
    summary: &StoredSummary,
) -> Result<bool, Error> {
    if select(connection, &summary.key)?.is_some() {
        return Ok(false);
    }
    let [input, cache_read, cache_write, output] = tokens_to_columns(&summary.tokens);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO summary (key, subject, language, scope, tier, prompt, provider, model, text,
                 input, cache_read, cache_write, output, cost, at_ms, ck)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?
        .execute(params![
            summary.key.0.as_bytes(),
            summary.subject.as_bytes(),
            summary.language,
            summary.scope.name(),
            summary.tier.number(),
            summary.prompt,
            summary.model.provider,
            summary.model.model,
            summary.text,
            input,
            cache_read,
            cache_write,
            output,
            money_to_column(summary.cost),
            summary.at_ms,
            checksum(summary),
        ])?;
    Ok(true)
}

/// Reads a summary; `None` where its columns are not what was once written.
pub(in crate::store::agent) fn from_columns(columns: &RowColumns<'_>) -> Option<StoredSummary> {
    let scope = columns.text(4)?;
    let summary = StoredSummary {
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
    };
    columns.verify_checksum(16, checksum(&summary))?;
    Some(summary)
}

fn checksum(summary: &StoredSummary) -> RowChecksum {
    ChecksumBuilder::new("summary/1")
        .bytes(summary.key.0.as_bytes())
        .bytes(summary.subject.as_bytes())
        .text(&summary.language)
        .text(summary.scope.name())
        .number(summary.tier.number().into())
        .text(&summary.prompt)
        .text(&summary.text)
        .model(&summary.model)
        .tokens(&summary.tokens)
        .number(money_to_column(summary.cost))
        .number(summary.at_ms)
        .finish()
}

/// Returns the key of the last summary of a path, if its row is intact.
pub(in crate::store::agent) fn select_latest_key(
    connection: &Connection,
    path: &[u8],
    tier: Tier,
) -> Result<Option<SummaryKey>, Error> {
    let query = "SELECT path, tier, key, ck FROM latest WHERE path = ?1 AND tier = ?2";
    let latest = select_first(connection, query, params![path, tier.number()], latest_from_columns)?;
    Ok(latest.map(|latest| latest.key))
}

/// Calls `each` with every path of a tier and its last summary, by path; `None` where either row is damaged.
pub(in crate::store::agent) fn select_all_latest(
    connection: &Connection,
    tier: Tier,
    each: &mut dyn FnMut(Option<(Vec<u8>, StoredSummary)>),
) -> Result<(), Error> {
    let query = format!(
        "SELECT latest.path, latest.tier, latest.key, latest.ck, {COLUMNS} FROM latest
         JOIN summary ON summary.key = latest.key WHERE latest.tier = ?1 ORDER BY latest.path"
    );
    let read = |columns: &RowColumns<'_>| {
        Some((latest_from_columns(columns)?.path, from_columns(&columns.after(LATEST_COLUMNS))?))
    };
    select_each(connection, &query, [tier.number()], read, each)
}

/// Writes which summary is the last of a path. Returns whether that is another than before.
pub(in crate::store::agent) fn upsert_latest(
    connection: &Connection,
    latest: &LatestRow,
) -> Result<bool, Error> {
    if select_latest_key(connection, &latest.path, latest.tier)? == Some(latest.key) {
        return Ok(false);
    }
    connection
        .prepare_cached("INSERT OR REPLACE INTO latest (path, tier, key, ck) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            latest.path,
            latest.tier.number(),
            latest.key.0.as_bytes(),
            latest_checksum(latest)
        ])?;
    Ok(true)
}

/// How many columns [`latest_from_columns`] reads.
const LATEST_COLUMNS: usize = 4;

/// Reads a row of `latest`; `None` where its columns are not what was once written.
pub(in crate::store::agent) fn latest_from_columns(columns: &RowColumns<'_>) -> Option<LatestRow> {
    let latest = LatestRow {
        path: columns.bytes(0)?.to_owned(),
        tier: Tier::from_number(columns.number(1)?.try_into().ok()?)?,
        key: columns.key(2)?,
    };
    columns.verify_checksum(3, latest_checksum(&latest))?;
    Some(latest)
}

fn latest_checksum(latest: &LatestRow) -> RowChecksum {
    ChecksumBuilder::new("latest/1")
        .bytes(&latest.path)
        .number(latest.tier.number().into())
        .bytes(latest.key.0.as_bytes())
        .finish()
}
