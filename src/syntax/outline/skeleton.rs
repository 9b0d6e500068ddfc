//! Skeletons: a text with its bodies cut.
//!
//! Only what is certainly a body is cut, so that what the grammar did not understand stays visible. Each cut leaves a
//! mark with the size of what it replaced.

use std::ops::Range;

use super::docs::{SourceDoc, place_doc};
use crate::model::SkeletonDoc;

/// A range of the original text, and what replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::syntax) struct SkeletonCut {
    range: Range<usize>,
    mark: String,
    conservative_mark: Option<String>,
}

/// Which of a cut's marks to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutMode {
    /// The most readable mark.
    Plain,
    /// The mark that changes least of how the rest is parsed; a cut that has none is not made.
    Conservative,
}

impl SkeletonCut {
    pub(in crate::syntax) fn new(range: Range<usize>, mark: String) -> Self {
        Self { range, mark, conservative_mark: None }
    }

    /// Adds a mark for texts that the grammar understands only in part.
    pub(in crate::syntax) fn with_conservative_mark(mut self, mark: String) -> Self {
        self.conservative_mark = Some(mark);
        self
    }

    pub(super) fn range(&self) -> &Range<usize> {
        &self.range
    }

    pub(super) fn plain_mark(&self) -> &str {
        &self.mark
    }

    /// Returns the mark. A cut that does not make the text shorter only hides it, and is not made.
    fn mark(&self, mode: CutMode) -> Option<&str> {
        let mark = match mode {
            CutMode::Plain => Some(self.mark.as_str()),
            CutMode::Conservative => self.conservative_mark.as_deref(),
        };
        mark.filter(|mark| mark.len() < self.range.len())
    }
}

/// Sorts cuts into the order that [`apply_cuts`] expects.
pub(super) fn sort_cuts(cuts: &mut [SkeletonCut]) {
    // Of two that begin together the longer one comes first, so that the other is recognized as a part of
    // it.
    cuts.sort_by(|a, b| a.range.start.cmp(&b.range.start).then(b.range.end.cmp(&a.range.end)));
}

/// Returns `text` with the cuts made, which are sorted. A cut within another is part of that one.
pub(super) fn apply_cuts(text: &str, cuts: &[SkeletonCut], mode: CutMode) -> String {
    apply_cuts_around(text, cuts, &[], mode).text
}

/// A text with some cuts made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CutText {
    pub(super) text: String,
    /// The docs that no cut has a part in.
    pub(super) docs: Vec<SkeletonDoc>,
}

/// Applies the cuts as [`apply_cuts`] does, and finds the docs, which are sorted too, in the result.
pub(super) fn apply_cuts_around(
    text: &str,
    cuts: &[SkeletonCut],
    docs: &[SourceDoc],
    mode: CutMode,
) -> CutText {
    let mut out = CutText { text: String::with_capacity(text.len() / 2), docs: Vec::new() };
    let mut docs = docs.iter().peekable();
    let mut keep = |kept: Range<usize>, out: &mut CutText| {
        while let Some(doc) = docs.next_if(|doc| doc.range.start < kept.end) {
            if kept.start <= doc.range.start && doc.range.end <= kept.end {
                out.docs.push(place_doc(doc, kept.start, out.text.len()));
            }
        }
        out.text.push_str(&text[kept]);
    };
    let mut at = 0;
    for cut in cuts {
        // A cut that begins before the last one ended has no text to keep before it: it is within that one.
        let (Some(mark), Some(_)) = (cut.mark(mode), text.get(at..cut.range.start)) else { continue };
        keep(at..cut.range.start, &mut out);
        out.text.push_str(mark);
        at = cut.range.end;
    }
    if at <= text.len() {
        keep(at..text.len(), &mut out);
    }
    out
}

/// How a language's skeleton marks what was cut.
#[derive(Debug, Clone, Copy)]
pub(in crate::syntax) struct ElisionMarks {
    /// What replaces a body, with the size between the two: `("{ /* ", " */ }")`. A line ending in it is followed by
    /// the indent of the line on which the body begins.
    pub(in crate::syntax) body: (&'static str, &'static str),
    /// What replaces the rows of a literal between its brackets.
    pub(in crate::syntax) data: (&'static str, &'static str),
    /// Whether a mark goes to the end of its line, so that nothing may follow it there.
    pub(in crate::syntax) ends_line: bool,
}

impl ElisionMarks {
    /// Bodies in braces and comments as in C.
    pub(super) const BRACES: Self =
        Self { body: ("{ /* ", " */ }"), data: (" /* ", " */ "), ends_line: false };

    /// Bodies that end with a word, and comments that begin with `#`.
    pub(in crate::syntax) const HASH: Self = Self { body: ("# ", ""), data: ("  # ", ""), ends_line: true };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(range: Range<usize>) -> SkeletonCut {
        SkeletonCut::new(range, "-".to_owned())
    }

    #[track_caller]
    fn check(mut cuts: Vec<SkeletonCut>, mode: CutMode, expected: &str) {
        sort_cuts(&mut cuts);
        assert_eq!(apply_cuts("0123456789", &cuts, mode), expected);
    }

    #[test]
    fn text_that_is_not_cut_is_unchanged() {
        check(vec![cut(6..8), cut(1..4)], CutMode::Plain, "0-45-89");
    }

    #[test]
    fn a_cut_within_a_cut_is_part_of_it() {
        check(vec![cut(1..9), cut(2..5)], CutMode::Plain, "0-9");
    }

    #[test]
    fn a_cut_that_does_not_shorten_the_text_is_not_made() {
        check(vec![cut(3..4)], CutMode::Plain, "0123456789");
    }

    #[test]
    fn only_conservative_cuts_are_made_in_conservative_mode() {
        check(
            vec![cut(1..3), cut(5..8).with_conservative_mark("{}".to_owned())],
            CutMode::Conservative,
            "01234{}89",
        );
    }
}
