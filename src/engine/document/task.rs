//! What was understood of a task, for the receipt.

use std::collections::HashSet;

use crate::engine::ranking::ProjectRanking;
use crate::model::{IgnoredTaskText, SectionProblem, TaskReceipt};
use crate::search::{IgnoredTextReason, TaskReading};

/// The maximum number of entries of each kind that are listed; the rest would only repeat the task.
const MAX_LISTED: usize = 20;

/// Returns what was understood.
pub(super) fn task_receipt(text: &str, reading: &TaskReading, ranking: &ProjectRanking) -> TaskReceipt {
    let mut symbols: Vec<String> = Vec::new();
    for symbol in ranking.symbols.iter().filter(|symbol| 0.0 < symbol.parts.exact) {
        if symbols.len() < MAX_LISTED && !symbols.contains(&symbol.name) {
            symbols.push(symbol.name.clone());
        }
    }
    let paths = reading.paths.iter().map(|mention| match mention.lines {
        Some((first, last)) if first == last => format!("{}:{first}", mention.path),
        Some((first, last)) => format!("{}:{first}-{last}", mention.path),
        None => mention.path.clone(),
    });
    let frames = reading.frames.iter().map(|frame| {
        let function = frame.function.as_ref().map_or(String::new(), |function| format!(" in {function}"));
        format!("{}:{}{function}", frame.path, frame.line)
    });
    let quotes = reading.quotes.iter().map(|quote| quote.text.clone());
    // The forms of a word are terms of their own.
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
        ignored: ignored_texts(reading),
        has_matches: ranking.has_matches,
    }
}

/// Returns how much of the text was ignored for each reason.
fn ignored_texts(reading: &TaskReading) -> Vec<IgnoredTaskText> {
    let reasons = [
        (IgnoredTextReason::Url, "address"),
        (IgnoredTextReason::Template, "issue template"),
        (IgnoredTextReason::Comment, "comment"),
        (IgnoredTextReason::Markup, "markup"),
        (IgnoredTextReason::TooLong, "too long"),
    ];
    let ignored = reasons.map(|(reason, name)| {
        let of_reason = reading.ignored.iter().filter(|ignored| ignored.reason == reason);
        let bytes = of_reason.map(|ignored| ignored.range.len() as u64).sum();
        IgnoredTaskText { reason: name, bytes }
    });
    ignored.into_iter().filter(|ignored| 0 < ignored.bytes).collect()
}

/// Returns notes about how a task was read.
pub(super) fn task_problems(reading: &TaskReading, ranking: &ProjectRanking) -> Vec<SectionProblem> {
    let note = |reason: String| SectionProblem { section: "task", reason, is_error: false };
    let cut = reading
        .is_cut()
        .then(|| note(format!("text is too long; only its first {} bytes were read", reading.read_bytes)));
    let unmatched = (!ranking.has_matches)
        .then(|| note("nothing in the project matches; files are ranked by their history".to_owned()));
    cut.into_iter().chain(unmatched).collect()
}
