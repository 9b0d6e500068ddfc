//! Divides a text into prose, code, and parts that are irrelevant to the task.

use std::ops::Range;

use super::boilerplate::boilerplate_length;

/// Why a part of a task's text is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoredTextReason {
    /// An address. A link to lines of a file is still parsed.
    Url,
    /// A heading, a question or a confirmation of an issue template.
    Template,
    /// An HTML comment, in which templates instruct the writer.
    Comment,
    /// HTML tags, and the language of a code block.
    Markup,
    /// A path in an installed library, which means no file of the project. Its words count.
    Library,
}

/// A part of a task's text without weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredText {
    /// The bytes of the text.
    pub range: Range<usize>,
    /// Why they are ignored.
    pub reason: IgnoredTextReason,
}

/// The parts of a text. The ranges of each list are in order and do not overlap.
#[derive(Debug, Default)]
pub(super) struct Markup {
    /// The parts without weight.
    pub(super) ignored: Vec<IgnoredText>,
    /// Inline code, without its backticks.
    pub(super) ticks: Vec<Range<usize>>,
}

/// A longer tag is treated as text.
const MAX_TAG_BYTES: usize = 500;

/// Divides a text into parts, line by line.
pub(super) fn divide(text: &str) -> Markup {
    let last_close = text.rfind("-->").unwrap_or(0);
    let mut divider = Divider { text, markup: Markup::default(), fence: None, is_comment: false, last_close };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end_matches(['\n', '\r']).len();
        divider.read_line(start, end);
        start += line.len();
    }
    divider.markup
}

struct Divider<'a> {
    text: &'a str,
    markup: Markup,
    /// The mark that ends the current code block, and its minimum length.
    fence: Option<(u8, usize)>,
    is_comment: bool,
    /// The position of the last `-->`.
    last_close: usize,
}

impl Divider<'_> {
    fn read_line(&mut self, start: usize, end: usize) {
        let line = &self.text[start..end];
        let fence = if self.is_comment { None } else { fence_of(line) };
        match (self.fence, fence) {
            (Some((mark, length)), Some((found, count, info)))
                if mark == found && length <= count && info.is_empty() =>
            {
                self.fence = None;
            }
            (Some(_), _) => self.find_urls(start, end),
            (None, Some((mark, count, _))) => {
                self.fence = Some((mark, count));
                self.ignore(start..end, IgnoredTextReason::Markup);
            }
            (None, None) => self.read_prose(start, end),
        }
    }

    fn read_prose(&mut self, mut start: usize, end: usize) {
        if !self.is_comment {
            let template = boilerplate_length(&self.text[start..end]);
            self.ignore(start..start + template, IgnoredTextReason::Template);
            start += template;
        }
        while start < end {
            let rest = &self.text[start..end];
            if self.is_comment {
                let close = rest.find("-->").map(|at| start + at + 3);
                self.is_comment = close.is_none();
                self.ignore(start..close.unwrap_or(end), IgnoredTextReason::Comment);
                start = close.unwrap_or(end);
                continue;
            }
            start = self.read_inline(start, end);
            self.is_comment = start < end;
        }
    }

    /// Finds backticks, addresses and tags in a part of a line, up to a comment. Returns where the comment begins, or the
    /// end.
    fn read_inline(&mut self, start: usize, end: usize) -> usize {
        let mut at = start;
        let mut prose = start;
        let mut comment = self.find_comment(start, end);
        while let Some(open) = self.text[at..comment].find('`').map(|found| at + found) {
            let run = self.text[open..end].bytes().take_while(|byte| *byte == b'`').count();
            let inside = open + run;
            // A run of another length does not close it; searching past it would be quadratic.
            let Some(close) = self.text[inside..end].find('`').map(|found| inside + found) else { break };
            let closing = self.text[close..end].bytes().take_while(|byte| *byte == b'`').count();
            if closing == run {
                self.read_plain(prose, open);
                self.markup.ticks.push(inside..close);
                self.find_urls(inside, close);
                prose = close + run;
                // In code, it is not a comment.
                if comment < prose {
                    comment = self.find_comment(prose, end);
                }
            }
            at = close + closing;
            if comment < at {
                break;
            }
        }
        self.read_plain(prose, comment);
        comment
    }

    /// Returns where the next comment begins, or the end. What is never closed is not a comment.
    fn find_comment(&self, start: usize, end: usize) -> usize {
        let open = self.text[start..end].find("<!--").map(|at| start + at);
        open.filter(|open| open + 4 <= self.last_close).unwrap_or(end)
    }

    /// Finds addresses and tags outside of code.
    fn read_plain(&mut self, start: usize, end: usize) {
        let mut at = start;
        while let Some(open) = self.text[at..end].find('<').map(|found| at + found) {
            self.find_urls(at, open);
            let length = tag_length(&self.text[open..end]);
            self.ignore(open..open + length, IgnoredTextReason::Markup);
            at = open + length.max(1);
        }
        self.find_urls(at, end);
    }

    fn find_urls(&mut self, mut start: usize, end: usize) {
        while let Some(colon) = self.text[start..end].find("://").map(|found| start + found) {
            let before = self.text[start..colon].bytes().rev();
            let scheme = colon - before.take(16).take_while(u8::is_ascii_alphanumeric).count();
            let rest = &self.text[colon + 3..end];
            // A bracket that is open ends in the address: `/app/(shop)/[id]/page.tsx`.
            let mut open = [0_usize; 2];
            let is_end = |c: char| match c {
                '(' | '[' => {
                    open[usize::from(c == '[')] += 1;
                    false
                }
                ')' | ']' => {
                    let open = &mut open[usize::from(c == ']')];
                    let is_closed = *open == 0;
                    *open = open.saturating_sub(1);
                    is_closed
                }
                _ => c.is_whitespace() || matches!(c, '<' | '>' | '"' | '\'' | '`' | '|' | '\\'),
            };
            let url_end = colon + 3 + rest.find(is_end).unwrap_or(rest.len());
            let scheme_name = &self.text[scheme..colon];
            // In `file:///srv/a.py`, the path is one of a file.
            if !scheme_name.is_empty() && scheme_name != "file" && !scheme_name.starts_with("webpack") {
                self.ignore(scheme..url_end, IgnoredTextReason::Url);
            }
            start = url_end;
        }
    }

    fn ignore(&mut self, range: Range<usize>, reason: IgnoredTextReason) {
        if !range.is_empty() {
            self.markup.ignored.push(IgnoredText { range, reason });
        }
    }
}

/// Returns the character of a code fence, its length and the text after it.
fn fence_of(line: &str) -> Option<(u8, usize, &str)> {
    let trimmed = line.trim_start_matches([' ', '\t', '>']);
    let mark = *trimmed.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let count = trimmed.bytes().take_while(|byte| *byte == mark).count();
    let info = trimmed[count..].trim();
    (3 <= count && !info.contains('`')).then_some((mark, count, info))
}

/// Returns the length of a tag that a text begins with, or zero. `Vec<Item>` has none.
fn tag_length(text: &str) -> usize {
    const TAGS: &[&str] = &[
        "a", "blockquote", "br", "code", "details", "div", "em", "h1", "h2", "h3", "h4", "hr", "img", "kbd",
        "li", "ol", "p", "picture", "pre", "source", "span", "strong", "sub", "summary", "sup", "table",
        "tbody", "td", "th", "thead", "tr", "ul", "video",
    ];
    let rest = text[1..].trim_start_matches('/');
    let name_end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let is_known = TAGS.iter().any(|tag| rest[..name_end].eq_ignore_ascii_case(tag));
    let is_tag = is_known && rest[name_end..].starts_with(['>', ' ', '/']);
    // Limited, so that many unterminated tags are read in linear time.
    let end = text.bytes().take(MAX_TAG_BYTES).position(|byte| byte == b'>');
    end.filter(|_| is_tag).map_or(0, |end| end + 1)
}
