//! The common result of reading any markup.

use super::super::comments;
use super::super::words;

/// What a summary shows of a text.
#[derive(Debug, Default)]
pub(super) struct ProseReading {
    /// Headings with their levels, in the order of the text; a lower level is higher up.
    pub(super) headings: Vec<(usize, String)>,
    /// A title separate from the headings.
    pub(super) title: Option<String>,
    /// The first meaningful paragraph.
    pub(super) paragraph: Option<String>,
    /// The paragraph being read.
    lines: Vec<String>,
}

impl ProseReading {
    /// Adds a heading, which ends the paragraph before it.
    pub(super) fn push_heading(&mut self, level: usize, text: &str) {
        const MOST: usize = 200;
        self.end_paragraph();
        if MOST <= self.headings.len() {
            return;
        }
        let text = words::one_line(text);
        if !text.is_empty() {
            self.headings.push((level, text));
        }
    }

    /// Sets the title, unless there is one.
    pub(super) fn set_title(&mut self, text: &str) {
        let text = words::one_line(text);
        if self.title.is_none() && !text.is_empty() {
            self.title = Some(text);
        }
    }

    /// Returns whether the first paragraph has not been found yet.
    pub(super) fn wants_text(&self) -> bool {
        self.paragraph.is_none()
    }

    /// Adds a line to the paragraph being read.
    pub(super) fn push_line(&mut self, line: &str) {
        const MOST: usize = 40;
        if self.wants_text() && self.lines.len() < MOST {
            self.lines.push(words::one_line(line));
        }
    }

    /// Ends the paragraph; the first one that is not empty or a license is kept.
    pub(super) fn end_paragraph(&mut self) {
        let paragraph = words::one_line(&self.lines.join(" "));
        self.lines.clear();
        let says_something =
            paragraph.chars().any(char::is_alphanumeric) && !comments::is_license(&paragraph);
        if self.wants_text() && says_something {
            self.paragraph = Some(paragraph);
        }
    }

    /// Discards the paragraph being read, because it turned out to be something else.
    pub(super) fn discard_paragraph(&mut self) {
        self.lines.clear();
    }
}
