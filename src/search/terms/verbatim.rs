//! Finds text of a source that occurs verbatim in a task: whole lines of code, and the parts of string literals between
//! placeholders, as in messages.
//!
//! A piece that few chunks contain identifies them, however common its words are.

use memchr::{memchr2, memchr3};
use rustc_hash::{FxHashMap, FxHashSet};

/// A shorter line, such as `return None` or `} else {`, occurs in too many sources.
const MIN_LINE_BYTES: usize = 21;
/// A shorter part of a literal occurs by chance.
const MIN_PART_BYTES: usize = 10;
/// A longer part of a literal counts as much as one of this length.
const LONG_PART_BYTES: usize = 40;
/// The number of leading bytes by which parts of literals are looked up in the task.
const KEY_BYTES: usize = 8;
/// The maximum number of places in the task with the same first bytes that a part is compared with.
const MAX_PLACES: usize = 32;
/// Longer lines are truncated to this before they are examined; nobody writes them in a task.
const MAX_LINE_BYTES: usize = 400;

/// The text of a task, prepared for finding pieces of sources in it.
#[derive(Clone, Debug, Default)]
pub(in crate::search) struct VerbatimText {
    /// Its lines, without quotation marks.
    lines: FxHashSet<Box<str>>,
    /// The text with single spaces between words.
    words: String,
    /// Where words begin in `words`, by the bytes that begin there.
    places: FxHashMap<[u8; KEY_BYTES], Vec<u32>>,
}

/// A piece of a source that occurs verbatim in the task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::search) struct SharedPiece<'t> {
    /// The piece.
    pub(in crate::search) text: &'t str,
    /// Its value, if it is in one chunk only.
    pub(in crate::search) worth: f64,
}

impl VerbatimText {
    /// Prepares the text of a task.
    pub(in crate::search) fn new(text: &str) -> Self {
        let mut prepared = Self::default();
        for line in text.lines().map(str::trim) {
            for line in [line, without_quotation(line)] {
                if MIN_LINE_BYTES <= line.len() {
                    prepared.lines.insert(line.into());
                }
            }
        }
        for word in text.split_whitespace() {
            prepared.words.push_str(word);
            prepared.words.push(' ');
        }
        let bytes = prepared.words.as_bytes();
        let mut before = b' ';
        for (at, key) in bytes.windows(KEY_BYTES).enumerate() {
            if !before.is_ascii_alphanumeric() && key[0].is_ascii_alphanumeric() {
                let key = key.try_into().expect("a window has this length");
                prepared.places.entry(key).or_default().extend(u32::try_from(at).ok());
            }
            before = key[0];
        }
        prepared
    }

    /// Returns the lines and parts of literals of a source that occur in the task, in order and with repetitions.
    pub(in crate::search) fn shared_with<'t>(&self, source: &'t str) -> Vec<SharedPiece<'t>> {
        let mut shared = Vec::new();
        if self.words.is_empty() {
            return shared;
        }
        for line in source.lines() {
            let line = line[..line.floor_char_boundary(MAX_LINE_BYTES)].trim();
            if MIN_LINE_BYTES <= line.len() && self.lines.contains(line) {
                shared.push(SharedPiece { text: line, worth: 1.0 });
                continue;
            }
            for part in literal_parts(line) {
                if self.has(part) {
                    let length = u32::try_from(part.len().min(LONG_PART_BYTES)).unwrap_or_default();
                    shared.push(SharedPiece { text: part, worth: f64::from(length) / 20.0 });
                }
            }
        }
        shared
    }

    fn has(&self, part: &str) -> bool {
        let key = part.as_bytes().first_chunk::<KEY_BYTES>();
        let places = key.and_then(|key| self.places.get(key)).map(Vec::as_slice).unwrap_or_default();
        places.iter().take(MAX_PLACES).any(|place| {
            let rest = usize::try_from(*place).ok().and_then(|at| self.words.as_bytes().get(at..));
            rest.is_some_and(|rest| rest.starts_with(part.as_bytes()))
        })
    }
}

/// Returns a line of a task without a prompt, a quotation or diff mark, or a line number before it.
fn without_quotation(line: &str) -> &str {
    let marked = [">>>", "...", ">", "$", "+", "-", "E "].iter().find_map(|mark| line.strip_prefix(mark));
    let line = marked.unwrap_or(line).trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if numbered.len() < line.len() { numbered.trim_start_matches([':', '|', ' ', '\t']) } else { line }
}

/// Returns the parts with words of a line's string literals, between placeholders and escapes.
fn literal_parts(line: &str) -> impl Iterator<Item = &str> {
    literals(line)
        .flat_map(|literal| {
            let mut placeholder = Placeholder::default();
            literal.split(move |c| placeholder.contains(c)).map(|part| part.trim_matches(is_margin))
        })
        .filter(|part| MIN_PART_BYTES <= part.len() && part.contains(' '))
}

fn is_margin(c: char) -> bool {
    matches!(c, ' ' | '.' | ',' | ':' | ';' | '!' | '(' | ')' | '`' | '\'' | '"' | '#' | '$')
}

/// Returns the texts between matching quotes; an apostrophe inside a word is not one.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            let open = memchr3(b'"', b'\'', b'`', rest.as_bytes())?;
            let quote = rest.as_bytes()[open];
            let is_apostrophe = quote == b'\'' && 1 < open && {
                rest[..open].ends_with(|c: char| c.is_ascii_lowercase())
                    && rest[open + 1..].starts_with(|c: char| c.is_ascii_lowercase())
            };
            rest = &rest[open + 1..];
            if is_apostrophe {
                continue;
            }
            let close = end_of_literal(rest.as_bytes(), quote)?;
            let literal = &rest[..close];
            rest = &rest[close + 1..];
            return Some(literal);
        }
    })
}

/// Returns the position of the quote that ends a literal, skipping escaped ones.
fn end_of_literal(text: &[u8], quote: u8) -> Option<usize> {
    let mut start = 0;
    loop {
        let at = start + memchr2(quote, b'\\', text.get(start..)?)?;
        if text[at] == quote {
            return Some(at);
        }
        start = at + 2;
    }
}

/// The parts of a literal that are not literal text: `{name}`, `%s`, `\n`.
#[derive(Clone, Copy, Default)]
struct Placeholder {
    depth: usize,
    /// Whether the last character began an escape or a conversion, which continues to its letter.
    is_begun: bool,
}

impl Placeholder {
    fn contains(&mut self, c: char) -> bool {
        if std::mem::take(&mut self.is_begun) {
            self.is_begun = c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '#' | '*');
            return true;
        }
        match c {
            '{' => self.depth += 1,
            '}' => {
                self.depth = self.depth.saturating_sub(1);
                return true;
            }
            '\\' | '%' => self.is_begun = true,
            _ => return 0 < self.depth,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shared(task: &str, source: &str) -> Vec<String> {
        let pieces = VerbatimText::new(task);
        pieces.shared_with(source).into_iter().map(|piece| piece.text.to_owned()).collect()
    }

    #[test]
    fn a_line_of_code_is_found_in_any_quotation() {
        let source = "def f():\n    total = compute_total(order)\n    return total\n";
        for task in [
            "It is this line:\n```python\ntotal = compute_total(order)\n```\n",
            ">     total = compute_total(order)",
            ">>> total = compute_total(order)",
            "-    total = compute_total(order)\n+    total = 0",
            "  41 |     total = compute_total(order)",
        ] {
            assert_eq!(shared(task, source), ["total = compute_total(order)"], "{task}");
        }
        assert_eq!(shared("I call total = compute_total(order) here", source), [""; 0]);
        assert_eq!(shared("return total", source), [""; 0]);
    }

    #[test]
    fn a_message_is_found_between_its_placeholders() {
        let task = "ValueError: column 'a b' of table orders\ndoes not exist, 3 known";
        for source in [
            "raise ValueError(f\"column {name!r} of table {table} does not exist, {count} known\")",
            "fail(\"column %s of table %-10s does not exist\\n\", name)",
            "panic!(\"column {:?} of table {} does not exist\", name)",
        ] {
            assert_eq!(shared(task, source), ["does not exist"], "{source}");
        }
        let escaped = r#"say("a \" b", not in quotes, "c\\", "not in order")"#;
        assert_eq!(shared("not in quotes, not in order", escaped), ["not in order"]);
        assert_eq!(shared("it's not there", "let x = 'is it not there'"), [""; 0]);
        assert_eq!(shared("cannot be used here", "# It's 'cannot be used here'"), ["cannot be used here"]);
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        let task = "a b c d e ".repeat(20_000);
        let source = "\"a b c d e a b c d f\" ".repeat(20);
        assert_eq!(shared(&task, &source), [""; 0]);
        assert_eq!(shared(&task, &"\"{".repeat(1_000)), [""; 0]);
    }
}
