//! The table `summary`: what models wrote.

use std::collections::HashSet;

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::Params;
use rusqlite::params;

use super::super::Error;
use super::super::checksum::Checksum;
use super::super::checksum::Summer;
use super::Paid;
use super::Summary;
use super::columns::Columns;
use super::columns::money_column;
use super::columns::sum_model;
use super::columns::sum_tokens;
use super::columns::token_columns;
use crate::model::ContentHash;
use crate::model::Scope;
use crate::model::SummaryKey;
use crate::model::Tier;

/// How many columns [`read`] wants.
pub(super) const COUNT: usize = 17;

/// All columns, in the order in which they are kept.
pub(super) const COLUMNS: &str = "summary.id, summary.key, subject, language, scope, summary.tier, prompt, \
    provider, model, text, input, cache_read, cache_write, output, cost, at_ms, summary.ck";

impl Paid {
    /// Returns the summary of that key.
    pub fn summary(&self, key: &SummaryKey) -> Result<Option<Summary>, Error> {
        let found = self.summaries_where("summary.key = ?1", [key.0.as_bytes()])?;
        Ok(found.into_iter().next())
    }

    /// Returns those keys for which there is no summary.
    pub fn missing(&self, keys: &[SummaryKey]) -> Result<Vec<SummaryKey>, Error> {
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
        self.each_where("TRUE", [], &mut |summary| {
            sound.insert(summary.key);
        })?;
        Ok(keys.iter().filter(|key| !sound.contains(*key)).copied().collect())
    }

    /// Returns the summaries of a subject for a tier, newest first.
    pub fn of_subject(
        &self,
        subject: &ContentHash,
        language: &str,
        tier: Tier,
    ) -> Result<Vec<Summary>, Error> {
        let condition = "subject = ?1 AND language = ?2 AND tier = ?3 ORDER BY at_ms DESC, id DESC";
        self.summaries_where(condition, params![subject.as_bytes(), language, tier.number()])
    }

    /// Returns all summaries for a tier, newest first.
    pub fn all_for(&self, tier: Tier) -> Result<Vec<Summary>, Error> {
        self.summaries_where("tier = ?1 ORDER BY at_ms DESC, id DESC", [tier.number()])
    }

    /// Returns all summaries, in the order in which they came.
    pub fn summaries(&self) -> Result<Vec<Summary>, Error> {
        self.summaries_where("TRUE ORDER BY at_ms, id", [])
    }

    fn summaries_where(&self, condition: &str, values: impl Params) -> Result<Vec<Summary>, Error> {
        let mut summaries = Vec::new();
        self.each_where(condition, values, &mut |summary| summaries.push(summary))?;
        Ok(summaries)
    }

    fn each_where(
        &self,
        condition: &str,
        values: impl Params,
        each: &mut dyn FnMut(Summary),
    ) -> Result<(), Error> {
        let question = format!("SELECT {COLUMNS} FROM summary WHERE {condition}");
        let mut statement = self.database.connection.prepare_cached(&question)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            match read(&Columns::of(row, 0, COUNT)?) {
                Some(summary) => each(summary),
                None => self.database.note_damage(),
            }
        }
        Ok(())
    }
}

/// Returns the summary of that key, if it is sound.
pub(super) fn get(connection: &Connection, key: &SummaryKey) -> Result<Option<Summary>, Error> {
    let question = format!("SELECT {COLUMNS} FROM summary WHERE key = ?1");
    let mut statement = connection.prepare_cached(&question)?;
    let found = statement.query_row([key.0.as_bytes()], |row| Ok(read(&Columns::of(row, 0, COUNT)?)));
    Ok(found.optional()?.flatten())
}

/// Keeps a summary, unless one of that key is there and sound. Says whether it was kept.
pub(super) fn keep(connection: &Connection, summary: &Summary) -> Result<bool, Error> {
    if get(connection, &summary.key)?.is_some() {
        return Ok(false);
    }
    let [input, cache_read, cache_write, output] = token_columns(&summary.tokens);
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
            summary.by.provider,
            summary.by.model,
            summary.text,
            input,
            cache_read,
            cache_write,
            output,
            money_column(summary.cost),
            summary.at_ms,
            checksum(summary),
        ])?;
    Ok(true)
}

/// Reads a summary from its columns. `None` where they are not what was once written.
pub(super) fn read(columns: &Columns<'_>) -> Option<Summary> {
    let scope = columns.text(4)?;
    let summary = Summary {
        key: columns.key(1)?,
        subject: columns.hash(2)?,
        language: columns.text(3)?.to_owned(),
        scope: Scope::ALL.into_iter().find(|known| known.name() == scope)?,
        tier: Tier::from_number(columns.number(5)?.try_into().ok()?)?,
        prompt: columns.text(6)?.to_owned(),
        by: columns.model(7)?,
        text: columns.text(9)?.to_owned(),
        tokens: columns.tokens(10)?,
        cost: columns.money(14)?,
        at_ms: columns.number(15)?,
    };
    columns.is_sum(16, checksum(&summary))?;
    Some(summary)
}

fn checksum(summary: &Summary) -> Checksum {
    let sum = Summer::new("summary/1")
        .bytes(summary.key.0.as_bytes())
        .bytes(summary.subject.as_bytes())
        .text(&summary.language)
        .text(summary.scope.name())
        .number(summary.tier.number().into())
        .text(&summary.prompt)
        .text(&summary.text);
    let sum = sum_tokens(sum_model(sum, &summary.by), &summary.tokens);
    sum.number(money_column(summary.cost)).number(summary.at_ms).finish()
}
