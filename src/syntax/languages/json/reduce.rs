//! What of a JSON text its outline needs: keys of two levels, and of each array the first element.
//!
//! Most JSON is data: tables of megabytes in which each row is like the first. What is left is a few kilobytes, whatever
//! the size of the text.

use memchr::memchr;
use memchr::memchr2;
use memchr::memmem;

use crate::syntax::reduced::PreprocessedText;

/// Values within so many objects are left out.
const OBJECTS: usize = 2;

/// Brackets nested deeper than this are left out too.
const NESTING: usize = 6;

/// Of more keys than this in one object the others are left out: it is a table, and they are its rows.
const KEYS: usize = 1000;

/// A string of more bytes than this is left out.
const LONG_STRING: usize = 64;

/// Returns the keys of two levels with what is short; `None` where the text is not what it seems.
pub(super) fn preprocess_json(text: &str) -> Option<PreprocessedText> {
    let mut scan =
        JsonScanner { text, at: 0, copied_until: 0, open: Vec::new(), reduced: PreprocessedText::default() };
    while let Some(byte) = scan.byte() {
        match byte {
            b'"' => scan.string()?,
            b'{' | b'[' => scan.open(byte)?,
            b'}' | b']' => {
                if scan.open.pop()?.closer != byte {
                    return None;
                }
                scan.at += 1;
            }
            b',' => scan.comma()?,
            b'/' => scan.at = comment_end(text, scan.at)?,
            // A quote of another kind may hold a bracket.
            b'\'' | b'`' => return None,
            _ => scan.at += 1,
        }
    }
    scan.open.is_empty().then(|| scan.finish())
}

struct JsonScanner<'t> {
    text: &'t str,
    at: usize,
    /// Up to where the text was copied or left out.
    copied_until: usize,
    open: Vec<OpenBracket>,
    reduced: PreprocessedText,
}

/// A bracket that is open.
struct OpenBracket {
    closer: u8,
    /// How many commas stood in it.
    commas: usize,
}

impl JsonScanner<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn string(&mut self) -> Option<()> {
        let from = self.at;
        self.at = string_end(self.text, from)?;
        if LONG_STRING < self.at - from {
            self.elide_from(from, "\"\"");
        }
        Some(())
    }

    /// Leaves out what follows the first element of an array, or the last key of a table that is looked at.
    fn comma(&mut self) -> Option<()> {
        let is_enough = self.open.last_mut().is_some_and(|open| {
            open.commas += 1;
            open.closer == b']' || KEYS <= open.commas
        });
        let from = self.at;
        if is_enough {
            self.at = closing_bracket(self.text, from)?;
            self.elide_from(from, "");
        } else {
            self.at += 1;
        }
        Some(())
    }

    fn open(&mut self, byte: u8) -> Option<()> {
        let objects = self.open.iter().filter(|open| open.closer == b'}').count();
        if objects < OBJECTS && self.open.len() < NESTING {
            self.open.push(OpenBracket { closer: closer(byte), commas: 0 });
            self.at += 1;
            return Some(());
        }
        let from = self.at;
        self.at = closing_bracket(self.text, from + 1)? + 1;
        // What was looked for is the end of something that is open: it has to be of the same kind.
        if self.text.as_bytes()[self.at - 1] != closer(byte) {
            return None;
        }
        self.elide_from(from, if byte == b'{' { "{}" } else { "[]" });
        Some(())
    }

    /// Puts `text` in place of what stands from `from` to here.
    fn elide_from(&mut self, from: usize, text: &str) {
        self.reduced.copy(self.text, self.copied_until..from);
        self.reduced.substitute(text, from..self.at);
        self.copied_until = self.at;
    }

    fn finish(mut self) -> PreprocessedText {
        self.reduced.copy(self.text, self.copied_until..self.text.len());
        self.reduced
    }
}

const fn closer(opener: u8) -> u8 {
    if opener == b'{' { b'}' } else { b']' }
}

/// Returns where the bracket stands that closes what is open at `at`.
fn closing_bracket(text: &str, mut at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(text, at)?,
            byte @ (b'{' | b'[') => {
                open.push(closer(*byte));
                at += 1;
            }
            byte @ (b'}' | b']') => match open.pop() {
                None => return Some(at),
                Some(closer) if closer == *byte => at += 1,
                Some(_) => return None,
            },
            b'/' => at = comment_end(text, at)?,
            b'\'' | b'`' => return None,
            _ => at += 1,
        }
    }
}

/// Returns where a string ends that begins at `at`; `None` where it goes on to the next line.
fn string_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = at + 1;
    loop {
        let found = at + memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if memchr(b'\n', &bytes[at..found]).is_some() {
            return None;
        }
        if bytes[found] == b'"' {
            return Some(found + 1);
        }
        at = found + 2;
    }
}

/// Returns where a comment ends that begins at `at`.
fn comment_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text.as_bytes()[at..];
    if rest.starts_with(b"//") {
        return Some(memchr(b'\n', rest).map_or(text.len(), |end| at + end));
    }
    rest.starts_with(b"/*").then(|| memmem::find(&rest[2..], b"*/").map(|end| at + 2 + end + 2))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(preprocess_json(text).map(|reduced| reduced.text).as_deref(), expected);
    }

    #[test]
    fn keys_of_two_levels_are_left() {
        check(r#"{"a": {"b": {"c": [1]}}, "d": 1}"#, Some(r#"{"a": {"b": {}}, "d": 1}"#));
        check(r#"{"a": {"b": [{"c": "}"}]}}"#, Some(r#"{"a": {"b": []}}"#));
    }

    #[test]
    fn the_first_element_is_left() {
        check(r#"[{"a": [1, 2]}, {"a": [3]}, ]"#, Some(r#"[{"a": [1]}]"#));
        check("[1 /* , */, 2]", Some("[1 /* , */]"));
    }

    #[test]
    fn a_text_that_is_not_sound_is_not_reduced() {
        for text in
            ["{", "[1, 2", "[1, {]}", "}", "{'a': 1}", "[\"a\n\"]", "{\"a\": {\"b\": [}}}", "[/* ]", "\"a\\"]
        {
            check(text, None);
        }
    }
}
