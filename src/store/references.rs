//! The names of many files at once.

use std::collections::HashMap;
use std::collections::HashSet;

use rusqlite::params;

use super::Error;
use super::Store;
use super::artifact;
use super::artifact::Origin;
use super::codec;
use super::content;
use crate::model::Artifact;
use crate::model::ContentHash;
use crate::model::Producer;
use crate::model::References;

impl Store {
    /// Returns the names of those of the contents that `producer` made any of. Reads all that it made, in one go:
    /// quicker than a look-up for each, where most are wanted.
    pub fn references(
        &self,
        producer: &Producer,
        contents: &HashSet<ContentHash>,
    ) -> Result<HashMap<ContentHash, References>, Error> {
        let mut found = HashMap::new();
        if producer.artifact != Artifact::References {
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
            let Some(hash) = content::read_hash(row, 0) else {
                self.note_damage();
                continue;
            };
            if !contents.contains(&hash) {
                continue;
            }
            match artifact::read(row, 1, &Origin::of(producer, &hash), codec::decode_references) {
                Some(made) => drop(found.insert(hash, made.what)),
                None => self.note_damage(),
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Batch;
    use super::super::Body;
    use super::super::Derived;
    use super::super::samples::Sandbox;
    use super::super::samples::facts;
    use super::super::samples::hash;
    use super::super::samples::producer;
    use super::*;

    fn sample(first: u32) -> References {
        References { defines: vec![first, first + 1], uses: vec![1, 2, u32::MAX], imports: vec![] }
    }

    fn filled(sandbox: &Sandbox) -> Store {
        let mut store = sandbox.open();
        let derived = |text: &str, first| Derived {
            hash: hash(text),
            facts: facts(text),
            artifacts: vec![(producer(Artifact::References), Body::References(sample(first)))],
        };
        let contents = vec![derived("a", 10), derived("b", 20)];
        store.save(&Batch { contents, files: vec![], removed: vec![], at_s: 1 }).unwrap();
        store
    }

    #[test]
    fn names_of_the_contents_that_are_asked_for_read_back() {
        let sandbox = Sandbox::new();
        let store = filled(&sandbox);
        let wanted = HashSet::from([hash("b"), hash("c")]);
        let found = store.references(&producer(Artifact::References), &wanted).unwrap();
        assert_eq!(found, HashMap::from([(hash("b"), sample(20))]));
        assert_eq!(store.references(&producer(Artifact::Outline), &wanted).unwrap(), HashMap::new());
    }

    #[test]
    fn damaged_names_are_served_to_nobody() {
        let sandbox = Sandbox::new();
        let mut store = filled(&sandbox);
        let harm = "UPDATE artifact SET body = CAST(x'01' || substr(body, 2) AS BLOB) WHERE key & 1 = 1";
        sandbox.raw().execute_batch(harm).unwrap();
        let wanted = HashSet::from([hash("a"), hash("b")]);
        let found = store.references(&producer(Artifact::References), &wanted).unwrap();
        assert_eq!(found, HashMap::from([(hash("b"), sample(20))]));
        assert_eq!(store.damaged_rows(), 1);
        assert_eq!(store.verify().unwrap().damaged.len(), 1);
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
