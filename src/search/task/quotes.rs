//! Finds quoted strings and error messages, which may be string literals of the project.

use std::ops::Range;

use super::markup::Markup;
use super::mentions::Cursor;

/// A text that a task quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedText {
    /// The text without its quotation marks.
    pub text: String,
    /// Whether it is the message of an error, not a quoted string.
    pub is_error: bool,
    /// The bytes of the task's text.
    pub range: Range<usize>,
}

/// A shorter text occurs in too many places.
const MIN_BYTES: usize = 8;
/// A longer text is not a single string literal.
const MAX_BYTES: usize = 200;
/// Further quotations are ignored.
const MAX_QUOTES: usize = 200;

/// Finds the quotations of a text, in order and without duplicates.
pub(super) fn find_quotes(text: &str, markup: &Markup, traces: &[Range<usize>]) -> Vec<QuotedText> {
    let mut ignored = Cursor::new(markup.ignored.iter().map(|ignored| ignored.range.clone()));
    let mut traces = Cursor::new(traces.iter().cloned());
    let mut found: Vec<QuotedText> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let is_skipped = traces.contains(start) || ignored.contains(start);
        let ranges = if is_skipped { Vec::new() } else { quotes_of_line(content) };
        for (range, is_error) in ranges {
            let quoted = &content[range.clone()];
            if MAX_QUOTES <= found.len() {
                return found;
            }
            if seen.insert(quoted) {
                let range = start + range.start..start + range.end;
                found.push(QuotedText { text: quoted.to_owned(), is_error, range });
            }
        }
        start += line.len();
    }
    found
}

fn quotes_of_line(line: &str) -> Vec<(Range<usize>, bool)> {
    let mut found = Vec::new();
    if let Some(start) = message_start(line) {
        let end = line.floor_char_boundary(start + MAX_BYTES);
        found.push((start..end, true));
    }
    let mut at = 0;
    while let Some((open, mark)) = line[at..].char_indices().find(|(_, c)| is_opening(*c)) {
        let inside = at + open + mark.len_utf8();
        at = inside;
        // An apostrophe is inside a word.
        if line[..inside - mark.len_utf8()].ends_with(char::is_alphanumeric) {
            continue;
        }
        let closing = if mark == '“' { '”' } else { mark };
        // The search for the end is limited to the maximum length, so that the time is linear.
        let reach = line.floor_char_boundary(inside + MAX_BYTES + closing.len_utf8());
        let Some(close) = line[inside..reach].find(closing).map(|found| inside + found) else { continue };
        if line[close + closing.len_utf8()..].starts_with(char::is_alphanumeric) {
            continue;
        }
        at = close + closing.len_utf8();
        found.push((inside..close, false));
    }
    found.retain(|(range, _)| {
        let quoted = &line[range.clone()];
        let is_size = (MIN_BYTES..=MAX_BYTES).contains(&quoted.len());
        is_size && quoted.contains(char::is_alphabetic) && !quoted.contains("://")
    });
    found
}

fn is_opening(c: char) -> bool {
    matches!(c, '"' | '\'' | '“')
}

/// Returns where the message starts in `ValueError: message`, `error: message` or `panic: message`.
fn message_start(line: &str) -> Option<usize> {
    let colon = line.find(": ")?;
    let kind = line[..colon].rsplit([' ', '.', ':', '\t']).next().unwrap_or_default();
    let kind = kind.split('[').next().unwrap_or_default();
    let is_kind = ["Error", "Exception", "Warning"].iter().any(|end| kind.ends_with(end))
        || ["error", "panic", "fatal", "FATAL", "ERROR", "failed"].contains(&kind);
    is_kind.then_some(colon + 2)
}
