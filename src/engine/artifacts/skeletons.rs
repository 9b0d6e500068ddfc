//! Checks skeletons against their sources before they are shown, on all cores.
//!
//! A check takes a parse of the skeleton, and often one of the whole source: nearly all that a cold index would cost.
//! So no file is checked before its skeleton is shown, and none twice.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use super::cache::ArtifactCache;
use super::derive::producer;
use super::lookup::ContentRef;
use crate::engine::options::ScanProgress;
use crate::engine::parallel::{LARGE_BYTES, on_all_cores};
use crate::engine::workspace::KnownFile;
use crate::model::{ArtifactKind, ContentHash, Skeleton};
use crate::store::{ArtifactBody, ContentArtifacts, WriteBatch};
use crate::sys::{Clock, Files};
use crate::{discover, syntax};

/// This many files are looked at before their skeletons are written.
const FILES_AT_ONCE: usize = 500;

/// A file with a skeleton that is not checked.
type UncheckedSkeleton<'a> = (ContentRef<'a>, Skeleton);

/// Files whose skeletons are likely to be shown next. As soon as one of them turns out not to be checked, all of them
/// are checked together, on all cores.
#[derive(Default)]
pub(in crate::engine) struct SkeletonPrefetch(Vec<KnownFile>);

impl SkeletonPrefetch {
    /// Returns the prefetch of these files.
    pub(in crate::engine) fn new<'f>(files: impl Iterator<Item = &'f KnownFile>) -> Self {
        Self(files.cloned().collect())
    }
}

/// Returns the skeleton as it may be shown; `None` if the type has none, or the file is not what it was.
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

/// Returns the skeletons of those files that still are what they were, and keeps them.
fn check(cache: &mut ArtifactCache<'_>, unchecked: &[UncheckedSkeleton<'_>]) -> Vec<Skeleton> {
    let checker = SkeletonChecker {
        files: cache.workspace.world.files,
        clock: cache.workspace.world.clock,
        progress: cache.workspace.world.progress,
        max_bytes: cache.workspace.options.structure_max_bytes,
        parse_timeout: cache.workspace.options.parse_timeout,
        large: Mutex::default(),
    };
    let results = on_all_cores(unchecked, |(subject, skeleton)| checker.check(subject, skeleton));
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
    let at_s = cache.workspace.world.clock.now_s();
    cache.save(WriteBatch { contents, files: Vec::new(), removed: Vec::new(), at_s });
    skeletons
}

/// Reads files once more and makes their skeletons with a check.
struct SkeletonChecker<'a> {
    files: &'a dyn Files,
    clock: &'a dyn Clock,
    progress: &'a dyn ScanProgress,
    max_bytes: u64,
    parse_timeout: Duration,
    /// Held while a large text is parsed.
    large: Mutex<()>,
}

impl SkeletonChecker<'_> {
    /// Returns the skeleton of a file; `None` if it has changed, or the request was cancelled.
    fn check(&self, subject: &ContentRef<'_>, plain: &Skeleton) -> Option<Skeleton> {
        if self.progress.is_cancelled() {
            return None;
        }
        let reading = self.files.read(subject.path, self.max_bytes).ok()?;
        if ContentHash::digest(&reading.bytes) != subject.hash {
            return None;
        }
        let text = discover::read_as_text(&reading.bytes).ok()?.text;
        let _alone = (LARGE_BYTES < text.len()).then(|| self.large.lock());
        let began = self.clock.thread_time();
        let mut give_up = || self.parse_timeout < self.clock.thread_time().saturating_sub(began);
        let checked = syntax::checked_skeleton(subject.file_type.id, &text, &mut give_up)?;
        // A text at the limit of the time may be parsed once and not the second time.
        let is_lost = checked.health.fallback.is_some();
        Some(if is_lost { Skeleton { is_checked: true, ..plain.clone() } } else { checked })
    }
}
