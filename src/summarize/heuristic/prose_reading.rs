//! The parts of a text that a summary shows, collected line by line, whatever its markup.

use super::comments;
use crate::summarize::words;

/// The parts of a text that a summary shows.
#[derive(Debug, Default)]
pub(crate) struct ProseReading {
    /// Headings with their levels, in the order of the text; a lower level is higher up.
    pub(crate) headings: Vec<(usize, String)>,
    /// A title separate from the headings.
    pub(crate) title: Option<String>,
    pub(crate) paragraph: Option<String>,
    /// The paragraph being read.
    lines: Vec<String>,
    /// The number of links in it, and of letters outside of them.
    links: usize,
    unlinked: usize,
    /// The first items of the list that the paragraph announces by its colon.
    items: Vec<String>,
    /// Whether there may be more of them.
    expects_items: bool,
    /// The level of the heading of an appeal, which what follows belongs to, up to the next heading of that level.
    appeal: Option<usize>,
    has_heading: bool,
}

impl ProseReading {
    /// Adds a heading, which ends the paragraph before it.
    pub(crate) fn push_heading(&mut self, level: usize, text: &str) {
        const MOST: usize = 200;
        self.end_paragraph();
        self.end_list();
        if MOST <= self.headings.len() {
            return;
        }
        let text = words::one_line(text);
        let is_appeal = is_appeal(&text);
        if self.appeal.is_none_or(|of_appeal| level <= of_appeal) {
            // The first heading may be the name of a project that is about such things.
            self.appeal = (is_appeal && self.has_heading).then_some(level);
        }
        self.has_heading = true;
        if !text.is_empty() && !is_appeal {
            self.headings.push((level, text));
        }
    }

    pub(crate) fn set_title(&mut self, text: &str) {
        let text = words::one_line(text);
        if self.title.is_none() && !text.is_empty() {
            self.title = Some(text);
        }
    }

    /// Returns whether the first paragraph has not been found yet.
    pub(crate) fn wants_text(&self) -> bool {
        self.paragraph.is_none()
    }

    /// Adds a line to the paragraph being read.
    pub(crate) fn push_line(&mut self, line: &str) {
        const MOST: usize = 40;
        if self.wants_text() && self.appeal.is_none() && self.lines.len() < MOST {
            self.lines.push(words::one_line(line));
        }
    }

    /// Records how many links the last line has, and how many letters outside of them.
    pub(crate) fn add_links(&mut self, links: usize, unlinked: usize) {
        self.links += links;
        self.unlinked += unlinked;
    }

    /// Adds a line to the heading being read.
    pub(crate) fn push_heading_text(&mut self, line: &str) {
        const MOST: usize = 10;
        if self.lines.len() < MOST {
            self.lines.push(line.to_owned());
        }
    }

    /// Ends the heading being read.
    pub(crate) fn end_heading(&mut self, level: usize) {
        let text = std::mem::take(&mut self.lines).join(" ");
        self.push_heading(level, &text);
    }

    /// Ends the paragraph; the first one that is not empty, a license or a row of links is kept.
    pub(crate) fn end_paragraph(&mut self) {
        const UNLINKED: usize = 12;
        let paragraph = words::one_line(&self.lines.join(" "));
        let is_navigation = 0 < self.links && self.unlinked < UNLINKED;
        self.discard_paragraph();
        let says_something = paragraph.chars().any(char::is_alphanumeric)
            && !is_navigation
            && !comments::is_license(&paragraph)
            && !is_appeal(&paragraph)
            && !is_about_readme(&paragraph);
        if self.wants_text() && says_something {
            self.expects_items = paragraph.ends_with(':');
            self.paragraph = Some(paragraph);
        }
    }

    /// Adds an item of a list, if the paragraph announces it.
    pub(crate) fn push_item(&mut self, text: &str) {
        const MOST: usize = 3;
        if self.items.len() == MOST {
            self.end_list();
        }
        if self.expects_items {
            self.items.push(words::one_line(text));
        }
    }

    /// Adds a line to the last item; if there is none, the paragraph announces no list.
    pub(crate) fn continue_item(&mut self, line: &str) {
        match self.items.last_mut() {
            Some(item) if self.expects_items => {
                item.push(' ');
                item.push_str(&words::one_line(line));
            }
            _ => self.end_list(),
        }
    }

    /// Ends the list that the paragraph announces.
    pub(crate) fn end_list(&mut self) {
        self.expects_items = false;
    }

    /// Ends the text: what the paragraph announces becomes a part of it.
    pub(crate) fn finish(&mut self) {
        self.end_paragraph();
        let items: Vec<&str> = self.items.iter().map(|item| item.trim_end_matches(['.', ';', ','])).collect();
        if let Some(paragraph) = self.paragraph.as_mut().filter(|_| !items.is_empty()) {
            paragraph.push(' ');
            paragraph.push_str(&items.join("; "));
        }
    }

    /// Discards the paragraph being read, because it is something else.
    pub(crate) fn discard_paragraph(&mut self) {
        self.lines.clear();
        (self.links, self.unlinked) = (0, 0);
    }
}

/// Returns whether a paragraph is about the README that it is in, and not about the project.
fn is_about_readme(paragraph: &str) -> bool {
    paragraph.get(..12).is_some_and(|start| start.eq_ignore_ascii_case("this readme "))
}

/// Returns whether a paragraph or a heading asks for money or thanks for it.
fn is_appeal(text: &str) -> bool {
    const LONGEST: usize = 400;
    const PHRASES: [&str; 10] = [
        "sponsor", "donat", "backers", "patreon", "open collective", "opencollective", "buy me a coffee",
        "ko-fi", "special thanks to", "tidelift",
    ];
    let lower = text.to_lowercase();
    text.len() < LONGEST && PHRASES.iter().any(|phrase| lower.contains(phrase))
}
