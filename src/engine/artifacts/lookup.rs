//! Looks up artifacts in memory or in the store, or derives them from the file; and checks skeletons against their
//! sources before they are shown, on all cores.
//!
//! A check takes a parse of the skeleton, and often one of the whole source: nearly as much as a cold index. So no file
//! is checked before its skeleton is shown, and none twice.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use super::cache::{ArtifactCache, ContentKey};
use super::derive::{IdentifiedText, LARGE_BYTES, derive, identify, producer, producers};
use crate::aggregate::TokenCounter;
use crate::discover::HeaderNeighbors;
use crate::engine::timings::AnswerStep;
use crate::engine::workspace::{KnownFile, KnownState, Workspace};
use crate::model::{
    ArtifactKind, ContentFacts, ContentHash, FileType, Outline, Producer, RelPath, Skeleton, lock,
    on_all_cores,
};
use crate::store::{ArtifactBody, ContentArtifacts, Store};
use crate::sys::Files;
use crate::{store, syntax};

/// A content, and where to read it if that is necessary.
#[derive(Clone)]
pub(in crate::engine) struct ContentRef<'a> {
    pub(in crate::engine) path: &'a RelPath,
    pub(in crate::engine) hash: ContentHash,
    pub(in crate::engine) file_type: &'static FileType,
    pub(in crate::engine) facts: &'a ContentFacts,
}

impl<'a> ContentRef<'a> {
    /// Returns a reference to the content of a file, if it is text.
    pub(in crate::engine) fn from_file(file: &'a KnownFile) -> Option<Self> {
        match &file.state {
            KnownState::Content { hash, file_type, facts } => {
                Some(Self { path: &file.path, hash: *hash, file_type, facts })
            }
            KnownState::LeftOut(_) => None,
        }
    }

    /// Returns the key of its artifacts.
    pub(in crate::engine) fn key(&self) -> ContentKey {
        (self.hash, self.file_type.id)
    }
}

impl ArtifactCache<'_> {
    /// Returns the outline; `None` if the type has none, or the file has changed.
    pub(in crate::engine) fn outline(&mut self, subject: &ContentRef<'_>) -> Option<Outline> {
        let take = |body: &ArtifactBody| match body {
            ArtifactBody::Outline(outline) => Some(outline.clone()),
            _ => None,
        };
        self.artifact(subject, ArtifactKind::Outline, Store::outline, take)
    }

    /// Derives the missing artifacts of contents, which need not be current contents of files.
    pub(in crate::engine) fn derive_contents(&mut self, contents: &[IdentifiedText<'_>]) {
        let is_missing = |content: &&IdentifiedText<'_>| {
            let by = producers(content.file_type);
            !self.query_store(|store| store.has_artifacts(&content.hash, &by)).unwrap_or(false)
        };
        let missing: Vec<&IdentifiedText<'_>> = contents.iter().filter(is_missing).collect();
        if !missing.is_empty() {
            let workspace = &self.workspace;
            let derived = on_all_cores(&missing, |content| derive_in(workspace, content));
            self.save_contents(derived);
        }
    }

    /// Returns the skeleton without a check; `None` if the type has none, or the file has changed.
    pub(super) fn unchecked_skeleton(&mut self, subject: &ContentRef<'_>) -> Option<Skeleton> {
        self.artifact(subject, ArtifactKind::Skeleton, Store::skeleton, skeleton_in)
    }

    /// Returns the skeleton if it has been derived before.
    pub(super) fn cached_skeleton(&mut self, subject: &ContentRef<'_>) -> Option<Skeleton> {
        let by = producer(ArtifactKind::Skeleton, subject.file_type)?;
        self.cached_artifact(subject, &by, &Store::skeleton, &skeleton_in)
    }

    /// Returns the summary of a file; `None` if the file has changed.
    pub(in crate::engine) fn summary(&mut self, subject: &ContentRef<'_>) -> Option<String> {
        let take = |body: &ArtifactBody| match body {
            ArtifactBody::Summary(words) => Some(words.clone()),
            _ => None,
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
        // It is missing, or its checksum is wrong: it is derived again.
        let derived = self.rederive(subject)?;
        let found = find_body(&derived, take);
        // All artifacts, not only the requested one: the parse was the expensive part.
        self.save_contents(vec![derived]);
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
        let derive = |content: &IdentifiedText<'_>| derive_in(&self.workspace, content);
        with_content(&self.workspace, subject, derive)
    }
}

/// Reads a file again and passes its text to `work`, without what a mask hides; `None` if it has changed.
pub(super) fn with_content<T>(
    workspace: &Workspace<'_>,
    subject: &ContentRef<'_>,
    work: impl FnOnce(&IdentifiedText<'_>) -> T,
) -> Option<T> {
    let hidden = workspace.hidden.get(subject.path);
    let read = if hidden.is_none() {
        let _timer = workspace.steps.time(AnswerStep::Read);
        Some(workspace.files.read(subject.path, workspace.options.structure_max_bytes).ok()?)
    } else {
        None
    };
    let visible = hidden.map(|hidden| hidden.visible.1.as_bytes());
    let bytes = read.as_ref().map(|reading| reading.bytes.as_slice()).or(visible)?;
    let none = HeaderNeighbors::default();
    let mut content = identify(subject.path, bytes, &none).ok()?;
    // The type of a header depends on its neighbors, which were examined when the content was selected.
    content.file_type = subject.file_type;
    // The result is stored under the content's hash, so it must not come from other bytes.
    (content.hash == subject.hash).then(|| work(&content))
}

pub(super) fn derive_in(workspace: &Workspace<'_>, content: &IdentifiedText<'_>) -> ContentArtifacts {
    derive(content, workspace.options.parse_timeout, &workspace.steps)
}

fn skeleton_in(body: &ArtifactBody) -> Option<Skeleton> {
    match body {
        ArtifactBody::Skeleton(skeleton) => Some(skeleton.clone()),
        _ => None,
    }
}

fn find_body<T>(derived: &ContentArtifacts, take: impl Fn(&ArtifactBody) -> Option<T>) -> Option<T> {
    derived.artifacts.iter().find_map(|(_, body)| take(body))
}

impl ArtifactCache<'_> {
    /// Returns the number of tokens of each text, counted as the settings specify.
    ///
    /// Known counts are looked up, so that the vocabulary is loaded only if some text is new.
    pub(in crate::engine) fn count_tokens(&mut self, texts: &[&str]) -> Vec<u64> {
        let _timer = self.workspace.steps.time(AnswerStep::Tokens);
        let counter = self.workspace.options.counter;
        let Some(key) = counter.key() else {
            return texts.iter().map(|text| counter.count(text)).collect();
        };
        let hashes = on_all_cores(texts, |text| ContentHash::digest(text.as_bytes()));
        let mut counts = self.stored_token_counts(key, &hashes);
        let new = count_new(counter, texts, &hashes, &counts);
        self.save_token_counts(key, &new);
        counts.extend(new);
        // Every hash was either known or has just been counted.
        hashes.iter().map(|hash| counts[hash]).collect()
    }

    /// As [`ArtifactCache::count_tokens`], for drafts that are counted repeatedly within an answer and may not end up
    /// in the document: counts are only cached in this process.
    pub(in crate::engine) fn count_draft_tokens(&mut self, texts: &[&str]) -> Vec<u64> {
        let _timer = self.workspace.steps.time(AnswerStep::Tokens);
        let counter = self.workspace.options.counter;
        let Some(key) = counter.key() else {
            return texts.iter().map(|text| counter.count(text)).collect();
        };
        let hashes = on_all_cores(texts, |text| ContentHash::digest(text.as_bytes()));
        let remembered = hashes.iter().filter_map(|hash| Some((*hash, counter.remembered(hash)?)));
        let mut counts: TokenCounts = remembered.collect();
        let unknown: Vec<ContentHash> =
            hashes.iter().copied().filter(|hash| !counts.contains_key(hash)).collect();
        for (hash, tokens) in self.stored_token_counts(key, &unknown) {
            counter.remember(hash, tokens);
            counts.insert(hash, tokens);
        }
        counts.extend(count_new(counter, texts, &hashes, &counts));
        hashes.iter().map(|hash| counts[hash]).collect()
    }

    fn stored_token_counts(&mut self, key: &str, hashes: &[ContentHash]) -> TokenCounts {
        if hashes.is_empty() {
            return TokenCounts::default();
        }
        let stored = self.query_store(|store| store.get_token_counts(key, hashes)).unwrap_or_default();
        hashes.iter().zip(stored).filter_map(|(hash, count)| Some((*hash, count?))).collect()
    }

    fn save_token_counts(&mut self, key: &str, counts: &[(ContentHash, u64)]) {
        if counts.is_empty() {
            return;
        }
        let at_s = self.workspace.world.clock.now_s();
        let _timer = self.workspace.steps.time(AnswerStep::Store);
        if let Some(store) = &mut self.store
            && let Err(error) = store.save_token_counts(key, counts, at_s)
        {
            self.recover(&error);
        }
    }
}

/// The tokens of texts by their hashes.
type TokenCounts = HashMap<ContentHash, u64>;

/// Counts the unknown texts on all cores. A text that occurs several times is counted once.
fn count_new(
    counter: TokenCounter,
    texts: &[&str],
    hashes: &[ContentHash],
    known: &TokenCounts,
) -> Vec<(ContentHash, u64)> {
    let mut new: Vec<(ContentHash, &str)> = hashes.iter().copied().zip(texts.iter().copied()).collect();
    new.retain(|(hash, _)| !known.contains_key(hash));
    new.sort_unstable_by_key(|(hash, _)| *hash);
    new.dedup_by_key(|(hash, _)| *hash);
    on_all_cores(&new, |(hash, text)| (*hash, counter.count(text)))
}

/// The number of files that are processed before their skeletons are written.
const FILES_AT_ONCE: usize = 500;

/// A file with a skeleton that has not been checked.
type UncheckedSkeleton<'a> = (ContentRef<'a>, Skeleton);

/// Files whose skeletons are likely to be shown next. As soon as one of them turns out to be unchecked, all of them are
/// checked together, on all cores.
#[derive(Default)]
pub(in crate::engine) struct SkeletonPrefetch(Vec<KnownFile>);

impl SkeletonPrefetch {
    pub(in crate::engine) fn new<'f>(files: impl Iterator<Item = &'f KnownFile>) -> Self {
        Self(files.cloned().collect())
    }
}

/// Returns the skeleton for display; `None` if the type has none, or the file has changed.
pub(in crate::engine) fn checked_skeleton(
    cache: &mut ArtifactCache<'_>,
    prefetch: &mut SkeletonPrefetch,
    subject: &ContentRef<'_>,
) -> Option<Skeleton> {
    let skeleton = cache.unchecked_skeleton(subject)?;
    if skeleton.is_checked {
        return Some(skeleton);
    }
    if !prefetch.0.is_empty() {
        // Taken, so that the others are checked only once, even if this fails.
        check_prefetched(cache, &std::mem::take(prefetch));
        if let Some(skeleton) = cache.cached_skeleton(subject).filter(|skeleton| skeleton.is_checked) {
            return Some(skeleton);
        }
    }
    check(cache, &[(subject.clone(), skeleton)]).pop()
}

fn check_prefetched(cache: &mut ArtifactCache<'_>, prefetch: &SkeletonPrefetch) {
    let mut seen: HashSet<(ContentHash, &str)> = HashSet::new();
    for files in prefetch.0.chunks(FILES_AT_ONCE) {
        let mut unchecked: Vec<UncheckedSkeleton<'_>> = Vec::new();
        for subject in files.iter().filter_map(ContentRef::from_file) {
            if seen.insert((subject.hash, subject.file_type.id))
                && let Some(skeleton) = cache.cached_skeleton(&subject)
                && !skeleton.is_checked
            {
                unchecked.push((subject, skeleton));
            }
        }
        check(cache, &unchecked);
    }
}

/// Returns the checked skeletons of the unchanged files, and stores them.
fn check(cache: &mut ArtifactCache<'_>, unchecked: &[UncheckedSkeleton<'_>]) -> Vec<Skeleton> {
    let workspace = &cache.workspace;
    // Held while a large text is parsed.
    let large = Mutex::default();
    let results =
        on_all_cores(unchecked, |(subject, skeleton)| check_one(workspace, &large, subject, skeleton));
    let (mut contents, mut skeletons) = (Vec::new(), Vec::new());
    for ((subject, _), skeleton) in unchecked.iter().zip(results) {
        let (Some(skeleton), Some(by)) = (skeleton, producer(ArtifactKind::Skeleton, subject.file_type))
        else {
            continue;
        };
        skeletons.push(skeleton.clone());
        let artifacts = vec![(by, ArtifactBody::Skeleton(skeleton))];
        contents.push(ContentArtifacts { hash: subject.hash, facts: subject.facts.clone(), artifacts });
    }
    cache.save_contents(contents);
    skeletons
}

/// Reads a file again and derives its skeleton with a check; `None` if it has changed, or the request was cancelled.
fn check_one(
    workspace: &Workspace<'_>,
    large: &Mutex<()>,
    subject: &ContentRef<'_>,
    plain: &Skeleton,
) -> Option<Skeleton> {
    if workspace.world.progress.is_cancelled() {
        return None;
    }
    with_content(workspace, subject, |content| {
        let _alone = (LARGE_BYTES < content.text.text.len()).then(|| lock(large));
        check_skeleton(workspace, content, plain)
    })?
}

/// Derives the checked skeleton of a text; `plain` is the unchecked one.
pub(in crate::engine) fn check_skeleton(
    workspace: &Workspace<'_>,
    content: &IdentifiedText<'_>,
    plain: &Skeleton,
) -> Option<Skeleton> {
    let (clock, timeout) = (workspace.world.clock, workspace.options.parse_timeout);
    let began = clock.thread_time();
    let mut give_up = || timeout < clock.thread_time().saturating_sub(began);
    let checked = syntax::checked_skeleton(content.file_type.id, &content.text.text, &mut give_up)?;
    // A text near the time limit may be parsed one time and not the next.
    let is_lost = checked.health.fallback.is_some();
    Some(if is_lost { Skeleton { is_checked: true, ..plain.clone() } } else { checked })
}
