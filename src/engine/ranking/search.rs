//! Searches the project by words: lists what a document for a task would be selected from.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::rank::{ProjectRanking, RankedSymbol, RankingRequest, path_classes, rank_project};
use super::source::SourceCache;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::history::{CommitCache, LogEnd, PastCommitCache, past_commits, project_commits};
use crate::engine::index::{Trust, select_visible};
use crate::engine::symbol_names::last_name_part;
use crate::engine::symbols::suggest_names;
use crate::engine::workspace::KnownFile;
use crate::model::{RankScore, RelPath, SymbolKind};
use crate::search::{ChangeHorizon, ProjectNames, RankingQuery, plain_text, read_task};

/// The maximum number of words for which the nearest names are suggested.
const MAX_MISSPELLED: usize = 5;

/// The minimum length of these words: a shorter one is a typo away from every other.
const MIN_NAME_BYTES: usize = 3;

/// What is searched for.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The words: a question, the text of an issue, a stack trace.
    pub text: String,
    /// The maximum number of hits.
    pub limit: usize,
    /// Only hits of this kind.
    pub kind: Option<HitKind>,
}

/// The kind of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitKind {
    /// A file as a whole.
    File,
    Symbol(SymbolKind),
}

/// A file or a symbol that matches.
#[derive(Debug, Clone)]
pub struct SearchHit {
    pub path: RelPath,
    /// Its kind; `None` for lines outside of any symbol.
    pub kind: Option<HitKind>,
    /// The symbol's name; empty for a file, and for lines outside of any symbol.
    pub name: String,
    /// Its lines, from 1; `None` for a file.
    pub lines: Option<RangeInclusive<u32>>,
    /// Its score by parts. The part `file` of a symbol is the sum of its file's parts.
    pub score: RankScore,
}

/// The hits, the best first.
#[derive(Debug, Clone)]
pub struct SearchAnswer {
    pub hits: Vec<SearchHit>,
    /// Whether anything in the project matches. If not, there are no hits.
    pub has_matches: bool,
}

/// What a process caches for searches.
pub(in crate::engine) struct SearchCaches<'a> {
    pub(in crate::engine) commits: &'a CommitCache,
    pub(in crate::engine) past: &'a PastCommitCache,
    pub(in crate::engine) sources: &'a SourceCache,
}

/// Finds the files and symbols that match a text.
pub(in crate::engine) fn search(
    cache: &mut ArtifactCache<'_>,
    shared: Option<&SearchCaches<'_>>,
    request: &SearchRequest,
    trust: Trust,
) -> Result<SearchAnswer, Error> {
    let text = plain_text(&request.text).text;
    let selection = select_visible(cache, trust)?;
    let names = ProjectNames::new(selection.files.iter().map(|file| &file.path));
    let mut reading = read_task(&text, &names)?;
    reading.ignore_libraries(selection.files.iter().map(|file| &file.path));
    let query = RankingQuery::of_task(&text, &reading);
    let commits = project_commits(cache, shared.map(|shared| shared.commits), selection.rules);
    let past = shared.map(|shared| shared.past);
    let past = commits.map(|commits| past_commits(cache, past, &commits, LogEnd::Head));
    let files: Vec<&KnownFile> = selection.files.iter().collect();
    let past = past.unwrap_or_default();
    let unkept = SourceCache::default();
    let trusted = shared.filter(|_| !cache.workspace.paranoid);
    let wanted = RankingRequest {
        query: &query,
        in_focus: &|_| false,
        past: &past,
        horizon: ChangeHorizon::Near,
        frozen_at: None,
        room: None,
        kept: trusted.map_or(&unkept, |shared| shared.sources),
        classes: &path_classes(&cache.workspace, &files),
    };
    let ranking = rank_project(cache, &wanted, &files);
    let mut hits = Vec::new();
    if ranking.has_matches {
        hits = match request.kind {
            Some(HitKind::File) => file_hits(&ranking, &files, &HashSet::new()),
            _ => all_hits(&ranking, &files),
        };
        hits.retain(|hit| request.kind.is_none() || hit.kind == request.kind);
        hits.truncate(request.limit);
    }
    if !ranking.has_matches {
        suggest_names(cache, &names_in(&request.text), trust)?;
    }
    Ok(SearchAnswer { hits, has_matches: ranking.has_matches })
}

/// Returns the words of a short text that may be misspelled names, without the paths and classes before them; nothing
/// for a longer text, most of whose words are not names.
fn names_in(text: &str) -> Vec<&str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !is_name_char(c)));
    let names: Vec<&str> =
        words.filter_map(last_name_part).filter(|name| MIN_NAME_BYTES <= name.len()).collect();
    if MAX_MISSPELLED < names.len() { Vec::new() } else { names }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the symbols, then the files without a symbol among them.
fn all_hits(ranking: &ProjectRanking, files: &[&KnownFile]) -> Vec<SearchHit> {
    // Not every chunk of a good file is a hit: the chunk itself has to match.
    let is_hit = |symbol: &&RankedSymbol| {
        let parts = &symbol.parts;
        0.0 < symbol.score && 0.0 < parts.text + parts.name + parts.exact + parts.frame
    };
    let symbols: Vec<&RankedSymbol> = ranking.symbols.iter().filter(is_hit).collect();
    let shown: HashSet<usize> = symbols.iter().map(|symbol| symbol.file).collect();
    let hits = symbols.into_iter().map(|symbol| SearchHit {
        path: files[symbol.file].path.clone(),
        kind: symbol.kind.map(HitKind::Symbol),
        name: symbol.name.clone(),
        lines: Some(symbol.lines.clone()),
        score: RankScore::new(symbol.score, &symbol.parts.named()),
    });
    hits.chain(file_hits(ranking, files, &shown)).collect()
}

/// Returns the files that match, without those that are shown already.
fn file_hits(ranking: &ProjectRanking, files: &[&KnownFile], shown: &HashSet<usize>) -> Vec<SearchHit> {
    let is_hit = |at: &&usize| 0.0 < ranking.scores[**at].total && !shown.contains(*at);
    let hits = ranking.order.iter().filter(is_hit).map(|at| SearchHit {
        path: files[*at].path.clone(),
        kind: Some(HitKind::File),
        name: String::new(),
        lines: None,
        score: RankScore::new(ranking.scores[*at].total, &ranking.scores[*at].parts.named()),
    });
    hits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_short_question_are_the_last_parts_of_its_words() {
        assert_eq!(names_in("where is `Engine.runn()`, in it?"), ["where", "runn"]);
        assert_eq!(names_in("one two three four five six"), [""; 0]);
    }
}
