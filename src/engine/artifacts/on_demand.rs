//! Artifacts that are derived on demand, for many files at a time.
//!
//! A project whose documents do not need them does not pay for them.

use std::collections::{HashMap, HashSet};

use super::cache::{ArtifactCache, ContentKey};
use super::derive::producer;
use super::lookup::ContentRef;
use crate::engine::workspace::KnownFile;
use crate::model::{ArtifactKind, ContentHash, Producer};
use crate::store::{ArtifactBody, ContentArtifacts, Error, Store};

/// The number of files that are processed before the derived artifacts are written.
const FILES_AT_ONCE: usize = 500;

/// The artifacts of some contents.
type ByContent<T> = Result<HashMap<ContentHash, T>, Error>;

/// An artifact that is derived on demand.
pub(super) struct OnDemandArtifact<T> {
    pub(super) kind: ArtifactKind,
    /// Extracts the artifact from a body, if the body is one.
    pub(super) take: fn(&ArtifactBody) -> Option<&T>,
    pub(super) to_body: fn(T) -> ArtifactBody,
    /// Loads the artifacts of those contents that are in the store.
    pub(super) stored: fn(&Store, &Producer, &HashSet<ContentHash>) -> ByContent<T>,
    /// Derives the artifact from each of the files; `None` for one that has changed since it was listed.
    pub(super) derive: fn(&ArtifactCache<'_>, &[ContentRef<'_>]) -> Vec<Option<T>>,
}

impl<T: Clone> OnDemandArtifact<T> {
    /// Returns the artifacts of the files that have one, as long as they are unchanged.
    pub(super) fn of_files(
        &self,
        cache: &mut ArtifactCache<'_>,
        files: &[&KnownFile],
    ) -> HashMap<ContentKey, T> {
        self.of_contents(cache, files.iter().copied().filter_map(ContentRef::from_file))
    }

    /// Returns the artifacts of contents, in the same way.
    pub(super) fn of_contents<'f>(
        &self,
        cache: &mut ArtifactCache<'_>,
        contents: impl Iterator<Item = ContentRef<'f>>,
    ) -> HashMap<ContentKey, T> {
        // By content, so that copies of a file are processed once.
        let mut wanted: HashMap<ContentKey, (ContentRef<'_>, Producer)> = HashMap::new();
        for subject in contents {
            if let Some(by) = producer(self.kind, subject.file_type) {
                wanted.insert(subject.key(), (subject, by));
            }
        }
        let mut found = self.known(cache, &wanted);
        wanted.retain(|key, _| !found.contains_key(key));
        let mut missing: Vec<(ContentRef<'_>, Producer)> = wanted.into_values().collect();
        missing.sort_unstable_by(|a, b| a.0.path.cmp(b.0.path));
        for some in missing.chunks(FILES_AT_ONCE) {
            // The caller checks for cancellation before it uses the result.
            if cache.workspace.world.progress.is_cancelled() {
                break;
            }
            self.derive_some(cache, some, &mut found);
        }
        found
    }

    fn known(
        &self,
        cache: &mut ArtifactCache<'_>,
        wanted: &HashMap<ContentKey, (ContentRef<'_>, Producer)>,
    ) -> HashMap<ContentKey, T> {
        let mut found = HashMap::new();
        // One query per language instead of one per file: a large project has few languages.
        let mut by_producer: HashMap<&Producer, HashSet<ContentHash>> = HashMap::new();
        for (key, (_, by)) in wanted {
            let unsaved = cache.unsaved.get(key).into_iter().flat_map(|derived| &derived.artifacts);
            match unsaved.map(|(_, body)| body).find_map(self.take) {
                Some(artifact) => drop(found.insert(*key, artifact.clone())),
                None => drop(by_producer.entry(by).or_default().insert(key.0)),
            }
        }
        for (by, contents) in by_producer {
            let stored = cache.query_store(|store| (self.stored)(store, by, &contents)).unwrap_or_default();
            found.extend(stored.into_iter().map(|(hash, artifact)| ((hash, by.language), artifact)));
        }
        found
    }

    /// Derives the artifact from some files, and stores the results.
    fn derive_some(
        &self,
        cache: &mut ArtifactCache<'_>,
        missing: &[(ContentRef<'_>, Producer)],
        found: &mut HashMap<ContentKey, T>,
    ) {
        let subjects: Vec<ContentRef<'_>> = missing.iter().map(|(subject, _)| subject.clone()).collect();
        let derived = (self.derive)(cache, &subjects);
        let mut contents = Vec::new();
        for ((subject, by), artifact) in missing.iter().zip(derived) {
            // The file has changed since it was listed. It counts less in this answer, and is read again for the next.
            let Some(artifact) = artifact else { continue };
            found.insert(subject.key(), artifact.clone());
            let artifacts = vec![(by.clone(), (self.to_body)(artifact))];
            contents.push(ContentArtifacts { hash: subject.hash, facts: subject.facts.clone(), artifacts });
        }
        cache.save_contents(contents);
    }
}
