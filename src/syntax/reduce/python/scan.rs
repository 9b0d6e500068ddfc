//! The tokens of a statement that stays.

use super::brackets::Placeholder;
use super::brackets::PlaceholderEdit;
use super::brackets::PythonBracket;
use super::lines::PythonScanner;
use super::strings::is_prefix;
use super::strings::scan_string;
use super::tokens::ByteClass;
use super::tokens::CLASSES;
use super::tokens::is_keyword;
use super::tokens::word_end;

/// Brackets nested deeper than this are left to the limits of the parser.
const MAX_NESTING: usize = 1000;

/// A string of fewer bytes is not worth a piece of its own.
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
    /// Reads a statement from `start` on, notes what is to be taken out of it, and returns where it ends.
    pub(super) fn scan_statement(&mut self, start: usize, stop: ScanStop) -> Option<usize> {
        let mut at = start;
        // Whether what stands before is a value, so that a bracket is applied to it.
        let mut is_value = false;
        let mut is_import = false;
        while let Some(&byte) = self.bytes.get(at) {
            let class = CLASSES[usize::from(byte)];
            let is_outside = self.brackets.is_empty();
            match class {
                ByteClass::Word => {
                    let end = word_end(self.bytes, at);
                    let word = &self.bytes[at..end];
                    if is_prefix(word) && matches!(self.bytes.get(end), Some(b'"' | b'\'')) {
                        at = self.string(word, end)?;
                        is_value = true;
                        continue;
                    }
                    self.word_in_brackets(word);
                    is_value = !is_keyword(word);
                    is_import = word == b"import";
                    at = end;
                }
                ByteClass::Quote => {
                    at = self.string(b"", at)?;
                    is_value = true;
                }
                ByteClass::Open if MAX_NESTING <= self.brackets.len() => return None,
                ByteClass::Open => {
                    let edits = self.edits.len();
                    self.brackets.push(PythonBracket::new(byte, at, is_value, is_import, edits));
                    is_value = false;
                    at += 1;
                }
                ByteClass::Close => {
                    self.close(byte, at)?;
                    is_value = true;
                    at += 1;
                }
                ByteClass::Comma => {
                    self.comma();
                    is_value = false;
                    at += 1;
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
                    is_value = false;
                    at += 1;
                }
                ByteClass::Sign => {
                    is_value = false;
                    at += 1;
                }
                ByteClass::Invalid => return None,
            }
        }
        self.brackets.is_empty().then_some(at)
    }

    /// Returns where a line goes on that a backslash continues.
    pub(super) fn after_continuation(&self, backslash: usize) -> Option<usize> {
        let rest = &self.bytes[backslash + 1..];
        if rest.starts_with(b"\n") {
            return Some(backslash + 2);
        }
        rest.starts_with(b"\r\n").then_some(backslash + 3)
    }

    /// Reads a string, and takes its text out.
    pub(super) fn string(&mut self, prefix: &[u8], quote: usize) -> Option<usize> {
        let literal = scan_string(self.bytes, prefix, quote)?;
        // Quotes that follow each other would be taken for others.
        let is_followed = matches!(self.bytes.get(literal.after), Some(b'"' | b'\''));
        if SHORT_STRING <= literal.end - literal.start && !is_followed {
            self.edits.push(PlaceholderEdit::new(literal.start..literal.end, Placeholder::Nothing));
        }
        Some(literal.after)
    }
}
