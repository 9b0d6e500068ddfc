//! Ranks the symbols of the files that rank best: the chunks whose bodies a document shows.
//!
//! ```text
//! 1.0 text     BM25 of the task's terms in the chunk
//! 0.5 name     rarities of the task's terms in the symbol's name
//! 1.0 exact    the symbol's name, as the task mentions it
//! 1.5 frame    a stack trace, a diagnostic or a link leads to it
//! 1.0 quoted   lines and messages of it that the task has word for word
//!   + file     the parts of its file's score; 0.2 of the one for the text, 0.4 for its three best chunks, and
//!              0.25 of the one for a mention of its name without a folder
//! ```
//!
//! Each part is divided by its greatest value, and the sum multiplied by a factor for the file's class, or that of tests
//! within it, and by one for lines that are only imports or ends of blocks. A short list of imports follows the second best
//! function of its file. Without the file's score, a tenth of what was found is lost. The file's
//! best chunks say more than its whole text, in which many parts may each have a little to do with the task: on 133 issues,
//! documents contained 1 % more of the fixes' lines with them (−1 to +4 %).
//!
//! Only the chunks of the best files compete ([`FileRanking::files_for_symbols`]), and rarities are those among these
//! chunks: to know them for all files, each would have to be read.

use std::collections::HashMap;

use super::bm25::{Saturation, greatest, inverse_frequency, normalized, rarity, real};
use super::chunks::{Chunk, ChunkKind, FileChunks};
use super::line_targets::LineTargets;
use super::path_class::PathClass;
use super::query::{LineMention, RankingQuery};
use super::rank::{FileRanking, RankedFile};
use super::run_content::{RunContent, run_content};
use super::verbatim::SharedPiece;
use super::words::words;

/// What the text of a symbol's file counts, and what the best chunks of the file do.
const FILE_TEXT_SHARE: f64 = 0.2;
const FILE_BEST_SHARE: f64 = 0.4;
/// What the mention of a symbol's file counts where the task has its name without a folder, as `#include <zstd.h>` does:
/// such a task is not about each function in it.
const BARE_MENTION_SHARE: f64 = 0.25;
/// What the best chunks of a file count, in their order.
const BEST_CHUNKS: [f64; 3] = [1.0, 1.0 / 2.0, 1.0 / 3.0];
/// A longer list of imports is not shown with the functions of its file.
const MOST_IMPORT_BYTES: usize = 800;
/// What the score of a function is multiplied by to give that of something that follows it.
const BEHIND: f64 = 0.99;
/// A name that more files have, such as `__init__`, leads to no symbol surely, even if the task mentions no other name.
const COMMON_NAME_FILES: usize = 30;
/// What lines and messages count that the task has word for word; all pieces of a chunk together, before that; and to what
/// power the number of chunks with a piece divides what it counts.
const QUOTED_WEIGHT: f64 = 1.0;
const MOST_QUOTED: f64 = 3.0;
const SPREAD: f64 = 0.7;
/// A shorter name is a word by chance, unless the task marks it as code.
const MIN_NAME_BYTES: usize = 4;

/// A file whose symbols are ranked.
#[derive(Clone, Copy, Debug)]
pub struct FileWithSymbols<'a> {
    /// Its position among the ranked files.
    pub file: usize,
    /// Its text.
    pub text: &'a str,
    /// The chunks of its text.
    pub chunks: &'a FileChunks<'a>,
}

/// The parts of a symbol's score, weighted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SymbolParts {
    /// The task's terms in its text.
    pub text: f64,
    /// The task's terms in its name.
    pub name: f64,
    /// Its name in the task.
    pub exact: f64,
    /// Lines of it that the task points to.
    pub frame: f64,
    /// Lines and messages of it that the task has word for word.
    pub quoted: f64,
    /// The parts of its file's score, and the texts of the file's best chunks.
    pub file: f64,
}

impl SymbolParts {
    /// Returns the parts with their names, as receipts and explanations list them.
    pub fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("text", self.text),
            ("name", self.name),
            ("exact", self.exact),
            ("frame", self.frame),
            ("quoted", self.quoted),
            ("file", self.file),
        ]
    }

    fn sum(&self) -> f64 {
        self.named().iter().map(|part| part.1).sum()
    }
}

/// The score of a chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymbolScore {
    /// The position of its file among those given.
    pub file: usize,
    /// Its position among the chunks of its file.
    pub chunk: usize,
    /// The sum of the parts, times the factor.
    pub total: f64,
    /// The parts.
    pub parts: SymbolParts,
    /// The factor of the file's class, and of lines that mean nothing.
    pub factor: f64,
}

/// Ranks the chunks of some files, the best first. Chunks with equal scores are in the order of the files as given, and
/// of their lines.
pub fn rank_symbols(
    query: &RankingQuery,
    ranked: &[RankedFile<'_>],
    ranking: &FileRanking,
    files: &[FileWithSymbols<'_>],
) -> Vec<SymbolScore> {
    let mut scores = text_scores(query, files);
    let best = best_chunks(&scores, files.len());
    add_name_scores(query, files, &mut scores);
    for score in &mut scores {
        let chunk = &files[score.file].chunks.chunks[score.chunk];
        score.parts.exact = exact_score(query, ranking, chunk);
    }
    add_frame_scores(query, ranked, files, &mut scores);
    add_quoted_scores(query, files, &mut scores);
    let greatest_of = |part: fn(&SymbolParts) -> f64| greatest(scores.iter().map(|score| part(&score.parts)));
    let (text, name) = (greatest_of(|parts| parts.text), greatest_of(|parts| parts.name));
    let (exact, frame) = (greatest_of(|parts| parts.exact), greatest_of(|parts| parts.frame));
    let exact = exact.max(certainty(ranking.scores.len(), COMMON_NAME_FILES));
    // What several chunks have leads to none of them surely.
    let quoted = greatest_of(|parts| parts.quoted).max(1.0);
    let mention_share = |file: &FileWithSymbols<'_>| {
        if query.path_mention(ranked[file.file].path) < 1.0 { BARE_MENTION_SHARE } else { 1.0 }
    };
    let mention_shares: Vec<f64> = files.iter().map(mention_share).collect();
    for score in &mut scores {
        let file = files[score.file].file;
        let file_parts = &ranking.scores[file].parts;
        score.parts = SymbolParts {
            text: normalized(score.parts.text, text),
            name: 0.5 * normalized(score.parts.name, name),
            exact: normalized(score.parts.exact, exact),
            frame: 1.5 * normalized(score.parts.frame, frame),
            quoted: QUOTED_WEIGHT * normalized(score.parts.quoted, quoted),
            file: file_parts.sum()
                - (1.0 - FILE_TEXT_SHARE) * file_parts.text
                - (1.0 - mention_shares[score.file]) * file_parts.mention
                + FILE_BEST_SHARE * best[score.file],
        };
        // What the task points to is meant, whatever else is in its folder.
        let is_pointed_to = 0.0 < score.parts.frame;
        score.factor = if is_pointed_to {
            1.0
        } else {
            class_of(ranked[file].class, &files[score.file], score.chunk).symbol_factor()
                * content_of(&files[score.file], score.chunk).factor()
        };
        score.total = score.factor * score.parts.sum();
    }
    raise_imports(files, &mut scores);
    scores
        .sort_by(|a, b| b.total.total_cmp(&a.total).then_with(|| (a.file, a.chunk).cmp(&(b.file, b.chunk))));
    scores
}

/// Returns the class of a chunk: that of its file, but for tests within a source, as in Rust.
fn class_of(class: PathClass, file: &FileWithSymbols<'_>, chunk: usize) -> PathClass {
    let chunk = &file.chunks.chunks[chunk];
    let around = file.chunks.enclosing(chunk).map(|container| container.symbol);
    let is_test =
        || chunk.symbol.into_iter().chain(around).any(|symbol| symbol.has_test_attribute(file.text));
    if class == PathClass::Source && is_test() { PathClass::Test } else { class }
}

/// Lets a short list of imports follow the second best function of its file: who edits some functions of a file needs to know
/// what it imports.
fn raise_imports(files: &[FileWithSymbols<'_>], scores: &mut [SymbolScore]) {
    let mut best = vec![[0.0_f64; 2]; files.len()];
    for score in scores.iter() {
        let [first, second] = &mut best[score.file];
        if files[score.file].chunks.chunks[score.chunk].kind == ChunkKind::Function && *second < score.total {
            (*first, *second) = (first.max(score.total), first.min(score.total));
        }
    }
    for score in scores.iter_mut() {
        let file = &files[score.file];
        let chunk = &file.chunks.chunks[score.chunk];
        let is_list = chunk.kind == ChunkKind::Loose && chunk.bytes.len() <= MOST_IMPORT_BYTES;
        if is_list && content_of(file, score.chunk) == RunContent::Imports {
            let sum = score.parts.sum();
            score.total = score.total.max(best[score.file][1] * BEHIND);
            score.factor = if 0.0 < sum { score.total / sum } else { score.factor };
        }
    }
}

/// Returns what the lines of a chunk are.
fn content_of(file: &FileWithSymbols<'_>, chunk: usize) -> RunContent {
    let chunk = &file.chunks.chunks[chunk];
    let text = file.text.get(chunk.bytes.clone()).filter(|_| chunk.kind != ChunkKind::Function);
    text.map_or(RunContent::Code, run_content)
}

/// The terms of the query in one chunk.
struct ChunkMatches {
    /// Positions in the query with counts.
    terms: Vec<(usize, u32)>,
    length: u64,
}

/// Returns a score for each chunk, with the part for its text.
fn text_scores(query: &RankingQuery, files: &[FileWithSymbols<'_>]) -> Vec<SymbolScore> {
    let mut scores = Vec::new();
    let mut matches = Vec::new();
    for (at, file) in files.iter().enumerate() {
        for (position, chunk) in file.chunks.chunks.iter().enumerate() {
            let (total, factor) = (0.0, 1.0);
            let parts = SymbolParts::default();
            scores.push(SymbolScore { file: at, chunk: position, total, parts, factor });
            matches
                .push(match_chunk(query, file.text.as_bytes().get(chunk.bytes.clone()).unwrap_or_default()));
        }
    }
    let mut chunks_with = vec![0; query.terms().len()];
    for (position, _) in matches.iter().flat_map(|chunk| &chunk.terms) {
        chunks_with[*position] += 1;
    }
    let saturation = Saturation::new(matches.iter().map(|chunk| chunk.length));
    let of_term = |(position, with): (usize, &usize)| {
        query.weighted(position).weight * inverse_frequency(matches.len(), *with)
    };
    let weights: Vec<f64> = chunks_with.iter().enumerate().map(of_term).collect();
    for (score, chunk) in scores.iter_mut().zip(&matches) {
        let of_term =
            |(position, count): &(usize, u32)| weights[*position] * saturation.of(*count, chunk.length);
        score.parts.text = chunk.terms.iter().map(of_term).sum();
    }
    scores
}

/// Returns for each file what the texts of its best chunks come to, divided by the greatest value.
fn best_chunks(scores: &[SymbolScore], files: usize) -> Vec<f64> {
    let mut best = vec![[0.0_f64; BEST_CHUNKS.len()]; files];
    for score in scores {
        let mut text = score.parts.text;
        for place in &mut best[score.file] {
            if *place < text {
                std::mem::swap(place, &mut text);
            }
        }
    }
    let of_file = |texts: &[f64; 3]| texts.iter().zip(BEST_CHUNKS).map(|(text, counts)| text * counts).sum();
    let sums: Vec<f64> = best.iter().map(of_file).collect();
    let greatest = greatest(sums.iter().copied());
    sums.into_iter().map(|sum| normalized(sum, greatest)).collect()
}

fn match_chunk(query: &RankingQuery, text: &[u8]) -> ChunkMatches {
    let mut found = Vec::new();
    let mut length = 0;
    if query.terms().is_empty() {
        return ChunkMatches { terms: Vec::new(), length };
    }
    for term in words(text).flat_map(|word| word.terms()) {
        length += u64::from(!term.is_identifier());
        found.extend(query.terms().position(term));
    }
    found.sort_unstable();
    let counted = found.chunk_by(|a, b| a == b);
    let terms = counted.map(|same| (same[0], u32::try_from(same.len()).unwrap_or(u32::MAX).min(255)));
    ChunkMatches { terms: terms.collect(), length }
}

/// Adds the part for the terms in the names of symbols, by how rare they are among these names.
fn add_name_scores(query: &RankingQuery, files: &[FileWithSymbols<'_>], scores: &mut [SymbolScore]) {
    let mut named_with = vec![0; query.terms().len()];
    let mut found = Vec::new();
    for score in scores.iter() {
        query.find_distinct(name_of(files, score).as_bytes(), true, &mut found);
        for position in &found {
            named_with[*position] += 1;
        }
    }
    let total = scores.len();
    for score in scores {
        let name = name_of(files, score).as_bytes();
        query.find_distinct(name, true, &mut found);
        if !found.is_empty() {
            let sum = query.sum_rarities(&found, |position| rarity(total, named_with[position]));
            let parts =
                words(name).flat_map(|word| word.terms()).filter(|term| !term.is_identifier()).count();
            score.parts.name = sum / real(parts.max(1)).sqrt();
        }
    }
}

fn name_of<'a>(files: &[FileWithSymbols<'a>], score: &SymbolScore) -> &'a str {
    files[score.file].chunks.chunks[score.chunk].name()
}

/// Returns how surely the task means a symbol when it mentions its name: less, the more files have the name in their
/// texts, and if it may be a word of English.
fn exact_score(query: &RankingQuery, ranking: &FileRanking, chunk: &Chunk<'_>) -> f64 {
    let name = chunk.name();
    let Some(mention) = query.name(name) else { return 0.0 };
    if name.len() < MIN_NAME_BYTES && !mention.is_marked {
        return 0.0;
    }
    let is_plain = !name.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let strength = if is_plain { 0.35 } else { 1.0 }
        + if mention.is_marked { 0.7 } else { 0.0 }
        + if mention.in_title { 0.5 } else { 0.0 };
    let with = query.position_of_name(name).map_or(0, |position| ranking.files_with(position)).max(1);
    let kind = if chunk.kind == ChunkKind::Function { 1.0 } else { 0.6 };
    strength * certainty(ranking.scores.len(), with) * kind
}

/// Returns how surely a name leads to a symbol of one of `files` if it is in the texts of `with` of them.
fn certainty(files: usize, with: usize) -> f64 {
    rarity(files, with) / real(with).sqrt()
}

/// Adds the part for the lines that the task mentions.
fn add_frame_scores(
    query: &RankingQuery,
    ranked: &[RankedFile<'_>],
    files: &[FileWithSymbols<'_>],
    scores: &mut [SymbolScore],
) {
    let targets = LineTargets::new(query, ranked);
    for (at, file) in files.iter().enumerate() {
        for mention in targets.of_file(&ranked[file.file]) {
            let start = scores.partition_point(|score| score.file < at);
            let end = scores.partition_point(|score| score.file <= at);
            let is_named = |score: &SymbolScore| {
                let chunk = &file.chunks.chunks[score.chunk];
                chunk.kind == ChunkKind::Function && mention.function.as_deref() == Some(chunk.name())
            };
            let has_line = |score: &SymbolScore| is_within_lines(&file.chunks.chunks[score.chunk], mention);
            // Lines move from version to version; the function's name is more reliable, where there is one. Of several
            // with the name, the line decides.
            let by_name = scores[start..end].iter().any(is_named);
            let by_both = scores[start..end].iter().any(|score| is_named(score) && has_line(score));
            for score in &mut scores[start..end] {
                let is_meant = (!by_name || is_named(score)) && (by_name && !by_both || has_line(score));
                if is_meant {
                    score.parts.frame = score.parts.frame.max(mention.strength);
                }
            }
        }
    }
}

/// Adds the part for what the task has word for word. A piece counts the less, the more chunks have it.
fn add_quoted_scores(query: &RankingQuery, files: &[FileWithSymbols<'_>], scores: &mut [SymbolScore]) {
    let pieces_of = |score: &SymbolScore| {
        let file = &files[score.file];
        let text = file.text.get(file.chunks.chunks[score.chunk].bytes.clone()).unwrap_or_default();
        let mut pieces = query.verbatim().shared_with(text);
        pieces.sort_unstable_by_key(|piece| piece.text);
        pieces.dedup_by_key(|piece| piece.text);
        pieces
    };
    let pieces: Vec<_> = scores.iter().map(pieces_of).collect();
    let mut chunks_with: HashMap<&str, usize> = HashMap::new();
    for piece in pieces.iter().flatten() {
        *chunks_with.entry(piece.text).or_default() += 1;
    }
    for (score, pieces) in scores.iter_mut().zip(&pieces) {
        let worth = |piece: &SharedPiece<'_>| piece.worth / real(chunks_with[piece.text]).powf(SPREAD);
        score.parts.quoted = pieces.iter().map(worth).sum::<f64>().min(MOST_QUOTED);
    }
}

fn is_within_lines(chunk: &Chunk<'_>, mention: &LineMention) -> bool {
    chunk.start_line <= mention.last_line && mention.first_line <= chunk.end_line
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums and quotients of equal numbers are equal")]
pub(super) mod tests {
    use super::super::chunks::chunk_file;
    use super::super::chunks::tests::symbol;
    use super::super::path_class::PathClass;
    use super::super::query::{NameMention, WeightedTerm};
    use super::super::rank::{FileSignals, rank_files};
    use super::super::vector::{TermVector, VectorBuilder};
    use super::super::words::terms;
    use super::*;
    use crate::model::{Outline, ParseHealth, RelPath, SymbolKind};

    /// Returns the outline of a text in which each function is a paragraph that begins with `def`.
    pub(in crate::search) fn outline(text: &str) -> Outline {
        let mut symbols = Vec::new();
        let mut line = 1;
        for paragraph in text.split("\n\n") {
            let last = line + u32::try_from(paragraph.lines().count()).unwrap() - 1;
            if let Some(rest) = paragraph.strip_prefix("def ") {
                let name = rest.split('(').next().unwrap();
                symbols.push(symbol(SymbolKind::Function, name, (line, last), Vec::new()));
            }
            line = last + 2;
        }
        Outline { health: ParseHealth::perfect(0), doc: None, imports: Vec::new(), symbols }
    }

    fn query(text: &str, names: &[&str], lines: Vec<LineMention>) -> RankingQuery {
        let weighted = terms(text.as_bytes()).map(|term| WeightedTerm { term, weight: 1.0, in_title: false });
        let name = |name: &&str| NameMention {
            name: name.trim_matches('`').to_owned(),
            is_marked: name.starts_with('`'),
            in_title: false,
        };
        RankingQuery::new(weighted.collect(), names.iter().map(name).collect(), Vec::new(), lines)
    }

    fn frame(path: &str, line: u32, function: Option<&str>) -> LineMention {
        LineMention {
            path: path.to_owned(),
            first_line: line,
            last_line: line,
            function: function.map(str::to_owned),
            strength: 1.0,
        }
    }

    /// Returns the scores with the names of their symbols, loose lines as `path:line`.
    fn ranked(query: &RankingQuery, files: &[(&str, &str)]) -> Vec<(String, SymbolScore)> {
        let mut builder = VectorBuilder::default();
        let vectors: Vec<Vec<u8>> = files.iter().map(|file| builder.build(file.1.as_bytes())).collect();
        let paths: Vec<RelPath> = files.iter().map(|file| RelPath::new(file.0.as_bytes()).unwrap()).collect();
        let inputs = paths.iter().zip(&vectors).map(|(path, vector)| RankedFile {
            path,
            class: PathClass::of(path, crate::model::FileRole::Code, false),
            vector: TermVector::from_bytes(vector).ok(),
            in_focus: false,
            signals: FileSignals::default(),
        });
        let inputs: Vec<_> = inputs.collect();
        let ranking = rank_files(query, &inputs);
        let outlines: Vec<Outline> = files.iter().map(|file| outline(file.1)).collect();
        let chunks: Vec<_> =
            files.iter().zip(&outlines).map(|(file, outline)| chunk_file(file.1, Some(outline))).collect();
        let with_symbols = chunks.iter().enumerate().map(|(at, chunks)| FileWithSymbols {
            file: at,
            text: files[at].1,
            chunks,
        });
        let with_symbols: Vec<_> = with_symbols.collect();
        let scores = rank_symbols(query, &inputs, &ranking, &with_symbols);
        let named = scores.into_iter().map(|score| {
            let chunk = &chunks[score.file].chunks[score.chunk];
            let loose = || format!("{}:{}", files[score.file].0, chunk.start_line);
            let name = if chunk.symbol.is_some() { chunk.name().to_owned() } else { loose() };
            (name, score)
        });
        named.collect()
    }

    #[track_caller]
    fn check(query: &RankingQuery, files: &[(&str, &str)], expected: &[&str]) {
        let names: Vec<String> = ranked(query, files).into_iter().map(|scored| scored.0).collect();
        assert_eq!(names[..expected.len()], *expected);
    }

    const ENGINE: &str = "\
import header

def parse(text):
    split the proxy header

def send(text):
    write everything

def parse_header(text):
    pass";

    #[test]
    fn symbols_are_ranked_by_their_texts_and_names() {
        let query = query("the proxy header", &[], Vec::new());
        check(&query, &[("engine.py", ENGINE)], &["parse", "parse_header", "engine.py:1", "send"]);
    }

    #[test]
    fn a_mentioned_name_counts_if_it_is_long_or_marked() {
        let query_of = |name| query("it fails in send and run", &[name], Vec::new());
        check(&query_of("send"), &[("engine.py", ENGINE)], &["send"]);
        let text = "def run(text):\n    pass\n\ndef other(text):\n    pass";
        let exact = |name| ranked(&query_of(name), &[("a.py", text)])[0].1.parts.exact;
        assert_eq!(exact("run"), 0.0);
        assert_eq!(exact("`run"), 1.0);
    }

    #[test]
    fn a_function_whose_line_the_task_quotes_comes_before_one_with_more_of_its_words() {
        let text = "def parse(a):\n    header = find_header(text, limit)\n\n\
                    def send(a):\n    header = find(text)\n    limit header text find limit";
        let task = "limit of the header\n\n```\nheader = find_header(text, limit)\n```\n";
        let query = RankingQuery::of_task(task, &super::super::task::read_task(task).unwrap());
        check(&query, &[("a.py", text)], &["parse", "send"]);
        let quoted = |files: &[(&str, &str)]| ranked(&query, files)[0].1.parts.quoted;
        assert_eq!(quoted(&[("a.py", text)]), QUOTED_WEIGHT);
        // What another function has as well leads to neither surely.
        assert!(quoted(&[("a.py", text), ("b.py", text)]) < QUOTED_WEIGHT);
    }

    #[test]
    fn tests_within_a_source_count_as_tests() {
        let text = "def parse(a):\n    header\n\n#[test]\ndef parses_header(a):\n    header header";
        let mut outline = outline(text);
        let start = text.find("#[test]").unwrap();
        let mut marked = symbol(SymbolKind::Function, "parses_header", (4, 6), Vec::new());
        marked.span.start_byte = start;
        outline.symbols.push(marked);
        let chunks = chunk_file(text, Some(&outline));
        let file = FileWithSymbols { file: 0, text, chunks: &chunks };
        let classes = [0, 1].map(|chunk| class_of(PathClass::Source, &file, chunk));
        assert_eq!(classes, [PathClass::Source, PathClass::Test]);
        assert_eq!(class_of(PathClass::Vendored, &file, 1), PathClass::Vendored);
    }

    #[test]
    fn a_short_list_of_imports_follows_the_second_function_of_its_file() {
        let text = "import header\n\ndef parse(a):\n    proxy header\n\ndef send(a):\n    header\n\ndef other(a):\n    pass";
        let query = query("the proxy header", &[], Vec::new());
        check(&query, &[("a.py", text)], &["parse", "send", "a.py:1", "other"]);
        let long = format!("{}{text}", "import other\n".repeat(80));
        let order: Vec<String> =
            ranked(&query, &[("a.py", &long)]).into_iter().map(|scored| scored.0).collect();
        assert_eq!(order[..2], ["parse", "send"]);
        assert_ne!(order[2], "a.py:81", "a long one has no room beside functions");
    }

    #[test]
    fn a_name_that_many_files_use_says_less_than_one_that_few_use() {
        let common = "def send_all(text):\n    pass";
        let rare = "def send_one(text):\n    pass";
        let users = "send_all()";
        let files = [("a.py", common), ("b.py", rare), ("c.py", users), ("d.py", users), ("e.py", users)];
        let query = query("send_all send_one", &["send_all", "send_one"], Vec::new());
        let scores = ranked(&query, &files);
        let exact = |name: &str| scores.iter().find(|scored| scored.0 == name).unwrap().1.parts.exact;
        assert!(exact("send_all") < exact("send_one"));
    }

    #[test]
    fn a_name_that_most_files_use_says_little_even_if_it_is_the_only_one() {
        let paths: Vec<String> = (0..100).map(|number| format!("f{number}.py")).collect();
        let files: Vec<(&str, &str)> =
            paths.iter().map(|path| (path.as_str(), "def prepare():\n    return 1\n")).collect();
        let query = query("it fails in prepare", &["`prepare"], Vec::new());
        let exact = |files| ranked(&query, files)[0].1.parts.exact;
        assert!(exact(&files) < 0.6, "{}", exact(&files));
        assert_eq!(exact(&files[..1]), 1.0);
    }

    #[test]
    fn a_frame_leads_to_its_function_and_else_to_its_line() {
        let named = query("it fails", &[], vec![frame("lib/engine.py", 999, Some("send"))]);
        check(&named, &[("engine.py", ENGINE)], &["send"]);
        let by_line = query("it fails", &[], vec![frame("engine.py", 10, None)]);
        check(&by_line, &[("engine.py", ENGINE)], &["parse_header"]);
        let gone = query("it fails", &[], vec![frame("engine.py", 10, Some("gone"))]);
        check(&gone, &[("engine.py", ENGINE)], &["parse_header"]);
        let elsewhere = query("it fails", &[], vec![frame("src/other.py", 10, None)]);
        assert!(
            ranked(&elsewhere, &[("engine.py", ENGINE)]).iter().all(|scored| scored.1.parts.frame == 0.0)
        );
    }

    #[test]
    fn the_best_symbols_of_a_file_speak_for_the_others_more_than_many_weak_ones() {
        let focused = "def parse(text):\n    the proxy header\n\ndef close(text):\n    \
             write what is left to the end";
        let scattered = "\
def one(text):
    a proxy is opened

def two(text):
    a proxy is closed

def three(text):
    a header is read

def four(text):
    a header is written

def shut(text):
    pass";
        let query = query("proxy header", &[], Vec::new());
        let scores = ranked(&query, &[("a.py", focused), ("b.py", scattered)]);
        let file_part = |name: &str| scores.iter().find(|scored| scored.0 == name).unwrap().1.parts.file;
        assert!(file_part("shut") < file_part("close"), "{} {}", file_part("shut"), file_part("close"));
    }

    #[test]
    fn symbols_of_tests_count_less_and_the_parts_add_up() {
        let query = query("proxy header", &["parse_header"], Vec::new());
        let scores = ranked(&query, &[("tests/engine.py", ENGINE), ("engine.py", ENGINE)]);
        assert_eq!((scores[0].1.file, scores[0].1.factor), (1, 1.0));
        for (_, score) in &scores {
            let sum: f64 = score.parts.named().iter().map(|part| part.1).sum();
            assert_eq!(score.total, sum * score.factor);
        }
    }

    #[test]
    fn without_files_nothing_is_ranked() {
        assert!(ranked(&query("proxy", &["proxy"], vec![frame("a.py", 1, None)]), &[]).is_empty());
    }
}
