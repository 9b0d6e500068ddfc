//! The names of many files at once.

use std::collections::HashMap;
use std::collections::HashSet;

use rusqlite::params;

use super::Error;
use super::Store;
use super::artifact;
use super::artifact::ArtifactIdentity;
use super::codec;
use super::content;
use crate::model::ArtifactKind;
use crate::model::ContentHash;
use crate::model::FileReferences;
use crate::model::Producer;

impl Store {
    /// Returns the names of those of the contents that `producer` made any of. Reads all that it made, in one go:
    /// quicker than a look-up for each, where most are wanted.
    pub fn get_references(
        &self,
        producer: &Producer,
        contents: &HashSet<ContentHash>,
    ) -> Result<HashMap<ContentHash, FileReferences>, Error> {
        let mut found = HashMap::new();
        if producer.artifact != ArtifactKind::References {
            return Ok(found);
        }
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
            let Some(hash) = content::hash_from_row(row, 0) else {
                self.record_damage();
                continue;
            };
            if !contents.contains(&hash) {
                continue;
            }
            match artifact::from_row(
                row,
                1,
                &ArtifactIdentity::new(producer, &hash),
                codec::decode_references,
            ) {
                Some(made) => drop(found.insert(hash, made.value)),
                None => self.record_damage(),
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ArtifactBody;
    use super::super::ContentArtifacts;
    use super::super::WriteBatch;
    use super::super::samples::TempStore;
    use super::super::samples::facts;
    use super::super::samples::hash;
    use super::super::samples::producer;
    use super::*;

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
    fn names_of_the_contents_that_are_asked_for_read_back() {
        let sandbox = TempStore::new();
        let store = filled(&sandbox);
        let wanted = HashSet::from([hash("b"), hash("c")]);
        let found = store.get_references(&producer(ArtifactKind::References), &wanted).unwrap();
        assert_eq!(found, HashMap::from([(hash("b"), sample(20))]));
        assert_eq!(store.get_references(&producer(ArtifactKind::Outline), &wanted).unwrap(), HashMap::new());
    }

    #[test]
    fn damaged_names_are_served_to_nobody() {
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
    fn bytes_that_are_no_names_are_refused() {
        let good = codec::encode_references(&sample(1));
        assert_eq!(codec::decode_references(&good), Some(sample(1)));
        for end in 0..good.len() {
            assert_eq!(codec::decode_references(&good[..end]), None);
        }
        assert_eq!(codec::decode_references(&[good.as_slice(), &[0]].concat()), None);
        assert_eq!(codec::decode_references(&[0xff; 12]), None);
    }
}
