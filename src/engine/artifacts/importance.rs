//! How much each file matters, from the names that files define and use.
//!
//! Names are extracted when importance is first asked for, not with every scan: a project that never has to fit a
//! budget does not pay for them.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use super::cache::{ArtifactCache, ContentKey};
use super::derive::producer;
use super::lookup::{ContentRef, derive_in, with_content};
use crate::aggregate::{Importance, ImportanceSubject};
use crate::engine::parallel::on_all_cores;
use crate::engine::workspace::KnownFile;
use crate::model::{ArtifactKind, ContentHash, FileReferences, Outline, Producer, RelPath};
use crate::store::{ArtifactBody, ContentArtifacts, Store};
use crate::{aggregate, syntax};

/// This many files are looked through before their names are written.
const FILES_AT_ONCE: usize = 500;

/// What the caller knows of files.
pub(in crate::engine) struct ImportanceInputs<'a> {
    pub(in crate::engine) in_focus: &'a dyn Fn(&RelPath) -> bool,
    pub(in crate::engine) is_curated: &'a dyn Fn(&RelPath) -> bool,
    /// How often commits changed files, in millionths of a change.
    pub(in crate::engine) changes: &'a HashMap<RelPath, u64>,
}

/// Returns how much each of the files matters, in their order.
pub(in crate::engine) fn importance(
    cache: &mut ArtifactCache<'_>,
    files: &[&KnownFile],
    inputs: &ImportanceInputs<'_>,
) -> Vec<Importance> {
    let references = references(cache, files);
    let subjects: Vec<_> = files
        .iter()
        .map(|file| {
            (file, ContentRef::from_file(file).and_then(|subject| references.get(&content_key(&subject))))
        })
        .map(|(file, references)| ImportanceSubject {
            path: &file.path,
            references,
            own_name: references.and_then(|_| import_name_number(&file.path)),
            in_focus: (inputs.in_focus)(&file.path),
            is_curated: (inputs.is_curated)(&file.path),
            changes: inputs.changes.get(&file.path).copied().unwrap_or(0),
        })
        .collect();
    aggregate::rate_files(&subjects)
}

/// Returns the names of those files that are code, as far as they still are what they were.
fn references(cache: &mut ArtifactCache<'_>, files: &[&KnownFile]) -> HashMap<ContentKey, FileReferences> {
    // By content, so that copies of a file are scanned once.
    let mut wanted: HashMap<ContentKey, (ContentRef<'_>, Producer)> = HashMap::new();
    for subject in files.iter().copied().filter_map(ContentRef::from_file) {
        if let Some(by) = producer(ArtifactKind::References, subject.file_type) {
            wanted.insert(content_key(&subject), (subject, by));
        }
    }
    let mut found = cached_references(cache, &wanted);
    wanted.retain(|key, _| !found.contains_key(key));
    let mut missing: Vec<(ContentRef<'_>, Producer)> = wanted.into_values().collect();
    missing.sort_unstable_by(|a, b| a.0.path.cmp(b.0.path));
    for some in missing.chunks(FILES_AT_ONCE) {
        scan_references(cache, some, &mut found);
    }
    found
}

fn cached_references(
    cache: &mut ArtifactCache<'_>,
    wanted: &HashMap<ContentKey, (ContentRef<'_>, Producer)>,
) -> HashMap<ContentKey, FileReferences> {
    let mut found = HashMap::new();
    // One query for each language instead of one for each file: a large project has few of the former.
    let mut by_producer: HashMap<&Producer, HashSet<ContentHash>> = HashMap::new();
    for (key, (_, by)) in wanted {
        let unsaved = cache.unsaved.get(key).into_iter().flat_map(|derived| &derived.artifacts);
        match unsaved.map(|(_, body)| body).find_map(references_in) {
            Some(references) => drop(found.insert(*key, references.clone())),
            None => drop(by_producer.entry(by).or_default().insert(key.0)),
        }
    }
    for (by, contents) in by_producer {
        let stored = cache.query_store(|store| store.get_references(by, &contents)).unwrap_or_default();
        found.extend(stored.into_iter().map(|(hash, references)| ((hash, by.language), references)));
    }
    found
}

/// Looks through files on all cores, and keeps what it finds.
fn scan_references(
    cache: &mut ArtifactCache<'_>,
    missing: &[(ContentRef<'_>, Producer)],
    found: &mut HashMap<ContentKey, FileReferences>,
) {
    // A connection cannot be shared among threads. If there is no second one, outlines are derived again.
    let known = cache.open_reader().map(Mutex::new);
    let (workspace, unsaved) = (&cache.workspace, &cache.unsaved);
    let read = on_all_cores(missing, |(subject, _)| {
        with_content(workspace, subject, |content| {
            let outline = outline(subject, unsaved, known.as_ref(), || derive_in(workspace, content));
            syntax::references(&content.text.text, outline.as_ref())
        })
    });
    let mut contents = Vec::new();
    for ((subject, by), references) in missing.iter().zip(read) {
        // The file has changed since it was listed. It counts less in this answer, and is read again for the next one.
        let Some(references) = references else { continue };
        found.insert(content_key(subject), references.clone());
        let artifacts = vec![(by.clone(), ArtifactBody::References(references))];
        contents.push(ContentArtifacts { hash: subject.hash, facts: subject.facts.clone(), artifacts });
    }
    cache.save_contents(contents);
}

fn outline(
    subject: &ContentRef<'_>,
    unsaved: &HashMap<ContentKey, ContentArtifacts>,
    known: Option<&Mutex<Store>>,
    derive: impl FnOnce() -> ContentArtifacts,
) -> Option<Outline> {
    let by = producer(ArtifactKind::Outline, subject.file_type)?;
    let unsaved = unsaved.get(&content_key(subject)).and_then(outline_in);
    let stored = unsaved.or_else(|| known?.lock().ok()?.outline(&by, &subject.hash).ok()?);
    stored.or_else(|| outline_in(&derive()))
}

fn content_key(subject: &ContentRef<'_>) -> ContentKey {
    (subject.hash, subject.file_type.id)
}

fn outline_in(derived: &ContentArtifacts) -> Option<Outline> {
    derived.artifacts.iter().find_map(|(_, body)| match body {
        ArtifactBody::Outline(outline) => Some(outline.clone()),
        ArtifactBody::Skeleton(_)
        | ArtifactBody::Summary(_)
        | ArtifactBody::References(_)
        | ArtifactBody::Facts(_) => None,
    })
}

fn references_in(body: &ArtifactBody) -> Option<&FileReferences> {
    match body {
        ArtifactBody::References(references) => Some(references),
        ArtifactBody::Outline(_)
        | ArtifactBody::Skeleton(_)
        | ArtifactBody::Summary(_)
        | ArtifactBody::Facts(_) => None,
    }
}

/// Returns the number of the name that others import a file by: its own without the ending, or that of its folder where
/// the file only represents it.
fn import_name_number(path: &RelPath) -> Option<u32> {
    let mut parts = path.as_bytes().rsplit(|byte| *byte == b'/');
    let stem = parts.next()?.split(|byte| *byte == b'.').next()?;
    // Python, Rust and JavaScript import such a file by the name of its folder.
    let stands_for_folder = [&b"__init__"[..], b"mod", b"index"].contains(&stem);
    let name = if stands_for_folder { parts.next()? } else { stem };
    syntax::import_number(std::str::from_utf8(name).ok()?)
}
