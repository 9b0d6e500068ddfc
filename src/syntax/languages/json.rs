//! JSON, with comments where there are some, and JSON5.
//!
//! Most JSON is data: tables of megabytes in which each row is like the first. The parser is given keys of two levels,
//! and of each array the first element: a few kilobytes, whatever the size of the text.

use memchr::{memchr, memchr2, memmem};
use tree_sitter::Node;

use super::lines::{define_with_signature, format_data_size};
use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, children, find,
};
use crate::syntax::text::{PreprocessedText, TextRewriter, one_line};

pub(super) static JSON: Language = Language {
    preprocess: Some(preprocess_json),
    ..Language::new("json", tree_sitter_json::LANGUAGE, "tree-sitter-json 0.24.8", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("object", Visit::Read(object)),
    ("array", Visit::Read(array)),
    ("pair", Visit::Read(pair)),
];

/// Keys of this many levels are shown.
const SHOWN_LEVELS: usize = 2;

/// A nested value of more bytes than this is shown by its size.
const LARGE_VALUE: usize = 80;

/// Elements after the first that have more bytes than this are shown by their size.
const MANY: usize = 200;

/// A string of more bytes than this is cut off.
const LONG_STRING: usize = 300;

/// How many bytes of a long string stay.
const BEGINNING: usize = 80;

/// A pair of no more bytes than this, on one line, is shown with its value.
const SHORT_PAIR: usize = 80;

/// Values within this many objects are elided.
const SHOWN_OBJECTS: usize = 2;

/// Brackets nested deeper than this are elided too.
const NESTING: usize = 6;

/// Keys beyond this number in one object are elided: it is a table, and they are its rows.
const KEYS: usize = 1000;

/// A string of more bytes than this is elided.
const MAX_PARSED_STRING: usize = 64;

/// Reads `"key": value`.
fn pair<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(key), Some(value)) = (find(node, "key"), find(node, "value")) else { return };
    let level = walk.scopes.len();
    if SHOWN_LEVELS <= level {
        return;
    }
    let key = walk.text(key);
    let name = one_line(key.trim_matches(['"', '\'']));
    let is_nested = matches!(value.kind(), "object" | "array");
    let has_keys = is_nested && level + 1 < SHOWN_LEVELS;
    let inside = if has_keys { SymbolBody::Members(node) } else { SymbolBody::Nothing };
    let whole = walk.text(node);
    let is_short = whole.len() <= SHORT_PAIR && !whole.contains('\n');
    let signature = one_line(if is_short { whole } else { key });
    define_with_signature(walk, node, SymbolDefinition::new(SymbolKind::Key, name, inside), signature);
    match value.kind() {
        "object" | "array" if !has_keys => cut_nested(walk, value),
        "string" => cut_string(walk, value),
        _ => {}
    }
}

/// Reads an array: its first element shows what the others are like.
fn array<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let elements = children(node).into_iter().filter(|child| child.is_named() && child.kind() != "comment");
    let Some(first) = elements.take(1).next() else { return };
    match first.kind() {
        "object" => object(walk, first),
        "array" => cut_nested(walk, first),
        "string" => cut_string(walk, first),
        _ => {}
    }
    cut_rest(walk, node, first);
}

/// Reads an object; where a scanner elided the later keys of a large one, the skeleton shows how many bytes they have.
fn object<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    walk.visit_children(node);
    if let Some(last) = children(node).into_iter().rev().find(|child| child.kind() == "pair") {
        cut_rest(walk, node, last);
    }
}

/// Cuts what follows `last` up to the bracket that closes `node`, where it is large.
fn cut_rest<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, last: Node<'t>) {
    let end = walk.range(last).end;
    let rest = end..walk.range(node).end.saturating_sub(1).max(end);
    let text = walk.source.text(rest.clone()).trim_end();
    if MANY < text.len() && !node.has_error() && text.starts_with(',') {
        // The mark is an element or a pair, because JSON has no comments.
        let size = format_data_size(text);
        let mark = if node.kind() == "object" {
            format!(", \"…\": \"{size}\"")
        } else {
            format!(", \"… {size}\"")
        };
        walk.replace_with_mark(rest.start..rest.start + text.len(), mark);
    }
}

fn cut_nested<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    let range = walk.range(value);
    let text = walk.source.text(range.clone());
    if text.len() < LARGE_VALUE || value.has_error() {
        return;
    }
    let size = format_data_size(text);
    let mark =
        if value.kind() == "object" { format!("\"…\": \"{size}\"") } else { format!("\"… {size}\"") };
    walk.replace_with_mark(range.start + 1..range.end - 1, mark);
}

fn cut_string<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    let range = walk.range(value);
    let text = walk.source.text(range.clone());
    if text.len() < LONG_STRING || value.has_error() {
        return;
    }
    let mut characters = text.char_indices();
    let mut kept = 0;
    while let Some((at, character)) = characters.next() {
        if BEGINNING <= at {
            kept = at;
            break;
        }
        if character == '\\' {
            // An escape sequence is not split.
            let escaped = characters.next();
            if escaped.is_some_and(|(_, escaped)| escaped == 'u') {
                characters.nth(3);
            }
        }
    }
    let mark = format!("… {}", format_data_size(text));
    walk.replace_with_mark(range.start + kept..range.end - 1, mark);
}

/// Returns the keys of two levels with their short values; `None` if the text is not JSON.
///
/// What only JSON5 has is replaced with JSON: keys without quotes, other quotes, and commas before a closing bracket.
fn preprocess_json(text: &str) -> Option<PreprocessedText> {
    let mut scan = JsonScanner { text, at: 0, open: Vec::new(), rewriter: TextRewriter::new(text) };
    while let Some(byte) = scan.byte() {
        match byte {
            b'"' | b'\'' => scan.string(byte)?,
            b'{' | b'[' => scan.open(byte)?,
            b'}' | b']' => {
                if scan.open.pop()?.closer != byte {
                    return None;
                }
                scan.at += 1;
            }
            b',' => scan.comma()?,
            b'/' => scan.at = comment_end(text, scan.at)?,
            // A quoted text of another kind may contain a bracket.
            b'`' => return None,
            _ if is_word(byte) => scan.word(),
            _ => scan.at += 1,
        }
    }
    scan.open.is_empty().then(|| scan.rewriter.finish())
}

struct JsonScanner<'t> {
    text: &'t str,
    at: usize,
    open: Vec<OpenBracket>,
    rewriter: TextRewriter<'t>,
}

struct OpenBracket {
    closer: u8,
    /// How many commas are in it.
    commas: usize,
}

impl JsonScanner<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn string(&mut self, quote: u8) -> Option<()> {
        let from = self.at;
        self.at = string_end(self.text, from, quote)?;
        if MAX_PARSED_STRING < self.at - from || quote == b'\'' {
            self.rewriter.replace(from..self.at, "\"\"");
        }
        Some(())
    }

    /// Reads a literal, a number, or a key without quotes.
    fn word(&mut self) {
        let from = self.at;
        let rest = &self.text.as_bytes()[from..];
        self.at += rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
        let is_key = self.open.last().is_some_and(|open| open.closer == b'}')
            && self.text.as_bytes().get(next_token(self.text, self.at)) == Some(&b':');
        let word = &self.text[from..self.at];
        if is_key {
            self.rewriter.replace(from..self.at, "\"\"");
        } else if word.starts_with("0x") || matches!(word, "Infinity" | "NaN") {
            self.rewriter.replace(from..self.at, "0");
        }
    }

    /// Elides what follows the first element of an array, or the last key of a large object that is read.
    fn comma(&mut self) -> Option<()> {
        let is_enough = self.open.last_mut().is_some_and(|open| {
            open.commas += 1;
            // The elements of an array are mostly alike. The keys of an object are not, unless there are
            // very many.
            open.closer == b']' || KEYS <= open.commas
        });
        let from = self.at;
        if is_enough {
            self.at = closing_bracket(self.text, from)?;
            self.rewriter.replace(from..self.at, "");
        } else {
            self.at += 1;
            let next = self.text.as_bytes().get(next_token(self.text, self.at));
            if matches!(next, Some(b'}' | b']')) {
                self.rewriter.replace(from..self.at, "");
            }
        }
        Some(())
    }

    fn open(&mut self, byte: u8) -> Option<()> {
        // Only objects add a level of keys; for arrays the number of all brackets is the limit.
        let objects = self.open.iter().filter(|open| open.closer == b'}').count();
        if objects < SHOWN_OBJECTS && self.open.len() < NESTING {
            self.open.push(OpenBracket { closer: closer(byte), commas: 0 });
            self.at += 1;
            return Some(());
        }
        let from = self.at;
        self.at = closing_bracket(self.text, from + 1)? + 1;
        // The bracket that was found has to be of the kind that is open.
        if self.text.as_bytes()[self.at - 1] != closer(byte) {
            return None;
        }
        self.rewriter.replace(from..self.at, if byte == b'{' { "{}" } else { "[]" });
        Some(())
    }
}

const fn closer(opener: u8) -> u8 {
    if opener == b'{' { b'}' } else { b']' }
}

/// Returns the position of the bracket that closes what is open at `at`.
fn closing_bracket(text: &str, mut at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    loop {
        match bytes.get(at)? {
            quote @ (b'"' | b'\'') => at = string_end(text, at, *quote)?,
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
            b'`' => return None,
            _ => at += 1,
        }
    }
}

/// Returns the end of a string that begins at `at`; `None` where it continues on the next line.
fn string_end(text: &str, at: usize, quote: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = at + 1;
    loop {
        let found = at + memchr2(quote, b'\\', bytes.get(at..)?)?;
        // JSON strings do not contain line endings, so this is not JSON, or a quote is missing.
        if memchr(b'\n', &bytes[at..found]).is_some() {
            return None;
        }
        if bytes[found] == quote {
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

/// Returns where the next token begins: the first byte at or after `at` that is neither white space nor a comment.
fn next_token(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'/' => match comment_end(text, at) {
                Some(end) => end,
                None => return at,
            },
            _ if byte.is_ascii_whitespace() => at + 1,
            _ => return at,
        };
    }
    at
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(preprocess_json(text).map(|preprocessed| preprocessed.text).as_deref(), expected);
    }

    #[test]
    fn keys_of_two_levels_are_kept() {
        check(r#"{"a": {"b": {"c": [1]}}, "d": 1}"#, Some(r#"{"a": {"b": {}}, "d": 1}"#));
        check(r#"{"a": {"b": [{"c": "}"}]}}"#, Some(r#"{"a": {"b": []}}"#));
    }

    #[test]
    fn the_first_element_of_a_list_is_kept() {
        check(r#"[{"a": [1, 2]}, {"a": [3]}, ]"#, Some(r#"[{"a": [1]}]"#));
        check("[1 /* , */, 2]", Some("[1 /* , */]"));
    }

    #[test]
    fn an_invalid_text_is_not_preprocessed() {
        for text in
            ["{", "[1, 2", "[1, {]}", "}", "{`a`: 1}", "[\"a\n\"]", "{\"a\": {\"b\": [}}}", "[/* ]", "\"a\\"]
        {
            check(text, None);
        }
    }

    #[test]
    fn json5_is_rewritten_as_json() {
        check("{$a: 1, b_2 /* c */ : true}", Some("{\"\": 1, \"\" /* c */ : true}"));
        check("{'a': 'it\\'s }', \"b\": 'c'}", Some("{\"\": \"\", \"b\": \"\"}"));
        check("{a: [1, 2,],\n// b\n}", Some("{\"\": [1]\n// b\n}"));
        check("{a: {b: {c: '}'}}}", Some("{\"\": {\"\": {}}}"));
        check("[null, 1e5]", Some("[null]"));
    }
}
