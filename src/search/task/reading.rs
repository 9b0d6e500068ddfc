//! Reads a task: the weights of its terms, and its mentions.

use std::collections::hash_map::Entry;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::markup::{IgnoredText, Markup, divide};
use super::mentions::{Cursor, MentionedPath, find_paths};
use super::quotes::{QuotedText, find_quotes};
use crate::search::terms::Term;
use crate::search::terms::{Word, words};
use crate::search::traces::{FoundTraces, ProjectNames, TraceFrame, find_traces};

/// The rest of a longer first line is not part of the title.
const MAX_TITLE_BYTES: usize = 300;
/// Further occurrences add nothing: a word that a log repeats is not what the task is about.
const MAX_COUNT: u32 = 4;
/// The weight of an occurrence between backticks; others count one, even in code blocks: on real issues, a higher
/// weight there did not help, because code blocks are often long logs.
const TICKED_COUNT: u32 = 2;
/// The weight of a term in the title, relative to one in the text.
const TITLE_WEIGHT: f64 = 2.0;
/// The weight of a whole identifier, relative to a word in it.
const IDENTIFIER_WEIGHT: f64 = 1.6;
/// A shorter name is mentioned only if it is marked as code.
const MIN_NAME_BYTES: usize = 4;

/// Why a text cannot be read as a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is nothing to read.
    #[error("task text is empty")]
    Empty,
}

/// A term of a task with its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskTerm {
    /// The term.
    pub term: Term,
    /// The word, or part of a word, that the term was derived from, at its first occurrence.
    pub text: String,
    /// The weight by how often and where it occurs, and whether it is a whole identifier. Its rarity in a project is
    /// not included.
    pub weight: f64,
    /// How often it occurs.
    pub count: u32,
    /// Whether it occurs in the title.
    pub is_in_title: bool,
    /// The bytes of the first occurrence.
    pub range: Range<usize>,
}

/// A word of a task that may be the name of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedName {
    /// The name as written.
    pub name: String,
    /// Whether it occurs in the title.
    pub is_in_title: bool,
    /// Whether it occurs between backticks.
    pub is_ticked: bool,
    /// Whether it occurs with a parenthesis after it.
    pub is_called: bool,
    /// The bytes of the first occurrence.
    pub range: Range<usize>,
}

/// The result of reading a task. All ranges are bytes of the text that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskReading {
    /// The first meaningful line.
    pub title: Range<usize>,
    /// The terms, highest weight first.
    pub terms: Vec<TaskTerm>,
    /// The words that may be names, in the order in which they first occur.
    pub names: Vec<MentionedName>,
    /// Files, folders, modules and links, in order.
    pub paths: Vec<MentionedPath>,
    /// The frames of stack traces and diagnostics, trace by trace, the innermost first.
    pub frames: Vec<TraceFrame>,
    /// Quoted strings and error messages, in order.
    pub quotes: Vec<QuotedText>,
    /// Parts without weight, in order.
    pub ignored: Vec<IgnoredText>,
}

/// Reads the text of a task, which [`plain_text`](crate::search::plain_text()) has prepared, about a project with files
/// of these names.
pub fn read_task(text: &str, project: &ProjectNames<'_>) -> Result<TaskReading, Error> {
    if text.trim().is_empty() {
        return Err(Error::Empty);
    }
    let markup = divide(text);
    let FoundTraces { frames, lines: traces } = find_traces(text, project);
    let title = title_of(text, &markup);
    let (terms, names) = count_words(text, &markup, &outer_folders(text, &frames), &title);
    let paths = find_paths(text, &markup, &traces, project);
    let quotes = find_quotes(text, &markup, &traces);
    Ok(TaskReading { title, terms, names, paths, frames, quotes, ignored: markup.ignored })
}

/// Returns the first line with a letter or digit that is not ignored.
fn title_of(text: &str, markup: &Markup) -> Range<usize> {
    let mut ignored = Cursor::new(markup.ignored.iter().map(|ignored| ignored.range.clone()));
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let mut letters = line.char_indices().filter(|(_, c)| c.is_alphanumeric()).map(|(at, _)| start + at);
        if let Some(first) = letters.find(|at| !ignored.contains(*at)) {
            // The text before it is insignificant: `Subject: [PATCH] `, or an address.
            let is_first = !line[..first - start].contains(char::is_alphanumeric);
            let title_start = if is_first { start } else { first };
            let end = text.floor_char_boundary(start + line.trim_end().len().min(MAX_TITLE_BYTES));
            return title_start..end.max(title_start);
        }
        start += line.len();
    }
    0..0
}

/// The words of a task that have been read so far.
#[derive(Default)]
struct WordCounts<'a> {
    terms: Vec<TaskTerm>,
    by_term: FxHashMap<Term, usize>,
    /// The occurrences of each term, weighted by their marks.
    counts: Vec<u32>,
    names: Vec<MentionedName>,
    by_name: FxHashMap<&'a [u8], usize>,
}

/// The context of a word's occurrence.
#[derive(Clone, Copy)]
struct WordContext {
    is_in_title: bool,
    is_ticked: bool,
    is_called: bool,
}

/// Returns the leading folders of absolute paths in frames, in order: most of them belong to the machine that wrote the
/// trace, and say nothing about the project.
fn outer_folders(text: &str, frames: &[TraceFrame]) -> Vec<Range<usize>> {
    let is_separator = |byte: u8| matches!(byte, b'/' | b'\\');
    let mut folders: Vec<Range<usize>> = Vec::new();
    for frame in frames {
        let line = text[frame.range.clone()].as_bytes();
        let Some(at) = line.windows(frame.path.len().max(1)).position(|part| {
            part.iter().zip(frame.path.bytes()).all(|(a, b)| *a == b || is_separator(*a) && b == b'/')
        }) else {
            continue;
        };
        let is_absolute = frame.path.starts_with('/') || frame.path.as_bytes().get(1) == Some(&b':');
        let mut separators = frame.path.bytes().enumerate().filter(|(_, byte)| *byte == b'/').rev();
        if let Some((end, _)) = separators.nth(1).filter(|_| is_absolute) {
            let start = frame.range.start + at;
            folders.push(start..start + end);
        }
    }
    folders.sort_by_key(|range| range.start);
    folders.dedup();
    folders
}

fn count_words(
    text: &str,
    markup: &Markup,
    outer_folders: &[Range<usize>],
    title: &Range<usize>,
) -> (Vec<TaskTerm>, Vec<MentionedName>) {
    let mut folders = Cursor::new(outer_folders.iter().cloned());
    let mut ignored = Cursor::new(markup.ignored.iter().map(|ignored| ignored.range.clone()));
    let mut ticks = Cursor::new(markup.ticks.iter().cloned());
    let mut counts = WordCounts::default();
    for word in words(text.as_bytes()) {
        let start = word.start();
        let context = WordContext {
            is_in_title: title.contains(&start),
            is_ticked: ticks.contains(start),
            is_called: text.as_bytes().get(word.end()) == Some(&b'('),
        };
        if !ignored.contains(start) && !folders.contains(start) {
            counts.add_terms(text, word, context);
            counts.add_name(word, context);
        }
    }
    (counts.weighted_terms(), counts.names)
}

impl<'a> WordCounts<'a> {
    fn add_terms(&mut self, text: &str, word: Word<'a>, context: WordContext) {
        let count = if context.is_ticked { TICKED_COUNT } else { 1 };
        let mut terms = word.terms();
        while let Some(term) = terms.next() {
            match self.by_term.entry(term) {
                Entry::Occupied(entry) => {
                    let known = &mut self.terms[*entry.get()];
                    known.count += 1;
                    known.is_in_title |= context.is_in_title;
                    self.counts[*entry.get()] += count;
                }
                Entry::Vacant(entry) => {
                    entry.insert(self.terms.len());
                    self.counts.push(count);
                    let range = terms.position();
                    let is_in_title = context.is_in_title;
                    let text = text[range.clone()].to_owned();
                    self.terms.push(TaskTerm { term, text, weight: 0.0, count: 1, is_in_title, range });
                }
            }
        }
    }

    fn add_name(&mut self, word: Word<'a>, context: WordContext) {
        let WordContext { is_in_title, is_ticked, is_called, .. } = context;
        if let Some(known) = self.by_name.get(word.bytes()) {
            let known = &mut self.names[*known];
            known.is_in_title |= is_in_title;
            known.is_ticked |= is_ticked;
            known.is_called |= is_called;
            return;
        }
        let is_marked = is_ticked || is_called;
        let is_telling = MIN_NAME_BYTES <= word.bytes().len() && !word.is_stop_word();
        if is_marked || is_telling {
            self.by_name.insert(word.bytes(), self.names.len());
            let name = String::from_utf8_lossy(word.bytes()).into_owned();
            let range = word.start()..word.end();
            self.names.push(MentionedName { name, is_in_title, is_ticked, is_called, range });
        }
    }

    /// Computes the weights of the terms, and returns the terms by weight, then in text order.
    fn weighted_terms(&mut self) -> Vec<TaskTerm> {
        let mut terms = std::mem::take(&mut self.terms);
        for (term, count) in terms.iter_mut().zip(&self.counts) {
            let title = if term.is_in_title { TITLE_WEIGHT } else { 1.0 };
            let identifier = if term.term.is_identifier() { IDENTIFIER_WEIGHT } else { 1.0 };
            term.weight = f64::from((*count).min(MAX_COUNT)).sqrt() * title * identifier;
        }
        terms.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.range.start.cmp(&b.range.start)));
        terms
    }
}
