//! What was written and what it cost, for whoever only looks. No office is needed, and nobody can be asked.

use std::collections::BTreeSet;
use std::path::Path;

use super::Error;
use super::collect;
use crate::engine::agent::Node;
use crate::model::SummaryKey;
use crate::model::Tier;
use crate::store::paid::PAID_DATABASE;
use crate::store::paid::Paid;
use crate::store::paid::Spent;
use crate::store::paid::Summary;
use crate::store::paid::UsageRow;

/// The database of what was paid for, or none where nothing has been.
#[derive(Debug)]
pub struct Books(Option<Paid>);

impl Books {
    /// Opens the books in `folder`, the project's cache, for reading.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Ok(Self(Paid::open_reader(&folder.join(PAID_DATABASE))?))
    }

    /// Returns how much has been spent until now, on that day and in all. Days are counted from 1970-01-01 in UTC.
    pub fn spent(&self, day: i64) -> Result<Spent, Error> {
        Ok(self.0.as_ref().map(|paid| paid.spent(day)).transpose()?.unwrap_or_default())
    }

    /// Returns the calls by day, the last one first, and model.
    pub fn usage(&self) -> Result<Vec<UsageRow>, Error> {
        Ok(self.0.as_ref().map(Paid::usage).transpose()?.unwrap_or_default())
    }

    /// Returns the questions that are in batches, whose answers are still to come.
    pub fn in_batches(&self) -> Result<BTreeSet<SummaryKey>, Error> {
        Ok(self.0.as_ref().map(collect::in_batches).transpose()?.unwrap_or_default())
    }

    /// Returns what models wrote of something for a tier, the newest first.
    pub fn summaries(&self, of: &Node, tier: Tier) -> Result<Vec<Summary>, Error> {
        let found =
            self.0.as_ref().map(|paid| paid.of_subject(&of.subject, of.language, tier)).transpose()?;
        Ok(found.unwrap_or_default().into_iter().filter(|summary| summary.scope == of.scope).collect())
    }
}

/// Forgets in the books in `folder` these refusals, so that what they refuse is asked again.
pub fn forgive(folder: &Path, refusals: &[SummaryKey]) -> Result<(), Error> {
    let file = folder.join(PAID_DATABASE);
    if refusals.is_empty() || Paid::open_reader(&file)?.is_none() {
        return Ok(());
    }
    Paid::open(&file)?.paid.forgive_some(refusals)?;
    Ok(())
}
