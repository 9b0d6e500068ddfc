//! The table `artifact`: data derived from a content.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Row, params};

use super::open::Store;
use super::{codec, content};
use crate::model::{ArtifactKind, ContentHash, FileReferences, Outline, Producer, Skeleton};
use crate::store::compression;
use crate::store::database::IntegrityReport;
use crate::store::error::Error;
use crate::store::row::{RowChecksum, RowFields, delete_damaged, execute};

/// Up to this many contents are looked up one by one.
const FEW_CONTENTS: usize = 32;

/// The result of searching an outline for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedOutline<'a> {
    pub hash: ContentHash,
    /// The producer of the outline.
    pub producer: &'a Producer,
    /// The outline, if it contains the name.
    pub outline: Option<Outline>,
}

impl Store {
    /// Returns whether the artifacts of all producers exist for a content and are readable.
    pub fn has_artifacts(&self, hash: &ContentHash, producers: &[Producer]) -> Result<bool, Error> {
        // One read transaction instead of one for each producer.
        let _one_read = self.database.connection.unchecked_transaction()?;
        for producer in producers {
            let origin = ArtifactIdentity::new(producer, hash);
            if self.artifact_row(producer, hash, |row| intact_body(row, 0, &origin).map(drop))?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn outline(&self, producer: &Producer, hash: &ContentHash) -> Result<Option<Outline>, Error> {
        let made = self.stored_outline(producer, hash)?;
        Ok(made.map(|made| made.value))
    }

    pub fn skeleton(&self, producer: &Producer, hash: &ContentHash) -> Result<Option<Skeleton>, Error> {
        let made = self.artifact_of_kind(ArtifactKind::Skeleton, producer, hash, codec::decode_skeleton)?;
        Ok(made.map(|made| made.value))
    }

    pub fn summary(&self, producer: &Producer, hash: &ContentHash) -> Result<Option<String>, Error> {
        let made = self.stored_summary(producer, hash)?;
        Ok(made.map(|made| made.value))
    }

    /// Calls `each` with every outline by one of `producers`, in arbitrary order, decoded if its bytes contain `name`;
    /// all are for an empty name. An outline for which `each` is not called is missing or damaged, and may contain the
    /// name all the same.
    ///
    /// A read transaction is open until the last call, so `each` should be quick.
    pub fn search_outlines<'a>(
        &self,
        name: &str,
        producers: &'a [Producer],
        each: &mut dyn FnMut(SearchedOutline<'a>),
    ) -> Result<(), Error> {
        let decode = |body: &[u8]| match memchr::memmem::find(body, name.as_bytes()) {
            Some(_) => codec::decode_outline(body).map(Some),
            None => Some(None),
        };
        let outlines = producers.iter().filter(|producer| producer.artifact == ArtifactKind::Outline);
        for producer in outlines {
            self.for_each_artifact(producer, &mut |hash, row| {
                // The checksum of every body is verified, because a flipped bit may have removed the name.
                let outline = from_row(row, 1, &ArtifactIdentity::new(producer, &hash), decode)?.value;
                each(SearchedOutline { hash, producer, outline });
                Some(())
            })?;
        }
        Ok(())
    }

    /// Returns the names in the contents, where `producer` has extracted them.
    pub fn get_references(
        &self,
        producer: &Producer,
        contents: &HashSet<ContentHash>,
    ) -> Result<HashMap<ContentHash, FileReferences>, Error> {
        if producer.artifact != ArtifactKind::References {
            return Ok(HashMap::new());
        }
        self.artifacts_of(producer, contents, codec::decode_references)
    }

    /// Returns the encoded artifacts of the contents by `producer`, as far as they exist: terms, facts or hashes of
    /// symbols.
    pub fn get_encoded(
        &self,
        producer: &Producer,
        contents: &HashSet<ContentHash>,
    ) -> Result<HashMap<ContentHash, Vec<u8>>, Error> {
        self.artifacts_of(producer, contents, |body| Some(body.to_vec()))
    }

    /// Returns the existing artifacts of the contents. A few are read one by one; for more, all artifacts of `producer`
    /// are scanned, which is quicker if most are wanted.
    fn artifacts_of<T>(
        &self,
        producer: &Producer,
        contents: &HashSet<ContentHash>,
        decode: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<HashMap<ContentHash, T>, Error> {
        let mut found = HashMap::new();
        if contents.len() <= FEW_CONTENTS {
            for hash in contents {
                let stored = self.artifact(producer, hash, &decode)?;
                found.extend(stored.map(|stored| (*hash, stored.value)));
            }
            return Ok(found);
        }
        self.for_each_artifact(producer, &mut |hash, row| {
            if contents.contains(&hash) {
                let origin = ArtifactIdentity::new(producer, &hash);
                found.insert(hash, from_row(row, 1, &origin, &decode)?.value);
            }
            Some(())
        })?;
        Ok(found)
    }

    /// Calls `read` with the content of every artifact of a producer, and a row whose columns after the first are those
    /// of [`from_row`]. If it returns `None`, the row is damaged.
    fn for_each_artifact(
        &self,
        producer: &Producer,
        read: &mut dyn FnMut(ContentHash, &Row<'_>) -> Option<()>,
    ) -> Result<(), Error> {
        // The producer is in the upper bits of a key and the content in the lower 40, so the artifacts of a producer
        // are one range of the table.
        let mut statement = self.database.connection.prepare_cached(
            "SELECT sha, made_at, body, artifact.ck
             FROM producer
             JOIN artifact ON key BETWEEN producer.id << 40 AND producer.id << 40 | 0xFFFFFFFFFF
             JOIN content ON content.id = key & 0xFFFFFFFFFF
             WHERE producer.artifact = ?1 AND language = ?2 AND version = ?3",
        )?;
        let mut rows =
            statement.query(params![producer.artifact.name(), producer.language, producer.version])?;
        while let Some(row) = rows.next()? {
            if content::hash_from_row(row, 0).and_then(|hash| read(hash, row)).is_none() {
                self.record_damage();
            }
        }
        Ok(())
    }

    pub(super) fn stored_outline(
        &self,
        producer: &Producer,
        hash: &ContentHash,
    ) -> Result<Option<StoredArtifact<Outline>>, Error> {
        self.artifact_of_kind(ArtifactKind::Outline, producer, hash, codec::decode_outline)
    }

    pub(super) fn stored_summary(
        &self,
        producer: &Producer,
        hash: &ContentHash,
    ) -> Result<Option<StoredArtifact<String>>, Error> {
        self.artifact_of_kind(ArtifactKind::Summary, producer, hash, codec::decode_text)
    }

    /// Reads an artifact, unless its producer makes a different kind, because the bytes of one kind may be valid for
    /// another.
    fn artifact_of_kind<T>(
        &self,
        kind: ArtifactKind,
        producer: &Producer,
        hash: &ContentHash,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<StoredArtifact<T>>, Error> {
        if producer.artifact != kind {
            return Ok(None);
        }
        self.artifact(producer, hash, decode)
    }

    fn artifact<T>(
        &self,
        producer: &Producer,
        hash: &ContentHash,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<StoredArtifact<T>>, Error> {
        let origin = ArtifactIdentity::new(producer, hash);
        self.artifact_row(producer, hash, |row| from_row(row, 0, &origin, decode))
    }

    /// Reads the row of an artifact, with the columns of [`from_row`]. If `read` returns `None`, the row is damaged.
    fn artifact_row<T>(
        &self,
        producer: &Producer,
        hash: &ContentHash,
        read: impl FnOnce(&Row<'_>) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let mut statement = self.database.connection.prepare_cached(
            "SELECT made_at, body, ck FROM artifact
             WHERE key = (SELECT id FROM producer WHERE artifact = ?1 AND language = ?2 AND version = ?3) << 40
                       | (SELECT id FROM content WHERE sha = ?4)",
        )?;
        let kind = producer.artifact.name();
        let mut rows =
            statement.query(params![kind, producer.language, producer.version, hash.as_bytes()])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let made = read(row);
        if made.is_none() {
            self.record_damage();
        }
        Ok(made)
    }
}

pub(super) struct StoredArtifact<T> {
    pub(super) made_at_s: i64,
    pub(super) value: T,
}

/// The content and the producer of an artifact.
pub(super) struct ArtifactIdentity<'a> {
    hash: &'a ContentHash,
    kind: &'a str,
    language: &'a str,
    version: &'a str,
}

impl<'a> ArtifactIdentity<'a> {
    pub(super) fn new(producer: &'a Producer, hash: &'a ContentHash) -> Self {
        Self { hash, kind: producer.artifact.name(), language: producer.language, version: &producer.version }
    }

    /// Returns the checksum of a row; `body` is the stored form.
    fn checksum(&self, made_at_s: i64, body: &[u8]) -> RowChecksum {
        RowFields::keyed("artifact/2")
            .bytes(self.hash.as_bytes())
            .text(self.kind)
            .text(self.language)
            .text(self.version)
            .number(made_at_s)
            .bytes(body)
            .checksum()
    }
}

/// Inserts or replaces an artifact.
pub(super) fn upsert(
    connection: &Connection,
    producer_id: i64,
    content_id: i64,
    origin: &ArtifactIdentity<'_>,
    made_at_s: i64,
    body: &[u8],
) -> Result<(), Error> {
    let query = "INSERT OR REPLACE INTO artifact (key, made_at, body, ck) VALUES (?1 << 40 | ?2, ?3, ?4, ?5)";
    let body =
        if is_compressible(origin.kind) { compression::compress(body) } else { compression::store_raw(body) };
    let ck = origin.checksum(made_at_s, &body);
    execute(connection, query, params![producer_id, content_id, made_at_s, body, ck]).map(drop)
}

/// Deletes the artifacts of a producer; returns how many there were.
pub(super) fn delete_by_producer(connection: &Connection, producer_id: i64) -> Result<u64, Error> {
    let query = "DELETE FROM artifact WHERE key BETWEEN ?1 << 40 AND ?1 << 40 | 0xFFFFFFFFFF";
    execute(connection, query, [producer_id])
}

/// Deletes the artifacts of a content; returns how many there were.
pub(super) fn delete_by_content(connection: &Connection, content_id: i64) -> Result<u64, Error> {
    execute(
        connection,
        "DELETE FROM artifact WHERE key IN (SELECT id << 40 | ?1 FROM producer)",
        [content_id],
    )
}

/// Deletes the rows that are damaged, cannot be decoded, or belong to no content or producer.
pub(super) fn verify(connection: &Connection, report: &mut IntegrityReport) -> Result<(), Error> {
    let query = "SELECT key, made_at, body, artifact.ck, sha, producer.artifact, language, version
         FROM artifact
         LEFT JOIN content ON content.id = key & 0xFFFFFFFFFF
         LEFT JOIN producer ON producer.id = key >> 40";
    let damaged = |row: &Row<'_>| (!is_intact(row)).then(|| describe_row(row));
    delete_damaged(connection, query, "DELETE FROM artifact WHERE key = ?1", &[0], damaged, report).map(drop)
}

/// Reads an artifact from three columns: `made_at, body, ck`. `None` if they are damaged.
pub(super) fn from_row<T>(
    row: &Row<'_>,
    first: usize,
    origin: &ArtifactIdentity<'_>,
    decode: impl FnOnce(&[u8]) -> Option<T>,
) -> Option<StoredArtifact<T>> {
    let (made_at_s, body) = intact_body(row, first, origin)?;
    Some(StoredArtifact { made_at_s, value: decode(&compression::decompress(body)?)? })
}

/// Returns when an artifact was made, and its stored body; `None` if they are damaged.
fn intact_body<'r>(row: &'r Row<'_>, first: usize, origin: &ArtifactIdentity<'_>) -> Option<(i64, &'r [u8])> {
    let made_at_s = row.get(first).ok()?;
    let body = row.get_ref(first + 1).ok()?.as_blob().ok()?;
    let stored: RowChecksum = row.get(first + 2).ok()?;
    (stored == origin.checksum(made_at_s, body)).then_some((made_at_s, body))
}

fn is_intact(row: &Row<'_>) -> bool {
    let text = |column| row.get_ref(column).ok()?.as_str().ok();
    let origin = || Some((content::hash_from_row(row, 4)?, text(5)?, text(6)?, text(7)?));
    let Some((hash, kind, language, version)) = origin() else {
        return false;
    };
    let origin = ArtifactIdentity { hash: &hash, kind, language, version };
    from_row(row, 1, &origin, |body| is_decodable(kind, body).then_some(())).is_some()
}

/// Returns whether bodies of a kind are worth compressing. Vectors of terms are compact already, and hashes are random.
fn is_compressible(kind: &str) -> bool {
    [ArtifactKind::Outline, ArtifactKind::Skeleton, ArtifactKind::Summary, ArtifactKind::Facts]
        .iter()
        .any(|compressible| compressible.name() == kind)
}

fn is_decodable(kind: &str, body: &[u8]) -> bool {
    match ArtifactKind::ALL.into_iter().find(|artifact| artifact.name() == kind) {
        Some(ArtifactKind::Outline) => codec::decode_outline(body).is_some(),
        Some(ArtifactKind::Skeleton) => codec::decode_skeleton(body).is_some(),
        Some(ArtifactKind::Summary) => codec::decode_text(body).is_some(),
        Some(ArtifactKind::References) => codec::decode_references(body).is_some(),
        // Only their producer can interpret them; the checksum covers all bytes.
        Some(ArtifactKind::Terms) => true,
        // Another room's encoding, which only that room can read; the checksum covers the bytes.
        Some(ArtifactKind::Facts | ArtifactKind::SymbolHashes) => !body.is_empty(),
        None => false,
    }
}

fn describe_row(row: &Row<'_>) -> String {
    let kind = row.get_ref(5).ok().and_then(|kind| kind.as_str().ok());
    let kind = kind.unwrap_or("artifact");
    match content::hash_from_row(row, 4) {
        Some(hash) => format!("{kind} of {}", hash.short_hex()),
        None => format!("{kind} of no content"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TempStore, batch, facts, hash, outline, producer, producers};
    use super::super::write::{ArtifactBody, ContentArtifacts, WriteBatch};
    use super::*;

    /// Returns the number of searched contents, and the outlines of those that contain a name.
    fn search(store: &Store, name: &str) -> (usize, Vec<(ContentHash, Outline)>) {
        let (mut looked_at, mut found) = (0, Vec::new());
        let producers = producers();
        let mut each = |searched: SearchedOutline<'_>| {
            looked_at += 1;
            found.extend(searched.outline.map(|outline| (searched.hash, outline)));
        };
        store.search_outlines(name, &producers, &mut each).unwrap();
        (looked_at, found)
    }

    #[test]
    fn a_different_version_or_language_is_a_different_artifact() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        let known = producer(ArtifactKind::Outline);
        assert!(store.has_artifacts(&hash("a"), std::slice::from_ref(&known)).unwrap());
        let version = "outline/2".to_owned();
        let newer = Producer { version, ..known.clone() };
        let other = Producer { language: "c", ..known };
        for stranger in [newer, other] {
            assert_eq!(store.outline(&stranger, &hash("a")).unwrap(), None);
            assert!(!store.has_artifacts(&hash("a"), &[producer(ArtifactKind::Summary), stranger]).unwrap());
        }
        assert!(store.has_artifacts(&hash("a"), &[]).unwrap());
        assert_eq!(store.damaged_rows(), 0);
    }

    #[test]
    fn one_kind_is_never_read_as_another() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        let skeleton = producer(ArtifactKind::Skeleton);
        assert_eq!(store.summary(&skeleton, &hash("a")).unwrap(), None);
        assert_eq!(store.outline(&skeleton, &hash("a")).unwrap(), None);
    }

    #[test]
    fn a_flipped_byte_in_a_body_is_a_miss_until_it_is_saved_again() {
        for kind in producers().map(|by| by.artifact) {
            let sandbox = TempStore::new();
            let mut store = sandbox.open();
            store.save(&batch(&[("a.py", "a")], 1)).unwrap();
            let changed = sandbox.raw_connection().execute(
                "UPDATE artifact SET body = CAST(x'58' || substr(body, 2) AS BLOB)
                 WHERE key >> 40 = (SELECT id FROM producer WHERE artifact = ?1)",
                [kind.name()],
            );
            assert_eq!(changed.unwrap(), 1);
            let one = [producer(kind)];
            assert!(!store.has_artifacts(&hash("a"), &one).unwrap());
            assert_eq!(store.damaged_rows(), 1);
            store.save(&batch(&[("a.py", "a")], 2)).unwrap();
            assert!(store.has_artifacts(&hash("a"), &one).unwrap());
        }
    }

    #[test]
    fn swapped_bodies_are_not_returned() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a"), ("b.py", "b")], 1)).unwrap();
        sandbox
            .raw_connection()
            .execute_batch(
                "CREATE TEMP TABLE old AS SELECT * FROM artifact;
                 UPDATE artifact SET (body, ck, made_at) = (
                     SELECT body, ck, made_at FROM old
                     WHERE old.key >> 40 = artifact.key >> 40 AND old.key & 3 = 3 - (artifact.key & 3))",
            )
            .unwrap();
        for text in ["a", "b"] {
            for kind in producers().map(|by| by.artifact) {
                assert!(!store.has_artifacts(&hash(text), &[producer(kind)]).unwrap());
            }
        }
        assert_eq!(search(&store, ""), (0, vec![]));
        assert!(0 < store.damaged_rows());
    }

    #[test]
    fn outlines_are_found_by_a_name_in_them() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let files = [("b.py", "find_me"), ("a.py", "find_me"), ("c.py", "other")];
        store.save(&batch(&files, 1)).unwrap();
        assert_eq!(search(&store, "find_me"), (2, vec![(hash("find_me"), outline("find_me"))]));
        assert_eq!(search(&store, "nowhere"), (2, vec![]));
        assert_eq!(search(&store, "").1.len(), 2);
    }

    #[test]
    fn an_outline_with_a_damaged_name_is_not_reported_as_lacking_it() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "find_me"), ("b.py", "other")], 1)).unwrap();
        let harm = "UPDATE artifact SET body = CAST(replace(CAST(body AS TEXT), 'find', 'fjnd') AS BLOB)";
        sandbox.raw_connection().execute_batch(harm).unwrap();
        assert_eq!(search(&store, "find_me"), (1, vec![]));
        assert_eq!(store.damaged_rows(), 1);
    }

    fn sample(first: u32) -> FileReferences {
        FileReferences { defines: vec![first, first + 1], uses: vec![1, 2, u32::MAX], imports: vec![] }
    }

    fn filled(sandbox: &TempStore) -> Store {
        let mut store = sandbox.open();
        let derived = |text: &str, first| ContentArtifacts {
            hash: hash(text),
            facts: facts(text),
            artifacts: vec![(producer(ArtifactKind::References), ArtifactBody::References(sample(first)))],
        };
        let contents = vec![derived("a", 10), derived("b", 20)];
        store.save(&WriteBatch { contents, files: vec![], removed: vec![], at_s: 1 }).unwrap();
        store
    }

    #[test]
    fn names_of_requested_contents_round_trip() {
        let sandbox = TempStore::new();
        let store = filled(&sandbox);
        let wanted = HashSet::from([hash("b"), hash("c")]);
        let found = store.get_references(&producer(ArtifactKind::References), &wanted).unwrap();
        assert_eq!(found, HashMap::from([(hash("b"), sample(20))]));
        assert_eq!(store.get_references(&producer(ArtifactKind::Outline), &wanted).unwrap(), HashMap::new());
    }

    #[test]
    fn damaged_names_are_not_returned() {
        let sandbox = TempStore::new();
        let mut store = filled(&sandbox);
        let harm = "UPDATE artifact SET body = CAST(x'01' || substr(body, 2) AS BLOB) WHERE key & 1 = 1";
        sandbox.raw_connection().execute_batch(harm).unwrap();
        let wanted = HashSet::from([hash("a"), hash("b")]);
        let found = store.get_references(&producer(ArtifactKind::References), &wanted).unwrap();
        assert_eq!(found, HashMap::from([(hash("b"), sample(20))]));
        assert_eq!(store.damaged_rows(), 1);
        assert_eq!(store.verify().unwrap().damaged_rows.len(), 1);
    }

    #[test]
    fn bytes_that_are_not_names_are_rejected() {
        let good = codec::encode_references(&sample(1));
        assert_eq!(codec::decode_references(&good), Some(sample(1)));
        for end in 0..good.len() {
            assert_eq!(codec::decode_references(&good[..end]), None);
        }
        assert_eq!(codec::decode_references(&[good.as_slice(), &[0]].concat()), None);
        assert_eq!(codec::decode_references(&[0xff; 12]), None);
    }
}
