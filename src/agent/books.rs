//! Reads summaries and spending from the database, without a service and without the ability to call a model.

use std::collections::BTreeSet;
use std::path::Path;

use super::Error;
use super::collect;
use crate::engine::summaries::SubjectKey;
use crate::model::SummaryKey;
use crate::model::Tier;
use crate::store::agent::AGENT_DATABASE;
use crate::store::agent::AgentDb;
use crate::store::agent::SpendTotals;
use crate::store::agent::StoredSummary;
use crate::store::agent::UsageRow;

/// A reader of the database of paid calls; empty if nothing was ever paid for.
#[derive(Debug)]
pub struct LedgerReader(Option<AgentDb>);

impl LedgerReader {
    /// Opens the database in `folder`, the project's cache, for reading.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Ok(Self(AgentDb::open_reader(&folder.join(AGENT_DATABASE))?))
    }

    /// Returns how much has been spent on that day and in total. Days are counted from 1970-01-01 in UTC.
    pub fn spent(&self, day: i64) -> Result<SpendTotals, Error> {
        Ok(self.0.as_ref().map(|paid| paid.spend_totals(day)).transpose()?.unwrap_or_default())
    }

    /// Returns the calls by day, latest first, and model.
    pub fn usage(&self) -> Result<Vec<UsageRow>, Error> {
        Ok(self.0.as_ref().map(AgentDb::usage).transpose()?.unwrap_or_default())
    }

    /// Returns the tasks that are in batches and have no result yet.
    pub fn in_batches(&self) -> Result<BTreeSet<SummaryKey>, Error> {
        Ok(self.0.as_ref().map(collect::in_batches).transpose()?.unwrap_or_default())
    }

    /// Returns what models wrote about a node for a tier, newest first.
    pub fn summaries(&self, of: &SubjectKey, tier: Tier) -> Result<Vec<StoredSummary>, Error> {
        let found = self
            .0
            .as_ref()
            .map(|paid| paid.summaries_of_subject(&of.subject, of.language, tier))
            .transpose()?;
        Ok(found.unwrap_or_default().into_iter().filter(|summary| summary.scope == of.scope).collect())
    }
}

/// Deletes these refusals from the database in `folder`, so that their tasks are tried again.
pub fn forget_refusals(folder: &Path, refusals: &[SummaryKey]) -> Result<(), Error> {
    let file = folder.join(AGENT_DATABASE);
    if refusals.is_empty() || AgentDb::open_reader(&file)?.is_none() {
        return Ok(());
    }
    AgentDb::open(&file)?.db.delete_refusals_of(refusals)?;
    Ok(())
}
