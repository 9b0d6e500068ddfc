//! Splits text into index terms: identifiers as written, and the stems of their words.
//!
//! Task texts, source texts, paths, names and commit subjects are all split by the same rules, so that their terms can
//! be compared. The rules are linear in the text, allocate nothing, and accept any bytes: a byte that is not an ASCII
//! letter, digit or underscore separates words.
//!
//! Start with [`terms`]; use [`words`] if the position of a word matters.

use std::ops::Range;

use super::stems::{Term, is_stop_word, load, part_term};

/// A longer word is encoded data, such as Base64 without line breaks, and has no terms.
const MAX_WORD_BYTES: usize = 128;

/// A word of a text: a run of letters, digits and underscores that does not begin with a digit.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a> {
    text: &'a [u8],
    start: usize,
    end: usize,
    is_plain: bool,
}

impl<'a> Word<'a> {
    /// Returns a word that was found in the text earlier.
    pub(super) fn new(text: &'a [u8], start: usize, end: usize, is_plain: bool) -> Self {
        Self { text, start, end, is_plain }
    }

    /// Returns the bytes of the word.
    pub fn bytes(&self) -> &'a [u8] {
        &self.text[self.start..self.end]
    }

    /// Returns the position of the word's first byte.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the position after the word's last byte.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Returns whether the word has lower-case letters only, as most words of prose do.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Returns the terms of this word: the word itself unless it is plain or a stop word, then the stem of each part.
    ///
    /// Parts end at underscores, at digits and where the case changes: `parse_HTTPHeader2` has `parse`, `http` and
    /// `header`. Parts of one byte and stop words are skipped.
    pub fn terms(&self) -> WordTerms<'a> {
        let is_whole_pending = !self.is_plain() && !self.is_stop_word();
        WordTerms { word: *self, at: self.start, part_start: self.start, is_whole_pending }
    }

    /// Returns whether the word is too common to be searched for.
    pub fn is_stop_word(&self) -> bool {
        let length = self.end - self.start;
        length <= 8
            && is_stop_word(load(self.text, self.start, length))
            && self.bytes().iter().all(u8::is_ascii_alphabetic)
    }
}

/// Iterates over the terms of one word; made by [`Word::terms`].
#[derive(Clone, Debug)]
pub struct WordTerms<'a> {
    word: Word<'a>,
    at: usize,
    part_start: usize,
    is_whole_pending: bool,
}

impl WordTerms<'_> {
    /// Returns the byte range that the last term was derived from: that of the word, or of one part.
    pub fn position(&self) -> Range<usize> {
        if self.part_start < self.at { self.part_start..self.at } else { self.word.start..self.word.end }
    }
}

impl Iterator for WordTerms<'_> {
    type Item = Term;

    #[inline]
    fn next(&mut self) -> Option<Term> {
        if self.is_whole_pending {
            self.is_whole_pending = false;
            return Some(Term::of_identifier(self.word.bytes()));
        }
        while self.at < self.word.end {
            let start = self.at;
            let (start, end) = if self.word.is_plain() { (start, self.word.end) } else { self.part(start) };
            (self.part_start, self.at) = (start, end);
            if 1 < end - start
                && let Some(term) = part_term(self.word.text, start, end)
            {
                return Some(term);
            }
        }
        None
    }
}

impl WordTerms<'_> {
    /// Returns the range of the first part at or after `start`. It is empty at the end of the word.
    fn part(&self, mut start: usize) -> (usize, usize) {
        let (text, word_end) = (self.word.text, self.word.end);
        let class = |at: usize| if at < word_end { class_of(text[at]) } else { 0 };
        let run_end = |mut at: usize, wanted: u8| {
            while class(at) == wanted {
                at += 1;
            }
            at
        };
        start = run_end(start, UNDERSCORE);
        let first = class(start);
        let end = if first == 0 { start } else { run_end(start, first) };
        let is_name_next = first == UPPER && class(end) == LOWER;
        match end - start {
            1 if is_name_next => (start, run_end(end, LOWER)),
            // `URLs` is a plural, not `UR` and `Ls`.
            _ if is_name_next && text[end] == b's' && class(end + 1) != LOWER => (start, end + 1),
            // The last capital of `HTTPHeader` begins the next part.
            _ if is_name_next => (start, end - 1),
            _ => (start, end),
        }
    }
}

/// Iterates over the words of a text; made by [`words`].
///
/// The text is read in blocks of 64 bytes, each of which becomes one number with a bit per byte. A loop over bytes
/// would take twice as long, because the processor cannot predict where words end.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    text: &'a [u8],
    /// Where the next block begins.
    next_block: usize,
    /// The bits of the current block at which words begin or end, without those already visited.
    edges: u64,
    /// The bits of the current block that are in words and are not lower-case letters.
    not_lower: u64,
    /// Whether the last byte of the current block is in a word.
    ends_in_word: bool,
    /// Where the current word began, which ends at the next edge.
    start: Option<usize>,
    /// Whether the current word contains other bytes than lower-case letters in an earlier block.
    is_mixed: bool,
}

/// Returns the words of a text, in order. Numbers (including hexadecimal ones) and words of one byte are skipped.
pub fn words(text: &[u8]) -> Words<'_> {
    Words { text, next_block: 0, edges: 0, not_lower: 0, ends_in_word: false, start: None, is_mixed: false }
}

/// Returns the terms of a text, in order and with repetitions.
pub fn terms(text: &[u8]) -> impl Iterator<Item = Term> {
    words(text).flat_map(|word| word.terms())
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            while self.edges != 0 {
                if let Some(word) = self.pass_edge() {
                    return Some(word);
                }
            }
            if self.text.len() <= self.next_block {
                return self.last_word();
            }
            self.read_block();
        }
    }

    // The loops of `for_each` end up here, and the compiler can inline this one into its caller.
    #[inline]
    fn fold<B, F: FnMut(B, Word<'a>) -> B>(mut self, start: B, mut add: F) -> B {
        let mut sum = start;
        loop {
            while self.edges != 0 {
                if let Some(word) = self.pass_edge() {
                    sum = add(sum, word);
                }
            }
            if self.text.len() <= self.next_block {
                return match self.last_word() {
                    Some(word) => add(sum, word),
                    None => sum,
                };
            }
            self.read_block();
        }
    }
}

impl<'a> Words<'a> {
    /// Processes the next edge of the block. Returns the word that ends there, if any.
    #[inline]
    fn pass_edge(&mut self) -> Option<Word<'a>> {
        let at = self.edges.trailing_zeros();
        self.edges &= self.edges - 1;
        let edge = self.next_block - BLOCK + at as usize;
        let Some(start) = self.start.take() else {
            self.start = Some(edge);
            self.is_mixed = false;
            return None;
        };
        // Bits before `at`, less those before the word if it begins in this block.
        let begin = (start + BLOCK).saturating_sub(self.next_block);
        let inside = ((1 << at) - 1) & (u64::MAX << begin);
        let is_mixed = self.is_mixed || self.not_lower & inside != 0;
        word_at(self.text, start, edge, !is_mixed)
    }

    /// Returns the word at the end of the text.
    fn last_word(&mut self) -> Option<Word<'a>> {
        self.note_mixed_block();
        word_at(self.text, self.start.take()?, self.text.len(), !self.is_mixed)
    }

    /// Records whether the part of an unfinished word in the current block contains other bytes than lower-case
    /// letters.
    #[inline]
    fn note_mixed_block(&mut self) {
        if let Some(start) = self.start {
            let begin = (start + BLOCK).saturating_sub(self.next_block);
            self.is_mixed |= self.not_lower & (u64::MAX << begin) != 0;
        }
    }

    #[inline]
    fn read_block(&mut self) {
        self.note_mixed_block();
        let rest = &self.text[self.next_block..];
        let (in_word, lower) = if let Some(block) = rest.first_chunk::<BLOCK>() {
            classify(block)
        } else {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            classify(&block)
        };
        self.edges = in_word ^ (in_word << 1 | u64::from(self.ends_in_word));
        self.not_lower = in_word & !lower;
        self.ends_in_word = in_word >> 63 == 1;
        self.next_block += BLOCK;
    }
}

/// The number of bytes classified at once: as many as the bits of a number.
const BLOCK: usize = 64;

/// Returns which bytes may be in words, and which are lower-case letters. The loops have no branches, so that the
/// compiler vectorizes them.
#[inline]
fn classify(block: &[u8; BLOCK]) -> (u64, u64) {
    let in_word = block.map(|byte| {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let is_digit = byte.wrapping_sub(b'0') < 10;
        u8::from(is_letter) | u8::from(is_digit) | u8::from(byte == b'_')
    });
    let lower = block.map(|byte| u8::from(byte.wrapping_sub(b'a') < 26));
    (pack(&in_word), pack(&lower))
}

/// Returns the lowest bits of bytes that are 0 or 1, as one number.
#[inline]
fn pack(bytes: &[u8; BLOCK]) -> u64 {
    // Moves the bit of byte `n` to bit 56 + `n`, for all eight at once.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (chunks, _) = bytes.as_chunks::<8>();
    let bits = |chunk: &[u8; 8]| u64::from_le_bytes(*chunk).wrapping_mul(GATHER) >> 56;
    chunks.iter().rev().fold(0, |packed, chunk| packed << 8 | bits(chunk))
}

/// Returns the word in a run of letters, digits and underscores, unless it is too short, too long or a number.
#[inline]
fn word_at(text: &[u8], start: usize, end: usize, is_plain: bool) -> Option<Word<'_>> {
    if !is_plain && class_of(text[start]) == DIGIT {
        return word_after_digits(text, start, end);
    }
    (2..=MAX_WORD_BYTES).contains(&(end - start)).then_some(Word { text, start, end, is_plain })
}

fn word_after_digits(text: &[u8], start: usize, end: usize) -> Option<Word<'_>> {
    let run = &text[start..end];
    let digits = run.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == run.len() || is_prefixed_number(run) {
        return None;
    }
    let start = start + digits;
    let is_plain = text[start..end].iter().all(u8::is_ascii_lowercase);
    (2..=MAX_WORD_BYTES).contains(&(end - start)).then_some(Word { text, start, end, is_plain })
}

const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const UNDERSCORE: u8 = 8;

/// The class of each byte; zero separates words.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

#[inline]
fn class_of(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

/// Returns whether a number is written as in `0x7f`. The letters in it are digits.
fn is_prefixed_number(word: &[u8]) -> bool {
    matches!(word, [b'0', b'x' | b'X' | b'b' | b'B' | b'o' | b'O', ..])
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    /// Splits text into the parts of words before stemming, and identifiers with `=` in front.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "so that the macro is written in the call")]
    fn check(text: &str, expected: Expect) {
        let mut found = Vec::new();
        for word in words(text.as_bytes()) {
            let mut terms = word.terms();
            while let Some(term) = terms.next() {
                let mark = if term.is_identifier() { "=" } else { "" };
                found.push(format!("{mark}{}", &text[terms.position()]));
            }
        }
        expected.assert_eq(&found.join(" "));
    }

    fn stem_of(word: &str) -> Term {
        let terms: Vec<_> = terms(word.as_bytes()).filter(|term| !term.is_identifier()).collect();
        assert_eq!(terms.len(), 1, "{word}");
        terms[0]
    }

    #[test]
    fn identifiers_are_split_at_underscores_digits_and_case() {
        check("parse_HTTPHeader2", expect!["=parse_HTTPHeader2 parse HTTP Header"]);
        check("fooBar FooBar FOO_BAR", expect!["=fooBar foo Bar =FooBar Foo Bar =FOO_BAR FOO BAR"]);
        check(
            "__init__ utf8_decode AServer x",
            expect!["=__init__ init =utf8_decode utf decode =AServer Server"],
        );
        check("getURLs v12 HTTPServer", expect!["=getURLs get URLs =v12 12 =HTTPServer HTTP Server"]);
    }

    #[test]
    fn a_word_of_prose_has_one_term() {
        check("the parser stops, The None self", expect!["parser stops"]);
    }

    #[test]
    fn numbers_and_data_have_no_terms() {
        check("0x7fff 12 3.14 0b01 4xx", expect!["xx"]);
        check(&"QUJD".repeat(40), expect![""]);
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["file", "files", "filed", "filing"][..],
            &["class", "classes"],
            &["set", "sets", "setting", "settings"],
            &["parse", "parses", "parsed", "parsing"],
            &["query", "queries"],
            &["match", "matches", "matched", "matching"],
            &["index", "indexes", "indexed"],
            &["configuration", "configurations"],
            &["dependency", "dependencies"],
            &["stop", "stopped", "stopping"],
            &["call", "calls", "called", "calling"],
            &["node", "nodes", "Node", "NODES"],
        ] {
            for form in forms {
                assert_eq!(stem_of(form), stem_of(forms[0]), "{form}");
            }
        }
        for (a, b) in [("status", "state"), ("process", "proceed"), ("thing", "the_things")] {
            assert_ne!(
                terms(a.as_bytes()).collect::<Vec<_>>(),
                terms(b.as_bytes()).collect::<Vec<_>>(),
                "{a}"
            );
        }
    }

    #[test]
    fn a_name_and_a_word_are_different_terms() {
        let found: Vec<_> = terms(b"Cache").collect();
        assert_eq!(found, [Term::of_identifier(b"Cache"), stem_of("cache")]);
        assert_ne!(Term::of_identifier(b"Cache"), Term::of_identifier(b"cache"));
    }

    #[test]
    fn terms_are_the_same_on_every_machine() {
        let bits: Vec<_> = terms(b"parse_header configurations").map(Term::bits).collect();
        expect![[r"
            [
                3117330517,
                2381416914,
                3545853528,
                2314302820,
            ]
        "]]
        .assert_debug_eq(&bits);
    }

    #[test]
    fn bytes_that_are_not_text_separate_words() {
        let mut text = b"foo".to_vec();
        text.extend([0xff, 0, 0xe9]);
        text.extend(b"bar");
        assert_eq!(terms(&text).collect::<Vec<_>>(), [stem_of("foo"), stem_of("bar")]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_split_and_positions_are_in_their_word(
            text in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..200),
                "[a-zA-Z_0-9 ]{0,80}".prop_map(String::into_bytes),
            ],
        ) {
            let mut all = Vec::new();
            for word in words(&text) {
                let mut found = word.terms();
                while let Some(term) = found.next() {
                    let position = found.position();
                    prop_assert!(word.start() <= position.start && position.end <= word.end());
                    all.push(term);
                }
            }
            prop_assert_eq!(terms(&text).collect::<Vec<_>>(), all);
        }

        #[test]
        fn a_term_does_not_depend_on_what_follows(word in "[a-z]{2,20}", rest in "[ .,][a-z ]{0,20}") {
            let alone = terms(word.as_bytes()).next();
            let followed = format!("{word}{rest}");
            let first = words(followed.as_bytes()).next().and_then(|word| word.terms().next());
            prop_assert_eq!(alone, first);
        }
    }

    /// Returns the words of a text by the definition, byte by byte.
    fn words_by_definition(text: &[u8]) -> Vec<(&[u8], bool)> {
        let is_separator = |byte: &u8| class_of(*byte) == 0;
        let runs = text.split(is_separator).filter(|run| !run.is_empty());
        let words = runs.filter_map(|run| {
            let digits = run.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let word = if is_prefixed_number(run) { &[] } else { &run[digits..] };
            (2..=MAX_WORD_BYTES).contains(&word.len()).then_some(word)
        });
        words.map(|word| (word, word.iter().all(u8::is_ascii_lowercase))).collect()
    }

    #[track_caller]
    fn check_words(text: &[u8]) {
        let found: Vec<_> = words(text).map(|word| (word.bytes(), word.is_plain())).collect();
        assert_eq!(found, words_by_definition(text));
    }

    #[test]
    fn words_across_blocks_and_at_the_end_of_the_text_are_found() {
        for length in [1, 2, 62, 63, 64, 65, 126, 127, 128, 129, 200] {
            for separators in [0, 1, 30, 62, 63, 64, 65] {
                let mut text = vec![b' '; separators];
                text.extend(vec![b'w'; length]);
                check_words(&text);
                text.extend_from_slice(b" other");
                check_words(&text);
                text[separators + length - 1] = b'W';
                check_words(&text);
            }
        }
        check_words(b"");
    }

    proptest! {
        // Fixed cases: a suite that fails occasionally says nothing about a change.
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        #[test]
        fn words_are_those_of_the_definition(text in "([a-z]{0,70}|[A-Z]{1,3}|[0-9]{1,4}|0x[0-9a-f]{1,8}|_|[ .\u{e4}\n]){0,40}") {
            check_words(text.as_bytes());
        }
    }
}
