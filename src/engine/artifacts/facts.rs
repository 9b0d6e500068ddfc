//! The facts about the names of files: from the store, or derived from the files on all cores.
//!
//! They are derived when references are first asked for, not with every scan: a project whose references nobody asks
//! for does not pay for them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use super::cache::{ArtifactCache, ContentKey};
use super::derive::producer;
use super::lookup::{ContentRef, with_content};
use crate::engine::parallel::{LARGE_BYTES, on_all_cores};
use crate::engine::workspace::Workspace;
use crate::model::{ArtifactKind, ContentHash, Producer, SourceFacts};
use crate::store::{ArtifactBody, ContentArtifacts};
use crate::{references, syntax};

/// This many files are read before their facts are written.
const FILES_AT_ONCE: usize = 500;

/// The facts of contents.
pub(in crate::engine) type FactsByContent = HashMap<ContentKey, Arc<SourceFacts>>;

/// Returns the key of what is derived from a content.
pub(in crate::engine) fn content_key(subject: &ContentRef<'_>) -> ContentKey {
    (subject.hash, subject.file_type.id)
}

/// Returns the facts of those contents whose names are read, as far as the files still are what they were. What is in
/// `known` is taken from there.
pub(in crate::engine) fn load_facts(
    cache: &mut ArtifactCache<'_>,
    subjects: &[ContentRef<'_>],
    known: &FactsByContent,
) -> FactsByContent {
    let mut found = FactsByContent::new();
    // By content, so that copies of a file are read once.
    let mut wanted: HashMap<ContentKey, (ContentRef<'_>, Producer)> = HashMap::new();
    for subject in subjects {
        let key = content_key(subject);
        if let Some(facts) = known.get(&key) {
            found.insert(key, Arc::clone(facts));
        } else if let Some(by) = producer(ArtifactKind::Facts, subject.file_type) {
            wanted.insert(key, (subject.clone(), by));
        }
    }
    load_stored(cache, &wanted, &mut found);
    wanted.retain(|key, _| !found.contains_key(key));
    let mut missing: Vec<(ContentRef<'_>, Producer)> = wanted.into_values().collect();
    missing.sort_unstable_by(|a, b| a.0.path.cmp(b.0.path));
    for some in missing.chunks(FILES_AT_ONCE) {
        // The caller has to check whether it was cancelled.
        if cache.workspace.world.progress.is_cancelled() {
            break;
        }
        derive_facts(cache, some, &mut found);
    }
    found
}

fn load_stored(
    cache: &mut ArtifactCache<'_>,
    wanted: &HashMap<ContentKey, (ContentRef<'_>, Producer)>,
    found: &mut FactsByContent,
) {
    let mut encoded: Vec<(ContentKey, Vec<u8>)> = Vec::new();
    let mut by_producer: HashMap<&Producer, HashSet<ContentHash>> = HashMap::new();
    for (key, (_, by)) in wanted {
        let unsaved = cache.unsaved.get(key).into_iter().flat_map(|derived| &derived.artifacts);
        match unsaved.map(|(_, body)| body).find_map(facts_in) {
            Some(bytes) => encoded.push((*key, bytes.clone())),
            None => drop(by_producer.entry(by).or_default().insert(key.0)),
        }
    }
    for (by, contents) in by_producer {
        let stored = cache.query_store(|store| store.get_facts(by, &contents)).unwrap_or_default();
        encoded.extend(stored.into_iter().map(|(hash, bytes)| ((hash, by.language), bytes)));
    }
    // What cannot be decoded is missing, and derived again.
    let decoded = on_all_cores(&encoded, |(key, bytes)| Some((*key, references::decode_facts(bytes)?)));
    found.extend(decoded.into_iter().flatten().map(|(key, facts)| (key, Arc::new(facts))));
}

/// Reads files on all cores, and keeps what they say about their names.
fn derive_facts(
    cache: &mut ArtifactCache<'_>,
    missing: &[(ContentRef<'_>, Producer)],
    found: &mut FactsByContent,
) {
    let workspace = &cache.workspace;
    // Held while a large text is parsed.
    let large = Mutex::default();
    let read = on_all_cores(missing, |(subject, _)| {
        let facts = facts_of(workspace, &large, subject)?;
        let bytes = references::encode_facts(&facts);
        Some((facts, bytes))
    });
    let mut contents = Vec::new();
    for ((subject, by), derived) in missing.iter().zip(read) {
        // The file has changed since it was listed. It has no references in this answer, and is read again for the
        // next one.
        let Some((facts, bytes)) = derived else { continue };
        found.insert(content_key(subject), Arc::new(facts));
        let artifacts = vec![(by.clone(), ArtifactBody::Facts(bytes))];
        contents.push(ContentArtifacts { hash: subject.hash, facts: subject.facts.clone(), artifacts });
    }
    cache.save_contents(contents);
}

fn facts_of(workspace: &Workspace<'_>, large: &Mutex<()>, subject: &ContentRef<'_>) -> Option<SourceFacts> {
    if workspace.world.progress.is_cancelled() {
        return None;
    }
    with_content(workspace, subject, |content| {
        let text = &content.text.text;
        let _alone = (LARGE_BYTES < text.len()).then(|| large.lock());
        text_facts(workspace, subject.file_type.id, text)
    })?
}

/// Returns the facts of a text; `None` where the names of its language are not read.
pub(in crate::engine) fn text_facts(
    workspace: &Workspace<'_>,
    language: &str,
    text: &str,
) -> Option<SourceFacts> {
    let (clock, timeout) = (workspace.world.clock, workspace.options.parse_timeout);
    // This thread's time: others parse other files meanwhile.
    let began = clock.thread_time();
    let mut give_up = || timeout < clock.thread_time().saturating_sub(began);
    syntax::source_facts(language, text, &mut give_up)
}

fn facts_in(body: &ArtifactBody) -> Option<&Vec<u8>> {
    match body {
        ArtifactBody::Facts(bytes) => Some(bytes),
        _ => None,
    }
}
