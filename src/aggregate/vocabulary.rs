//! The vocabulary `o200k_base`, and the splitting of texts into its tokens.
//!
//! The library that the vocabulary comes from takes some 100 ms to load it, stores every token three times, and has a
//! regular expression with its own buffers for each of 128 threads: with some threads more than 100 MB. The program
//! contains the tokens as a table instead, which `build.rs` generates from the library and which is used in place, and
//! counts what the library counts; tests compare the two.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::hash::BuildHasher;
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock};

use regex::Regex;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::model::{ContentHash, lock};

/// The pattern by which a text is split, anchored at its beginning. The original has a lookahead, which `regex` does
/// not support; it is applied to the match of the last alternative in [`Vocabulary::end_of_match`].
const PATTERN: &str = concat!(
    r"\A(?:",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"|\s*[\r\n]+",
    r"|\s+",
    r")",
);

/// The tokens, indexed by their first two bytes (for a token of one byte, that byte and 0). They are sorted, because
/// the archive of a program that has them in hash order is 0.8 MB larger. For each pair of bytes there are lists of
/// tokens of the same length, shortest first: the length in a byte, the number of tokens in two, the sorted tokens
/// without their first two bytes, and their ranks, first the low byte of each, then the middle, then the high one.
static TOKENS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary.tokens"));
/// Where the lists of each pair of bytes begin in `TOKENS`, and where the last one ends: four-byte little-endian
/// numbers.
static STARTS: &[[u8; 4]] = include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary.starts")).as_chunks().0;

/// The maximum number of counts in each part of their cache, which takes some 4 MB in total.
const MAX_COUNTS: usize = 4096;
const SHARDS: usize = 16;

/// The maximum number of pieces in each part of their cache, none longer than this: 2 MB in all.
const MAX_MERGED: usize = 1024;
const LONGEST_MERGED: usize = 64;

pub(super) struct Vocabulary {
    pattern: Regex,
    /// The number of tokens that pieces outside of the vocabulary are merged to. Names recur, and merging one takes as
    /// long as looking up fifty pieces.
    merged: [Mutex<FxHashMap<Box<[u8]>, u64>>; SHARDS],
}

/// Counts by text hash, sharded so that threads rarely wait for each other: most pieces of a document were counted for
/// the previous one.
pub(super) struct RememberedCounts([Mutex<FxHashMap<ContentHash, u64>>; SHARDS]);

impl RememberedCounts {
    pub(super) fn get() -> &'static Self {
        static COUNTS: LazyLock<RememberedCounts> =
            LazyLock::new(|| RememberedCounts(std::array::from_fn(|_| Mutex::default())));
        &COUNTS
    }

    pub(super) fn count(&self, hash: &ContentHash) -> Option<u64> {
        self.shard(hash).get(hash).copied()
    }

    pub(super) fn insert(&self, hash: ContentHash, tokens: u64) {
        let mut counts = self.shard(&hash);
        if MAX_COUNTS <= counts.len() {
            counts.clear();
        }
        counts.insert(hash, tokens);
    }

    fn shard(&self, hash: &ContentHash) -> MutexGuard<'_, FxHashMap<ContentHash, u64>> {
        lock(&self.0[usize::from(hash.as_bytes()[0]) % SHARDS])
    }
}

impl Vocabulary {
    /// Returns the vocabulary; the first call of a process compiles the pattern.
    pub(super) fn get() -> &'static Self {
        static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
        VOCABULARY.get_or_init(|| Self {
            pattern: Regex::new(PATTERN).expect("the pattern is well-formed"),
            merged: std::array::from_fn(|_| Mutex::default()),
        })
    }

    /// Counts the tokens of a text. What looks like a special token is ordinary text.
    pub(super) fn count(&self, mut text: &str) -> u64 {
        let mut tokens = 0;
        while !text.is_empty() {
            let (piece, rest) = text.split_at(self.end_of_match(text));
            tokens += if rank(piece.as_bytes()).is_some() { 1 } else { self.merged(piece.as_bytes()) };
            text = rest;
        }
        tokens
    }

    /// Returns the number of tokens that a piece is merged to, cached or by [`Self::merge`].
    fn merged(&self, piece: &[u8]) -> u64 {
        if LONGEST_MERGED < piece.len() {
            return Self::merge(piece);
        }
        let hash = FxBuildHasher.hash_one(piece) % SHARDS as u64;
        let part = &self.merged[usize::try_from(hash).unwrap_or(0)];
        let known = lock(part).get(piece).copied();
        known.unwrap_or_else(|| {
            let tokens = Self::merge(piece);
            let mut merged = lock(part);
            if MAX_MERGED <= merged.len() {
                merged.clear();
            }
            merged.insert(piece.into(), tokens);
            tokens
        })
    }

    /// Returns the end of the first piece of a text.
    fn end_of_match(&self, text: &str) -> usize {
        // Every character is matched by some alternative.
        let end = end_of_ascii_match(text.as_bytes())
            .unwrap_or_else(|| self.pattern.find(text).map_or(text.len(), |found| found.end()));
        // White space without a line break at its end is matched by `\s+(?!\S)|\s+`. Before a word, its last character
        // belongs to the next match.
        let last = text[..end].chars().next_back();
        let last = last.filter(|c| end < text.len() && c.is_whitespace() && !['\r', '\n'].contains(c));
        last.map_or(end, |last| if last.len_utf8() < end { end - last.len_utf8() } else { end })
    }

    /// Merges the bytes of a piece, always the two neighbors that form the token with the lowest rank. Returns the
    /// number of remaining tokens.
    fn merge(piece: &[u8]) -> u64 {
        // Indexed by the first byte of each part: its end, or 0 once it is merged into the previous part; and the start
        // of the previous part.
        let mut ends: Vec<usize> = (1..=piece.len()).collect();
        let mut befores: Vec<usize> = (0..piece.len()).map(|start| start.saturating_sub(1)).collect();
        // A heap, so that the time is not quadratic for long pieces.
        let mut heap = BinaryHeap::new();
        let offer = |heap: &mut BinaryHeap<_>, start: usize, end: usize| {
            heap.extend(rank(&piece[start..end]).map(|rank| Reverse((rank, start, end))));
        };
        (2..=piece.len()).for_each(|end| offer(&mut heap, end - 2, end));
        let mut parts = piece.len() as u64;
        while let Some(Reverse((_, start, end))) = heap.pop() {
            let middle = ends[start];
            // One of the two was merged with another neighbor in the meantime.
            if middle == 0 || ends.get(middle) != Some(&end) {
                continue;
            }
            (ends[start], ends[middle]) = (end, 0);
            parts -= 1;
            if end < piece.len() {
                befores[end] = start;
                offer(&mut heap, start, ends[end]);
            }
            if 0 < start {
                offer(&mut heap, befores[start], end);
            }
        }
        parts
    }
}

/// Returns the end of the match of [`PATTERN`]; `None` if a character beyond ASCII may affect it. Source text is mostly
/// ASCII, and the pattern takes several times as long.
fn end_of_ascii_match(text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    // Any character except digits and line breaks may precede the letters of a word.
    let letters = usize::from(!first.is_ascii_alphanumeric() && !is_line_end(first));
    match text.get(letters) {
        Some(next) if next.is_ascii_alphabetic() => return end_of_word(text, letters),
        Some(next) if !next.is_ascii() => return None,
        Some(_) | None => {}
    }
    if first.is_ascii_digit() {
        let end = end_of_run(&text[..text.len().min(4)], 0, |byte| byte.is_ascii_digit())?;
        return Some(end.min(3));
    }
    let marks = usize::from(first == b' ');
    if text.get(marks).is_some_and(|byte| is_mark(*byte)) {
        let end = end_of_run(text, marks, is_mark)?;
        let after = text[end..].iter().take_while(|byte| is_line_end(**byte) || **byte == b'/');
        return Some(end + after.count());
    }
    let end = end_of_run(text, 0, is_white_space)?;
    let last_line_end = text[..end].iter().rposition(|byte| is_line_end(*byte));
    Some(last_line_end.map_or(end, |at| at + 1))
}

/// Returns the end of the word whose first letter is at `start`: after its upper-case letters, the lower-case ones
/// after them, and a contraction.
fn end_of_word(text: &[u8], start: usize) -> Option<usize> {
    let end = end_of_run(text, start, |byte| byte.is_ascii_uppercase())?;
    let end = end_of_run(text, end, |byte| byte.is_ascii_lowercase())?;
    let Some((b'\'', ending)) = text[end..].split_first() else { return Some(end) };
    let letter = |at: usize| ending.get(at).map(u8::to_ascii_lowercase);
    match (letter(0), letter(1)) {
        // Perhaps another letter that folds to `s`.
        (Some(0x80..), _) => None,
        (Some(b's' | b't' | b'm' | b'd'), _) => Some(end + 2),
        (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => Some(end + 3),
        (_, _) => Some(end),
    }
}

/// Returns the end of a run of such bytes; `None` if a character beyond ASCII follows.
fn end_of_run(text: &[u8], start: usize, is_part: impl Fn(u8) -> bool) -> Option<usize> {
    let end = text[start..].iter().position(|byte| !is_part(*byte)).map_or(text.len(), |at| start + at);
    text.get(end).is_none_or(u8::is_ascii).then_some(end)
}

const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

const fn is_white_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

const fn is_mark(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !is_white_space(byte)
}

/// Returns the rank of a token; `None` if the bytes are not a token.
fn rank(token: &[u8]) -> Option<u32> {
    let beginning = usize::from(u16::from_be_bytes([*token.first()?, token.get(1).copied().unwrap_or(0)]));
    let [start, end] = [beginning, beginning + 1].map(|at| u32::from_le_bytes(STARTS[at]) as usize);
    let mut lists = &TOKENS[start..end];
    while let [length, low, high, rest @ ..] = lists {
        let count = usize::from(u16::from_le_bytes([*low, *high]));
        let width = usize::from(*length).saturating_sub(2);
        let (ends, rest) = rest.split_at(count * width);
        let (ranks, longer) = rest.split_at(count * 3);
        if usize::from(*length) == token.len() {
            let at = position(ends, width, count, token.get(2..).unwrap_or_default())?;
            return Some(u32::from_le_bytes([ranks[at], ranks[count + at], ranks[2 * count + at], 0]));
        }
        lists = longer;
    }
    None
}

/// Returns the position of a byte string among `count` sorted ones of equal width.
fn position(sorted: &[u8], width: usize, count: usize, wanted: &[u8]) -> Option<usize> {
    let (mut start, mut end) = (0, count);
    while start < end {
        let middle = usize::midpoint(start, end);
        match sorted[middle * width..][..width].cmp(wanted) {
            Ordering::Less => start = middle + 1,
            Ordering::Equal => return Some(middle),
            Ordering::Greater => end = middle,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_in_ascii_ends_where_that_of_the_pattern_does() {
        let pattern = Regex::new(PATTERN).unwrap();
        for text in [
            "don't", "WE'LL go", "he'LLo", "x'RE", "it'sn", "a'v", "HTTPServer", "aB", " word", "  word",
            "\tword", "_name", "__init__", "12345", "1a", " 12", "+=1", " +=\n\n/ /x", "//\r\n//", "\n  x",
            " \n \n\t x", "\r\nword", "\u{1c}\u{1c}", "' s", "'s", "", " ", ".",
        ] {
            let end = pattern.find(text).map(|found| found.end());
            assert_eq!(end_of_ascii_match(text.as_bytes()), end, "{text:?}");
        }
    }

    #[test]
    fn characters_beyond_ascii_that_may_matter_are_left_to_the_pattern() {
        for text in [
            "na\u{ef}ve", "x\u{302}", "don'\u{17f}", " \u{e9}", "12\u{b2}", "  \u{a0}", "..\u{2026}",
            "\u{e9}",
        ] {
            assert_eq!(end_of_ascii_match(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(end_of_ascii_match("1234\u{b2}".as_bytes()), Some(3));
    }

    #[test]
    fn a_piece_is_merged_to_the_same_number_each_time() {
        let vocabulary = Vocabulary::get();
        for piece in ["PyUnicodeEncode", "xyzzyx", &"ab".repeat(LONGEST_MERGED)] {
            let tokens = Vocabulary::merge(piece.as_bytes());
            assert_eq!([(); 2].map(|()| vocabulary.merged(piece.as_bytes())), [tokens; 2], "{piece}");
        }
    }
}
