//! A text by its lines, and how its language is written: what a masked view is cut out of.

use std::ops::Range;

use super::style::LanguageStyle;

/// More white space than this at the beginning of a line is not repeated: each line that is made would bear it.
const MAX_INDENT: usize = 200;

/// So far is looked for the head of a block.
const MAX_LINES_ABOVE: usize = 500;

/// A text and where its lines begin.
pub(super) struct SourcePage<'t> {
    pub(super) text: &'t str,
    pub(super) style: LanguageStyle,
    /// How a line ends, judged by the first.
    pub(super) line_end: &'static str,
    line_starts: Vec<usize>,
}

impl<'t> SourcePage<'t> {
    pub(super) fn new(text: &'t str, language: &str) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        let style = LanguageStyle::for_language(language);
        let first = line_starts.get(1).map_or("", |end| &text[..*end]);
        let line_end = if first.ends_with("\r\n") { "\r\n" } else { "\n" };
        Self { text, style, line_end, line_starts }
    }

    /// Returns where the line begins that holds `at`.
    pub(super) fn line_start(&self, at: usize) -> usize {
        self.line_starts[self.line_starts.partition_point(|start| *start <= at) - 1]
    }

    /// Returns what follows `at` on its line, without the line's end.
    pub(super) fn rest_of_line(&self, at: usize) -> &'t str {
        let next = self.line_starts.partition_point(|start| *start <= at);
        let end = self.line_starts.get(next).copied().unwrap_or(self.text.len());
        self.text[at..end].trim_end_matches(['\n', '\r'])
    }

    /// Returns the white space at the beginning of the line that holds `at`.
    pub(super) fn indent(&self, at: usize) -> &'t str {
        let before = &self.text[self.line_start(at)..at];
        let blank = before.len() - before.trim_start_matches(is_blank).len();
        &before[..before.floor_char_boundary(blank.min(MAX_INDENT))]
    }

    /// Returns the text of a symbol as a reader takes it for: with the indent of its first line, and with the semicolon
    /// and the comment that follow it on its last.
    pub(super) fn extended_span(&self, span: &Range<usize>) -> Range<usize> {
        let line = self.line_start(span.start);
        let before = &self.text[line..span.start];
        let is_first = before.chars().all(is_blank);
        let is_linkage = before.trim_start().starts_with("extern \"") && !before.contains(['{', ';']);
        let start = if is_first || is_linkage { line } else { span.start };
        let rest = self.rest_of_line(span.end);
        let signed = rest.trim_start_matches(is_blank);
        let sign = if signed.starts_with([';', ',']) { rest.len() - signed.len() + 1 } else { 0 };
        let end = if self.is_comment(&rest[sign..]) { span.end + rest.len() } else { span.end + sign };
        start..end
    }

    /// Returns where the comment begins that stands directly above the line that begins at `start`, if one does. Else,
    /// and where no line begins there, `start` itself.
    pub(super) fn with_comment_above(&self, start: usize) -> usize {
        let line = self.line_starts.partition_point(|begin| *begin <= start) - 1;
        if self.line_starts[line] != start {
            return start;
        }
        let mut first = line;
        let mut is_in_block = false;
        for above in (0..line).rev() {
            let text = self.text[self.line_starts[above]..self.line_starts[above + 1]].trim();
            let is_line = self.style.line_comment.is_some_and(|begin| text.starts_with(begin));
            let (begin, end) = self.style.block_comment.unwrap_or(("\0", "\0"));
            let opens = text.starts_with(begin);
            match is_in_block {
                false if is_line || (opens && text.ends_with(end)) => first = above,
                false if text.ends_with(end) && !text.contains(begin) => is_in_block = true,
                true if opens && !text.contains(end) => {
                    first = above;
                    is_in_block = false;
                }
                true if !text.contains(begin) && !text.contains(end) => {}
                true | false => break,
            }
        }
        self.line_starts[first]
    }

    /// Returns the head of the block that holds the line of `at`: the nearest line above with less of an indent.
    pub(super) fn block_head(&self, at: usize, indent: usize) -> Option<&'t str> {
        let line = self.line_starts.partition_point(|begin| *begin <= at) - 1;
        let above = (0..line).rev().take(MAX_LINES_ABOVE);
        let mut texts = above.map(|above| &self.text[self.line_starts[above]..self.line_starts[above + 1]]);
        texts.find_map(|text| {
            let own = text.trim_start_matches([' ', '\t']);
            let is_less = text.len() - own.len() < indent;
            let own = own.trim();
            (is_less && !own.is_empty() && !own.starts_with('#') && own.len() <= MAX_INDENT).then_some(own)
        })
    }

    /// Says whether the rest of a line holds nothing but a comment, or nothing.
    fn is_comment(&self, rest: &str) -> bool {
        let rest = rest.trim();
        if rest.is_empty() || self.style.line_comment.is_some_and(|begin| rest.starts_with(begin)) {
            return true;
        }
        let Some((begin, end)) = self.style.block_comment else { return false };
        let closed = rest.strip_prefix(begin).and_then(|inside| inside.find(end));
        closed.is_some_and(|at| begin.len() + at + end.len() == rest.len())
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace()
}
