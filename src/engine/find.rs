//! Fuzzy search for files and symbols by name, for going to one of them.

use std::cmp::Reverse;
use std::sync::{Arc, RwLock};

use rustc_hash::FxHashMap;

use super::error::Error;
use super::symbol_names::MAX_ADDED;
use crate::engine::artifacts::{ArtifactCache, ContentKey, ContentRef, hide_by_settings, outline_producers};
use crate::engine::index::{Trust, note_unreadable, select_named};
use crate::engine::workspace::KnownFile;
use crate::model::{Outline, RelPath, SymbolKind, path_text, read_lock, write_lock};
use crate::search::Subsequence;
use crate::syntax;

/// The names to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindRequest {
    /// The characters that a name must contain in this order.
    pub query: String,
    pub files: bool,
    pub symbols: bool,
    /// The maximum number of hits.
    pub limit: usize,
}

/// A matching file or symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindHit {
    pub path: RelPath,
    /// The symbol, with its first line; `None` for the file itself.
    pub symbol: Option<(String, SymbolKind, u32)>,
    pub score: u32,
    /// The matching runs of characters in the name of the symbol or in the path, as the first position and the one
    /// after the last.
    pub ranges: Vec<(usize, usize)>,
}

/// The hits, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindAnswer {
    pub hits: Vec<FindHit>,
    /// Whether there are more hits than requested.
    pub has_more: bool,
}

/// The symbols that contents define, as far as loaded. They never change for a content.
#[derive(Default)]
pub(in crate::engine) struct DefinedSymbols(RwLock<LoadedSymbols>);

#[derive(Default)]
struct LoadedSymbols {
    /// The number of contents loaded from the store; `None` before that.
    loaded: Option<usize>,
    contents: FxHashMap<ContentKey, Arc<ContentSymbols>>,
}

/// The symbols of one content. A project may have a million, so their names share one text.
#[derive(Default)]
struct ContentSymbols {
    names: Box<str>,
    /// Where each name ends, the symbol's kind, and its first line.
    symbols: Box<[(u32, SymbolKind, u32)]>,
}

impl ContentSymbols {
    fn from_outline(outline: &Outline) -> Self {
        let (mut names, mut symbols) = (String::new(), Vec::new());
        outline.walk(|symbol, _| {
            names.push_str(&symbol.name);
            let end = u32::try_from(names.len()).unwrap_or(u32::MAX);
            symbols.push((end, symbol.kind, symbol.span.start_line));
        });
        Self { names: names.into(), symbols: symbols.into() }
    }

    fn each(&self) -> impl Iterator<Item = (&str, SymbolKind, u32)> {
        let starts = std::iter::once(0).chain(self.symbols.iter().map(|(end, ..)| *end));
        self.symbols.iter().zip(starts).filter_map(|((end, kind, line), start)| {
            let name = self.names.get(start as usize..*end as usize)?;
            Some((name, *kind, *line))
        })
    }
}

/// Returns the files and symbols whose names contain the characters of the query in order. Symbols hidden by masks of
/// the settings are not found.
pub(super) fn find_names(
    cache: &mut ArtifactCache<'_>,
    known: Option<&DefinedSymbols>,
    request: &FindRequest,
) -> Result<FindAnswer, Error> {
    let query = Subsequence::new(&request.query);
    if query.is_empty() {
        return Ok(FindAnswer { hits: Vec::new(), has_more: false });
    }
    cache.workspace.hidden.clear();
    let mut files = select_named(cache, &[], Trust::Stamps, &|_| false)?.files;
    let mut hits = BestHits { hits: Vec::new(), limit: request.limit, has_more: false };
    if request.files {
        for file in &files {
            let path = path_text(file.path.as_bytes());
            let name = path.rfind('/').map_or(0, |slash| slash + 1);
            let Some(found) = query.find(&path, name) else { continue };
            let (path, symbol) = (file.path.clone(), None);
            hits.push(FindHit { path, symbol, score: found.score, ranges: found.ranges });
        }
    }
    if request.symbols {
        note_unreadable(&mut cache.workspace, &files);
        hide_by_settings(cache, &mut files);
        let own = DefinedSymbols::default();
        let known = known.unwrap_or(&own);
        load(cache, known);
        for file in &files {
            cache.workspace.check_cancelled()?;
            let Some(symbols) = symbols_of(cache, known, file) else { continue };
            for (name, kind, line) in symbols.each() {
                let Some(found) = query.find(name, 0) else { continue };
                let (path, symbol) = (file.path.clone(), Some((name.to_owned(), kind, line)));
                hits.push(FindHit { path, symbol, score: found.score, ranges: found.ranges });
            }
        }
    }
    hits.keep_best();
    Ok(FindAnswer { hits: hits.hits, has_more: hits.has_more })
}

/// The best hits so far: a short query matches almost every name.
struct BestHits {
    hits: Vec<FindHit>,
    limit: usize,
    has_more: bool,
}

impl BestHits {
    fn push(&mut self, hit: FindHit) {
        /// The number of excess hits that are collected before they are sorted.
        const MAX_UNSORTED: usize = 4096;
        self.hits.push(hit);
        if self.limit + MAX_UNSORTED < self.hits.len() {
            self.keep_best();
        }
    }

    fn keep_best(&mut self) {
        self.has_more |= self.limit < self.hits.len();
        self.hits.sort_by(|a, b| rank(a).cmp(&rank(b)));
        self.hits.truncate(self.limit);
    }
}

/// Returns the sort key of a hit: files come before symbols of the same score.
fn rank(hit: &FindHit) -> (Reverse<u32>, bool, &RelPath, u32) {
    let line = hit.symbol.as_ref().map_or(0, |(_, _, line)| *line);
    (Reverse(hit.score), hit.symbol.is_some(), &hit.path, line)
}

/// Loads the symbols of all outlines in the store, once.
fn load(cache: &mut ArtifactCache<'_>, known: &DefinedSymbols) {
    let is_current =
        |known: &LoadedSymbols| known.loaded.is_some_and(|loaded| known.contents.len() <= loaded + MAX_ADDED);
    if is_current(&read_lock(&known.0)) {
        return;
    }
    let mut known = write_lock(&known.0);
    // Another answer may have loaded them in the meantime.
    if is_current(&known) {
        return;
    }
    known.contents = FxHashMap::default();
    let by = outline_producers();
    cache.query_store(|store| {
        store.search_outlines("", &by, &mut |found| {
            if let Some(outline) = &found.outline {
                let symbols = Arc::new(ContentSymbols::from_outline(outline));
                known.contents.insert((found.hash, found.producer.language), symbols);
            }
        })
    });
    known.loaded = Some(known.contents.len());
}

/// Returns the symbols of a file; `None` if it has no structure.
fn symbols_of(
    cache: &mut ArtifactCache<'_>,
    known: &DefinedSymbols,
    file: &KnownFile,
) -> Option<Arc<ContentSymbols>> {
    let subject = ContentRef::from_file(file)?;
    if !syntax::has_structure(subject.file_type.id) {
        return None;
    }
    let found = read_lock(&known.0).contents.get(&subject.key()).cloned();
    if found.is_some() {
        return found;
    }
    let symbols = Arc::new(ContentSymbols::from_outline(&cache.outline(&subject)?));
    write_lock(&known.0).contents.insert(subject.key(), Arc::clone(&symbols));
    Some(symbols)
}
