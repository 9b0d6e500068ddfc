//! Why nobody is asked about a file that a person has named.

use std::collections::BTreeMap;
use std::collections::HashSet;

use super::eligible::{IneligibleReason, eligibility};
use super::errand::SummaryPolicy;
use super::errands::{all_files, is_written_by_program, path_selector};
use super::known::known_summaries;
use super::previewing::content_at;
use super::subjects::SubjectIndex;
use crate::aggregate::Selector;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::model::RelPath;

/// Why nobody is asked about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskSkipReason {
    /// Nobody ever is.
    Ineligible(IneligibleReason),
    /// It was tried before, in vain.
    Refused(String),
}

/// Returns why nobody is asked about those of the picked files that were named one by one. Nothing is said of those
/// about which somebody is to be asked, or has answered.
pub(in crate::engine) fn skipped_files(
    cache: &mut ArtifactCache<'_>,
    wish: &SummaryPolicy,
) -> Result<BTreeMap<RelPath, TaskSkipReason>, Error> {
    let mut named = HashSet::new();
    for word in &wish.paths {
        if let Selector::Parts(path) = path_selector(&cache.workspace, word)? {
            named.insert(path);
        }
    }
    let files = all_files(cache)?;
    let rules = eligibility(&cache.workspace, wish)?;
    let subjects = SubjectIndex::from_files(&files, &rules, &[]);
    let known = known_summaries(&cache.workspace, wish, &subjects.keys())?;
    let mut quiet = BTreeMap::new();
    for file in files.iter().filter(|file| named.contains(file.path.as_bytes())) {
        if let Err(reason) = rules.check(file) {
            quiet.insert(file.path.clone(), TaskSkipReason::Ineligible(reason));
            continue;
        }
        let Some(content) = content_at(Some(&file.path), None, &subjects) else { continue };
        if known.is_done(&content.key, content.strategy) {
            continue;
        }
        let id = known.task_id(&content.key, content.strategy);
        if let Some(why) = id.and_then(|id| known.refusal(&id)) {
            quiet.insert(file.path.clone(), TaskSkipReason::Refused(why.to_owned()));
        } else if is_written_by_program(cache, content) {
            quiet.insert(file.path.clone(), TaskSkipReason::Ineligible(IneligibleReason::Data));
        }
    }
    Ok(quiet)
}
