//! A text made smaller and fitter for its grammar, and the map back to the original.
//!
//! A language may have a scanner (`Language::preprocess`) that elides what an outline does not need and repairs what
//! its grammar does not understand. Its output is assembled here, piece by piece, so that each byte is mapped to its
//! source.

use std::ops::Range;

use crate::model::SymbolKind;

/// The output of a scanner.
#[derive(Debug, Default)]
pub(in crate::syntax) struct PreprocessedText {
    /// What the parser is given.
    pub(in crate::syntax) text: String,
    /// The source of each part of `text`, in order and without gaps.
    source_map: Vec<SourceMapEntry>,
    /// Every comment that was elided, in the order of the original, markers included.
    pub(in crate::syntax) elided_comments: Vec<Range<usize>>,
    /// The symbols whose contents were elided: each has to turn up in the outline, or is added to it.
    pub(in crate::syntax) expected_symbols: Vec<ExpectedSymbol>,
    /// What the scanner read itself and the parser is not given, in the order of the original.
    pub(in crate::syntax) synthesized: Vec<SynthesizedItem>,
    /// How often something was changed because the grammar would not have understood it.
    pub(in crate::syntax) repairs: usize,
}

/// A symbol that a scanner is sure of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::syntax) struct ExpectedSymbol {
    pub(in crate::syntax) kind: SymbolKind,
    /// Its name, unqualified.
    pub(in crate::syntax) name: String,
    /// Its text in the original.
    pub(in crate::syntax) range: Range<usize>,
    /// The range of its head in the original, of which a signature is made.
    pub(in crate::syntax) signature: Range<usize>,
}

/// Something that was elided and that the outline or the skeleton needs. It is visited in its place, between the nodes
/// and the comments around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::syntax) enum SynthesizedItem {
    /// A symbol, read as the grammar would have read it.
    Symbol(SynthesizedSymbol),
    /// A directive that includes a file: its range, and that of the name.
    Import(Range<usize>, Range<usize>),
    /// A value of a macro, of which the skeleton keeps the size alone.
    MacroValue(Range<usize>),
    /// Something that is not a symbol, and separates a comment above it from what follows.
    Ignored(Range<usize>),
}

/// A symbol that a scanner has read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::syntax) struct SynthesizedSymbol {
    pub(in crate::syntax) kind: SymbolKind,
    /// Its name, unqualified.
    pub(in crate::syntax) name: String,
    /// What qualifies the name where it is written (`a::B` of `a::B::c`); empty where nothing does.
    pub(in crate::syntax) scope: String,
    /// Its text in the original.
    pub(in crate::syntax) range: Range<usize>,
    /// The range of its signature in the original, which is shown on one line and without comments.
    pub(in crate::syntax) signature: Range<usize>,
    /// What a skeleton cuts, from the end of the signature on: the body of a function, the value of a macro, or
    /// the initializer of a variable.
    pub(in crate::syntax) cut: Option<Range<usize>>,
    /// Whether a type precedes the name: without one, a function's prototype would read as a call.
    pub(in crate::syntax) has_type: bool,
}

impl SynthesizedItem {
    /// Returns its range in the original.
    pub(in crate::syntax) fn range(&self) -> Range<usize> {
        match self {
            Self::Symbol(symbol) => symbol.range.clone(),
            Self::Import(range, _) | Self::MacroValue(range) | Self::Ignored(range) => range.clone(),
        }
    }
}

/// A piece of a preprocessed text, and the range of the original that it is mapped to.
#[derive(Debug, Clone)]
struct SourceMapEntry {
    /// Where it begins in the preprocessed text.
    start: usize,
    original: Range<usize>,
    /// Whether it is a copy of that range, byte for byte; else it replaces the whole range.
    is_copy: bool,
}

/// How much a scanner had written at a point of the text.
#[derive(Debug, Clone)]
pub(in crate::syntax) struct Checkpoint {
    text: usize,
    pieces: usize,
    last_end: usize,
    comments: usize,
    expected_symbols: usize,
    synthesized: usize,
    repairs: usize,
}

impl PreprocessedText {
    pub(in crate::syntax) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            text: self.text.len(),
            pieces: self.source_map.len(),
            last_end: self.source_map.last().map_or(0, |last| last.original.end),
            comments: self.elided_comments.len(),
            expected_symbols: self.expected_symbols.len(),
            synthesized: self.synthesized.len(),
            repairs: self.repairs,
        }
    }

    /// Discards what was written since the checkpoint.
    pub(in crate::syntax) fn roll_back(&mut self, mark: &Checkpoint) {
        self.text.truncate(mark.text);
        self.source_map.truncate(mark.pieces);
        // A later copy may have extended the last entry in place, without adding one.
        if let Some(last) = self.source_map.last_mut() {
            last.original.end = mark.last_end;
        }
        self.elided_comments.truncate(mark.comments);
        self.expected_symbols.truncate(mark.expected_symbols);
        self.synthesized.truncate(mark.synthesized);
        self.repairs = mark.repairs;
    }

    /// Returns whether nothing but comments was written since the checkpoint.
    pub(in crate::syntax) fn is_unchanged_since(&self, mark: &Checkpoint) -> bool {
        self.text.len() == mark.text
            && self.synthesized.len() == mark.synthesized
            && self.expected_symbols.len() == mark.expected_symbols
    }

    /// Appends a range of the original as it is.
    pub(in crate::syntax) fn copy(&mut self, original: &str, range: Range<usize>) {
        let Some(text) = original.get(range.clone()).filter(|text| !text.is_empty()) else { return };
        // One entry for adjacent ranges keeps the map small where a scanner copies token by token.
        match self.source_map.last_mut().filter(|last| last.is_copy && last.original.end == range.start) {
            Some(last) => last.original.end = range.end,
            None => self.source_map.push(SourceMapEntry {
                start: self.text.len(),
                original: range,
                is_copy: true,
            }),
        }
        self.text.push_str(text);
    }

    /// Appends `text` in place of a range of the original. A node that begins within it begins with the range, and one
    /// that ends within it ends with the range. The range is empty where `text` is inserted.
    pub(in crate::syntax) fn substitute(&mut self, text: &str, range: Range<usize>) {
        // An elision needs no entry: it is the gap between the ranges of its neighbors.
        if !text.is_empty() {
            self.source_map.push(SourceMapEntry { start: self.text.len(), original: range, is_copy: false });
            self.text.push_str(text);
        }
    }

    /// Returns the range of the original that a range of the preprocessed text is mapped to.
    pub(in crate::syntax) fn original_range(&self, preprocessed: Range<usize>) -> Range<usize> {
        let start = self.original_start(preprocessed.start);
        // The end is that of the last byte, so that what was elided after it does not belong to it.
        let end = if preprocessed.is_empty() { start } else { self.original_end(preprocessed.end) };
        start..end.max(start)
    }

    fn original_start(&self, at: usize) -> usize {
        // The end of the text has no entry of its own.
        if self.text.len() <= at {
            return self.original_end(self.text.len());
        }
        let Some(piece) = self.entry_at(at) else { return 0 };
        if piece.is_copy { piece.original.start + (at - piece.start) } else { piece.original.start }
    }

    fn original_end(&self, end: usize) -> usize {
        let Some(last) = end.checked_sub(1) else { return 0 };
        let Some(piece) = self.entry_at(last) else { return 0 };
        if piece.is_copy {
            (piece.original.start + (end - piece.start)).min(piece.original.end)
        } else {
            piece.original.end
        }
    }

    /// Returns the entry that contains the byte at `at`.
    fn entry_at(&self, at: usize) -> Option<&SourceMapEntry> {
        // Entries are appended as the text grows, so they are sorted.
        let after = self.source_map.partition_point(|piece| piece.start <= at);
        self.source_map.get(after.checked_sub(1)?)
    }
}

/// Copies a text from its beginning to its end, and replaces parts of it on the way: the output of most scanners.
pub(in crate::syntax) struct TextRewriter<'t> {
    pub(in crate::syntax) text: &'t str,
    /// The end of what was copied or replaced.
    pub(in crate::syntax) done: usize,
    pub(in crate::syntax) preprocessed: PreprocessedText,
}

impl<'t> TextRewriter<'t> {
    pub(in crate::syntax) fn new(text: &'t str) -> Self {
        Self { text, done: 0, preprocessed: PreprocessedText::default() }
    }

    /// Copies the text up to `end`.
    pub(in crate::syntax) fn copy_until(&mut self, end: usize) {
        self.preprocessed.copy(self.text, self.done..end);
        self.done = end;
    }

    /// Replaces a range that the parser need not read.
    pub(in crate::syntax) fn replace(&mut self, range: Range<usize>, with: &str) {
        self.copy_until(range.start);
        self.done = range.end;
        self.preprocessed.substitute(with, range);
    }

    /// Replaces a range that the grammar would not understand.
    pub(in crate::syntax) fn repair(&mut self, range: Range<usize>, with: &str) {
        self.replace(range, with);
        self.preprocessed.repairs += 1;
    }

    /// Copies the rest of the text.
    pub(in crate::syntax) fn finish(mut self) -> PreprocessedText {
        self.copy_until(self.text.len());
        self.preprocessed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `int f() { return 1; }` with `{;}` for its body.
    fn preprocessed() -> PreprocessedText {
        let text = "int f() { return 1; }\nint g;\n";
        let mut preprocessed = PreprocessedText::default();
        preprocessed.copy(text, 0..9);
        preprocessed.substitute(";", 9..20);
        preprocessed.copy(text, 20..21);
        preprocessed.copy(text, 21..text.len());
        preprocessed
    }

    #[test]
    fn positions_map_back_to_the_original() {
        let preprocessed = preprocessed();
        assert_eq!(preprocessed.text, "int f() {;}\nint g;\n");
        assert_eq!(preprocessed.original_range(8..11), 8..21, "the body");
        assert_eq!(preprocessed.original_range(9..10), 9..20, "what replaces its inside");
        assert_eq!(preprocessed.original_range(12..18), 22..28, "what follows");
        assert_eq!(preprocessed.original_range(0..19), 0..29);
        assert_eq!(preprocessed.original_range(19..19), 29..29);
    }

    #[test]
    fn adjacent_copies_are_one_entry() {
        assert_eq!(preprocessed().source_map.len(), 3);
    }

    #[test]
    fn a_node_ends_before_what_was_elided_after_it() {
        let text = "int a /* b */ ;";
        let mut preprocessed = PreprocessedText::default();
        preprocessed.copy(text, 0..5);
        preprocessed.copy(text, 13..15);
        assert_eq!(preprocessed.original_range(4..5), 4..5);
        assert_eq!(preprocessed.original_range(0..7), 0..15);
    }
}
