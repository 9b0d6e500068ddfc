//! Contents of files at an earlier commit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::source::SourceText;
use crate::discover::HeaderNeighbors;
use crate::engine::artifacts::{ArtifactCache, ContentRef, identify};
use crate::engine::history::blobs_named;
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::{FileType, RelPath, lock};

/// The maximum size of the texts that are kept.
const MAX_BYTES: usize = 16 << 20;

/// A file at an earlier commit.
pub(super) struct EarlierSource {
    pub(super) file: KnownFile,
    pub(super) source: Arc<SourceText>,
}

/// The content of a file in git, and the type that it is read as. The type of a header then depended on its neighbors,
/// which are not known; that it has changed since is unlikely.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct EarlierContent {
    pub(super) path: RelPath,
    pub(super) file_type: &'static FileType,
    /// Git's name for the bytes, which is immutable.
    pub(super) blob: Vec<u8>,
}

impl EarlierContent {
    /// Returns a blob of git as an earlier version of a file with a text.
    pub(super) fn new(file: &KnownFile, blob: String) -> Option<Self> {
        let ContentRef { path, file_type, .. } = ContentRef::from_file(file)?;
        Some(Self { path: path.clone(), file_type, blob: blob.into_bytes() })
    }
}

type SourcesByContent = HashMap<EarlierContent, Arc<EarlierSource>>;

/// The sources that were last read, in a long-running process: until another commit is the earlier one, the next
/// document needs nearly all of them again.
#[derive(Default)]
pub(in crate::engine) struct EarlierSources(Mutex<Arc<SourcesByContent>>);

impl EarlierSources {
    /// Returns the sources of contents that can be read, each with the value that was given for its content. They are
    /// kept in addition to the last ones, or instead of them if all together take too much memory.
    pub(super) fn read<T>(
        &self,
        cache: &mut ArtifactCache<'_>,
        wanted: Vec<(T, EarlierContent)>,
    ) -> Vec<(T, Arc<EarlierSource>)> {
        let last = Arc::clone(&lock(&self.0));
        let contents = wanted.iter().map(|(_, content)| content);
        let is_kept = |content: &&EarlierContent| {
            last.get(content).is_some_and(|earlier| !earlier.source.is_too_slow())
        };
        let (known, unread): (Vec<_>, Vec<_>) = contents.partition(is_kept);
        let mut sources: SourcesByContent = read_contents(cache, &unread).into_iter().collect();
        let is_new = !sources.is_empty();
        sources.extend(known.into_iter().map(|content| (content.clone(), Arc::clone(&last[content]))));
        let found = wanted.into_iter();
        let found =
            found.filter_map(|(of, content)| Some((of, Arc::clone(sources.get(&content)?)))).collect();
        if is_new {
            *lock(&self.0) = Arc::new(fitting(sources, &last));
        }
        found
    }
}

/// Returns the sources to keep: all of these and of the last ones, or as many of these as fit.
fn fitting(sources: SourcesByContent, last: &SourcesByContent) -> SourcesByContent {
    let bytes =
        |sources: &SourcesByContent| sources.values().map(|earlier| earlier.source.text.len()).sum::<usize>();
    let mut kept = sources;
    if bytes(&kept) + bytes(last) <= MAX_BYTES {
        let others = last.iter().filter(|(content, _)| !kept.contains_key(content));
        let others: Vec<_> = others.map(|(content, source)| (content.clone(), Arc::clone(source))).collect();
        kept.extend(others);
    }
    let mut room = MAX_BYTES;
    kept.retain(|_, earlier| {
        let left = room.checked_sub(earlier.source.text.len());
        room = left.unwrap_or(room);
        left.is_some()
    });
    kept
}

fn read_contents(
    cache: &mut ArtifactCache<'_>,
    wanted: &[&EarlierContent],
) -> Vec<(EarlierContent, Arc<EarlierSource>)> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let names: Vec<(&RelPath, Vec<u8>)> =
        wanted.iter().map(|content| (&content.path, content.blob.clone())).collect();
    let bytes = blobs_named(&cache.workspace, &names);
    let contents = wanted.iter().zip(&bytes).filter_map(|(wanted, bytes)| {
        let mut content = identify(&wanted.path, bytes.as_deref()?, &HeaderNeighbors::default()).ok()?;
        content.file_type = wanted.file_type;
        Some((*wanted, content))
    });
    let (wanted, contents): (Vec<&EarlierContent>, Vec<_>) = contents.unzip();
    cache.derive_contents(&contents);
    let sources = wanted.into_iter().zip(contents).map(|(wanted, content)| {
        let EarlierContent { path, file_type, .. } = wanted;
        let subject = ContentRef { path, hash: content.hash, file_type, facts: &content.facts };
        let outline = cache.outline(&subject).filter(|outline| outline.health.fallback.is_none());
        let state = KnownState::Content { hash: content.hash, file_type, facts: content.facts };
        let file = KnownFile { path: path.clone(), tracked: true, stamp: None, state };
        let source = Arc::new(SourceText::new(content.text.text.into_owned(), content.hash, outline));
        (wanted.clone(), Arc::new(EarlierSource { file, source }))
    });
    sources.collect()
}
