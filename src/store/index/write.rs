//! Writes batches to the store atomically.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use rusqlite::Connection;

use super::artifact::ArtifactIdentity;
use super::file::{FileRow, StoredFileState};
use super::open::Store;
use super::{artifact, codec, content, file, producer, worktree};
use crate::model::{
    ArtifactKind, ContentFacts, ContentHash, FileReferences, Outline, Producer, RelPath, Skeleton,
};
use crate::store::error::Error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteBatch {
    pub contents: Vec<ContentArtifacts>,
    /// Files that were found. Their contents need not be in `contents`.
    pub files: Vec<FileRow>,
    /// Files that are gone; one that is also in `files` exists again.
    pub removed: Vec<RelPath>,
    /// Seconds since the epoch.
    pub at_s: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentArtifacts {
    pub hash: ContentHash,
    pub facts: ContentFacts,
    /// Its artifacts, each with a producer of the same kind.
    pub artifacts: Vec<(Producer, ArtifactBody)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactBody {
    Outline(Outline),
    /// The text without bodies.
    Skeleton(Skeleton),
    /// A text about the file.
    Summary(String),
    /// The names that the file defines and uses.
    References(FileReferences),
    /// The encoded terms of the text.
    Terms(Vec<u8>),
    /// Encoded facts about the file's names.
    Facts(Vec<u8>),
    /// Encoded hashes of the lines of symbols.
    SymbolHashes(Vec<u8>),
}

impl ArtifactBody {
    pub const fn artifact(&self) -> ArtifactKind {
        match self {
            Self::Outline(_) => ArtifactKind::Outline,
            Self::Skeleton(_) => ArtifactKind::Skeleton,
            Self::Summary(_) => ArtifactKind::Summary,
            Self::References(_) => ArtifactKind::References,
            Self::Terms(_) => ArtifactKind::Terms,
            Self::Facts(_) => ArtifactKind::Facts,
            Self::SymbolHashes(_) => ArtifactKind::SymbolHashes,
        }
    }

    fn encode(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Outline(outline) => Cow::Owned(codec::encode_outline(outline)),
            Self::Skeleton(skeleton) => Cow::Owned(codec::encode_skeleton(skeleton)),
            Self::Summary(text) => Cow::Borrowed(text.as_bytes()),
            Self::References(references) => Cow::Owned(codec::encode_references(references)),
            Self::Terms(terms) => Cow::Borrowed(terms),
            Self::Facts(bytes) | Self::SymbolHashes(bytes) => Cow::Borrowed(bytes),
        }
    }
}

impl Store {
    /// Writes a batch atomically.
    pub fn save(&mut self, batch: &WriteBatch) -> Result<(), Error> {
        // If the transaction fails, they are recorded again when their rows are next read.
        let damaged_paths = self.damaged_paths.take();
        let worktree = self.worktree.clone();
        let transaction = self.begin()?;
        // The contents that may have gained or lost files.
        let mut touched = BTreeSet::new();
        // Deletions come first, because a path that is also in `files` exists again.
        for path in &damaged_paths {
            let (held, _) = file::delete(&transaction, path)?;
            touched.extend(held);
        }
        if worktree.is_none() {
            for path in &batch.removed {
                let (held, _) = file::delete(&transaction, path.as_bytes())?;
                touched.extend(held);
            }
        }
        upsert_contents(&transaction, batch, &mut touched)?;
        let mut files = Vec::with_capacity(batch.files.len());
        for row in &batch.files {
            let holds = match &row.state {
                StoredFileState::Content { hash, facts, .. } => {
                    Some(content::get_or_insert(&transaction, hash, facts)?)
                }
                StoredFileState::LeftOut(_) => None,
            };
            touched.extend(holds);
            files.push((row, holds));
        }
        match &worktree {
            Some(worktree) => {
                for id in worktree::write_files(&transaction, worktree, &files, &batch.removed)? {
                    content::restart_idle_time(&transaction, id, batch.at_s)?;
                }
            }
            None => {
                for (row, holds) in files {
                    touched.extend(file::upsert(&transaction, row, holds)?);
                }
            }
        }
        // At the end, because a renamed file gives up its content and has it again within one batch.
        for id in touched {
            content::update_idle_since(&transaction, id, batch.at_s)?;
        }
        Ok(transaction.commit()?)
    }
}

fn upsert_contents(
    connection: &Connection,
    batch: &WriteBatch,
    touched: &mut BTreeSet<i64>,
) -> Result<(), Error> {
    let mut producer_ids: HashMap<&Producer, i64> = HashMap::new();
    for derived in &batch.contents {
        let content_id = content::get_or_insert(connection, &derived.hash, &derived.facts)?;
        touched.insert(content_id);
        for (producer, body) in &derived.artifacts {
            debug_assert_eq!(producer.artifact, body.artifact(), "an artifact is of its producer's kind");
            let producer_id = match producer_ids.get(producer) {
                Some(id) => *id,
                None => producer::id(connection, producer)?,
            };
            producer_ids.insert(producer, producer_id);
            let origin = ArtifactIdentity::new(producer, &derived.hash);
            artifact::upsert(connection, producer_id, content_id, &origin, batch.at_s, &body.encode())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        TempStore, batch, dense_text, derived, facts, hash, path, producer, producers, removal, row, skeleton,
    };
    use super::*;
    use crate::model::SkipReason;

    /// Since when each content is idle, in the order of insertion.
    fn idle_times(store: &Store) -> Vec<Option<i64>> {
        let mut statement =
            store.database.connection.prepare("SELECT idle_since FROM content ORDER BY id").unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn a_batch_round_trips() {
        let sandbox = TempStore::new();
        sandbox.open().save(&batch(&[("b.py", "beta"), ("a.py", "alpha")], 5)).unwrap();
        let store = sandbox.open();
        assert_eq!(store.files().unwrap(), [row("a.py", "alpha"), row("b.py", "beta")]);
        assert_eq!(store.file(&path("b.py")).unwrap(), Some(row("b.py", "beta")));
        assert_eq!(store.file(&path("c.py")).unwrap(), None);
        assert_eq!(store.facts(&hash("beta")).unwrap(), Some(facts("beta")));
        assert_eq!(store.facts(&hash("gamma")).unwrap(), None);
        for (producer, body) in derived("beta").artifacts {
            match body {
                ArtifactBody::Outline(outline) => {
                    assert_eq!(store.outline(&producer, &hash("beta")).unwrap(), Some(outline));
                }
                ArtifactBody::Skeleton(text) => {
                    assert_eq!(store.skeleton(&producer, &hash("beta")).unwrap(), Some(text));
                }
                ArtifactBody::Summary(text) => {
                    assert_eq!(store.summary(&producer, &hash("beta")).unwrap(), Some(text));
                }
                ArtifactBody::References(_)
                | ArtifactBody::Terms(_)
                | ArtifactBody::Facts(_)
                | ArtifactBody::SymbolHashes(_) => panic!("the sample has none"),
            }
        }
        assert_eq!(store.damaged_rows(), 0);
    }

    #[test]
    fn an_omitted_file_round_trips_with_its_reason() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let files: Vec<_> = SkipReason::ALL
            .into_iter()
            .map(|reason| FileRow {
                path: path(reason.name()),
                stamp: None,
                read_at_ns: i64::MIN,
                state: StoredFileState::LeftOut(reason),
            })
            .collect();
        store.save(&WriteBatch { files: files.clone(), ..batch(&[], 1) }).unwrap();
        let read = store.files().unwrap();
        assert_eq!(read.len(), files.len());
        assert!(files.iter().all(|file| read.contains(file)));
    }

    #[test]
    fn a_name_of_any_bytes_round_trips() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let mut odd = row("x", "text");
        odd.path = RelPath::new(b"\xff\n'; DROP TABLE file; --/\x80").unwrap();
        store.save(&WriteBatch { files: vec![odd.clone()], ..batch(&[], 1) }).unwrap();
        assert_eq!(store.file(&odd.path).unwrap(), Some(odd));
    }

    #[test]
    fn saving_is_idempotent() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        let before = store.size().unwrap();
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        let after = store.size().unwrap();
        assert_eq!((after.files, after.contents), (1, 1));
        assert_eq!(after.artifacts, before.artifacts);
    }

    #[test]
    fn a_file_is_saved_with_its_content() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let files = vec![row("a.py", "a")];
        store.save(&WriteBatch { files, ..batch(&[], 1) }).unwrap();
        assert_eq!(store.files().unwrap(), [row("a.py", "a")]);
        assert!(!store.has_artifacts(&hash("a"), &producers()).unwrap());
    }

    #[test]
    fn the_facts_of_a_content_can_be_updated() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        let mut better = derived("a");
        better.facts.claimed_type = Some("python".to_owned());
        let contents = vec![better.clone()];
        store.save(&WriteBatch { contents, ..batch(&[], 2) }).unwrap();
        assert_eq!(store.facts(&hash("a")).unwrap(), Some(better.facts));
        assert_eq!(idle_times(&store), [None]);
    }

    #[test]
    fn a_content_is_idle_since_its_last_file_left_it() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "one"), ("b.py", "one")], 1)).unwrap();
        store.save(&removal(&["a.py"], 2)).unwrap();
        assert_eq!(idle_times(&store), [None]);
        store.save(&batch(&[("b.py", "two")], 3)).unwrap();
        assert_eq!(idle_times(&store), [Some(3), None]);
        store.save(&removal(&["c.py"], 4)).unwrap();
        store.save(&batch(&[("b.py", "two")], 4)).unwrap();
        assert_eq!(idle_times(&store), [Some(3), None]);
        store.save(&batch(&[("c.py", "one")], 5)).unwrap();
        assert_eq!(idle_times(&store), [None, None]);
    }

    #[test]
    fn a_content_without_a_file_is_idle_from_the_start() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let contents = vec![derived("a")];
        store.save(&WriteBatch { contents, ..batch(&[], 7) }).unwrap();
        assert_eq!(idle_times(&store), [Some(7)]);
    }

    #[test]
    fn a_file_that_is_both_removed_and_found_exists() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let mut both = batch(&[("a.py", "a")], 1);
        both.removed = vec![path("a.py")];
        store.save(&both).unwrap();
        assert_eq!(store.files().unwrap(), [row("a.py", "a")]);
    }

    #[test]
    fn a_full_disk_is_reported_and_existing_data_is_kept() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        let pages = store.database.connection.query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0));
        store
            .database
            .connection
            .query_row(&format!("PRAGMA max_page_count = {}", pages.unwrap()), [], |_| Ok(()))
            .unwrap();
        let mut large = batch(&[("a.py", "changed"), ("b.py", "b")], 2);
        large.contents[1].artifacts[1].1 = ArtifactBody::Skeleton(skeleton(dense_text(100_000)));
        let error = store.save(&large).unwrap_err();
        assert!(matches!(error, Error::Full(_)), "{error:?}");
        // Nothing of the batch was stored, and earlier data is intact.
        assert_eq!(store.files().unwrap(), [row("a.py", "a")]);
        assert!(store.has_artifacts(&hash("a"), &producers()).unwrap());
        assert_eq!(store.facts(&hash("changed")).unwrap(), None);
        // With free space, the same store continues to work.
        store.database.connection.query_row("PRAGMA max_page_count = 100000", [], |_| Ok(())).unwrap();
        store.save(&large).unwrap();
        assert_eq!(store.files().unwrap().len(), 2);
    }

    #[test]
    fn an_empty_batch_is_fine() {
        let sandbox = TempStore::new();
        sandbox.open().save(&batch(&[], 1)).unwrap();
    }

    #[test]
    fn an_empty_text_is_not_an_absent_one() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let mut empty = batch(&[("a.py", "")], 1);
        empty.contents[0].artifacts[2].1 = ArtifactBody::Summary(String::new());
        store.save(&empty).unwrap();
        let summary = store.summary(&producer(ArtifactKind::Summary), &hash("")).unwrap();
        assert_eq!(summary, Some(String::new()));
    }
}
