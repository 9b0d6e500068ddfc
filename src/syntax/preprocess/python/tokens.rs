//! The bytes of Python outside of strings, and where its strings end.

use memchr::{memchr2, memchr3};

/// The class of each byte.
pub(super) static CLASSES: [ByteClass; 256] = classes();

/// Whether a byte decides anything in a body that is passed over.
pub(super) static STOPS: [bool; 256] = stops();

const CLASSES_OF: [ByteClass; 256] = classes();

/// Nobody nests strings in the braces of strings deeper than this.
const MAX_DEPTH: usize = 16;

/// A literal of more bytes than this is a table: its size is shown, not its rows.
pub(in crate::syntax) const LARGE_LITERAL: usize = 400;

/// What a byte is, or begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteClass {
    /// A sign that nothing depends on.
    Sign,
    /// White space within a line.
    Space,
    /// Part of a name or a number.
    Word,
    Quote,
    Open,
    Close,
    Comma,
    Colon,
    Hash,
    Backslash,
    Newline,
    /// What no Python has outside of strings.
    Invalid,
}

const fn classes() -> [ByteClass; 256] {
    let mut classes = [ByteClass::Sign; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80..=0xff => ByteClass::Word,
            b' ' | b'\t' | b'\r' | 0x0c => ByteClass::Space,
            b'"' | b'\'' => ByteClass::Quote,
            b'(' | b'[' | b'{' => ByteClass::Open,
            b')' | b']' | b'}' => ByteClass::Close,
            b',' => ByteClass::Comma,
            b':' => ByteClass::Colon,
            b'#' => ByteClass::Hash,
            b'\\' => ByteClass::Backslash,
            b'\n' => ByteClass::Newline,
            b'$' | b'?' | b'`' | 0..=8 | 0x0b | 0x0e..=0x1f | 0x7f => ByteClass::Invalid,
            _ => ByteClass::Sign,
        };
        if byte == 0xff {
            return classes;
        }
        byte += 1;
    }
}

const fn stops() -> [bool; 256] {
    let mut stops = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        stops[byte] = matches!(
            CLASSES_OF[byte],
            ByteClass::Quote
                | ByteClass::Open
                | ByteClass::Close
                | ByteClass::Hash
                | ByteClass::Backslash
                | ByteClass::Newline
                | ByteClass::Invalid
        );
        byte += 1;
    }
    stops
}

pub(super) fn word_end(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start..];
    start + rest.iter().position(|byte| CLASSES[usize::from(*byte)] != ByteClass::Word).unwrap_or(rest.len())
}

/// Returns whether a bracket after that word begins a value of its own, and is not applied to the word.
pub(super) fn is_keyword(word: &[u8]) -> bool {
    const KEYWORDS: [&[u8]; 25] = [
        b"and", b"as", b"assert", b"await", b"case", b"del", b"elif", b"else", b"except", b"for", b"from",
        b"if", b"import", b"in", b"is", b"lambda", b"match", b"not", b"or", b"print", b"raise", b"return",
        b"while", b"with", b"yield",
    ];
    // The length rules out most names, which is cheaper than the comparison with 25 words.
    word.len() <= 6 && KEYWORDS.contains(&word)
}

/// A string, by its parts.
pub(super) struct StringLiteral {
    /// Where its text begins, after the quotes.
    pub(super) start: usize,
    /// Where its text ends, before the quotes.
    pub(super) end: usize,
    pub(super) after: usize,
}

/// Returns whether a word before a quote is the prefix of a string.
pub(super) fn is_prefix(word: &[u8]) -> bool {
    word.len() <= 2 && word.iter().all(|byte| b"rRbBuUfFtT".contains(byte))
}

/// Reads the string whose first quote is at `quote`, after a prefix; `None` where it has no end.
pub(super) fn scan_string(bytes: &[u8], prefix: &[u8], quote: usize) -> Option<StringLiteral> {
    nested_string(bytes, prefix, quote, 0)
}

fn nested_string(bytes: &[u8], prefix: &[u8], quote: usize, depth: usize) -> Option<StringLiteral> {
    let mark = *bytes.get(quote)?;
    let is_triple = bytes.get(quote + 1) == Some(&mark) && bytes.get(quote + 2) == Some(&mark);
    let start = quote + if is_triple { 3 } else { 1 };
    let has_fields = prefix.iter().any(|byte| b"fFtT".contains(byte));
    let end = if has_fields {
        end_of_formatted(bytes, mark, is_triple, start, depth)?
    } else if is_triple {
        end_of_triple(bytes, mark, start)?
    } else {
        end_of_single(bytes, mark, start)?
    };
    Some(StringLiteral { start, end, after: end + (start - quote) })
}

fn end_of_single(bytes: &[u8], mark: u8, start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += memchr3(mark, b'\\', b'\n', bytes.get(at..)?)?;
        match bytes[at] {
            b'\n' => return None,
            b'\\' => at = after_escape(bytes, at),
            _ => return Some(at),
        }
    }
}

fn end_of_triple(bytes: &[u8], mark: u8, start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += memchr2(mark, b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'\\' {
            at = after_escape(bytes, at);
        } else if bytes[at..].starts_with(&[mark, mark, mark]) {
            return Some(at);
        } else {
            at += 1;
        }
    }
}

/// Returns where the text continues after a backslash and what it escapes.
fn after_escape(bytes: &[u8], backslash: usize) -> usize {
    let is_line_end = bytes[backslash + 1..].starts_with(b"\r\n");
    backslash + if is_line_end { 3 } else { 2 }
}

/// Finds the end of a string with expressions in braces, which may contain strings with the same quotes.
fn end_of_formatted(bytes: &[u8], mark: u8, is_triple: bool, start: usize, depth: usize) -> Option<usize> {
    let mut at = start;
    loop {
        match *bytes.get(at)? {
            b'\n' if !is_triple => return None,
            // A backslash before a brace escapes nothing.
            b'\\' if bytes.get(at + 1) != Some(&b'{') => at = after_escape(bytes, at),
            b'{' if bytes.get(at + 1) == Some(&b'{') => at += 2,
            b'{' => at = after_field(bytes, at + 1, depth)?,
            byte if byte == mark && (!is_triple || bytes[at..].starts_with(&[mark, mark, mark])) => {
                return Some(at);
            }
            _ => at += 1,
        }
    }
}

/// Returns where the text of a string continues after a field whose expression begins at `start`.
fn after_field(bytes: &[u8], start: usize, depth: usize) -> Option<usize> {
    if depth == MAX_DEPTH {
        return None;
    }
    let (mut at, mut brackets) = (start, 0_usize);
    loop {
        match *bytes.get(at)? {
            b'}' if brackets == 0 => return Some(at + 1),
            // Python itself ends the expression at the first colon outside of brackets, even within a
            // lambda.
            b':' if brackets == 0 => return after_format(bytes, at + 1, depth),
            b'(' | b'[' | b'{' => brackets += 1,
            b')' | b']' | b'}' => brackets = brackets.checked_sub(1)?,
            // Fields may contain comments since Python 3.12.
            b'#' => at += memchr::memchr(b'\n', &bytes[at..])?,
            b'"' | b'\'' => {
                let word = word_before(bytes, start, at);
                at = nested_string(bytes, word, at, depth + 1)?.after;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

/// Returns where the text of a string continues after the format of a field, in which quotes are ordinary characters.
fn after_format(bytes: &[u8], start: usize, depth: usize) -> Option<usize> {
    let mut at = start;
    loop {
        match *bytes.get(at)? {
            b'}' => return Some(at + 1),
            b'{' => at = after_field(bytes, at + 1, depth + 1)?,
            _ => at += 1,
        }
    }
}

/// Returns the prefix of the string at `quote`, searched for no further back than `start`.
pub(super) fn word_before(bytes: &[u8], start: usize, quote: usize) -> &[u8] {
    let before = &bytes[start..quote];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    // Two letters make a prefix, a third makes it a name.
    let length = before.iter().rev().take(3).take_while(|byte| is_part(byte)).count();
    let word = &before[before.len() - length..];
    if is_prefix(word) { word } else { b"" }
}
