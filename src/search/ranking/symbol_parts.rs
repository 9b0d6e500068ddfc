//! The parts of the scores of symbols in the best files: text, name, mentions and quotes.
//!
//! Parts are unscaled here; `symbols.rs` makes them comparable.

use std::collections::HashMap;

use super::files::FileRanking;
use crate::search::chunks::{Chunk, ChunkKind, FileChunks};
use crate::search::query::{LineMention, RankingQuery};
use crate::search::terms::{
    Saturation, SharedPiece, greatest, inverse_frequency, normalized, rarity, real, words,
};

/// The weights of the best chunks of a file, in order.
const BEST_CHUNKS: [f64; 3] = [1.0, 1.0 / 2.0, 1.0 / 3.0];
/// The maximum total for a chunk's lines and messages that occur verbatim in the task.
const MAX_QUOTED: f64 = 3.0;
/// The exponent with which the number of chunks containing a piece divides its value.
const SPREAD: f64 = 0.7;
/// A shorter name may be an ordinary word, unless the task marks it as code.
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
    /// The matches of each chunk with the query, as returned by [`match_chunks`].
    pub matches: &'a [ChunkMatches<'a>],
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
    /// Lines and messages of it that occur verbatim in the task.
    pub quoted: f64,
    /// The parts of its file's score, and the texts of the file's best chunks.
    pub file: f64,
}

impl SymbolParts {
    /// Returns the parts with their names, as in receipts and explanations.
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

    pub(in crate::search) fn sum(&self) -> f64 {
        self.named().iter().map(|part| part.1).sum()
    }
}

/// The score of a chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymbolScore {
    /// The position of its file in the list.
    pub file: usize,
    /// Its position among the chunks of its file.
    pub chunk: usize,
    /// The sum of the parts, times the factor.
    pub total: f64,
    /// The parts.
    pub parts: SymbolParts,
    /// The factor for the file's class and for insignificant lines.
    pub factor: f64,
}

/// The matches of one chunk's text with a query.
#[derive(Debug)]
pub struct ChunkMatches<'t> {
    /// Positions of terms in the query, with counts.
    terms: Vec<(usize, u32)>,
    /// The number of words.
    length: u64,
    /// Pieces that occur verbatim in the task, without duplicates.
    quoted: Vec<SharedPiece<'t>>,
}

/// Returns the matches of each chunk of a text with a query.
pub fn match_chunks<'t>(
    query: &RankingQuery,
    text: &'t str,
    chunks: &FileChunks<'_>,
) -> Vec<ChunkMatches<'t>> {
    let texts = chunks.chunks.iter().map(|chunk| text.get(chunk.bytes.clone()).unwrap_or_default());
    texts.map(|text| match_chunk(query, text)).collect()
}

/// Returns a score for each chunk, with the part for its text.
pub(super) fn text_scores(query: &RankingQuery, files: &[FileWithSymbols<'_>]) -> Vec<SymbolScore> {
    let mut scores = Vec::new();
    for (file, of) in files.iter().enumerate() {
        let (total, factor, parts) = (0.0, 1.0, SymbolParts::default());
        let unscored = |chunk| SymbolScore { file, chunk, total, parts, factor };
        scores.extend((0..of.matches.len()).map(unscored));
    }
    let matches: Vec<&ChunkMatches<'_>> = files.iter().flat_map(|file| file.matches).collect();
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
            |(position, count): &(usize, u32)| weights[*position] * saturation.score(*count, chunk.length);
        score.parts.text = chunk.terms.iter().map(of_term).sum();
    }
    scores
}

/// Returns for each file the score of its best chunks' texts, divided by the greatest value.
pub(super) fn best_chunks(scores: &[SymbolScore], files: usize) -> Vec<f64> {
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

fn match_chunk<'t>(query: &RankingQuery, text: &'t str) -> ChunkMatches<'t> {
    let (mut found, mut length) = (Vec::new(), 0);
    if query.terms().is_empty() {
        return ChunkMatches { terms: Vec::new(), length, quoted: Vec::new() };
    }
    for term in words(text.as_bytes()).flat_map(|word| word.terms()) {
        length += u64::from(!term.is_identifier());
        found.extend(query.terms().position(term));
    }
    found.sort_unstable();
    let counted = found.chunk_by(|a, b| a == b);
    let terms = counted.map(|same| (same[0], u32::try_from(same.len()).unwrap_or(u32::MAX).min(255)));
    let mut quoted = query.verbatim().shared_with(text);
    quoted.sort_unstable_by_key(|piece| piece.text);
    quoted.dedup_by_key(|piece| piece.text);
    ChunkMatches { terms: terms.collect(), length, quoted }
}

/// Adds the part for the terms in the names of symbols, by how rare they are among these names.
pub(super) fn add_name_scores(
    query: &RankingQuery,
    files: &[FileWithSymbols<'_>],
    scores: &mut [SymbolScore],
) {
    let sums = query.rarity_sums(scores.iter().map(|score| name_of(files, score).as_bytes()), true);
    for (score, sum) in scores.iter_mut().zip(sums).filter(|(_, sum)| 0.0 < *sum) {
        let terms = words(name_of(files, score).as_bytes()).flat_map(|word| word.terms());
        let parts = terms.filter(|term| !term.is_identifier()).count();
        score.parts.name = sum / real(parts.max(1)).sqrt();
    }
}

fn name_of<'a>(files: &[FileWithSymbols<'a>], score: &SymbolScore) -> &'a str {
    files[score.file].chunks.chunks[score.chunk].name()
}

/// Returns how certainly the task means a symbol when it mentions its name: less if more files contain the name, or if
/// it may be an English word.
pub(super) fn exact_score(query: &RankingQuery, ranking: &FileRanking, chunk: &Chunk<'_>) -> f64 {
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

/// Returns how certainly a name identifies a symbol if `with` of `files` files contain it.
pub(super) fn certainty(files: usize, with: usize) -> f64 {
    rarity(files, with) / real(with).sqrt()
}

/// Adds the part for the lines that the task mentions.
pub(super) fn add_frame_scores(
    ranking: &FileRanking,
    files: &[FileWithSymbols<'_>],
    scores: &mut [SymbolScore],
) {
    for (at, file) in files.iter().enumerate() {
        for mention in ranking.mentioned_lines(file.file) {
            let start = scores.partition_point(|score| score.file < at);
            let end = scores.partition_point(|score| score.file <= at);
            let is_named = |score: &SymbolScore| {
                let chunk = &file.chunks.chunks[score.chunk];
                chunk.kind == ChunkKind::Function && mention.function.as_deref() == Some(chunk.name())
            };
            let has_line = |score: &SymbolScore| is_within_lines(&file.chunks.chunks[score.chunk], mention);
            // Lines move from version to version; the function's name is more reliable, if there is one. Of several
            // functions with that name, the line decides.
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

/// Adds the part for verbatim pieces. A piece counts less the more chunks contain it.
pub(super) fn add_quoted_scores(files: &[FileWithSymbols<'_>], scores: &mut [SymbolScore]) {
    let pieces_of = |score: &SymbolScore| files[score.file].matches[score.chunk].quoted.iter();
    let mut chunks_with: HashMap<&str, usize> = HashMap::new();
    for piece in scores.iter().flat_map(pieces_of) {
        *chunks_with.entry(piece.text).or_default() += 1;
    }
    for score in scores {
        let worth = |piece: &SharedPiece<'_>| piece.worth / real(chunks_with[piece.text]).powf(SPREAD);
        score.parts.quoted = pieces_of(score).map(worth).sum::<f64>().min(MAX_QUOTED);
    }
}

fn is_within_lines(chunk: &Chunk<'_>, mention: &LineMention) -> bool {
    chunk.start_line <= mention.last_line && mention.first_line <= chunk.end_line
}
