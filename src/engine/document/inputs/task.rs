//! What was understood of a task, for the receipt.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::engine::artifacts::ArtifactCache;
use crate::engine::document::request::AggregationRequest;
use crate::engine::error::Error;
use crate::engine::index::listed_files;
use crate::engine::ranking::ProjectRanking;
use crate::model::{IgnoredTaskText, RelPath, SectionProblem, TaskReceipt};
use crate::search::{
    IgnoredTextReason, MentionedPath, MentionedPathKind, PlainText, ProjectNames, RankingQuery, TaskReading,
    find_mentioned, plain_text, read_task,
};

/// The maximum number of entries of each kind that are listed; more would only repeat the task.
const MAX_LISTED: usize = 20;

/// The task of a request, as it was understood.
pub(in crate::engine::document) struct ParsedTask<'r> {
    text: Cow<'r, str>,
    /// The number of bytes that were not read.
    left_out: usize,
    reading: TaskReading,
    /// Whether each of the paths that it mentions is in the project.
    found: Vec<bool>,
}

impl<'r> ParsedTask<'r> {
    /// Reads the task of a request that selects these files; `None` if it has none.
    pub(in crate::engine::document) fn new<'p>(
        cache: &mut ArtifactCache<'_>,
        request: &'r AggregationRequest,
        selected: impl Iterator<Item = &'p RelPath> + Clone,
    ) -> Result<Option<Self>, Error> {
        let Some(text) = request.task.as_deref() else { return Ok(None) };
        let PlainText { text, left_out } = plain_text(text);
        let mut reading = read_task(&text, &ProjectNames::new(selected.clone()))?;
        reading.ignore_libraries(selected.clone());
        let mut found = find_mentioned(&reading, selected);
        // Files that were not selected may still be in the project.
        if !request.is_whole() && found.contains(&false) {
            found = find_mentioned(&reading, listed_files(cache)?.paths());
        }
        Ok(Some(Self { text, left_out, reading, found }))
    }

    /// Returns the query for a ranking.
    pub(in crate::engine::document) fn query(&self) -> RankingQuery {
        RankingQuery::of_task(&self.text, &self.reading)
    }
}

/// Returns what was understood.
pub(in crate::engine::document) fn task_receipt(
    task: &ParsedTask<'_>,
    ranking: &ProjectRanking,
) -> TaskReceipt {
    let ParsedTask { text, reading, found, .. } = task;
    let mut symbols: Vec<String> = Vec::new();
    for symbol in ranking.symbols.iter().filter(|symbol| 0.0 < symbol.parts.exact) {
        if symbols.len() < MAX_LISTED && !symbols.contains(&symbol.name) {
            symbols.push(symbol.name.clone());
        }
    }
    let found_paths = reading.paths.iter().zip(found).filter(|(_, is_found)| **is_found);
    let paths = found_paths.map(|(mention, _)| match mention.lines {
        Some((first, last)) if first == last => format!("{}:{first}", mention.path),
        Some((first, last)) => format!("{}:{first}-{last}", mention.path),
        None => mention.path.clone(),
    });
    let frames = reading.frames.iter().map(|frame| {
        let function = frame.function.as_ref().map_or(String::new(), |function| format!(" in {function}"));
        format!("{}:{}{function}", frame.path, frame.line)
    });
    let quotes = reading.quotes.iter().map(|quote| quote.text.clone());
    // The forms of a word are separate terms.
    let mut known = HashSet::new();
    let terms = reading.terms.iter().map(|term| term.text.clone());
    let terms = terms.filter(|text| known.insert(text.to_lowercase()));
    let title = text.get(reading.title.clone()).unwrap_or_default();
    TaskReceipt {
        title: title.trim_start_matches('#').trim().to_owned(),
        paths: paths.take(MAX_LISTED).collect(),
        frames: frames.take(MAX_LISTED).collect(),
        symbols,
        quotes: quotes.take(MAX_LISTED).collect(),
        terms: terms.take(MAX_LISTED).collect(),
        ignored: ignored_texts(task),
        has_matches: ranking.has_matches,
    }
}

/// Returns how much of the text was ignored for each reason.
fn ignored_texts(task: &ParsedTask<'_>) -> Vec<IgnoredTaskText> {
    let ParsedTask { left_out, reading, found, .. } = task;
    let reasons = [
        (IgnoredTextReason::Url, "address"),
        (IgnoredTextReason::Template, "issue template"),
        (IgnoredTextReason::Comment, "comment"),
        (IgnoredTextReason::Markup, "markup"),
        (IgnoredTextReason::Library, "library"),
    ];
    let ignored = reasons.map(|(reason, name)| {
        let of_reason = reading.ignored.iter().filter(|ignored| ignored.reason == reason);
        let bytes = of_reason.map(|ignored| ignored.range.len() as u64).sum();
        IgnoredTaskText { reason: name, bytes }
    });
    // A link is an address, and what looks like a module is usually something else.
    let is_unknown = |(mention, is_found): &(&MentionedPath, &bool)| {
        !**is_found && mention.kind == MentionedPathKind::Path
    };
    let unknown = reading.paths.iter().zip(found).filter(is_unknown);
    let bytes = unknown.map(|(mention, _)| mention.range.len() as u64).sum();
    let unknown = IgnoredTaskText { reason: "no such path", bytes };
    let left_out = IgnoredTaskText { reason: "too long", bytes: *left_out as u64 };
    ignored.into_iter().chain([left_out, unknown]).filter(|ignored| 0 < ignored.bytes).collect()
}

/// Returns notes about how the task was understood.
pub(in crate::engine::document) fn task_problems(
    task: &ParsedTask<'_>,
    ranking: &ProjectRanking,
) -> Vec<SectionProblem> {
    let note = |reason: String| SectionProblem { section: "task", reason, is_error: false };
    let cut = (0 < task.left_out).then(|| note("text is too long; the middle of it was not read".to_owned()));
    let unmatched = (!ranking.has_matches)
        .then(|| note("nothing in the project matches; files are ranked by their history".to_owned()));
    cut.into_iter().chain(unmatched).collect()
}
