//! Renders marked lines of a file.

use std::fmt::Write as _;

use crate::model::{Slice, SliceResolution, SliceStatus, collapse_whitespace};

/// Lines of a text with a person's comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlicePart {
    /// A short name; may be empty.
    pub tag: String,
    /// Why they matter; may be empty.
    pub comment: String,
    /// First line, from 1.
    pub start_line: u32,
    pub end_line: u32,
    /// Why they may differ from the marked lines; empty if they do not.
    pub caveat: String,
    /// The text; empty for lines that are no longer found.
    pub content: String,
}

impl SlicePart {
    /// Returns lines without a name, clipped to those that exist in `text`.
    pub fn from_lines(text: &str, start_line: u32, end_line: u32) -> Self {
        let count = u32::try_from(text.split_inclusive('\n').count()).unwrap_or(u32::MAX);
        let is_there = start_line <= count;
        let end_line = if is_there { end_line.min(count) } else { end_line };
        let content = if is_there {
            lines_of(text, start_line, end_line).to_owned()
        } else {
            format!("(no such lines: the text ends with line {count})")
        };
        let nothing = String::new;
        Self { tag: nothing(), comment: nothing(), start_line, end_line, caveat: nothing(), content }
    }

    /// Returns a slice as it was found in `text`. Lost lines are not shown as if they were correct.
    pub fn from_resolution(text: &str, slice: &Slice, found: &SliceResolution) -> Self {
        let (start_line, end_line) = (found.start_line, found.end_line);
        let shown = || lines_of(text, start_line, end_line).to_owned();
        let (caveat, content) = match found.status {
            SliceStatus::Exact | SliceStatus::Moved => (String::new(), shown()),
            // Without a content hash, it is unknown whether the text has changed.
            SliceStatus::Changed if slice.anchors.content_hash.is_none() => {
                ("found by the lines around it".to_owned(), shown())
            }
            SliceStatus::Changed => ("changed since it was marked".to_owned(), shown()),
            SliceStatus::Stale => {
                (format!("lost, this is the best guess, and not shown: {}", found.reason), String::new())
            }
        };
        let (tag, comment) = (slice.tag.clone(), slice.comment.clone());
        Self { tag, comment, start_line, end_line, caveat, content }
    }

    /// Returns the part without its lines, if they do not fit.
    #[must_use]
    pub fn without_lines(self) -> Self {
        Self { caveat: "not shown to fit the budget".to_owned(), content: String::new(), ..self }
    }
}

/// Returns the text of some lines, counted from 1 and inclusive. Only line feeds end lines, as in git.
fn lines_of(text: &str, start_line: u32, end_line: u32) -> &str {
    let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let before = start_line.saturating_sub(1) as usize;
    let Some(start) = starts.nth(before) else { return "" };
    let count = end_line.saturating_sub(start_line) as usize;
    let end = starts.nth(count).unwrap_or(text.len());
    &text[start..end]
}

/// Returns the parts, joined by a blank line. A part without a tag is called `[Slice]`; one without a comment has none.
pub fn render_slices(parts: &[SlicePart]) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str("---\n[Slice");
        // A tag is text by a person, and must not begin a line of its own.
        let tag = collapse_whitespace(&part.tag);
        if !tag.is_empty() {
            let _ = write!(text, ": {tag}");
        }
        text.push(']');
        let comment = collapse_whitespace(&part.comment);
        if !comment.is_empty() {
            let _ = write!(text, " ({comment})");
        }
        let caveat = collapse_whitespace(&part.caveat);
        let caveat = if caveat.is_empty() { caveat } else { format!(" ({caveat})") };
        let _ = writeln!(text, "\nLines {}-{}{caveat}:", part.start_line, part.end_line);
        text.push_str(&part.content);
        if !part.content.is_empty() && !part.content.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_joined_by_a_blank_line() {
        let text = "a\nb\r\nc";
        let named = SlicePart {
            tag: "hot\nloop".to_owned(),
            comment: "why".to_owned(),
            ..SlicePart::from_lines(text, 1, 2)
        };
        let view = render_slices(&[named, SlicePart::from_lines(text, 3, 3)]);
        let expected = "---\n[Slice: hot loop] (why)\nLines 1-2:\na\nb\r\n\n---\n[Slice]\nLines 3-3:\nc\n";
        assert_eq!(view, expected);
        assert_eq!(render_slices(&[]), "");
    }

    #[test]
    fn missing_lines_have_no_text() {
        assert_eq!(lines_of("a\nb\n", 2, 9), "b\n");
        assert_eq!(lines_of("a\nb\n", 9, 10), "");
        assert_eq!(lines_of("", 1, 1), "");
        let beyond = SlicePart::from_lines("a\nb\n", 3, 4);
        assert_eq!(beyond.content, "(no such lines: the text ends with line 2)");
        let clipped = SlicePart::from_lines("a\nb\n", 2, 9);
        assert_eq!((clipped.end_line, clipped.content.as_str()), (2, "b\n"));
    }
}
