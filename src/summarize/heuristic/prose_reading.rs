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
    /// The quotation being read.
    quoted_lines: Vec<String>,
    /// An HTML heading or a quotation below the title that describes what the title names.
    subtitle: Option<String>,
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
        self.use_subtitle();
        if MOST <= self.headings.len() {
            return;
        }
        let text = words::one_line(text);
        let is_appeal = is_appeal(&text);
        if self.appeal.is_none_or(|of_appeal| level <= of_appeal) {
            // The first heading may be the name of a project that is about such things.
            self.appeal = (is_appeal && (self.has_heading || 1 < level)).then_some(level);
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

    /// Ends the HTML heading being read.
    pub(crate) fn end_html_heading(&mut self, level: usize) {
        const WORDS: usize = 3;
        let text = words::one_line(&std::mem::take(&mut self.lines).join(" "));
        let is_below_title = 1 < level && self.headings.len() <= 1 && self.subtitle.is_none();
        let is_description = is_below_title
            && WORDS <= text.split(' ').count()
            && !is_appeal(&text)
            && count_separators(&text) == 0;
        self.push_heading(level, &text);
        if is_description && self.wants_text() {
            self.subtitle = Some(text);
        }
    }

    /// Makes the subtitle the first paragraph if there is no other before the next heading.
    fn use_subtitle(&mut self) {
        if let Some(subtitle) = self.subtitle.take().filter(|_| self.paragraph.is_none()) {
            self.paragraph = Some(subtitle);
        }
    }

    /// Adds a line to the quotation being read.
    pub(crate) fn push_quoted_line(&mut self, line: &str) {
        const MOST: usize = 4;
        if self.quoted_lines.len() < MOST {
            self.quoted_lines.push(line.to_owned());
        }
    }

    /// Ends the quotation. A short one below the title describes what the title names.
    pub(crate) fn end_quote(&mut self) {
        const MOST: usize = 3;
        let lines = std::mem::take(&mut self.quoted_lines);
        let is_below_title = matches!(self.headings.as_slice(), [(1, _)]) && self.appeal.is_none();
        if !(1..=MOST).contains(&lines.len())
            || !is_below_title
            || self.subtitle.is_some()
            || !self.wants_text()
        {
            return;
        }
        let text = words::one_line(&lines.join(" "));
        if text.chars().any(char::is_alphanumeric) && !is_admonition(&text) && !is_elsewhere(&text) {
            self.subtitle = Some(text);
        }
    }

    /// Ends the appeal, which is not the whole text up to the next heading.
    pub(crate) fn end_appeal(&mut self) {
        self.appeal = None;
    }

    /// Ends the paragraph; the first one that is not empty, a license or a row of links is kept.
    pub(crate) fn end_paragraph(&mut self) {
        let paragraph = words::one_line(&self.lines.join(" "));
        let is_navigation = self.is_row_of_links(&paragraph);
        self.discard_paragraph();
        let says_something = paragraph.chars().any(char::is_alphanumeric)
            && !is_navigation
            && !comments::is_license(&paragraph)
            && !is_appeal(&paragraph)
            && !is_elsewhere(&paragraph)
            && !is_drawing(&paragraph)
            && !is_label(&paragraph);
        if self.wants_text() && says_something {
            self.expects_items = paragraph.ends_with(':');
            self.paragraph = Some(paragraph);
        }
    }

    /// Returns whether the paragraph consists of links, addresses or names, as navigation does.
    fn is_row_of_links(&self, paragraph: &str) -> bool {
        const UNLINKED: usize = 12;
        const MOST_UNLINKED: usize = 40;
        let is_sentence = paragraph.ends_with(['.', '!', '?', ':']);
        let linked = paragraph.chars().filter(|c| c.is_alphanumeric()).count().saturating_sub(self.unlinked);
        let is_mostly_linked = !is_sentence && self.unlinked < linked && self.unlinked < MOST_UNLINKED;
        let addresses = paragraph.split(' ').filter(|word| word.starts_with("http")).count();
        0 < self.links && (self.unlinked < UNLINKED || is_mostly_linked)
            || 0 < addresses && paragraph.split(' ').count() <= addresses * 2
            || !is_sentence && 1 < count_separators(paragraph)
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
        self.end_quote();
        self.use_subtitle();
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

/// Counts the marks that separate the entries of a row.
fn count_separators(text: &str) -> usize {
    const SEPARATORS: [&str; 3] = [" · ", " • ", " | "];
    SEPARATORS.iter().map(|mark| text.matches(mark).count()).sum()
}

/// Returns whether a paragraph is about the README that it is in, its translations or other documents, and not about
/// the project.
fn is_elsewhere(paragraph: &str) -> bool {
    const LONGEST: usize = 200;
    const BEGINNINGS: [&str; 12] = [
        "this readme ", "see ", "please see ", "please refer ", "refer to ", "check out ", "visit ",
        "read this ", "if you find ", "documentation:", "for documentation", "for more ",
    ];
    const PHRASES: [&str; 3] = ["translations:", "in other languages", "please cite"];
    const LONGEST_WELCOME: usize = 40;
    let lower = paragraph.to_lowercase();
    let lower = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_short = paragraph.len() < LONGEST;
    let is_pointer = BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning))
        || PHRASES.iter().any(|phrase| lower.contains(phrase));
    is_short && is_pointer || lower.starts_with("welcome to ") && paragraph.len() < LONGEST_WELCOME
}

/// Returns whether a paragraph consists mostly of other characters than letters, as boxes and rules do.
fn is_drawing(paragraph: &str) -> bool {
    let visible = paragraph.chars().filter(|c| !c.is_whitespace()).count();
    paragraph.chars().filter(|c| c.is_alphanumeric()).count() * 3 < visible
}

/// Returns whether a paragraph only labels the code below it.
fn is_label(paragraph: &str) -> bool {
    const WORDS: [&str; 5] = ["or", "using", "install", "usage", "example"];
    let lower = paragraph.to_lowercase();
    let mut words = lower.trim_end_matches(':').split(' ');
    paragraph.ends_with(':') && words.next().is_some_and(|word| WORDS.contains(&word)) && words.count() <= 1
}

/// Returns whether a quotation is a note or a warning.
fn is_admonition(text: &str) -> bool {
    const WORDS: [&str; 9] =
        ["note", "warning", "important", "tip", "caution", "attention", "disclaimer", "news", "update"];
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    text.starts_with('⚠') || words.next().is_some_and(|word| WORDS.contains(&word))
}

/// Returns whether a paragraph or a heading asks for money, thanks for it or sells something.
fn is_appeal(text: &str) -> bool {
    const LONGEST: usize = 400;
    const PHRASES: [&str; 12] = [
        "sponsor", "donat", "backers", "patreon", "open collective", "opencollective", "buy me a coffee",
        "ko-fi", "special thanks to", "tidelift", "t-shirt", "stickers",
    ];
    let lower = text.to_lowercase();
    text.len() < LONGEST && PHRASES.iter().any(|phrase| lower.contains(phrase))
}
