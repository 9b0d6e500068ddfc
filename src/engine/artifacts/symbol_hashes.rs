//! Hashes of the lines of each symbol, for comparison with later versions of the file.
//!
//! They are derived when a file has been delivered to a reader, who may later ask for changes; by then, its text may be
//! different.

use std::collections::HashSet;

use super::cache::ArtifactCache;
use super::derive::producer;
use super::lookup::{ContentRef, with_content};
use super::on_demand::OnDemandArtifact;
use crate::aggregate::{OwnHashes, outline_lines};
use crate::engine::workspace::KnownFile;
use crate::model::{ArtifactKind, ContentHash, FileType, Outline, on_all_cores};
use crate::store::{ArtifactBody, Store};

/// The stored structure of a content.
pub(in crate::engine) struct StoredStructure {
    pub(in crate::engine) outline: Outline,
    pub(in crate::engine) hashes: OwnHashes,
}

/// Derives and stores the hashes of the files that have an outline and are unchanged.
pub(in crate::engine) fn save_symbol_hashes(cache: &mut ArtifactCache<'_>, files: &[&KnownFile]) {
    artifact().of_files(cache, files);
}

/// Returns the stored structure of a current or former content of a file; `None` if its hashes were never derived.
pub(in crate::engine) fn stored_structure(
    cache: &mut ArtifactCache<'_>,
    hash: &ContentHash,
    file_type: &'static FileType,
) -> Option<StoredStructure> {
    let outline_by = producer(ArtifactKind::Outline, file_type)?;
    let hashes_by = producer(ArtifactKind::SymbolHashes, file_type)?;
    let contents = HashSet::from([*hash]);
    let hashes = cache.query_store(|store| store.get_encoded(&hashes_by, &contents))?;
    let hashes = OwnHashes::decode(hashes.get(hash)?)?;
    let outline = cache.query_store(|store| store.outline(&outline_by, hash)).flatten()?;
    Some(StoredStructure { outline, hashes })
}

impl ArtifactCache<'_> {
    /// Returns the current structure of a file; `None` if its type has none, or the file has changed.
    pub(in crate::engine) fn current_structure(
        &mut self,
        subject: &ContentRef<'_>,
    ) -> Option<StoredStructure> {
        let outline = self.outline(subject)?;
        let lines = outline_lines(&outline);
        let hashes =
            with_content(&self.workspace, subject, |content| OwnHashes::of_text(&lines, &content.text.text))?;
        Some(StoredStructure { outline, hashes })
    }
}

fn artifact() -> OnDemandArtifact<Vec<u8>> {
    OnDemandArtifact {
        kind: ArtifactKind::SymbolHashes,
        take: |body| match body {
            ArtifactBody::SymbolHashes(bytes) => Some(bytes),
            _ => None,
        },
        to_body: ArtifactBody::SymbolHashes,
        stored: Store::get_encoded,
        derive: encoded_hashes,
    }
}

/// Derives hashes on all cores, with outlines from the store: parsing a file again costs far more.
fn encoded_hashes(cache: &ArtifactCache<'_>, subjects: &[ContentRef<'_>]) -> Vec<Option<Vec<u8>>> {
    let Some(reader) = cache.open_reader() else { return vec![None; subjects.len()] };
    let outline = |subject: &ContentRef<'_>| {
        let by = producer(ArtifactKind::Outline, subject.file_type)?;
        reader.outline(&by, &subject.hash).ok().flatten()
    };
    let outlined: Vec<(&ContentRef<'_>, Option<Outline>)> =
        subjects.iter().map(|subject| (subject, outline(subject))).collect();
    let workspace = &cache.workspace;
    on_all_cores(&outlined, |(subject, outline)| {
        let lines = outline_lines(outline.as_ref()?);
        with_content(workspace, subject, |content| OwnHashes::of_text(&lines, &content.text.text).encode())
    })
}
