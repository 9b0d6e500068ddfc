//! Why nobody is asked about a file that a person has named.

use std::collections::BTreeMap;
use std::collections::HashSet;

use super::eligible::IneligibleReason;
use super::errand::SummaryPolicy;
use super::previewing::content_at;
use super::subjects::SubjectIndex;
use crate::aggregate::Selector;
use crate::engine::error::Error;
use crate::engine::project::Project;
use crate::model::RelPath;

/// Why nobody is asked about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskSkipReason {
    /// Nobody ever is.
    Ineligible(IneligibleReason),
    /// It was tried before, in vain.
    Refused(String),
}

impl Project<'_> {
    /// Returns why nobody is asked about those of the picked files that were named one by one. Nothing is said of those
    /// about which somebody is to be asked, or has answered.
    pub fn skipped_files(
        &mut self,
        wish: &SummaryPolicy,
    ) -> Result<BTreeMap<RelPath, TaskSkipReason>, Error> {
        let mut named = HashSet::new();
        for word in &wish.paths {
            if let Selector::Parts(path) = self.path_selector(word)? {
                named.insert(path);
            }
        }
        let files = self.all_files()?;
        let rules = self.eligibility(wish)?;
        let subjects = SubjectIndex::from_files(&files, &rules, &[]);
        let known = self.known_summaries(wish, &subjects.keys())?;
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
            } else if self.is_written_by_program(content) {
                quiet.insert(file.path.clone(), TaskSkipReason::Ineligible(IneligibleReason::Data));
            }
        }
        Ok(quiet)
    }
}
