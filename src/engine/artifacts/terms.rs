//! The term vectors of texts, for matching with tasks.

use std::collections::HashMap;
use std::sync::Arc;

use super::cache::{ArtifactCache, ContentKey};
use super::derive::terms_of;
use super::kept_vectors::VectorsByContent;
use super::lookup::{ContentRef, with_content};
use super::on_demand::OnDemandArtifact;
use crate::engine::workspace::KnownFile;
use crate::model::{ArtifactKind, on_all_cores};
use crate::store::{ArtifactBody, Store};

/// Returns the term vectors of the files that are text.
pub(in crate::engine) fn term_vectors(
    cache: &mut ArtifactCache<'_>,
    files: &[&KnownFile],
) -> Arc<VectorsByContent> {
    let known = cache.kept_vectors.get();
    let keys = files.iter().filter_map(|file| ContentRef::from_file(file)).map(|subject| subject.key());
    let mut vectors: VectorsByContent =
        keys.filter_map(|key| Some((key, Arc::clone(known.get(&key)?)))).collect();
    let is_new = |file: &&&KnownFile| {
        ContentRef::from_file(file).is_some_and(|subject| !vectors.contains_key(&subject.key()))
    };
    let new: Vec<&KnownFile> = files.iter().filter(is_new).copied().collect();
    if new.is_empty() && vectors.len() == known.len() {
        return known;
    }
    vectors.extend(stored_vectors(cache, &new).into_iter().map(|(key, vector)| (key, vector.into())));
    let vectors = Arc::new(vectors);
    cache.kept_vectors.replace(&vectors);
    vectors
}

/// Returns vectors from the store. A scan derives them with everything else; only those of masked texts, and lost ones,
/// are derived here.
fn stored_vectors(cache: &mut ArtifactCache<'_>, files: &[&KnownFile]) -> HashMap<ContentKey, Vec<u8>> {
    let artifact = OnDemandArtifact {
        kind: ArtifactKind::Terms,
        take: |body| match body {
            ArtifactBody::Terms(terms) => Some(terms),
            _ => None,
        },
        to_body: ArtifactBody::Terms,
        stored: Store::get_encoded,
        derive: |cache, subjects| {
            let workspace = &cache.workspace;
            on_all_cores(subjects, |subject| with_content(workspace, subject, terms_of))
        },
    };
    artifact.of_files(cache, files)
}
