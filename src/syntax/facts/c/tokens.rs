//! C and C++: the tokens of a text without comments, and the preprocessor directives.

use memchr::{memchr, memmem};

use crate::syntax::text::c_lexemes::{comment_end, is_identifier_byte, quoted_end, raw_string_end};

/// A token of C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourceToken {
    pub(super) kind: SourceTokenKind,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceTokenKind {
    Word,
    /// A number, a character or a string.
    Literal,
    /// One byte of punctuation. `->` is an [`Self::Arrow`]; `::` is two signs.
    Sign(u8),
    /// `->`
    Arrow,
    /// `#include` with the path in quotes or angle brackets.
    Include,
    /// `#define`: the range is the name; the rest is read from the text.
    Define,
    /// `#if`, `#ifdef`, `#ifndef`: the range is the name after `#ifndef`, or the `0` of `#if 0`.
    If,
    /// `#else`, `#elif`.
    Else,
    /// `#endif`.
    EndIf,
}

/// Returns the tokens of a text. Reads each byte a bounded number of times.
pub(super) fn tokens(text: &str) -> Vec<SourceToken> {
    let mut scanner = TokenScanner::new(text.as_bytes());
    while scanner.at < scanner.bytes.len() {
        scanner.step();
    }
    scanner.tokens
}

struct TokenScanner<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
    tokens: Vec<SourceToken>,
    is_line_start: bool,
    /// The number of unterminated raw strings so far.
    unended: usize,
}

impl<'a> TokenScanner<'a> {
    const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1, tokens: Vec::new(), is_line_start: true, unended: 0 }
    }
}

impl TokenScanner<'_> {
    fn step(&mut self) {
        let byte = self.bytes[self.at];
        match byte {
            b'\n' => {
                self.line += 1;
                self.at += 1;
                self.is_line_start = true;
                return;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                self.at += 1;
                return;
            }
            b'\\' => self.at += 1,
            b'/' if matches!(self.next(), Some(b'/' | b'*')) => {
                self.skip_to(comment_end(self.bytes, self.at).unwrap_or(self.bytes.len()));
                return;
            }
            b'#' if self.is_line_start => self.directive(),
            b'"' | b'\'' => self.quoted(),
            b'0'..=b'9' => self.run(SourceTokenKind::Literal),
            _ if is_identifier_byte(byte) => {
                self.run(SourceTokenKind::Word);
                self.raw_string();
            }
            b'-' if self.next() == Some(b'>') => self.push(SourceTokenKind::Arrow, 2),
            _ => self.push(SourceTokenKind::Sign(byte), 1),
        }
        self.is_line_start = false;
    }

    fn next(&self) -> Option<u8> {
        self.bytes.get(self.at + 1).copied()
    }

    fn push(&mut self, kind: SourceTokenKind, length: usize) {
        let token =
            SourceToken { kind, start: offset(self.at), end: offset(self.at + length), line: self.line };
        self.tokens.push(token);
        self.at += length;
    }

    /// Moves on, and counts the lines in between.
    fn skip_to(&mut self, end: usize) {
        let end = end.min(self.bytes.len());
        self.line += offset(memchr::memchr_iter(b'\n', &self.bytes[self.at..end]).count());
        self.at = end;
    }

    fn run(&mut self, kind: SourceTokenKind) {
        let rest = &self.bytes[self.at..];
        let is_number = kind == SourceTokenKind::Literal;
        // `1'000` is one number in C++.
        let is_separator =
            |at: usize| rest[at] == b'\'' && rest.get(at + 1).is_some_and(u8::is_ascii_hexdigit);
        let is_part =
            |at: usize| is_identifier_byte(rest[at]) || is_number && (rest[at] == b'.' || is_separator(at));
        let length = (0..rest.len()).find(|at| !is_part(*at)).unwrap_or(rest.len());
        self.push(kind, length);
    }

    /// Extends the word before a raw string of C++, `R"x(…)x"`, to a literal that includes the string.
    fn raw_string(&mut self) {
        if self.bytes.get(self.at) != Some(&b'"') {
            return;
        }
        let Some(end) = raw_string_end(self.bytes, self.at, &mut self.unended) else { return };
        self.skip_to(end);
        let end = offset(self.at);
        if let Some(last) = self.tokens.last_mut() {
            (last.kind, last.end) = (SourceTokenKind::Literal, end);
        }
    }

    /// Reads a string or a character, which ends at the end of its line at the latest.
    fn quoted(&mut self) {
        let (start, line) = (self.at, self.line);
        let end = quoted_end(self.bytes, self.at);
        self.skip_to(end);
        let (start, end) = (offset(start), offset(self.at));
        self.tokens.push(SourceToken { kind: SourceTokenKind::Literal, start, end, line });
    }

    /// Reads a preprocessor line and its continuations.
    fn directive(&mut self) {
        let line = self.line;
        let mut end = self.at;
        loop {
            end = memchr(b'\n', &self.bytes[end..]).map_or(self.bytes.len(), |found| end + found);
            let is_continued = self.bytes[..end].ends_with(b"\\") || self.bytes[..end].ends_with(b"\\\r");
            if !is_continued || end == self.bytes.len() {
                break;
            }
            end += 1;
        }
        let mut at = self.at + 1;
        let skip_blanks = |at: usize| {
            at + self.bytes[at..end].iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(end - at)
        };
        at = skip_blanks(at);
        let word_end = |at: usize| {
            at + self.bytes[at..end].iter().position(|byte| !is_identifier_byte(*byte)).unwrap_or(end - at)
        };
        let word = &self.bytes[at..word_end(at)];
        let argument = skip_blanks(at + word.len());
        let (kind, range) = match word {
            b"include" | b"include_next" | b"import" => {
                let close = match self.bytes.get(argument) {
                    Some(b'<') => b'>',
                    _ => b'"',
                };
                let from = (argument + 1).min(end);
                let length = memchr(close, &self.bytes[from..end]).unwrap_or(0);
                (Some(SourceTokenKind::Include), from..from + length)
            }
            b"define" => (Some(SourceTokenKind::Define), argument..word_end(argument)),
            b"ifndef" => (Some(SourceTokenKind::If), argument..word_end(argument)),
            b"if" if &self.bytes[argument..word_end(argument)] == b"0" => {
                (Some(SourceTokenKind::If), argument..word_end(argument))
            }
            b"if" | b"ifdef" => (Some(SourceTokenKind::If), argument..argument),
            b"else" | b"elif" | b"elifdef" | b"elifndef" => (Some(SourceTokenKind::Else), argument..argument),
            b"endif" => (Some(SourceTokenKind::EndIf), argument..argument),
            _ => (None, 0..0),
        };
        // A block comment that begins on the line may end on a later one.
        let body = &self.bytes[self.at..end];
        let open = memmem::rfind(body, b"/*").filter(|open| memmem::find(&body[*open..], b"*/").is_none());
        self.skip_to(open.map_or(end, |open| self.at + open));
        if let Some(kind) = kind {
            let (start, end) = (offset(range.start), offset(range.end));
            self.tokens.push(SourceToken { kind, start, end, line });
        }
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(&str, u32)> {
        let words = tokens(text).into_iter().filter(|token| token.kind == SourceTokenKind::Word);
        words.map(|token| (&text[token.start as usize..token.end as usize], token.line)).collect()
    }

    #[test]
    fn a_comment_continues_after_a_backslash_and_a_raw_string_ends_at_its_delimiter() {
        assert_eq!(words("a // b \\\n c\nd"), [("a", 1), ("d", 3)]);
        assert_eq!(words("R\"x(a\nb)x\" c"), [("c", 2)]);
        assert_eq!(words("R\"x(a\nb"), [("R", 1), ("b", 2)]);
    }

    #[test]
    fn only_a_few_unterminated_raw_strings_are_searched_for_their_ends() {
        let text = b"R\"a(\n".repeat(1_000);
        let mut scanner = TokenScanner::new(&text);
        while scanner.at < scanner.bytes.len() {
            scanner.step();
        }
        assert!((1..100).contains(&scanner.unended), "{}", scanner.unended);
    }
}
