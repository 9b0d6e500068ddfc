//! What every markup is read into.

use super::super::comments;
use super::super::words;

/// What a summary shows of a text.
#[derive(Debug, Default)]
pub(super) struct ProseReading {
    /// Headings with their levels, in the order of the text; lower is higher up.
    pub(super) headings: Vec<(usize, String)>,
    /// A title that is set apart from the headings.
    pub(super) title: Option<String>,
    /// The first paragraph that says something.
    pub(super) paragraph: Option<String>,
    /// The paragraph that is being read.
    lines: Vec<String>,
}

impl ProseReading {
    /// Adds a heading; what stood before it is a paragraph.
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

    /// Says whether a paragraph is still looked for.
    pub(super) fn wants_text(&self) -> bool {
        self.paragraph.is_none()
    }

    /// Adds a line to the paragraph that is being read.
    pub(super) fn push_line(&mut self, line: &str) {
        const MOST: usize = 40;
        if self.wants_text() && self.lines.len() < MOST {
            self.lines.push(words::one_line(line));
        }
    }

    /// Ends the paragraph; the first that holds words about more than rights is kept.
    pub(super) fn end_paragraph(&mut self) {
        let paragraph = words::one_line(&self.lines.join(" "));
        self.lines.clear();
        let says_something =
            paragraph.chars().any(char::is_alphanumeric) && !comments::is_license(&paragraph);
        if self.wants_text() && says_something {
            self.paragraph = Some(paragraph);
        }
    }

    /// Takes the paragraph that is being read away, for it turned out to be something else.
    pub(super) fn discard_paragraph(&mut self) {
        self.lines.clear();
    }
}
