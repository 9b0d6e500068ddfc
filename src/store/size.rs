//! How much there is in the store.

use super::Error;
use super::Store;
use crate::model::ArtifactKind;

/// How much there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSize {
    /// Files that are known.
    pub files: u64,
    /// Contents that are known.
    pub contents: u64,
    /// Those of them that no file holds.
    pub idle_contents: u64,
    /// Artifacts of each kind, in the order of [`Artifact::ALL`].
    pub artifacts: Vec<ArtifactTotals>,
    /// Texts that aggregations gave, as they are remembered.
    pub delivered_texts: u64,
    /// Bytes of these texts.
    pub delivered_bytes: u64,
    /// Bytes of the database and its log on the disk.
    pub bytes_on_disk: u64,
}

/// How many artifacts of one kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactTotals {
    /// The kind.
    pub artifact: ArtifactKind,
    /// How many.
    pub rows: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
}

impl Store {
    /// Counts what there is.
    pub fn size(&self) -> Result<StoreSize, Error> {
        let count = |question: &str| {
            let mut statement = self.database.connection.prepare_cached(question)?;
            statement.query_row([], |row| row.get(0)).map(i64::cast_unsigned)
        };
        Ok(StoreSize {
            files: count("SELECT count(*) FROM file")?,
            contents: count("SELECT count(*) FROM content")?,
            idle_contents: count("SELECT count(*) FROM content WHERE idle_since IS NOT NULL")?,
            artifacts: self.artifact_sizes()?,
            delivered_texts: count("SELECT count(*) FROM given")?,
            delivered_bytes: count("SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) FROM given_text")?,
            bytes_on_disk: self.bytes_on_disk()?,
        })
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

#[cfg(test)]
mod tests {
    use super::super::samples::TempStore;
    use super::super::samples::batch;
    use super::super::samples::removal;

    #[test]
    fn rows_and_bytes_are_counted() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let sizes = |store: &super::super::Store| {
            let size = store.size().unwrap();
            let artifacts: Vec<_> = size.artifacts.iter().map(|kind| (kind.rows, kind.bytes)).collect();
            (size.files, size.contents, size.idle_contents, artifacts)
        };
        assert_eq!(sizes(&store), (0, 0, 0, vec![(0, 0); 4]));
        store.save(&batch(&[("a.py", "a"), ("b.py", "b")], 1)).unwrap();
        store.save(&removal(&["b.py"], 2)).unwrap();
        let (files, contents, idle, artifacts) = sizes(&store);
        assert_eq!((files, contents, idle), (1, 2, 1));
        assert_eq!(artifacts[1], (2, 2 * ("def a(): ...".len() as u64 + 5)));
        assert!(0 < store.size().unwrap().bytes_on_disk);
    }
}
