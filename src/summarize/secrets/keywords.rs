//! Finds a fixed set of words in a text, ignoring ASCII case.
//!
//! Every byte of every file passes here. An automaton for hundreds of words takes several times as long, because its
//! table does not fit the processor's first cache; the table of three-letter beginnings here does.

use std::ops::Range;

/// Bits of a byte that enter a beginning. Letters of both cases have the same ones.
const BITS: u32 = 5;
/// Bytes of a beginning.
const LENGTH: usize = 3;
const BEGINNINGS: usize = 1 << (BITS as usize * LENGTH);

/// Words, by their beginnings.
pub(crate) struct KeywordIndex {
    words: Vec<Box<[u8]>>,
    /// Which beginnings some word has, as a set of bits.
    known: Box<[u64]>,
    /// Where the words of each beginning start in `by_beginning`.
    starts: Box<[u16]>,
    by_beginning: Vec<u16>,
}

impl KeywordIndex {
    /// Indexes words of at least two bytes each, in lowercase.
    pub(crate) fn new(words: &[String]) -> Self {
        let mut pairs: Vec<(usize, u16)> = Vec::new();
        for (number, word) in words.iter().enumerate() {
            let number = u16::try_from(number).expect("there are few words");
            match *word.as_bytes() {
                [a, b, c, ..] => pairs.push((beginning(a, b, c), number)),
                // Any byte may follow.
                [a, b] => pairs.extend((0..1 << BITS).map(|c| (beginning(a, b, c), number))),
                _ => unreachable!("a test checks the lengths of keywords"),
            }
        }
        pairs.sort_unstable();
        let mut known = vec![0_u64; BEGINNINGS / 64].into_boxed_slice();
        for (beginning, _) in &pairs {
            known[beginning / 64] |= 1 << (beginning % 64);
        }
        let position = |beginning: usize| pairs.partition_point(|pair| pair.0 < beginning);
        let starts = (0..=BEGINNINGS).map(|it| u16::try_from(position(it)).expect("there are few words"));
        let words = words.iter().map(|word| word.as_bytes().into()).collect();
        Self {
            words,
            known,
            starts: starts.collect(),
            by_beginning: pairs.iter().map(|pair| pair.1).collect(),
        }
    }

    /// Returns the words in a text with their numbers, in the order of their starts.
    pub(crate) fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (Range<usize>, usize)> + 't {
        let bytes = text.as_bytes();
        let first = |at: usize| usize::from(bytes.get(at).copied().unwrap_or_default()) & ((1 << BITS) - 1);
        let mut code = first(0) << BITS | first(1) << (2 * BITS);
        let mut at = 0;
        let mut candidates: &[u16] = &[];
        std::iter::from_fn(move || {
            loop {
                while let Some((number, rest)) = candidates.split_first() {
                    candidates = rest;
                    let word = &self.words[usize::from(*number)];
                    let start = at - 1;
                    let here = bytes.get(start..start + word.len());
                    if here.is_some_and(|here| here.eq_ignore_ascii_case(word)) {
                        return Some((start..start + word.len(), usize::from(*number)));
                    }
                }
                // Skips to where a word may begin.
                loop {
                    if bytes.len() < at + 2 {
                        return None;
                    }
                    code = code >> BITS | first(at + 2) << (2 * BITS);
                    at += 1;
                    if self.known[code / 64] & (1 << (code % 64)) != 0 {
                        break;
                    }
                }
                candidates =
                    &self.by_beginning[usize::from(self.starts[code])..usize::from(self.starts[code + 1])];
            }
        })
    }
}

fn beginning(a: u8, b: u8, c: u8) -> usize {
    let low = |byte: u8| usize::from(byte) & ((1 << BITS) - 1);
    low(a) | low(b) << BITS | low(c) << (2 * BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_they_are_in_any_case_and_overlapping() {
        let words = ["token", "to", "key", "q~", "пароль"].map(str::to_owned);
        let index = KeywordIndex::new(&words);
        let found = |text: &str| -> Vec<(usize, usize)> {
            index.find(text).map(|(span, number)| (span.start, number)).collect()
        };
        assert_eq!(found("TOKEN"), [(0, 0), (0, 1)]);
        assert_eq!(found("a KeyToX q~"), [(2, 2), (5, 1), (9, 3)]);
        assert_eq!(found("to"), [(0, 1)]);
        assert_eq!(found("мой пароль"), [(7, 4)]);
        assert_eq!(found(""), []);
        assert_eq!(found("t"), []);
        assert_eq!(found("tokekeys"), [(0, 1), (4, 2)]);
    }
}
