//! The table `summary`: what models wrote.

use std::collections::HashSet;

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::Params;
use rusqlite::params;

use super::super::Error;
use super::super::checksum::ChecksumBuilder;
use super::super::checksum::RowChecksum;
use super::AgentDb;
use super::StoredSummary;
use super::columns::RowColumns;
use super::columns::hash_model;
use super::columns::hash_tokens;
use super::columns::money_to_column;
use super::columns::tokens_to_columns;
use crate::model::ContentHash;
use crate::model::SummaryKey;
use crate::model::SummaryScope;
use crate::model::Tier;

/// How many columns [`read`] wants.
pub(super) const COLUMN_COUNT: usize = 17;

/// All columns, in the order in which they are kept.
pub(super) const COLUMNS: &str = "summary.id, summary.key, subject, language, scope, summary.tier, prompt, \
    provider, model, text, input, cache_read, cache_write, output, cost, at_ms, summary.ck";

impl AgentDb {
    /// Returns the summary of that key.
    pub fn summary(&self, key: &SummaryKey) -> Result<Option<StoredSummary>, Error> {
        let found = self.summaries_where("summary.key = ?1", [key.0.as_bytes()])?;
        Ok(found.into_iter().next())
    }

    /// Returns those keys for which there is no summary.
    pub fn missing_keys(&self, keys: &[SummaryKey]) -> Result<Vec<SummaryKey>, Error> {
        /// So many look-ups take as long as reading all keys of a large project.
        const FEW: usize = 200;
        if keys.len() < FEW {
            let mut missing = keys.to_vec();
            let mut failed = Ok(());
            missing.retain(|key| match self.summary(key) {
                Ok(found) => found.is_none(),
                Err(error) => {
                    failed = Err(error);
                    true
                }
            });
            return failed.map(|()| missing);
        }
        let mut sound = HashSet::new();
        self.for_each_where("TRUE", [], &mut |summary| {
            sound.insert(summary.key);
        })?;
        Ok(keys.iter().filter(|key| !sound.contains(*key)).copied().collect())
    }

    /// Returns the summaries of a subject for a tier, newest first.
    pub fn summaries_of_subject(
        &self,
        subject: &ContentHash,
        language: &str,
        tier: Tier,
    ) -> Result<Vec<StoredSummary>, Error> {
        let condition = "subject = ?1 AND language = ?2 AND tier = ?3 ORDER BY at_ms DESC, id DESC";
        self.summaries_where(condition, params![subject.as_bytes(), language, tier.number()])
    }

    /// Returns all summaries for a tier, newest first.
    pub fn summaries_for_tier(&self, tier: Tier) -> Result<Vec<StoredSummary>, Error> {
        self.summaries_where("tier = ?1 ORDER BY at_ms DESC, id DESC", [tier.number()])
    }

    /// Returns all summaries, in the order in which they came.
    pub fn summaries(&self) -> Result<Vec<StoredSummary>, Error> {
        self.summaries_where("TRUE ORDER BY at_ms, id", [])
    }

    fn summaries_where(&self, condition: &str, values: impl Params) -> Result<Vec<StoredSummary>, Error> {
        let mut summaries = Vec::new();
        self.for_each_where(condition, values, &mut |summary| summaries.push(summary))?;
        Ok(summaries)
    }

    fn for_each_where(
        &self,
        condition: &str,
        values: impl Params,
        each: &mut dyn FnMut(StoredSummary),
    ) -> Result<(), Error> {
        let question = format!("SELECT {COLUMNS} FROM summary WHERE {condition}");
        let mut statement = self.database.connection.prepare_cached(&question)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            match from_columns(&RowColumns::from_row(row, 0, COLUMN_COUNT)?) {
                Some(summary) => each(summary),
                None => self.database.record_damage(),
            }
        }
        Ok(())
    }
}

/// Returns the summary of that key, if it is sound.
pub(super) fn get(connection: &Connection, key: &SummaryKey) -> Result<Option<StoredSummary>, Error> {
    let question = format!("SELECT {COLUMNS} FROM summary WHERE key = ?1");
    let mut statement = connection.prepare_cached(&question)?;
    let found = statement
        .query_row([key.0.as_bytes()], |row| Ok(from_columns(&RowColumns::from_row(row, 0, COLUMN_COUNT)?)));
    Ok(found.optional()?.flatten())
}

/// Keeps a summary, unless one of that key is there and sound. Says whether it was kept.
pub(super) fn insert_if_absent(connection: &Connection, summary: &StoredSummary) -> Result<bool, Error> {
    if get(connection, &summary.key)?.is_some() {
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

/// Reads a summary from its columns. `None` where they are not what was once written.
pub(super) fn from_columns(columns: &RowColumns<'_>) -> Option<StoredSummary> {
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
    let sum = ChecksumBuilder::new("summary/1")
        .bytes(summary.key.0.as_bytes())
        .bytes(summary.subject.as_bytes())
        .text(&summary.language)
        .text(summary.scope.name())
        .number(summary.tier.number().into())
        .text(&summary.prompt)
        .text(&summary.text);
    let sum = hash_tokens(hash_model(sum, &summary.model), &summary.tokens);
    sum.number(money_to_column(summary.cost)).number(summary.at_ms).finish()
}
