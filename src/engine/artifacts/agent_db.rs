//! What models wrote and what it cost, as the cache is looked after: status, clearing, checking, export.
//!
//! The database is opened for each of these and closed again. None of them makes it where there is none.

use std::collections::HashMap;
use std::path::Path;

use super::cache::ArtifactCache;
use crate::engine::error::Error;
use crate::model::ContentHash;
use crate::model::Money;
use crate::model::error_chain;
use crate::store;
use crate::store::IntegrityReport;
use crate::store::agent::AGENT_DATABASE;
use crate::store::agent::AgentDb;
use crate::store::agent::AgentDbSize;
use crate::store::agent::OpenedAgentDb;
use crate::store::agent::StoredSummary;

/// What became of the words of models when the cache was cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClearedSummaries {
    /// Summaries that were deleted.
    pub summaries: u64,
    /// Summaries that were kept, because nobody said that they may go.
    pub kept: u64,
    /// What those that were deleted had cost.
    pub cost: Money,
    /// Bytes by which the database became smaller on the disk.
    pub bytes: u64,
}

/// Salvages the database if it is damaged, and tells so. To be done before it is asked what there is to write: a reader
/// mends nothing, and with a damaged file it could not even say that nothing is known.
pub(in crate::engine) fn salvage_agent_db(cache: &mut ArtifactCache<'_>) -> Result<(), Error> {
    if let Some(opened) = open_if_there(&cache.workspace.agent_db_path()).map_err(Error::Paid)? {
        accept_opened(cache, opened);
    }
    Ok(())
}

/// Says how much models wrote; `None` where they never wrote anything, or it cannot be read.
pub(in crate::engine) fn paid_size(cache: &mut ArtifactCache<'_>) -> Option<AgentDbSize> {
    with_reader(cache, AgentDb::size)
}

/// Deletes the summaries of models, all or those of some contents. The ledger stays.
pub(in crate::engine) fn clear_paid(
    cache: &mut ArtifactCache<'_>,
    subjects: Option<&[ContentHash]>,
) -> Result<ClearedSummaries, Error> {
    let opened = open_if_there(&cache.workspace.agent_db_path()).map_err(Error::Paid)?;
    let Some(opened) = opened else { return Ok(ClearedSummaries::default()) };
    let mut paid = accept_opened(cache, opened);
    let freed = paid.clear_summaries(subjects).map_err(Error::Paid)?;
    let kept = paid.size().map_err(Error::Paid)?.summaries;
    Ok(ClearedSummaries { summaries: freed.summaries, kept, cost: freed.cost, bytes: freed.bytes })
}

/// Says how many summaries of models stay, for nobody said that they may go.
pub(in crate::engine) fn keep_paid(cache: &mut ArtifactCache<'_>) -> ClearedSummaries {
    let kept = paid_size(cache).map_or(0, |size| size.summaries);
    ClearedSummaries { kept, ..ClearedSummaries::default() }
}

/// Checks every byte of what models wrote, and adds to what was found elsewhere. A broken database is salvaged.
pub(in crate::engine) fn verify_paid(
    cache: &mut ArtifactCache<'_>,
    verdict: &mut IntegrityReport,
) -> Result<(), Error> {
    let file = cache.workspace.agent_db_path();
    // To open it is to look at its structure, and to salvage it where that is broken.
    let Some(opened) = open_if_there(&file).map_err(Error::Paid)? else { return Ok(()) };
    if let Some(recovery) = &opened.recovery {
        verdict.structure_error.get_or_insert(format!("{AGENT_DATABASE}: {}", recovery.reason));
    }
    let found = accept_opened(cache, opened).verify().map_err(Error::Paid)?;
    verdict.rows += found.rows;
    verdict.damaged_rows.extend(found.damaged_rows);
    Ok(())
}

/// Returns what models wrote of files, by content, the newest last.
pub(in crate::engine) fn model_summaries(
    cache: &mut ArtifactCache<'_>,
) -> HashMap<ContentHash, Vec<StoredSummary>> {
    let mut words: HashMap<ContentHash, Vec<StoredSummary>> = HashMap::new();
    for summary in with_reader(cache, AgentDb::summaries).unwrap_or_default() {
        words.entry(summary.subject).or_default().push(summary);
    }
    words
}

fn with_reader<T>(
    cache: &mut ArtifactCache<'_>,
    ask: impl FnOnce(&AgentDb) -> Result<T, store::Error>,
) -> Option<T> {
    let answer = AgentDb::open_reader(&cache.workspace.agent_db_path())
        .and_then(|paid| paid.as_ref().map(ask).transpose());
    answer.unwrap_or_else(|error| {
        let why = error_chain(&error);
        cache
            .workspace
            .note(format!("what models wrote cannot be read: {why}; `slop cache verify` mends it"));
        None
    })
}

fn accept_opened(cache: &mut ArtifactCache<'_>, opened: OpenedAgentDb) -> AgentDb {
    if let Some(recovery) = opened.recovery {
        cache.workspace.note(recovery.to_string());
    }
    opened.db
}

/// Opens the database if there is one, whatever state it is in.
fn open_if_there(file: &Path) -> Result<Option<OpenedAgentDb>, store::Error> {
    AgentDb::open_if_exists(file)
}
