//! How much each file matters, from the names that files define and use.
//!
//! Names are extracted when importance is first needed, not with every scan: a project that never has to fit a budget
//! does not pay for them.

use std::collections::HashMap;
use std::sync::Mutex;

use super::cache::{ArtifactCache, ContentKey};
use super::derive::producer;
use super::lookup::{ContentRef, derive_in, with_content};
use super::on_demand::OnDemandArtifact;
use crate::aggregate::{Importance, ImportanceSubject};
use crate::engine::workspace::KnownFile;
use crate::model::{ArtifactKind, FileReferences, Outline, RelPath, lock, on_all_cores};
use crate::store::{ArtifactBody, ContentArtifacts, Store};
use crate::{aggregate, syntax};

/// Returns how much each of the files matters, in their order.
pub(in crate::engine) fn importance(
    cache: &mut ArtifactCache<'_>,
    files: &[&KnownFile],
    is_curated: &dyn Fn(&RelPath) -> bool,
) -> Vec<Importance> {
    let references = references(cache, files);
    let subjects: Vec<_> = files
        .iter()
        .map(|file| (file, ContentRef::from_file(file).and_then(|subject| references.get(&subject.key()))))
        .map(|(file, references)| ImportanceSubject {
            path: &file.path,
            references,
            own_name: references.and_then(|_| import_name_number(&file.path)),
            is_curated: is_curated(&file.path),
        })
        .collect();
    aggregate::rate_files(&subjects)
}

/// Returns the names of the files that are code, as long as they are unchanged.
fn references(cache: &mut ArtifactCache<'_>, files: &[&KnownFile]) -> HashMap<ContentKey, FileReferences> {
    let artifact = OnDemandArtifact {
        kind: ArtifactKind::References,
        take: |body| match body {
            ArtifactBody::References(references) => Some(references),
            _ => None,
        },
        to_body: ArtifactBody::References,
        stored: Store::get_references,
        derive: scan_references,
    };
    artifact.of_files(cache, files)
}

/// Extracts the names of files on all cores.
fn scan_references(cache: &ArtifactCache<'_>, subjects: &[ContentRef<'_>]) -> Vec<Option<FileReferences>> {
    // Threads cannot share a connection. Without a second one, outlines are derived again.
    let known = cache.open_reader().map(Mutex::new);
    let (workspace, unsaved) = (&cache.workspace, &cache.unsaved);
    on_all_cores(subjects, |subject| {
        with_content(workspace, subject, |content| {
            let outline = outline_if_known(subject, unsaved, known.as_ref())
                .or_else(|| outline_in(&derive_in(workspace, content)));
            syntax::references(&content.text.text, outline.as_ref())
        })
    })
}

/// Returns the outline of a content if it has been derived before.
pub(super) fn outline_if_known(
    subject: &ContentRef<'_>,
    unsaved: &HashMap<ContentKey, ContentArtifacts>,
    known: Option<&Mutex<Store>>,
) -> Option<Outline> {
    let by = producer(ArtifactKind::Outline, subject.file_type)?;
    let unsaved = unsaved.get(&subject.key()).and_then(outline_in);
    unsaved.or_else(|| lock(known?).outline(&by, &subject.hash).ok()?)
}

fn outline_in(derived: &ContentArtifacts) -> Option<Outline> {
    derived.artifacts.iter().find_map(|(_, body)| match body {
        ArtifactBody::Outline(outline) => Some(outline.clone()),
        _ => None,
    })
}

/// Returns the number of the name by which others import a file: its own without the extension, or that of its folder
/// if the file represents the folder.
fn import_name_number(path: &RelPath) -> Option<u32> {
    let mut parts = path.as_bytes().rsplit(|byte| *byte == b'/');
    let stem = parts.next()?.split(|byte| *byte == b'.').next()?;
    // Python, Rust and JavaScript import such a file by its folder's name.
    let stands_for_folder = [&b"__init__"[..], b"mod", b"index"].contains(&stem);
    let name = if stands_for_folder { parts.next()? } else { stem };
    syntax::import_number(std::str::from_utf8(name).ok()?)
}
