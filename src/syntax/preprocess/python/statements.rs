//! The tokens of a statement that stays, and what is left of its brackets.

use std::ops::Range;

use super::scanner::PythonScanner;
use super::tokens::{ByteClass, CLASSES, LARGE_LITERAL, is_keyword, is_prefix, scan_string, word_end};

/// Brackets nested deeper than this are left to the limits of the parser.
const MAX_NESTING: usize = 1000;

/// A string of fewer bytes is not worth an entry of its own.
const SHORT_STRING: usize = 8;

/// Where the scan of a statement stops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanStop {
    /// At the end of the line or at a comment, outside of brackets.
    AtLineEnd,
    /// At a colon outside of brackets, too.
    AtColon,
}

impl PythonScanner<'_> {
    /// Reads a statement from `start` on, records what is to be elided from it, and returns its end.
    pub(super) fn scan_statement(&mut self, start: usize, stop: ScanStop) -> Option<usize> {
        let mut at = start;
        // Whether a value precedes, so that a bracket is applied to it.
        let mut is_value = false;
        let mut is_import = false;
        while let Some(&byte) = self.bytes.get(at) {
            let class = CLASSES[usize::from(byte)];
            let is_outside = self.brackets.is_empty();
            match class {
                ByteClass::Word => (at, is_value, is_import) = self.scan_word(at, is_import)?,
                ByteClass::Quote => (at, is_value) = (self.string(b"", at)?, true),
                ByteClass::Open => {
                    self.open_bracket(byte, at, is_value, is_import)?;
                    (at, is_value) = (at + 1, false);
                }
                ByteClass::Close => {
                    self.close(byte, at)?;
                    (at, is_value) = (at + 1, true);
                }
                ByteClass::Comma => {
                    self.comma();
                    (at, is_value) = (at + 1, false);
                }
                ByteClass::Hash | ByteClass::Newline if is_outside => return Some(at),
                ByteClass::Colon if is_outside && stop == ScanStop::AtColon => return Some(at),
                ByteClass::Hash => {
                    let end = self.line_end(at);
                    self.edits.push(PlaceholderEdit::new(at..end, Placeholder::Comment));
                    at = end;
                }
                ByteClass::Backslash => at = self.after_continuation(at)?,
                ByteClass::Space | ByteClass::Newline => at += 1,
                ByteClass::Colon => {
                    self.colon();
                    (at, is_value) = (at + 1, false);
                }
                ByteClass::Sign => (at, is_value) = (at + 1, false),
                ByteClass::Invalid => return None,
            }
        }
        self.brackets.is_empty().then_some(at)
    }

    /// Opens a bracket, unless too many are open.
    fn open_bracket(&mut self, kind: u8, open: usize, is_applied: bool, is_import: bool) -> Option<()> {
        if MAX_NESTING <= self.brackets.len() {
            return None;
        }
        let edits = self.edits.len();
        self.brackets.push(PythonBracket {
            kind,
            open,
            is_applied,
            is_import,
            edits,
            ..PythonBracket::default()
        });
        Some(())
    }

    /// Scans a word or a string with a prefix; returns its end, whether it is a value, and whether what follows is
    /// imported.
    fn scan_word(&mut self, at: usize, is_import: bool) -> Option<(usize, bool, bool)> {
        let end = word_end(self.bytes, at);
        let word = &self.bytes[at..end];
        if is_prefix(word) && matches!(self.bytes.get(end), Some(b'"' | b'\'')) {
            return Some((self.string(word, end)?, true, is_import));
        }
        self.word_in_brackets(word);
        Some((end, !is_keyword(word), word == b"import"))
    }

    /// Returns where a line continues after a backslash.
    pub(super) fn after_continuation(&self, backslash: usize) -> Option<usize> {
        let rest = &self.bytes[backslash + 1..];
        if rest.starts_with(b"\n") {
            return Some(backslash + 2);
        }
        rest.starts_with(b"\r\n").then_some(backslash + 3)
    }

    /// Reads a string, and elides its text.
    pub(super) fn string(&mut self, prefix: &[u8], quote: usize) -> Option<usize> {
        let literal = scan_string(self.bytes, prefix, quote)?;
        // Adjacent quotes would be taken for others.
        let is_followed = matches!(self.bytes.get(literal.after), Some(b'"' | b'\''));
        if SHORT_STRING <= literal.end - literal.start && !is_followed {
            self.edits.push(PlaceholderEdit::new(literal.start..literal.end, Placeholder::Nothing));
        }
        Some(literal.after)
    }
}

/// What replaces an elided part of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placeholder {
    Nothing,
    Name,
    Comprehension,
    Comment,
}

impl Placeholder {
    fn text(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Name => "_",
            Self::Comprehension => "_ for _ in _",
            Self::Comment => "#",
        }
    }
}

/// A range of a statement, and what replaces it. A table of a million strings has as many, so they are small.
pub(super) struct PlaceholderEdit {
    start: u32,
    end: u32,
    placeholder: Placeholder,
}

impl PlaceholderEdit {
    /// Returns an edit of a text that is known to be shorter than 4 GiB.
    fn new(range: Range<usize>, placeholder: Placeholder) -> Self {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: offset(range.start), end: offset(range.end), placeholder }
    }

    fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// An open bracket, and what was found in it.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent finding")]
pub(super) struct PythonBracket {
    kind: u8,
    open: usize,
    /// Whether it is applied to what precedes it: a call, an index, the parameters of a function.
    is_applied: bool,
    is_import: bool,
    has_comma: bool,
    /// Whether it contains `for`, so that it is not a list but a comprehension.
    has_loop: bool,
    /// Whether it contains `yield`, to which the commas belong.
    has_yield: bool,
    /// How many lambdas it contains whose parameters have not ended.
    lambdas: usize,
    has_large: bool,
    edits: usize,
}

impl PythonBracket {
    fn is_closed_by(&self, byte: u8) -> bool {
        matches!((self.kind, byte), (b'(', b')') | (b'[', b']') | (b'{', b'}'))
    }

    /// Returns whether it is a list, a tuple, a set or a dictionary.
    fn is_literal(&self) -> bool {
        let is_tuple = self.has_comma && !self.has_yield;
        !self.is_applied && !self.is_import && !self.has_loop && (self.kind != b'(' || is_tuple)
    }

    /// Returns what can replace everything that it contains.
    fn placeholder(&self, is_large: bool) -> Placeholder {
        match self.kind {
            // Calls and tuples may be empty, but not parentheses around an expression, nor an index.
            b'(' if self.is_applied || self.is_literal() => Placeholder::Nothing,
            b'(' => Placeholder::Name,
            _ if self.is_applied => Placeholder::Name,
            _ if self.is_literal() => Placeholder::Nothing,
            // A skeleton cuts the rows of large lists, but not comprehensions.
            _ if is_large => Placeholder::Comprehension,
            _ => Placeholder::Nothing,
        }
    }
}

impl PythonScanner<'_> {
    /// Closes the innermost bracket; its contents are elided, unless they include a large literal.
    pub(super) fn close(&mut self, byte: u8, at: usize) -> Option<()> {
        let bracket = self.brackets.pop().filter(|bracket| bracket.is_closed_by(byte))?;
        let is_large = LARGE_LITERAL <= at + 1 - bracket.open;
        let is_table = is_large && bracket.is_literal();
        if let Some(around) = self.brackets.last_mut() {
            around.has_large |= is_table || bracket.has_large;
        }
        let inside = bracket.open + 1..at;
        // A placeholder for a single byte would save nothing.
        if (bracket.has_large && !is_table) || inside.len() < 2 {
            return Some(());
        }
        // Edits within what is elided as a whole are void, but the outline needs the positions of the
        // comments.
        for edit in self.edits.drain(bracket.edits..) {
            if edit.placeholder == Placeholder::Comment {
                self.taken_comments.push(edit.range());
            }
        }
        self.edits.push(PlaceholderEdit::new(inside, bracket.placeholder(is_large)));
        Some(())
    }

    pub(super) fn comma(&mut self) {
        // A comma between the parameters of a lambda makes no tuple.
        if let Some(bracket) = self.brackets.last_mut() {
            bracket.has_comma |= bracket.lambdas == 0;
        }
    }

    pub(super) fn colon(&mut self) {
        if let Some(bracket) = self.brackets.last_mut() {
            bracket.lambdas = bracket.lambdas.saturating_sub(1);
        }
    }

    fn word_in_brackets(&mut self, word: &[u8]) {
        let Some(bracket) = self.brackets.last_mut() else { return };
        bracket.has_loop |= word == b"for";
        bracket.has_yield |= word == b"yield";
        bracket.lambdas += usize::from(word == b"lambda");
    }

    /// Appends a range of the text with the edits that were noted.
    pub(super) fn flush(&mut self, range: Range<usize>) {
        let mut at = range.start;
        for edit in self.edits.drain(..) {
            let elided = edit.range();
            self.out.copy(self.text, at..elided.start);
            at = elided.end;
            self.out.substitute(edit.placeholder.text(), elided);
        }
        self.out.copy(self.text, at..range.end);
        // Brackets close from the inside out, so that the comments of an outer one come after those of an
        // inner one.
        self.taken_comments.sort_unstable_by_key(|comment| comment.start);
        self.out.elided_comments.append(&mut self.taken_comments);
    }
}
