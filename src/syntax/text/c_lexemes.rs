//! Finds the ends of words, comments and strings in C and C++. Texts may be hostile: no byte is read more than a
//! bounded number of times.

use memchr::{memchr, memchr3, memmem};

/// After this many raw strings without an end, a text has none.
const MAX_UNENDED: usize = 16;

/// Returns whether a byte can be part of a name or a number. What is not ASCII counts as a letter.
pub(in crate::syntax) fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

/// Returns where the word ends that `at` is in.
pub(in crate::syntax) fn word_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    at + rest.iter().position(|byte| !is_identifier_byte(*byte)).unwrap_or(rest.len())
}

/// Returns where the line ends that `at` is in: at its line feed, or at the end of the text. A backslash at its end
/// continues it.
pub(in crate::syntax) fn line_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(next) = memchr(b'\n', &bytes[at..]) {
        let end = at + next;
        let before = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
        if before.last() != Some(&b'\\') {
            return end;
        }
        at = end + 1;
    }
    bytes.len()
}

/// Returns where a comment ends that begins at `at`; `None` where nothing ends it, or none begins there.
pub(in crate::syntax) fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'/' => Some(line_end(bytes, at)),
        // Behind the opening mark, so that `/*/` does not close itself.
        b'*' => memmem::find(bytes.get(at + 2..)?, b"*/").map(|end| at + 2 + end + 2),
        _ => None,
    }
}

/// Returns the end of a string or a character whose quote is at `at`. One that its line does not close ends with the
/// line, or, where it is a lone apostrophe, at once.
pub(in crate::syntax) fn quoted_end(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let mut next = at + 1;
    while let Some(found) = bytes.get(next..).and_then(|rest| memchr3(quote, b'\\', b'\n', rest)) {
        let stop = next + found;
        match bytes[stop] {
            b'\\' => next = after_escape(bytes, stop),
            // A lone apostrophe is mostly one of prose, in `#error` or in text that is switched off.
            b'\n' => return if quote == b'\'' { at + 1 } else { stop },
            _ => return stop + 1,
        }
    }
    bytes.len()
}

fn after_escape(bytes: &[u8], at: usize) -> usize {
    if bytes[at + 1..].starts_with(b"\r\n") { at + 3 } else { at + 2 }
}

/// Returns where a raw string ends, if the quote at `at` begins one: `R"x(…)x"`.
///
/// Each one without an end costs a search through the rest of the text, so `unended` counts them: beyond a limit, no
/// other is searched for.
pub(in crate::syntax) fn raw_string_end(bytes: &[u8], at: usize, unended: &mut usize) -> Option<usize> {
    if bytes[at] != b'"' || at == 0 || bytes[at - 1] != b'R' || *unended == MAX_UNENDED {
        return None;
    }
    // `FOOR"x"` is a macro before a plain string, not a raw string.
    let prefix = &bytes[word_start(bytes, at - 1)..at];
    if !matches!(prefix, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") {
        return None;
    }
    // The standard allows 16 characters before the parenthesis; farther away it is that of another literal.
    let open = at + 1 + memchr(b'(', &bytes[at + 1..bytes.len().min(at + 19)])?;
    let mut end = Vec::with_capacity(open - at + 1);
    end.push(b')');
    end.extend_from_slice(&bytes[at + 1..open]);
    end.push(b'"');
    let found = memmem::find(&bytes[open..], &end);
    *unended += usize::from(found.is_none());
    found.map(|found| open + found + end.len())
}

/// Returns where the word begins that ends at `end`. No word that matters here is longer than a line.
fn word_start(bytes: &[u8], end: usize) -> usize {
    let least = end.saturating_sub(100);
    let mut start = end;
    while least < start && is_identifier_byte(bytes[start - 1]) {
        start -= 1;
    }
    start
}

/// Returns where a quote leads to, whatever it begins. An apostrophe within a number separates its digits.
pub(in crate::syntax) fn quote_end(bytes: &[u8], at: usize, unended: &mut usize) -> usize {
    if bytes[at] == b'"' {
        return raw_string_end(bytes, at, unended).unwrap_or_else(|| quoted_end(bytes, at));
    }
    let start = word_start(bytes, at);
    // `1'000` is one number, while a word before an apostrophe is the prefix of a character.
    if bytes.get(start).is_some_and(u8::is_ascii_digit) && start < at {
        return at + 1;
    }
    quoted_end(bytes, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_continues_after_a_backslash() {
        assert_eq!(line_end(b"a\\\nb\\\r\nc\nd", 0), 8);
    }

    #[test]
    fn an_unclosed_quote_ends_with_its_line() {
        assert_eq!(quoted_end(b"\"ab\nc\"", 0), 3);
        assert_eq!(quoted_end(b"'t do\n", 0), 1);
        assert_eq!(quoted_end(br#""a\"b" c"#, 0), 6);
        assert_eq!(quoted_end(b"\"\\", 0), 2);
    }

    #[test]
    fn an_apostrophe_in_a_number_is_not_a_quote() {
        assert_eq!(quote_end(b"1'000'000", 1, &mut 0), 2);
        assert_eq!(quote_end(b"L'a' ", 1, &mut 0), 4);
    }

    #[test]
    fn a_raw_string_ends_where_its_mark_says() {
        assert_eq!(raw_string_end(b"R\"x()\" )x\" y", 1, &mut 0), Some(10));
        assert_eq!(raw_string_end(b"FOOR\"x()x\"", 4, &mut 0), None);
    }

    #[test]
    fn ends_of_unclosed_raw_strings_are_searched_for_only_a_few_times() {
        let mut unended = 0;
        let text = b"R\"x(R\"y()y\"";
        assert_eq!(raw_string_end(text, 1, &mut unended), None);
        assert_eq!(unended, 1);
        assert_eq!(raw_string_end(text, 5, &mut unended), Some(text.len()));
        assert_eq!(unended, 1);
        assert_eq!(raw_string_end(text, 5, &mut MAX_UNENDED.clone()), None);
    }
}
