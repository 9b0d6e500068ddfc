//! The summaries that models wrote, and what their calls cost.

use std::path::Path;

use super::agent::{summary_policy, writer_keys};
use super::writing::cache_folder;
use crate::agent::{LedgerReader, SpendTotals, StoredSummary, UsageRow};
use crate::api::ApiError;
use crate::config::LoadedConfig;
use crate::engine::summaries::{SubjectKey, SubjectLocation};
use crate::engine::{Project, World};
use crate::model::{SECONDS_A_DAY, Tier, utc_day};

/// The summaries that models wrote about one subject.
#[derive(Debug)]
pub struct SubjectSummaries {
    pub place: SubjectLocation,
    /// The summaries by tier, the newest first.
    pub summaries: Vec<ShownSummary>,
}

/// A summary, and its origin.
#[derive(Debug)]
pub struct ShownSummary {
    pub summary: StoredSummary,
    /// The writer's name in `share.writers`, if it was fetched from the team's cache.
    pub fetched_from: Option<String>,
}

/// Which subjects' summaries are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectScope {
    /// The file or folder itself.
    Own,
    /// The folder and everything in it.
    Below,
    /// The project and the folders in its root.
    Top,
}

/// The calls that were made, and their cost.
#[derive(Debug)]
pub struct UsageReport {
    /// The calls by day and model, the latest day first.
    pub rows: Vec<UsageRow>,
    /// What has been spent today and in total.
    pub spent: SpendTotals,
}

/// Returns the summaries that models wrote about the subjects that a path or pattern selects; subjects without any are
/// left out.
pub fn written_summaries(
    root: &Path,
    loaded: &LoadedConfig,
    named: &str,
    extent: SubjectScope,
    tiers: &[Tier],
    world: World<'_>,
) -> Result<Vec<SubjectSummaries>, ApiError> {
    let mut project = Project::open(root, loaded.engine_options(root), world)?;
    let picks = if named == "." { Vec::new() } else { vec![named.to_owned()] };
    let mut subjects =
        project.summary_subjects(&summary_policy(loaded, Vec::new(), tiers.to_vec(), picks))?;
    retain_scope(&mut subjects, named.trim_end_matches('/'), extent);
    // Read without the claims: summaries can be shown while a run or the daemon writes others.
    let ledger = LedgerReader::open(&cache_folder(root, loaded))?.with_trusted_writers(&writer_keys(loaded));
    let mut shown = Vec::new();
    for (place, node) in subjects {
        let mut summaries = Vec::new();
        for tier in tiers {
            for summary in ledger.summaries(&node, *tier)? {
                let writer = ledger.writer_of(&summary.key)?;
                let known = loaded.settings.share.writers.iter();
                let name =
                    |writer| known.clone().find(|known| known.key == writer).map(|known| known.name.clone());
                summaries.push(ShownSummary { fetched_from: writer.and_then(name), summary });
            }
        }
        if !summaries.is_empty() {
            shown.push(SubjectSummaries { place, summaries });
        }
    }
    Ok(shown)
}

/// Keeps the subjects within the scope. A pattern is not a subject itself, so everything that it selects is kept.
fn retain_scope(subjects: &mut Vec<(SubjectLocation, SubjectKey)>, word: &str, extent: SubjectScope) {
    let is_own = |place: &SubjectLocation| match place {
        SubjectLocation::Root => word == ".",
        SubjectLocation::Folder(path) | SubjectLocation::File(path) => path.as_bytes() == word.as_bytes(),
    };
    let is_top = |place: &SubjectLocation| match place {
        SubjectLocation::Root => true,
        SubjectLocation::Folder(path) => path.parent().is_empty(),
        SubjectLocation::File(_) => false,
    };
    match extent {
        SubjectScope::Top => subjects.retain(|(place, _)| is_top(place)),
        SubjectScope::Own if subjects.iter().any(|(place, _)| is_own(place)) => {
            subjects.retain(|(place, _)| is_own(place));
        }
        SubjectScope::Own | SubjectScope::Below => {}
    }
}

/// Returns the calls until `now_s`, in seconds since the epoch, and their cost.
pub fn usage(root: &Path, loaded: &LoadedConfig, now_s: i64) -> Result<UsageReport, ApiError> {
    let ledger = LedgerReader::open(&cache_folder(root, loaded))?;
    Ok(UsageReport { rows: ledger.usage()?, spent: ledger.spent(utc_day(now_s))? })
}

/// Returns the date of a day that is counted from 1970-01-01, as year, month and day.
pub fn format_day(day: i64) -> String {
    let moment = day.checked_mul(SECONDS_A_DAY).and_then(|second| jiff::Timestamp::from_second(second).ok());
    moment.map_or("-".to_owned(), |moment| moment.to_zoned(jiff::tz::TimeZone::UTC).date().to_string())
}
