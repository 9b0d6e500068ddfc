//! The table `latest`: what a file of a path was summarized as last.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::params;

use super::super::Error;
use super::super::checksum::Checksum;
use super::super::checksum::Summer;
use super::Paid;
use super::Summary;
use super::columns::Columns;
use super::counter;
use super::summary;
use crate::model::SummaryKey;
use crate::model::Tier;

/// How many columns [`read`] wants: `path, tier, key, ck`.
pub(super) const COUNT: usize = 4;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Latest {
    pub(super) path: Vec<u8>,
    pub(super) tier: Tier,
    pub(super) key: SummaryKey,
}

impl Paid {
    /// Returns what a file of that path was summarized as last.
    pub fn latest(&self, path: &[u8], tier: Tier) -> Result<Option<Summary>, Error> {
        let connection = &self.database.connection;
        let Some(key) = get(connection, path, tier)? else { return Ok(None) };
        self.summary(&key)
    }

    /// Returns what each file was summarized as last, by path.
    pub fn all_latest(&self, tier: Tier) -> Result<Vec<(Vec<u8>, Summary)>, Error> {
        let question = format!(
            "SELECT latest.path, latest.tier, latest.key, latest.ck, {} FROM latest
             JOIN summary ON summary.key = latest.key WHERE latest.tier = ?1 ORDER BY latest.path",
            summary::COLUMNS
        );
        let mut statement = self.database.connection.prepare_cached(&question)?;
        let mut rows = statement.query([tier.number()])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let latest = read(&Columns::of(row, 0, COUNT)?);
            let summary = summary::read(&Columns::of(row, COUNT, summary::COUNT)?);
            match (latest, summary) {
                (Some(latest), Some(summary)) => all.push((latest.path, summary)),
                (None, _) | (_, None) => self.database.note_damage(),
            }
        }
        Ok(all)
    }

    /// Notes as what files are summarized now. A key of which there is no summary is passed over.
    pub fn note_latest(&mut self, latest: &[(Vec<u8>, SummaryKey)]) -> Result<(), Error> {
        let transaction = self.database.begin()?;
        let mut is_new = false;
        for (path, key) in latest {
            if let Some(summary) = summary::get(&transaction, key)? {
                let latest = Latest { path: path.clone(), tier: summary.tier, key: *key };
                is_new |= note(&transaction, &latest)?;
            }
        }
        if is_new {
            counter::raise_generation(&transaction)?;
        }
        Ok(transaction.commit()?)
    }
}

/// Writes a row. Says whether it is another than before.
pub(super) fn note(connection: &Connection, latest: &Latest) -> Result<bool, Error> {
    if get(connection, &latest.path, latest.tier)? == Some(latest.key) {
        return Ok(false);
    }
    connection
        .prepare_cached("INSERT OR REPLACE INTO latest (path, tier, key, ck) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![latest.path, latest.tier.number(), latest.key.0.as_bytes(), checksum(latest)])?;
    Ok(true)
}

fn get(connection: &Connection, path: &[u8], tier: Tier) -> Result<Option<SummaryKey>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT path, tier, key, ck FROM latest WHERE path = ?1 AND tier = ?2")?;
    let found =
        statement.query_row(params![path, tier.number()], |row| Ok(read(&Columns::of(row, 0, COUNT)?)));
    Ok(found.optional()?.flatten().map(|latest| latest.key))
}

/// Reads a row from its columns. `None` where they are not what was once written.
pub(super) fn read(columns: &Columns<'_>) -> Option<Latest> {
    let latest = Latest {
        path: columns.bytes(0)?.to_owned(),
        tier: Tier::from_number(columns.number(1)?.try_into().ok()?)?,
        key: columns.key(2)?,
    };
    columns.is_sum(3, checksum(&latest))?;
    Some(latest)
}

fn checksum(latest: &Latest) -> Checksum {
    let sum = Summer::new("latest/1").bytes(&latest.path).number(latest.tier.number().into());
    sum.bytes(latest.key.0.as_bytes()).finish()
}
