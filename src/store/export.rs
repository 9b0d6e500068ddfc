//! The store's entries, one after another, for other programs.

use std::ops::ControlFlow;

use super::Error;
use super::Store;
use super::StoredFileState;
use super::artifact::StoredArtifact;
use crate::model::ArtifactKind;
use crate::model::ContentHash;
use crate::model::Outline;
use crate::model::Producer;
use crate::model::RelPath;

/// What is stored of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRow {
    /// The file.
    pub path: RelPath,
    /// The content that it held when it was last seen.
    pub hash: ContentHash,
    /// Id of the file type that it was read as.
    pub language: String,
    /// Words about it, if there are any.
    pub summary: Option<String>,
    /// Its symbols, if there are any.
    pub outline: Option<Outline>,
    /// When the younger of the two was made, in seconds since the epoch; `None` where there is neither.
    pub made_at_s: Option<i64>,
}

impl Store {
    /// Calls `each` with every file that has a content, by path, until it breaks off; with the artifacts that one of
    /// `current` made.
    ///
    /// Each artifact is read when its turn comes: whoever writes them to a slow pipe must not hold the store at one
    /// state of things meanwhile, for then its log would only grow.
    pub fn export_rows(
        &self,
        current: &[Producer],
        each: &mut dyn FnMut(ExportRow) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        for file in self.files()? {
            let StoredFileState::Content { hash, language, .. } = file.state else {
                continue;
            };
            let maker = |kind| {
                let mut producers = current.iter();
                producers.find(|producer| producer.artifact == kind && producer.language == language)
            };
            let summary = match maker(ArtifactKind::Summary) {
                Some(producer) => self.stored_summary(producer, &hash)?,
                None => None,
            };
            let outline = match maker(ArtifactKind::Outline) {
                Some(producer) => self.stored_outline(producer, &hash)?,
                None => None,
            };
            let row = ExportRow {
                path: file.path,
                hash,
                made_at_s: artifact_time(summary.as_ref()).max(artifact_time(outline.as_ref())),
                summary: summary.map(|made| made.value),
                outline: outline.map(|made| made.value),
                language,
            };
            if each(row).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn artifact_time<T>(made: Option<&StoredArtifact<T>>) -> Option<i64> {
    made.map(|made| made.made_at_s)
}

#[cfg(test)]
mod tests {
    use super::super::FileRow;
    use super::super::WriteBatch;
    use super::super::samples::TempStore;
    use super::super::samples::batch;
    use super::super::samples::hash;
    use super::super::samples::outline;
    use super::super::samples::path;
    use super::super::samples::producers;
    use super::super::samples::row;
    use super::*;
    use crate::model::SkipReason;

    fn exported(store: &Store, at_most: usize) -> Vec<ExportRow> {
        let mut rows = Vec::new();
        let mut each = |row| {
            rows.push(row);
            if rows.len() < at_most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        store.export_rows(&producers(), &mut each).unwrap();
        rows
    }

    #[test]
    fn files_with_a_content_are_told_by_path() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a")], 5)).unwrap();
        let left_out = FileRow { state: StoredFileState::LeftOut(SkipReason::Binary), ..row("c.bin", "") };
        let files = vec![row("b.py", "no artifacts"), left_out];
        store.save(&WriteBatch { files, ..batch(&[], 6) }).unwrap();
        let whole = ExportRow {
            path: path("a.py"),
            hash: hash("a"),
            language: "python".to_owned(),
            summary: Some("Defines a.".to_owned()),
            outline: Some(outline("a")),
            made_at_s: Some(5),
        };
        let bare = ExportRow {
            path: path("b.py"),
            hash: hash("no artifacts"),
            language: "python".to_owned(),
            summary: None,
            outline: None,
            made_at_s: None,
        };
        let all = [whole, bare];
        assert_eq!(exported(&store, 1), all[..1]);
        assert_eq!(exported(&store, usize::MAX), all);
    }
}
