//! The table `latest`: what a file of a path was summarized as last.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::params;

use super::super::Error;
use super::super::checksum::ChecksumBuilder;
use super::super::checksum::RowChecksum;
use super::AgentDb;
use super::StoredSummary;
use super::columns::RowColumns;
use super::counter;
use super::summary;
use crate::model::SummaryKey;
use crate::model::Tier;

/// How many columns [`read`] wants: `path, tier, key, ck`.
pub(super) const COLUMN_COUNT: usize = 4;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LatestRow {
    pub(super) path: Vec<u8>,
    pub(super) tier: Tier,
    pub(super) key: SummaryKey,
}

impl AgentDb {
    /// Returns what a file of that path was summarized as last.
    pub fn latest_summary(&self, path: &[u8], tier: Tier) -> Result<Option<StoredSummary>, Error> {
        let connection = &self.database.connection;
        let Some(key) = select_key(connection, path, tier)? else { return Ok(None) };
        self.summary(&key)
    }

    /// Returns what each file was summarized as last, by path.
    pub fn latest_summaries(&self, tier: Tier) -> Result<Vec<(Vec<u8>, StoredSummary)>, Error> {
        let question = format!(
            "SELECT latest.path, latest.tier, latest.key, latest.ck, {} FROM latest
             JOIN summary ON summary.key = latest.key WHERE latest.tier = ?1 ORDER BY latest.path",
            summary::COLUMNS
        );
        let mut statement = self.database.connection.prepare_cached(&question)?;
        let mut rows = statement.query([tier.number()])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let latest = from_columns(&RowColumns::from_row(row, 0, COLUMN_COUNT)?);
            let summary =
                summary::from_columns(&RowColumns::from_row(row, COLUMN_COUNT, summary::COLUMN_COUNT)?);
            match (latest, summary) {
                (Some(latest), Some(summary)) => all.push((latest.path, summary)),
                (None, _) | (_, None) => self.database.record_damage(),
            }
        }
        Ok(all)
    }

    /// Notes as what files are summarized now. A key of which there is no summary is passed over.
    pub fn update_latest(&mut self, latest: &[(Vec<u8>, SummaryKey)]) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        let mut is_new = false;
        for (path, key) in latest {
            if let Some(summary) = summary::get(&transaction, key)? {
                let latest = LatestRow { path: path.clone(), tier: summary.tier, key: *key };
                is_new |= upsert(&transaction, &latest)?;
            }
        }
        if is_new {
            counter::bump_generation(&transaction)?;
        }
        Ok(transaction.commit()?)
    }
}

/// Writes a row. Says whether it is another than before.
pub(super) fn upsert(connection: &Connection, latest: &LatestRow) -> Result<bool, Error> {
    if select_key(connection, &latest.path, latest.tier)? == Some(latest.key) {
        return Ok(false);
    }
    connection
        .prepare_cached("INSERT OR REPLACE INTO latest (path, tier, key, ck) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![latest.path, latest.tier.number(), latest.key.0.as_bytes(), checksum(latest)])?;
    Ok(true)
}

fn select_key(connection: &Connection, path: &[u8], tier: Tier) -> Result<Option<SummaryKey>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT path, tier, key, ck FROM latest WHERE path = ?1 AND tier = ?2")?;
    let found = statement.query_row(params![path, tier.number()], |row| {
        Ok(from_columns(&RowColumns::from_row(row, 0, COLUMN_COUNT)?))
    });
    Ok(found.optional()?.flatten().map(|latest| latest.key))
}

/// Reads a row from its columns. `None` where they are not what was once written.
pub(super) fn from_columns(columns: &RowColumns<'_>) -> Option<LatestRow> {
    let latest = LatestRow {
        path: columns.bytes(0)?.to_owned(),
        tier: Tier::from_number(columns.number(1)?.try_into().ok()?)?,
        key: columns.key(2)?,
    };
    columns.verify_checksum(3, checksum(&latest))?;
    Some(latest)
}

fn checksum(latest: &LatestRow) -> RowChecksum {
    let sum = ChecksumBuilder::new("latest/1").bytes(&latest.path).number(latest.tier.number().into());
    sum.bytes(latest.key.0.as_bytes()).finish()
}
