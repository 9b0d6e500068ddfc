//! Looks up artifacts, wherever they are: in memory, in the store, or still to be derived from the file.

use std::collections::HashMap;

use super::cache::ArtifactCache;
use super::derive::{derive, identify, producer};
use crate::discover::HeaderNeighbors;
use crate::engine::parallel::on_all_cores;
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::{ArtifactKind, ContentFacts, ContentHash, FileType, Outline, Producer, RelPath, Skeleton};
use crate::store;
use crate::store::{ArtifactBody, ContentArtifacts, Store, WriteBatch};

/// A content, and where it can be read should it have to be.
#[derive(Clone)]
pub(in crate::engine) struct ContentRef<'a> {
    pub(in crate::engine) path: &'a RelPath,
    pub(in crate::engine) hash: ContentHash,
    pub(in crate::engine) file_type: &'static FileType,
    pub(in crate::engine) facts: &'a ContentFacts,
}

impl<'a> ContentRef<'a> {
    /// Returns the subject that a file is, if it is text.
    pub(in crate::engine) fn from_file(file: &'a KnownFile) -> Option<Self> {
        match &file.state {
            KnownState::Content { hash, file_type, facts } => {
                Some(Self { path: &file.path, hash: *hash, file_type, facts })
            }
            KnownState::LeftOut(_) => None,
        }
    }
}

impl ArtifactCache<'_> {
    /// Returns the outline; `None` if the type has none, or the file is not what it was.
    pub(in crate::engine) fn outline(&mut self, subject: &ContentRef<'_>) -> Option<Outline> {
        let take = |body: &ArtifactBody| match body {
            ArtifactBody::Outline(outline) => Some(outline.clone()),
            ArtifactBody::Skeleton(_) | ArtifactBody::Summary(_) | ArtifactBody::References(_) => None,
        };
        self.artifact(subject, ArtifactKind::Outline, Store::outline, take)
    }

    /// Returns the skeleton, which need not be checked; `None` if the type has none, or the file is not what it was.
    pub(in crate::engine) fn unchecked_skeleton(&mut self, subject: &ContentRef<'_>) -> Option<Skeleton> {
        self.artifact(subject, ArtifactKind::Skeleton, Store::skeleton, skeleton_in)
    }

    /// Returns the skeleton where it has been made before.
    pub(in crate::engine) fn cached_skeleton(&mut self, subject: &ContentRef<'_>) -> Option<Skeleton> {
        let by = producer(ArtifactKind::Skeleton, subject.file_type)?;
        self.cached_artifact(subject, &by, &Store::skeleton, &skeleton_in)
    }

    /// Returns the summary of a file; `None` if the file is not what it was.
    pub(in crate::engine) fn summary(&mut self, subject: &ContentRef<'_>) -> Option<String> {
        let take = |body: &ArtifactBody| match body {
            ArtifactBody::Summary(words) => Some(words.clone()),
            ArtifactBody::Outline(_) | ArtifactBody::Skeleton(_) | ArtifactBody::References(_) => None,
        };
        self.artifact(subject, ArtifactKind::Summary, Store::summary, take)
    }

    fn artifact<T>(
        &mut self,
        subject: &ContentRef<'_>,
        artifact: ArtifactKind,
        ask: impl Fn(&Store, &Producer, &ContentHash) -> Result<Option<T>, store::Error>,
        take: impl Fn(&ArtifactBody) -> Option<T>,
    ) -> Option<T> {
        let by = producer(artifact, subject.file_type)?;
        if let Some(found) = self.cached_artifact(subject, &by, &ask, &take) {
            return Some(found);
        }
        // It is not there, or its checksum does not hold: then it is made again.
        let derived = self.rederive(subject)?;
        let found = find_body(&derived, take);
        let batch = WriteBatch {
            contents: vec![derived],
            files: Vec::new(),
            removed: Vec::new(),
            at_s: self.workspace.world.clock.now_s(),
        };
        self.save(batch);
        found
    }

    fn cached_artifact<T>(
        &mut self,
        subject: &ContentRef<'_>,
        by: &Producer,
        ask: &impl Fn(&Store, &Producer, &ContentHash) -> Result<Option<T>, store::Error>,
        take: &impl Fn(&ArtifactBody) -> Option<T>,
    ) -> Option<T> {
        let key = (subject.hash, subject.file_type.id);
        let unsaved = self.unsaved.get(&key).and_then(|derived| find_body(derived, take));
        unsaved.or_else(|| self.query_store(|store| ask(store, by, &subject.hash)).flatten())
    }

    fn rederive(&self, subject: &ContentRef<'_>) -> Option<ContentArtifacts> {
        let reading =
            self.workspace.world.files.read(subject.path, self.workspace.options.structure_max_bytes).ok()?;
        let mut content =
            identify(subject.path, &reading.bytes, &HeaderNeighbors::from_paths(std::iter::empty())).ok()?;
        // The type of a header depends on its neighbors, which were looked at when the subject was found.
        content.file_type = subject.file_type;
        (content.hash == subject.hash)
            .then(|| derive(&content, self.workspace.options.parse_timeout, self.workspace.world.clock))
    }
}

fn skeleton_in(body: &ArtifactBody) -> Option<Skeleton> {
    match body {
        ArtifactBody::Skeleton(skeleton) => Some(skeleton.clone()),
        ArtifactBody::Outline(_) | ArtifactBody::Summary(_) | ArtifactBody::References(_) => None,
    }
}

fn find_body<T>(derived: &ContentArtifacts, take: impl Fn(&ArtifactBody) -> Option<T>) -> Option<T> {
    derived.artifacts.iter().find_map(|(_, body)| take(body))
}

impl ArtifactCache<'_> {
    /// Returns how many tokens each of the texts has, counted as the settings say.
    ///
    /// What was counted before is looked up, so that the vocabulary is loaded only where some text is new.
    pub(in crate::engine) fn count_tokens(&mut self, texts: &[&str]) -> Vec<u64> {
        let counter = self.workspace.options.counter;
        let Some(key) = counter.key() else {
            return texts.iter().map(|text| counter.count(text)).collect();
        };
        let hashes = on_all_cores(texts, |text| ContentHash::digest(text.as_bytes()));
        let known = self.query_store(|store| store.get_token_counts(key, &hashes)).unwrap_or_default();
        let mut counts: HashMap<ContentHash, u64> = HashMap::new();
        counts.extend(hashes.iter().zip(known).filter_map(|(hash, count)| Some((*hash, count?))));
        let mut new: Vec<(ContentHash, &str)> = hashes.iter().copied().zip(texts.iter().copied()).collect();
        new.retain(|(hash, _)| !counts.contains_key(hash));
        new.sort_unstable_by_key(|(hash, _)| *hash);
        new.dedup_by_key(|(hash, _)| *hash);
        let fresh = on_all_cores(&new, |(hash, text)| (*hash, counter.count(text)));
        self.save_token_counts(key, &fresh);
        counts.extend(fresh);
        hashes.iter().map(|hash| counts[hash]).collect()
    }

    fn save_token_counts(&mut self, key: &str, counts: &[(ContentHash, u64)]) {
        if counts.is_empty() {
            return;
        }
        let at_s = self.workspace.world.clock.now_s();
        if let Some(store) = &mut self.store
            && let Err(error) = store.save_token_counts(key, counts, at_s)
        {
            self.recover(&error);
        }
    }
}
