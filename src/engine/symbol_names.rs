//! Indexes which contents define a symbol of a name, between answers: a lookup then reads only the outlines that it
//! shows.
//!
//! The names that a content defines never change, so the index is never outdated; it only lacks new contents.

use std::hash::Hasher;
use std::sync::RwLock;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::error::Error;
use super::queries::OutlineAnswer;
use crate::engine::artifacts::{ArtifactCache, ContentKey, ContentRef, outline_producers};
use crate::engine::index::{Trust, note_unreadable, select_contents};
use crate::engine::workspace::KnownFile;
use crate::model::{ContentHash, Outline, read_lock, write_lock};
use crate::syntax;

/// The separators in qualified names of all languages.
pub(super) const SEPARATORS: [char; 5] = ['.', ':', '\\', '#', '/'];

/// The number of names that are searched linearly before they are merged into the sorted ones.
const MAX_UNSORTED: usize = 4096;
/// The number of contents that are added to the loaded ones before all are reloaded to drop those that are gone.
pub(super) const MAX_ADDED: usize = 16_384;

/// The names that contents define, as far as loaded.
#[derive(Default)]
pub(in crate::engine) struct SymbolNameIndex(RwLock<DefinedNames>);

#[derive(Default)]
struct DefinedNames {
    /// The number of contents loaded from the store; `None` before that.
    loaded: Option<usize>,
    /// The numbers of the indexed contents, including those without names.
    contents: FxHashMap<ContentKey, u32>,
    /// A hash of the last part of each name, with the number of a content that defines it. A hash collision only makes
    /// a content an unnecessary candidate.
    names: Vec<(u32, u32)>,
    /// The length of the sorted prefix of `names`.
    sorted: usize,
}

/// Returns the part of a name that it is indexed by; `None` if it consists of separators.
pub(super) fn last_name_part(name: &str) -> Option<&str> {
    name.rsplit(SEPARATORS).find(|part| !part.is_empty())
}

/// Returns a superset of the outlines with a symbol whose name ends with this part, in arbitrary order.
pub(super) fn outlines_with_name(
    cache: &mut ArtifactCache<'_>,
    index: &SymbolNameIndex,
    part: &str,
    trust: Trust,
) -> Result<Vec<OutlineAnswer>, Error> {
    load(cache, index);
    let names = read_lock(&index.0);
    let defining = names.contents_with(part);
    let is_candidate = |hash: &ContentHash, language: &'static str| {
        names.contents.get(&(*hash, language)).is_none_or(|content| defining.contains(content))
    };
    let files = select_contents(cache, trust, &is_candidate)?;
    drop(names);
    note_unreadable(&mut cache.workspace, &files);
    let mut outlines = Vec::new();
    for file in &files {
        cache.workspace.check_cancelled()?;
        outlines.extend(outline_of(cache, index, file));
    }
    write_lock(&index.0).sort_if_many(MAX_UNSORTED);
    Ok(outlines)
}

/// Returns the outline of a file, and indexes its names.
fn outline_of(
    cache: &mut ArtifactCache<'_>,
    index: &SymbolNameIndex,
    file: &KnownFile,
) -> Option<OutlineAnswer> {
    let subject = ContentRef::from_file(file)?;
    let outline = cache.outline(&subject);
    // A file that has just changed has no outline, but its content may have one.
    if outline.is_some() || !syntax::has_structure(subject.file_type.id) {
        write_lock(&index.0).add(subject.key(), outline.as_ref());
    }
    Some(OutlineAnswer {
        path: subject.path.clone(),
        hash: subject.hash,
        file_type: subject.file_type,
        lines: subject.facts.lines,
        outline: outline?,
    })
}

/// Indexes the names of all outlines in the store, once.
fn load(cache: &mut ArtifactCache<'_>, index: &SymbolNameIndex) {
    if read_lock(&index.0).is_current() {
        return;
    }
    let mut names = write_lock(&index.0);
    // Another answer may have loaded them in the meantime.
    if names.is_current() {
        return;
    }
    *names = DefinedNames::default();
    let by = outline_producers();
    cache.query_store(|store| {
        store.search_outlines("", &by, &mut |found| {
            if let Some(outline) = &found.outline {
                names.add((found.hash, found.producer.language), Some(outline));
            }
        })
    });
    names.sort_if_many(0);
    names.names.shrink_to_fit();
    names.loaded = Some(names.contents.len());
}

impl DefinedNames {
    fn is_current(&self) -> bool {
        self.loaded.is_some_and(|loaded| self.contents.len() <= loaded + MAX_ADDED)
    }

    fn add(&mut self, key: ContentKey, outline: Option<&Outline>) {
        let number = u32::try_from(self.contents.len()).unwrap_or(u32::MAX);
        if self.contents.contains_key(&key) {
            return;
        }
        self.contents.insert(key, number);
        let mut hashes = FxHashSet::default();
        if let Some(outline) = outline {
            outline.walk(|symbol, _| {
                let parts = [&symbol.name, &symbol.qualified_name].map(|name| last_name_part(name));
                hashes.extend(parts.into_iter().flatten().map(name_hash));
            });
        }
        self.names.extend(hashes.into_iter().map(|hash| (hash, number)));
    }

    fn sort_if_many(&mut self, max_unsorted: usize) {
        if max_unsorted < self.names.len() - self.sorted {
            self.names.sort_unstable();
            self.sorted = self.names.len();
        }
    }

    fn contents_with(&self, part: &str) -> FxHashSet<u32> {
        let hash = name_hash(part);
        let (sorted, others) = self.names.split_at(self.sorted);
        let first = sorted.partition_point(|(other, _)| *other < hash);
        let equal = sorted[first..].iter().take_while(|(other, _)| *other == hash);
        equal.chain(others.iter().filter(|(other, _)| *other == hash)).map(|(_, content)| *content).collect()
    }
}

fn name_hash(name: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    u32::try_from(hasher.finish() >> 32).unwrap_or(0)
}
