//! Scores the files of a project, and the symbols of the best of them.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use super::earlier::{EarlierContent, EarlierSource, EarlierSources};
use super::foreign::ForeignFiles;
use super::signals::file_signals;
use super::source::{SourceCache, SourceText};
use crate::aggregate::{BYTES_PER_TOKEN, lines_before_code};
use crate::discover;
use crate::engine::artifacts::{ArtifactCache, ContentRef, term_vectors};
use crate::engine::history::{FrozenContent, PastCommits, ProjectHistory};
use crate::engine::workspace::{KnownFile, KnownState, Workspace};
use crate::model::{FileRole, RelPath, SymbolKind, on_all_cores};
use crate::search::{
    ChangeHorizon, Chunk, ChunkMatches, FileChunks, FileRanking, FileScore, FileWithSymbols, FilesForSymbols,
    FunctionSizes, GeneratedPages, PathClass, RankedFile, RankingQuery, SymbolParts, TermVector, chunk_file,
    cut_around_mentions, find_amalgamations, match_chunks, query_of_focus, rank_files, rank_symbols,
};
use crate::summarize;
use crate::summarize::SummaryInput;

/// The number of lines that represent a source without symbols, so that a reader sees more of it than its name.
const FIRST_LINES: u32 = 8;

/// A function that the task points into is shown whole if it takes at most 1/`FUNCTION_SHARE` of the document.
const FUNCTION_SHARE: u64 = 4;
/// One file counts for at most 1/`FILE_SHARE` of a document when the number of files that fit is determined.
const FILE_SHARE: u64 = 24;

/// What files are ranked by.
pub(in crate::engine) struct RankingRequest<'a> {
    pub(in crate::engine) query: &'a RankingQuery,
    pub(in crate::engine) in_focus: &'a dyn Fn(&RelPath) -> bool,
    pub(in crate::engine) past: &'a PastCommits,
    pub(in crate::engine) horizon: ChangeHorizon,
    /// If given, symbols are those that the files had at the frozen commits of their checkouts. Some texts at those
    /// commits may be cached.
    pub(in crate::engine) frozen_at: Option<(&'a ProjectHistory, &'a EarlierSources)>,
    /// The size in tokens of the document that the symbols are for; `None` if they are only listed.
    pub(in crate::engine) room: Option<u64>,
    /// Texts that are not read again.
    pub(in crate::engine) kept: &'a SourceCache,
    /// The class of each file.
    pub(in crate::engine) classes: &'a [PathClass],
}

/// The texts of some files, by their positions.
pub(in crate::engine) type SourceTexts = HashMap<usize, Arc<SourceText>>;

/// The files and symbols of a project by rank. Positions refer to the given files.
#[derive(Clone, Default)]
pub(in crate::engine) struct ProjectRanking {
    /// The positions, the best file first.
    pub(in crate::engine) order: Arc<[usize]>,
    pub(in crate::engine) scores: Arc<[FileScore]>,
    /// Whether anything in the project matches the query.
    pub(in crate::engine) has_matches: bool,
    /// The symbols of the best files, the best first.
    pub(in crate::engine) symbols: Arc<[RankedSymbol]>,
    /// The texts of the best files, and of some that have changed since the frozen commit.
    pub(in crate::engine) sources: SourceTexts,
    /// The files of these texts, in the versions that were read.
    pub(in crate::engine) versions: HashMap<usize, KnownFile>,
    /// Whether all texts that are ranked could be read; a text that is being written cannot.
    pub(super) is_complete: bool,
}

/// A unit of a file that may be shown by itself: a function, or lines outside of any.
#[derive(Clone)]
pub(in crate::engine) struct RankedSymbol {
    /// The position of its file.
    pub(in crate::engine) file: usize,
    pub(in crate::engine) score: f64,
    pub(in crate::engine) parts: SymbolParts,
    pub(in crate::engine) kind: Option<SymbolKind>,
    /// The name of its symbol; empty for lines outside of any symbol.
    pub(in crate::engine) name: String,
    /// Its lines, from 1.
    pub(in crate::engine) lines: RangeInclusive<u32>,
    /// The bytes of its lines.
    pub(in crate::engine) bytes: Range<usize>,
    /// What represents it if its body is not shown.
    pub(in crate::engine) signature: Option<SymbolSignature>,
    /// The number of containers around it, whose heads are shown with it.
    pub(in crate::engine) depth: usize,
}

/// What represents a symbol whose body is not shown.
#[derive(Clone)]
pub(in crate::engine) struct SymbolSignature {
    pub(in crate::engine) lines: RangeInclusive<u32>,
    pub(in crate::engine) text: String,
    /// Whether these lines are shown as they are; otherwise they belong to a declaration, whose head is shown.
    pub(in crate::engine) is_verbatim: bool,
}

/// Returns the class of each file.
pub(in crate::engine) fn path_classes(workspace: &Workspace<'_>, files: &[&KnownFile]) -> Vec<PathClass> {
    let foreign = ForeignFiles::of_project(workspace);
    let pages = GeneratedPages::among(files.iter().map(|file| &file.path));
    let class_of = |file: &&KnownFile| {
        if pages.contains(&file.path) {
            return PathClass::Generated;
        }
        PathClass::from_path(&file.path, ranked_role(file), foreign.contains(&file.path))
    };
    files.iter().map(class_of).collect()
}

/// Ranks the files of a project.
pub(in crate::engine) fn rank_project(
    cache: &mut ArtifactCache<'_>,
    request: &RankingRequest<'_>,
    files: &[&KnownFile],
) -> ProjectRanking {
    let query = request.query;
    let focus: Vec<usize> = (0..files.len()).filter(|at| (request.in_focus)(&files[*at].path)).collect();
    let signals = file_signals(cache, request, files, &focus);
    // Term vectors are of no use without a task or a focus.
    let has_texts = !query.terms().is_empty() || !focus.is_empty();
    let vectors = if has_texts { term_vectors(cache, files) } else { Arc::default() };
    let ranked = files.iter().zip(signals).enumerate().map(|(at, (file, signals))| RankedFile {
        path: &file.path,
        class: request.classes[at],
        vector: ContentRef::from_file(file)
            .and_then(|subject| vectors.get(&subject.key()))
            .and_then(|bytes| TermVector::from_bytes(bytes).ok()),
        in_focus: focus.binary_search(&at).is_ok(),
        signals,
    });
    let mut ranked: Vec<RankedFile<'_>> = ranked.collect();
    let of_focus = query_of_focus(&ranked);
    let mut ranking = rank_files(query, &of_focus, &ranked);
    let room = request.room.unwrap_or(0);
    let FilesForSymbols { ranked: best, mut others } =
        ranking.files_for_symbols(if has_texts { room } else { 0 });
    if !has_texts {
        // There are no vectors that give the lengths of texts.
        others = next_files(files, &ranking.order, &best, room);
    }
    let chosen = [best.as_slice(), &others].concat();
    let ReadSources { sources, versions, is_complete } = read_sources(cache, files, &chosen, request);
    // Without a task, symbols of other files matter if they share rare terms with those in focus.
    let symbol_query = if query.terms().is_empty() { &of_focus } else { query };
    let most_bytes = request.room.map_or(usize::MAX, max_function_bytes);
    let chunked = |chosen: &[usize], is_matched: bool| -> Vec<ChunkedFile<'_>> {
        let chunks_of = |at: &usize| {
            let source = sources.get(at)?;
            let mut chunks = chunk_file(&source.text, source.outline.as_ref());
            let functions = source.functions(&chunks);
            cut_around_mentions(&mut chunks, &source.text, ranking.mentioned_lines(*at), most_bytes);
            let matches =
                if is_matched { match_chunks(symbol_query, &source.text, &chunks) } else { Vec::new() };
            Some(ChunkedFile { at: *at, source, functions, chunks, matches })
        };
        on_all_cores(chosen, chunks_of).into_iter().flatten().collect()
    };
    let language_of = |file: usize| code_language(files[file]);
    let (best, others) = (chunked(&best, true), chunked(&others, false));
    let is_marked = |file: &&ChunkedFile<'_>| {
        summarize::is_marked_as_generated(&file.source.text, ranked_role(files[file.at]))
    };
    let generated: Vec<usize> = best.iter().chain(&others).filter(is_marked).map(|file| file.at).collect();
    ranking.reclassify(&mut ranked, &generated, PathClass::Vendored);
    let amalgamations = amalgamations_among(best.iter().chain(&others));
    ranking.reclassify(&mut ranked, &amalgamations, PathClass::Amalgamation);
    let mut symbols = ranked_symbols(symbol_query, &ranked, &ranking, &best, &language_of);
    for file in &others {
        let unscored = |chunk| RankedSymbol::new(file, chunk, language_of(file.at));
        symbols.extend(file.chunks.chunks.iter().map(unscored));
    }
    let FileRanking { order, scores, has_matches, .. } = ranking;
    let (order, scores, symbols) = (order.into(), scores.into(), symbols.into());
    ProjectRanking { order, scores, has_matches, symbols, sources, versions, is_complete }
}

/// Returns the files that follow the `best` ones by rank, as far as a document of `room` tokens has room for all their
/// texts.
fn next_files(files: &[&KnownFile], order: &[usize], best: &[usize], room: u64) -> Vec<usize> {
    let size_of = |file: &usize| match &files[*file].state {
        // A file takes no more of the room until the others have had their turn.
        KnownState::Content { facts, .. } => (facts.size / BYTES_PER_TOKEN).min(room / FILE_SHARE),
        KnownState::LeftOut(_) => 0,
    };
    let mut taken: u64 = best.iter().map(size_of).sum();
    let next = order.iter().skip(best.len()).take_while(|file| {
        let has_room = taken < room;
        taken = taken.saturating_add(size_of(file));
        has_room
    });
    next.copied().collect()
}

/// Returns the maximum size in bytes of a function that is shown whole in a document of `room` tokens although the task
/// only points to some of its lines.
fn max_function_bytes(room: u64) -> usize {
    usize::try_from((room / FUNCTION_SHARE).saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX)
}

/// A file whose text was cut into chunks.
struct ChunkedFile<'s> {
    /// Its position.
    at: usize,
    source: &'s SourceText,
    functions: &'s FunctionSizes,
    chunks: FileChunks<'s>,
    /// The matches of the chunks with the query, where they are to be scored.
    matches: Vec<ChunkMatches<'s>>,
}

/// Returns the positions of files that repeat others.
fn amalgamations_among<'c>(chunked: impl Iterator<Item = &'c ChunkedFile<'c>>) -> Vec<usize> {
    let (places, functions): (Vec<usize>, Vec<&FunctionSizes>) =
        chunked.map(|file| (file.at, file.functions)).unzip();
    find_amalgamations(&functions).into_iter().map(|at| places[at]).collect()
}

/// Returns the symbols of some files, the best first.
fn ranked_symbols(
    query: &RankingQuery,
    ranked: &[RankedFile<'_>],
    ranking: &FileRanking,
    chunked: &[ChunkedFile<'_>],
    language_of: &dyn Fn(usize) -> Option<&'static str>,
) -> Vec<RankedSymbol> {
    let files = chunked.iter();
    let files = files.map(|ChunkedFile { at, source, chunks, matches, .. }| FileWithSymbols {
        file: *at,
        text: &source.text,
        chunks,
        matches,
    });
    let scores = rank_symbols(query, ranked, ranking, &files.collect::<Vec<_>>());
    let symbols = scores.iter().map(|score| {
        let file = &chunked[score.file];
        let symbol = RankedSymbol::new(file, &file.chunks.chunks[score.chunk], language_of(file.at));
        RankedSymbol { score: score.total, parts: score.parts, ..symbol }
    });
    symbols.collect()
}

impl ProjectRanking {
    /// Returns the ranks of all files, with the symbols of those that this ranking is about. `places` are their
    /// positions among all files.
    pub(in crate::engine) fn within(self, all: &Self, places: &[usize]) -> Self {
        let among_all = |symbol: &RankedSymbol| RankedSymbol { file: places[symbol.file], ..symbol.clone() };
        Self {
            order: Arc::clone(&all.order),
            scores: Arc::clone(&all.scores),
            symbols: self.symbols.iter().map(among_all).collect(),
            sources: self.sources.into_iter().map(|(at, source)| (places[at], source)).collect(),
            versions: self.versions.into_iter().map(|(at, version)| (places[at], version)).collect(),
            ..self
        }
    }

    /// Adds the contents of some files at an earlier commit.
    pub(super) fn add_earlier(&mut self, found: Vec<(usize, Arc<EarlierSource>)>) {
        add_earlier(&mut self.sources, &mut self.versions, found);
    }

    /// Returns whether the parts of a text took too long to parse, which each document has to find out for itself.
    pub(super) fn is_too_slow(&self) -> bool {
        self.sources.values().any(|source| source.is_too_slow())
    }
}

impl RankedSymbol {
    /// Returns a chunk of a file without a score.
    fn new(file: &ChunkedFile<'_>, chunk: &Chunk<'_>, language: Option<&str>) -> Self {
        let ChunkedFile { at, source, chunks, .. } = file;
        Self {
            file: *at,
            score: 0.0,
            parts: SymbolParts::default(),
            kind: chunk.symbol.map(|symbol| symbol.kind),
            name: chunk.name().to_owned(),
            lines: chunk.start_line..=chunk.end_line,
            bytes: chunk.bytes.clone(),
            signature: signature_of(chunk, chunks, source, language),
            depth: chunks.enclosing(chunk).count(),
        }
    }
}

/// Returns the role that a file is ranked by: the code of a notebook counts as that of any other file.
fn ranked_role(file: &KnownFile) -> FileRole {
    match file.file_type() {
        Some(file_type) if file_type.is_notebook() => FileRole::Code,
        Some(file_type) => file_type.role,
        None => FileRole::Data,
    }
}

/// Returns the language of a file of code.
fn code_language(file: &KnownFile) -> Option<&'static str> {
    file.file_type().filter(|file_type| file_type.role == FileRole::Code).map(|file_type| file_type.id)
}

/// The texts that a ranking is computed from.
struct ReadSources {
    sources: SourceTexts,
    versions: HashMap<usize, KnownFile>,
    is_complete: bool,
}

/// Returns the texts and outlines of those files that are unchanged since they were listed; if a history is given, at
/// its frozen commit.
fn read_sources(
    cache: &mut ArtifactCache<'_>,
    files: &[&KnownFile],
    chosen: &[usize],
    request: &RankingRequest<'_>,
) -> ReadSources {
    let mut sources = SourceTexts::new();
    let mut unread = Vec::new();
    let mut past = Vec::new();
    for at in chosen {
        let frozen = request.frozen_at.map(|(history, _)| history.frozen_content(files[*at]));
        match frozen.unwrap_or(FrozenContent::Current) {
            FrozenContent::Current => {
                let Some(subject) = ContentRef::from_file(files[*at]) else { continue };
                match request.kept.get(&subject.key()).filter(|kept| !kept.is_too_slow()) {
                    Some(kept) => drop(sources.insert(*at, kept)),
                    None => unread.push((*at, subject)),
                }
            }
            FrozenContent::Blob(name) => {
                past.extend(EarlierContent::new(files[*at], name).map(|of| (*at, of)));
            }
            FrozenContent::Absent => {}
        }
    }
    let with_texts = sources.len() + past.len();
    sources.extend(current_sources(cache, &unread, request.kept));
    let mut versions: HashMap<usize, KnownFile> =
        sources.keys().map(|at| (*at, files[*at].clone())).collect();
    if let Some((_, kept)) = request.frozen_at {
        add_earlier(&mut sources, &mut versions, kept.read(cache, past));
    }
    let is_complete = sources.len() == with_texts + unread.len();
    ReadSources { sources, versions, is_complete }
}

fn add_earlier(
    sources: &mut SourceTexts,
    versions: &mut HashMap<usize, KnownFile>,
    found: Vec<(usize, Arc<EarlierSource>)>,
) {
    for (at, found) in found {
        sources.insert(at, Arc::clone(&found.source));
        versions.insert(at, found.file.clone());
    }
}

/// Reads the texts of some files, each given with its position, and keeps them.
fn current_sources(
    cache: &mut ArtifactCache<'_>,
    unread: &[(usize, ContentRef<'_>)],
    kept: &SourceCache,
) -> SourceTexts {
    let workspace = &cache.workspace;
    let texts = on_all_cores(unread, |(_, subject)| {
        let (hash, text) = workspace.read_text(subject.path).ok()?;
        (hash == subject.hash).then_some(text)
    });
    let mut sources = SourceTexts::new();
    for ((at, subject), text) in unread.iter().zip(texts) {
        let Some(text) = text else { continue };
        let outline = cache.outline(subject).filter(|outline| outline.health.fallback.is_none());
        let source = Arc::new(SourceText::new(text, subject.hash, outline));
        kept.insert(subject.key(), Arc::clone(&source));
        sources.insert(*at, source);
    }
    sources
}

/// Returns whether names are found in a source without symbols.
fn declares_names(text: &str, language: &str) -> bool {
    discover::file_type_by_id(language).is_some_and(|file_type| {
        let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let source = SummaryInput { file_type, text, lines, outline: None };
        !summarize::names_without_outline(&source, 1).is_empty()
    })
}

/// Returns what represents a chunk: the head of its symbol, if the chunk contains the head's line; the first lines of a
/// source without symbols.
fn signature_of(
    chunk: &Chunk<'_>,
    chunks: &FileChunks<'_>,
    source: &SourceText,
    language: Option<&str>,
) -> Option<SymbolSignature> {
    let has_head = (chunk.start_line..=chunk.end_line).contains(&chunk.head_line);
    match chunk.symbol {
        Some(symbol) if has_head => Some(SymbolSignature {
            lines: chunk.head_line..=chunk.head_line,
            text: symbol.signature.clone(),
            is_verbatim: false,
        }),
        Some(_) => None,
        None => {
            let has_symbols = source.outline.as_ref().is_some_and(|outline| !outline.symbols.is_empty());
            let is_first = chunks.chunks.first().is_some_and(|first| first.start_line == chunk.start_line);
            let language = language.filter(|_| is_first && !has_symbols)?;
            let text = source.text.get(chunk.bytes.clone())?;
            // A row of the names that it declares says more than its first lines.
            if declares_names(&source.text, language) {
                return None;
            }
            // The names of a source are more useful than its license.
            let start = lines_before_code(text, language)?;
            let first = chunk.start_line + u32::try_from(start).unwrap_or(0);
            let last = chunk.end_line.min(first + FIRST_LINES - 1);
            let lines = text.split_inclusive('\n').skip(start).take(FIRST_LINES as usize);
            Some(SymbolSignature { lines: first..=last, text: lines.collect(), is_verbatim: true })
        }
    }
}
