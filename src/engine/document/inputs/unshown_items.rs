//! Entries of a question for single files that cannot be shown: images, files that hold secrets, links. An entry does
//! not select a file, so nothing else in the answer would report it.

use crate::aggregate::Selector;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::document::request::AggregationRequest;
use crate::engine::error::Error;
use crate::engine::index::listed_files;
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::{FileItem, RelPath, SectionProblem, SkipReason, ViewMode};

/// Adds a note for each entry of the question that should show a file that cannot be shown, and returns the notes as
/// problems. A file that was selected by name is shown as an error anyway.
pub(super) fn note_unshown_items(
    cache: &mut ArtifactCache<'_>,
    request: &AggregationRequest,
    files: &[KnownFile],
    is_named: &dyn Fn(&RelPath) -> bool,
) -> Result<Vec<SectionProblem>, Error> {
    let items = cache.workspace.relative_items(&request.overrides);
    let wants_text = |item: &&FileItem| {
        let view = item.view_mode.unwrap_or(ViewMode::Full);
        item.auto_aggregate && !matches!(view, ViewMode::None | ViewMode::Path)
    };
    let literal = |item: &FileItem| Selector::new_lenient(&item.path).literal_path();
    let paths: Vec<RelPath> =
        items.iter().filter(wants_text).filter_map(literal).filter(|path| !is_named(path)).collect();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let selected = |path: &RelPath| {
        let file = files.iter().find(|file| file.path == *path)?;
        match file.state {
            KnownState::LeftOut(reason) => Some(reason),
            KnownState::Content { .. } => None,
        }
    };
    let listed = listed_files(cache)?;
    let left_out: Vec<(RelPath, SkipReason)> = paths
        .into_iter()
        .filter_map(|path| {
            let reason = selected(&path).or_else(|| listed.left_out(&path))?;
            // A file that cannot be read is reported as an error elsewhere.
            (!reason.is_error()).then_some((path, reason))
        })
        .collect();
    let reasons: Vec<String> = left_out
        .into_iter()
        .map(|(path, reason)| format!("the entry for `{path}` shows nothing: {}", reason.description()))
        .collect();
    for reason in &reasons {
        cache.workspace.note(reason.clone());
    }
    let problem = |reason| SectionProblem { section: "items", reason, is_error: true };
    Ok(reasons.into_iter().map(problem).collect())
}
