//! The facts about the names of files: from the store, or derived from the files on all cores.
//!
//! They are derived when references are first asked for, not with every scan: a project whose references nobody asks
//! for does not pay for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::cache::{ArtifactCache, ContentKey};
use super::derive::LARGE_BYTES;
use super::importance::outline_if_known;
use super::lookup::{ContentRef, with_content};
use super::on_demand::OnDemandArtifact;
use crate::engine::workspace::Workspace;
use crate::model::{ArtifactKind, SourceFacts, lock, on_all_cores};
use crate::store::{ArtifactBody, Store};
use crate::{references, syntax};

/// The facts of contents.
pub(in crate::engine) type FactsByContent = HashMap<ContentKey, Arc<SourceFacts>>;

/// Returns the facts of the contents in supported languages, as long as their files are unchanged. Those in `known` are
/// reused. The caller has to check for cancellation.
pub(in crate::engine) fn load_facts(
    cache: &mut ArtifactCache<'_>,
    subjects: &[ContentRef<'_>],
    known: &FactsByContent,
) -> FactsByContent {
    let artifact = OnDemandArtifact {
        kind: ArtifactKind::Facts,
        take: |body| match body {
            ArtifactBody::Facts(bytes) => Some(bytes),
            _ => None,
        },
        to_body: ArtifactBody::Facts,
        stored: Store::get_encoded,
        derive: encoded_facts,
    };
    let (old, new): (Vec<_>, Vec<_>) =
        subjects.iter().partition(|subject| known.contains_key(&subject.key()));
    let encoded: Vec<(ContentKey, Vec<u8>)> =
        artifact.of_contents(cache, new.into_iter().cloned()).into_iter().collect();
    // The checksum and version of a stored body are valid, so it can be decoded; if not, its file has no references.
    let decoded = on_all_cores(&encoded, |(key, bytes)| Some((*key, references::decode_facts(bytes)?)));
    let mut found: FactsByContent =
        decoded.into_iter().flatten().map(|(key, facts)| (key, Arc::new(facts))).collect();
    found.extend(
        old.into_iter().filter_map(|subject| Some((subject.key(), Arc::clone(known.get(&subject.key())?)))),
    );
    found
}

/// Derives the encoded facts of files on all cores.
fn encoded_facts(cache: &ArtifactCache<'_>, subjects: &[ContentRef<'_>]) -> Vec<Option<Vec<u8>>> {
    let (workspace, unsaved) = (&cache.workspace, &cache.unsaved);
    // Held while a large text is parsed.
    let large: Mutex<()> = Mutex::default();
    // Threads cannot share a connection. Without a second one, every text is parsed.
    let known = cache.open_reader().map(Mutex::new);
    on_all_cores(subjects, |subject| {
        if workspace.world.progress.is_cancelled() {
            return None;
        }
        let facts = with_content(workspace, subject, |content| {
            let text = &content.text.text;
            let is_large = LARGE_BYTES < text.len();
            let _alone = is_large.then(|| lock(&large));
            // A text whose outline could not be parsed is not tried again: a hostile text would take all of the time
            // once more.
            let is_hopeless = is_large
                && outline_if_known(subject, unsaved, known.as_ref())
                    .is_some_and(|outline| outline.health.fallback.is_some());
            let timeout = if is_hopeless { Duration::ZERO } else { workspace.options.parse_timeout };
            text_facts(workspace, subject.file_type.id, text, timeout)
        });
        facts.flatten().map(|facts| references::encode_facts(&facts))
    })
}

/// Returns the facts of a text; `None` if its language is not supported. Parsing is abandoned once it has taken
/// `timeout` of processor time.
pub(in crate::engine) fn text_facts(
    workspace: &Workspace<'_>,
    language: &str,
    text: &str,
    timeout: Duration,
) -> Option<SourceFacts> {
    let clock = workspace.world.clock;
    // The time of this thread: other threads parse other files concurrently.
    let began = clock.thread_time();
    let mut give_up = || timeout < clock.thread_time().saturating_sub(began);
    syntax::source_facts(language, text, &mut give_up)
}
