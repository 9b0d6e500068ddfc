//! Reports on the store: its size, and its entries one by one.

use std::ops::ControlFlow;

use super::artifact::StoredArtifact;
use super::file::StoredFileState;
use super::open::Store;
use super::{content, worktree};
use crate::model::{ArtifactKind, ContentHash, Outline, Producer, RelPath};
use crate::store::error::Error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSize {
    pub files: u64,
    pub contents: u64,
    /// The number of contents without a file.
    pub idle_contents: u64,
    /// The number of linked worktrees with files in the store.
    pub linked_worktrees: u64,
    /// Artifacts of each kind, in the order of `ArtifactKind::ALL`.
    pub artifacts: Vec<ArtifactTotals>,
    /// The number of remembered delivered texts.
    pub delivered_texts: u64,
    pub delivered_bytes: u64,
    /// Bytes of the database and its log on disk.
    pub bytes_on_disk: u64,
}

/// The number and size of artifacts of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactTotals {
    pub artifact: ArtifactKind,
    pub rows: u64,
    pub bytes: u64,
}

impl Store {
    pub fn size(&self) -> Result<StoreSize, Error> {
        let count = |question: &str| {
            let mut statement = self.database.connection.prepare_cached(question)?;
            statement.query_row([], |row| row.get(0)).map(i64::cast_unsigned)
        };
        Ok(StoreSize {
            files: self.file_count()?,
            contents: count("SELECT count(*) FROM content")?,
            idle_contents: self.count_idle_contents()?,
            linked_worktrees: count("SELECT count(*) FROM worktree")?,
            artifacts: self.artifact_sizes()?,
            delivered_texts: count("SELECT count(*) FROM given")?,
            delivered_bytes: count(
                "SELECT coalesce((SELECT sum(length(body)) FROM given_text), 0)
                 + coalesce((SELECT sum(length(body)) FROM given_document), 0)",
            )?,
            bytes_on_disk: self.bytes_on_disk()?,
        })
    }

    fn count_idle_contents(&self) -> Result<u64, Error> {
        let listed = worktree::held_contents(&self.database.connection)?;
        let idle = content::select_unreferenced(&self.database.connection)?;
        Ok(idle.iter().filter(|id| !listed.contains(id)).count() as u64)
    }

    fn artifact_sizes(&self) -> Result<Vec<ArtifactTotals>, Error> {
        let mut statement = self.database.connection.prepare_cached(
            "SELECT count(*), coalesce(sum(length(body)), 0) FROM artifact
             WHERE key >> 40 IN (SELECT id FROM producer WHERE artifact = ?1)",
        )?;
        let mut sizes = Vec::new();
        for artifact in ArtifactKind::ALL {
            let counted = statement.query_row([artifact.name()], |row| Ok((row.get(0)?, row.get(1)?)));
            let (rows, bytes): (i64, i64) = counted?;
            sizes.push(ArtifactTotals { artifact, rows: rows.cast_unsigned(), bytes: bytes.cast_unsigned() });
        }
        Ok(sizes)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRow {
    pub path: RelPath,
    /// Its last known content.
    pub hash: ContentHash,
    /// The id of its file type.
    pub language: String,
    pub summary: Option<String>,
    pub outline: Option<Outline>,
    /// When the newer of the two was made, in seconds since the epoch; `None` if there is neither.
    pub made_at_s: Option<i64>,
}

impl Store {
    /// Calls `each` with every file that has a content and `is_exported`, by path, with its artifacts by producers in
    /// `current`, until `each` breaks.
    ///
    /// Each artifact is read individually: a caller that writes to a slow pipe must not keep a read transaction open
    /// meanwhile, or the WAL could not be checkpointed.
    pub fn export_rows(
        &self,
        current: &[Producer],
        is_exported: &dyn Fn(&RelPath) -> bool,
        each: &mut dyn FnMut(ExportRow) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        for file in self.files()?.into_iter().filter(|file| is_exported(&file.path)) {
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
    use super::super::file::FileRow;
    use super::super::testing::{TempStore, batch, hash, outline, path, producers, removal, row};
    use super::super::write::WriteBatch;
    use super::*;
    use crate::model::{ArtifactKind, SkipReason};

    fn exported(store: &Store, at_most: usize) -> Vec<ExportRow> {
        let mut rows = Vec::new();
        let mut each = |row| {
            rows.push(row);
            if rows.len() < at_most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        store.export_rows(&producers(), &|_| true, &mut each).unwrap();
        rows
    }

    #[test]
    fn files_with_a_content_are_exported_by_path() {
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

    #[test]
    fn rows_and_bytes_are_counted() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let sizes = |store: &super::super::Store| {
            let size = store.size().unwrap();
            let artifacts: Vec<_> = size.artifacts.iter().map(|kind| (kind.rows, kind.bytes)).collect();
            (size.files, size.contents, size.idle_contents, artifacts)
        };
        assert_eq!(sizes(&store), (0, 0, 0, vec![(0, 0); ArtifactKind::ALL.len()]));
        store.save(&batch(&[("a.py", "a"), ("b.py", "b")], 1)).unwrap();
        store.save(&removal(&["b.py"], 2)).unwrap();
        let (files, contents, idle, artifacts) = sizes(&store);
        assert_eq!((files, contents, idle), (1, 2, 1));
        assert_eq!(artifacts[1], (2, 2 * ("def a(): ...".len() as u64 + 7)));
        assert!(0 < store.size().unwrap().bytes_on_disk);
    }
}
