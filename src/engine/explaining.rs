//! What a limit makes of single files.

use std::collections::HashMap;

use super::aggregation::AggregationRequest;
use super::error::Error;
use super::project::Project;
use crate::aggregate::Importance;
use crate::model::RelPath;
use crate::model::ViewMode;

/// What the limits of a document make of a file.
#[derive(Debug, Clone)]
pub struct UnderLimits {
    /// What it is shown as; `None` where there is no room for it.
    pub view: Option<ViewMode>,
    /// Why that is not what was wanted.
    pub why: Option<String>,
    /// Its place among the files by importance, from 1.
    pub place: usize,
    /// How many files the document is about.
    pub files: usize,
    /// Why it has that place.
    pub importance: Importance,
    /// How often commits changed it of late, in millionths of a change.
    pub changes: u64,
}

impl Project<'_> {
    /// Returns what the limits make of each file, if there are any: to know it of one, all must be fitted together.
    pub(super) fn under_limits(
        &mut self,
        request: &AggregationRequest,
    ) -> Result<HashMap<RelPath, UnderLimits>, Error> {
        if !request.limits.is_some() {
            return Ok(HashMap::new());
        }
        // A document that cannot be composed has nothing to be explained.
        let mut prepared = self.prepare(request)?;
        self.compose(&mut prepared, request.limits)?;
        let (whole, basis) = self.fitted(prepared);
        let files = whole.files.len() + whole.crowded_out.len();
        let shown = whole.files.into_iter().map(|shown| (shown, true));
        let all = shown.chain(whole.crowded_out.into_iter().map(|shown| (shown, false)));
        let fates = all.filter_map(|(shown, is_shown)| {
            let (place, importance) = shown.standing?;
            let changes = basis.history.as_ref().and_then(|history| history.scores.get(&shown.file.path));
            let fate = UnderLimits {
                view: is_shown.then_some(shown.candidate.block.view),
                why: shown.candidate.why,
                place,
                files,
                importance,
                changes: changes.copied().unwrap_or(0),
            };
            Some((shown.file.path, fate))
        });
        Ok(fates.collect())
    }
}
