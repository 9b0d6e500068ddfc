//! A text, and the positions in it.
//!
//! Everything that leaves this room refers to the original text, though what is parsed may be a preprocessed copy of it
//! (`preprocessed`): this file, and no other, translates positions.

use std::ops::Range;

use super::preprocessed::PreprocessedText;
use crate::model::Span;

pub(in crate::syntax) struct SourceText<'a> {
    original: &'a str,
    preprocessed: Option<PreprocessedText>,
    line_starts: Vec<usize>,
}

impl<'a> SourceText<'a> {
    pub(in crate::syntax) fn new(original: &'a str) -> Self {
        let mut line_starts = vec![0];
        // At line feeds alone, as git and editors count: a lone carriage return ends no line.
        let ends = original.match_indices('\n');
        line_starts.extend(ends.map(|(at, _)| at + 1));
        Self { original, preprocessed: None, line_starts }
    }

    /// Makes a scanner's output the text that is parsed.
    pub(in crate::syntax) fn with_preprocessed(mut self, preprocessed: PreprocessedText) -> Self {
        self.preprocessed = Some(preprocessed);
        self
    }

    pub(in crate::syntax) fn parsed_text(&self) -> &str {
        self.preprocessed.as_ref().map_or(self.original, |preprocessed| preprocessed.text.as_str())
    }

    /// Returns the preprocessed text, where that is what is parsed.
    pub(in crate::syntax) fn preprocessed(&self) -> Option<&PreprocessedText> {
        self.preprocessed.as_ref()
    }

    /// Returns the range of the original that a range of the parsed text is mapped to.
    pub(in crate::syntax) fn original_range(&self, parsed: Range<usize>) -> Range<usize> {
        let range = match &self.preprocessed {
            Some(preprocessed) => preprocessed.original_range(parsed),
            None => parsed,
        };
        let end = range.end.min(self.original.len());
        range.start.min(end)..end
    }

    /// Returns the end, in the original, of the last byte before an offset of the parsed text: unlike the start of what
    /// follows, it excludes what was elided between the two.
    pub(in crate::syntax) fn original_end(&self, parsed: usize) -> usize {
        self.original_range(0..parsed).end
    }

    /// Returns the comments that begin in a range of the original and were elided before it was parsed.
    pub(in crate::syntax) fn elided_comments_in(&self, range: &Range<usize>) -> &[Range<usize>] {
        let comments =
            // Scanners record comments in the order of the text, so that two searches replace a filter over
            // all of them.
            self.preprocessed.as_ref().map_or(&[][..], |preprocessed| &preprocessed.elided_comments);
        let first = comments.partition_point(|comment| comment.start < range.start);
        let after = comments.partition_point(|comment| comment.start < range.end);
        &comments[first..after.max(first)]
    }

    /// Returns the end of the last code that a scanner elided from a range of the original, between two nodes of what
    /// is left; its start where there is none.
    pub(in crate::syntax) fn elided_code_end(&self, range: Range<usize>) -> usize {
        if self.preprocessed.is_none() {
            return range.start;
        }
        let mut end = range.end.max(range.start);
        // Comments at the end of the range belong to what follows it, so the code ends before them.
        for comment in self.elided_comments_in(&range).iter().rev() {
            if !self.text(comment.end..end).trim().is_empty() {
                break;
            }
            end = comment.start;
        }
        range.start + self.text(range.start..end).trim_end().len()
    }

    /// Returns the original text of a range of the original; nothing where the range cuts a character.
    pub(in crate::syntax) fn text(&self, range: Range<usize>) -> &'a str {
        self.original.get(range).unwrap_or_default()
    }

    pub(in crate::syntax) fn original_text(&self) -> &'a str {
        self.original
    }

    /// Returns the number, from 1, of the line that contains the byte at `offset`.
    pub(in crate::syntax) fn line(&self, offset: usize) -> u32 {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// Returns the offset of the first byte of the line that contains `offset`.
    pub(in crate::syntax) fn line_start(&self, offset: usize) -> usize {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        // The first line begins at 0, so that at least one start is not after the offset.
        self.line_starts[line - 1]
    }

    /// Returns what precedes `offset` on its line.
    pub(in crate::syntax) fn line_prefix(&self, offset: usize) -> &'a str {
        self.text(self.line_start(offset)..offset)
    }

    /// Returns what follows `offset` on its line, without the line ending.
    pub(in crate::syntax) fn line_suffix(&self, offset: usize) -> &'a str {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let end = self.line_starts.get(line).copied().unwrap_or(self.original.len());
        self.text(offset..end).trim_end_matches(['\n', '\r'])
    }

    /// Returns how the lines of the text end, judged by the first.
    pub(in crate::syntax) fn line_ending(&self) -> &'static str {
        let first = self.line_starts.get(1).map_or("", |&next| self.text(0..next));
        if first.ends_with("\r\n") { "\r\n" } else { "\n" }
    }

    /// Returns the span of a range of the original. A range that ends with a line's end ends on that line.
    pub(in crate::syntax) fn span(&self, range: Range<usize>) -> Span {
        let last = range.end.saturating_sub(1).max(range.start);
        Span {
            start_byte: range.start,
            end_byte: range.end,
            start_line: self.line(range.start),
            end_line: self.line(last),
        }
    }
}

/// The position of a walk in the elided text.
pub(in crate::syntax) struct ElisionCursor {
    pub(in crate::syntax) next_comment: usize,
    pub(in crate::syntax) next_synthesized: usize,
    /// The line on which the last code before it ends; 0 where none is.
    pub(in crate::syntax) last_code_line: u32,
}

impl ElisionCursor {
    /// Returns the cursor at an offset of the original.
    pub(in crate::syntax) fn new(source: &SourceText<'_>, at: usize) -> Self {
        let mut place = Self { next_comment: 0, next_synthesized: 0, last_code_line: 0 };
        place.skip_to(source, at);
        place
    }

    /// Advances past code that ends at `end`, with everything that was elided within it.
    pub(in crate::syntax) fn advance_past(&mut self, source: &SourceText<'_>, end: usize) {
        self.skip_to(source, end);
        self.last_code_line = source.line(end.saturating_sub(1));
    }

    fn skip_to(&mut self, source: &SourceText<'_>, to: usize) {
        let Some(preprocessed) = source.preprocessed() else { return };
        // Never backwards: text that was visited out of order must not be visited twice.
        self.next_comment =
            self.next_comment.max(preprocessed.elided_comments.partition_point(|comment| comment.start < to));
        self.next_synthesized =
            self.next_synthesized.max(preprocessed.synthesized.partition_point(|one| one.range().start < to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_line_feeds_alone() {
        let source = SourceText::new("a\r\nb\rc\nd");
        assert_eq!(source.line(0), 1);
        assert_eq!(source.line(2), 1);
        assert_eq!(source.line(3), 2);
        assert_eq!(source.line(7), 3);
        assert_eq!(source.line_suffix(0), "a");
        assert_eq!(source.line_prefix(5), "b\r");
    }

    #[test]
    fn a_span_that_includes_its_line_ending_ends_on_that_line() {
        let source = SourceText::new("one\ntwo\n");
        let span = source.span(0..4);
        assert_eq!((span.start_line, span.end_line), (1, 1));
        let empty = source.span(8..8);
        assert_eq!((empty.start_line, empty.end_line), (3, 3));
    }
}
