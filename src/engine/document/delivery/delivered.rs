//! What has changed in the files of a document since its delivery.

use std::collections::HashSet;

use crate::aggregate;
use crate::aggregate::{CuratedItems, FocusLines};
use crate::engine::artifacts::hide_by_settings;
use crate::engine::document::rendering::{Renderer, ViewParams};
use crate::engine::document::request::CURATION_MARK;
use crate::engine::document::run::DocumentRun;
use crate::engine::error::Error;
use crate::engine::index::{FileSelection, Trust, select_named};
use crate::engine::summaries::ModelSummaries;
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::{DocsDetail, RelPath, SummaryDetail, ViewMode};
use crate::store::DeliveredFile;

/// The name of the delivered text in a diff.
const GIVEN: &str = "it was given";

/// What documents are recorded under: a name, and a hash that distinguishes documents of one name with different
/// curation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordName {
    pub name: String,
    /// A hash of the curation, if it differs from that of the settings.
    pub curation: Option<String>,
}

impl RecordName {
    pub(in crate::engine) fn from_key(key: &str) -> Self {
        let (name, curation) = match key.split_once(CURATION_MARK) {
            Some((name, curation)) => (name, Some(curation.to_owned())),
            None => (key, None),
        };
        Self { name: name.to_owned(), curation }
    }

    pub(in crate::engine) fn key(&self) -> String {
        let curation = self.curation.as_ref().map(|curation| format!("{CURATION_MARK}{curation}"));
        format!("{}{}", self.name, curation.unwrap_or_default())
    }
}

/// A file of a delivered document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveredFileStatus {
    pub path: RelPath,
    /// How it was shown; `None` if it was not.
    pub view: Option<ViewMode>,
    pub state: DeliveredFileState,
}

/// The state of a file relative to a delivered document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveredFileState {
    Same,
    Changed,
    /// The document does not contain it, and it was written since.
    New,
    /// The file no longer exists, or has no text to show.
    Gone,
}

/// A file of a delivered document, with the changes in what was shown of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveredFileDiff {
    pub file: DeliveredFileStatus,
    /// A unified diff, empty if nothing has changed; `None` if there is none, for the given `reason`.
    pub diff: Option<String>,
    pub reason: Option<&'static str>,
    /// The number of delivered lines that are left out, because a mask now hides symbols of the file.
    pub hidden_lines: usize,
}

impl DocumentRun<'_, '_> {
    /// Returns the current states of the files of a document that was delivered at a time in nanoseconds, by path.
    pub(in crate::engine) fn delivered_files(
        &mut self,
        record: &RecordName,
        at_ns: Option<i64>,
    ) -> Result<Vec<DeliveredFileStatus>, Error> {
        let rows = self.given_rows(record);
        let FileSelection { mut files, .. } = select_named(self.cache, &[], Trust::Stamps, &|_| false)?;
        hide_by_settings(self.cache, &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut given: Vec<DeliveredFileStatus> = rows
            .iter()
            .map(|row| {
                let at = files.binary_search_by(|file| file.path.cmp(&row.path)).ok();
                given_file(row, at.map(|at| &files[at]))
            })
            .collect();
        let known: HashSet<&RelPath> = rows.iter().map(|row| &row.path).collect();
        let is_new = |file: &&KnownFile| {
            let is_later = file.mtime_ns().zip(at_ns).is_some_and(|(written, given)| given < written);
            is_later && matches!(file.state, KnownState::Content { .. }) && !known.contains(&file.path)
        };
        let new = files.iter().filter(is_new).map(|file| file.path.clone());
        given.extend(new.map(|path| DeliveredFileStatus {
            path,
            view: None,
            state: DeliveredFileState::New,
        }));
        given.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(given)
    }

    /// Returns the changes of a file; `None` if the document does not contain it. Text that a mask hides by now is not
    /// shown again: then the diff has only lines that the file has now.
    pub(in crate::engine) fn delivered_diff(
        &mut self,
        record: &RecordName,
        word: &str,
    ) -> Result<Option<DeliveredFileDiff>, Error> {
        let path = self.cache.workspace.resolve_path(word)?;
        let Some(row) = self.given_rows(record).into_iter().find(|row| Some(&row.path) == path.as_ref())
        else {
            return Ok(None);
        };
        let selected = select_named(self.cache, &[row.path.to_string()], Trust::Stamps, &|_| true);
        let mut files = selected.map_or(Vec::new(), |selection| selection.files);
        hide_by_settings(self.cache, &mut files);
        let current = files.iter().find(|file| file.path == row.path);
        let file = given_file(&row, current);
        let unknown = |reason| DeliveredFileDiff {
            file: file.clone(),
            diff: None,
            reason: Some(reason),
            hidden_lines: 0,
        };
        let current = match (file.state, current) {
            (DeliveredFileState::Same, _) => {
                let diff = Some(String::new());
                return Ok(Some(DeliveredFileDiff { file, diff, reason: None, hidden_lines: 0 }));
            }
            (_, Some(current)) if file.state == DeliveredFileState::Changed => current,
            (_, _) => return Ok(Some(unknown("the file is gone, or has no text to show"))),
        };
        let key = record.key();
        let given = self.cache.query_store(|store| store.delivered_text(&key, &row.path)).flatten();
        let Some(given) = given.map(|given| aggregate::split_shown(&given).0.to_owned()) else {
            return Ok(Some(unknown("the text that was given is not kept")));
        };
        let Some(diff) = self.smallest_diff(&row, current, &given) else {
            return Ok(Some(unknown("the view depends on more than the file")));
        };
        let is_hiding = self.cache.workspace.hidden.get(&row.path).is_some();
        let (diff, hidden_lines) = if is_hiding { aggregate::without_old_lines(&diff) } else { (diff, 0) };
        Ok(Some(DeliveredFileDiff { file, diff: Some(diff), reason: None, hidden_lines }))
    }

    fn given_rows(&mut self, record: &RecordName) -> Vec<DeliveredFile> {
        let key = record.key();
        self.cache.query_store(|store| store.delivered_files(&key)).unwrap_or_default()
    }

    /// Returns the diff from the delivered text to the same view of the file now; `None` if there is no such view.
    ///
    /// The detail of a skeleton or a summary is not recorded, so all levels are tried: the one that was delivered
    /// differs least.
    fn smallest_diff(&mut self, row: &DeliveredFile, file: &KnownFile, given: &str) -> Option<String> {
        let items =
            CuratedItems::new(self.cache.workspace.relative_items(&self.cache.workspace.options.items));
        let (docs, details): (&[DocsDetail], &[SummaryDetail]) = match row.view {
            ViewMode::Skeleton => (&DocsDetail::ALL, &[SummaryDetail::Words]),
            ViewMode::Summary => (&[DocsDetail::Full], &SummaryDetail::ALL),
            ViewMode::Full
            | ViewMode::Outline
            | ViewMode::Masked
            | ViewMode::Custom
            | ViewMode::Signatures
            | ViewMode::Definitions => (&[DocsDetail::Full], &[SummaryDetail::Words]),
            ViewMode::Window
            | ViewMode::Diff
            | ViewMode::Delta
            | ViewMode::Excerpt
            | ViewMode::Names
            | ViewMode::Path
            | ViewMode::None => return None,
        };
        let (summaries, lines) = (ModelSummaries::default(), FocusLines(Vec::new()));
        let caches = self.caches.map(|caches| &caches.rendered);
        let mut diffs = Vec::new();
        for docs in docs {
            let mut renderer = Renderer::new(self.cache, caches, &summaries, *docs);
            for detail in details {
                let params = ViewParams {
                    view: row.view,
                    detail: *detail,
                    by_model: false,
                    lines: &lines,
                    item: items.find(&row.path),
                    slices: None,
                    overrides: None,
                    text: None,
                };
                let shown = renderer.render(file, params, u64::MAX).block.body;
                if shown.text() == given {
                    return Some(String::new());
                }
                diffs.push(aggregate::render_diff(&row.path, Some(given), Some(&shown.text()), GIVEN));
            }
        }
        diffs.into_iter().min_by_key(String::len)
    }
}

fn given_file(row: &DeliveredFile, current: Option<&KnownFile>) -> DeliveredFileStatus {
    let state = match current.map(|file| &file.state) {
        Some(KnownState::Content { hash, .. }) if *hash == row.wanted => DeliveredFileState::Same,
        Some(KnownState::Content { .. }) => DeliveredFileState::Changed,
        Some(KnownState::LeftOut(_)) | None => DeliveredFileState::Gone,
    };
    DeliveredFileStatus { path: row.path.clone(), view: Some(row.view), state }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_its_name_and_its_curation() {
        for curation in [None, Some("1a2b".to_owned())] {
            let record = RecordName { name: "worker".to_owned(), curation };
            assert_eq!(RecordName::from_key(&record.key()), record);
        }
    }
}
