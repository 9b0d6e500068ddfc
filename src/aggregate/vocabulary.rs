//! The vocabulary `o200k_base`, and how texts are split into its tokens.
//!
//! The library that the vocabulary comes from takes some 100 ms to load it, keeps every token three times, and has a
//! regular expression with buffers of its own for each of 128 threads: with some threads more than 100 MB. The program
//! contains the tokens as a table instead, which `build.rs` makes from the library's and which is read where it lies,
//! and counts by itself what the library counts; tests compare the two.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, OnceLock, PoisonError};

use regex::Regex;
use rustc_hash::FxHashMap;

use super::vocabulary_hash::{SLOTS, first_slot};
use crate::model::ContentHash;

/// What a text is split into before its pieces are looked up, at the beginning of a text. The look ahead of the original,
/// which `regex` does not know, is applied to what the last alternative matches: see [`Vocabulary::end_of_match`].
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

/// The bytes of all tokens, by rank.
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary.bytes"));
/// Where the bytes of each token end: numbers of four bytes, the lowest byte first.
static ENDS: &[[u8; 4]] = include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary.ends")).as_chunks().0;
/// A hash table with open addressing: the ranks plus one, as numbers like those of `ENDS`; 0 for none.
static RANKS: &[[u8; 4]] = include_bytes!(concat!(env!("OUT_DIR"), "/vocabulary.ranks")).as_chunks().0;

/// So many counts are remembered in each part of the memory of them, which is some 4 MB in all.
const MAX_COUNTS: usize = 4096;
const PARTS: usize = 16;
/// Counts of shorter texts are not remembered: to look them up would take as long.
const MIN_REMEMBERED: usize = 16;

pub(super) struct Vocabulary {
    pattern: Regex,
    /// Counts by the hashes of texts, in parts so that threads seldom wait for each other: documents consist mostly of
    /// pieces that were counted for the document before.
    counts: [Mutex<FxHashMap<ContentHash, u64>>; PARTS],
}

impl Vocabulary {
    /// Returns the vocabulary; the first call of a process compiles the pattern.
    pub(super) fn get() -> &'static Self {
        static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
        VOCABULARY.get_or_init(|| Self {
            pattern: Regex::new(PATTERN).expect("the pattern is well-formed"),
            counts: std::array::from_fn(|_| Mutex::default()),
        })
    }

    /// Returns the number of tokens of a text, as it is remembered or as `count` finds it.
    pub(super) fn remembered_count(&self, text: &str, count: impl FnOnce(&Self) -> u64) -> u64 {
        if text.len() < MIN_REMEMBERED {
            return count(self);
        }
        let hash = ContentHash::digest(text.as_bytes());
        // An insertion is whole before a thread can panic.
        let counts = &self.counts[usize::from(hash.as_bytes()[0]) % PARTS];
        let remembered = counts.lock().unwrap_or_else(PoisonError::into_inner).get(&hash).copied();
        remembered.unwrap_or_else(|| {
            let tokens = count(self);
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            if MAX_COUNTS <= counts.len() {
                counts.clear();
            }
            counts.insert(hash, tokens);
            tokens
        })
    }

    /// Counts the tokens of a text. What looks like a special token is text like any other.
    pub(super) fn count(&self, mut text: &str) -> u64 {
        let mut tokens = 0;
        while !text.is_empty() {
            let (piece, rest) = text.split_at(self.end_of_match(text));
            tokens += if rank(piece.as_bytes()).is_some() { 1 } else { Self::merge(piece.as_bytes()) };
            text = rest;
        }
        tokens
    }

    /// Returns where the first piece of a text ends that is looked up as a whole.
    fn end_of_match(&self, text: &str) -> usize {
        // Some alternative matches every character.
        let end = self.pattern.find(text).map_or(text.len(), |found| found.end());
        // White space that ends in no line's end is what `\s+(?!\S)|\s+` matches. Before a word, the last one of several
        // is left to what follows.
        let last = text[..end].chars().next_back();
        let last = last.filter(|c| end < text.len() && c.is_whitespace() && !['\r', '\n'].contains(c));
        last.map_or(end, |last| if last.len_utf8() < end { end - last.len_utf8() } else { end })
    }

    /// Merges the bytes of a piece, two neighbors at a time and always those that are the token with the lowest rank.
    /// Returns how many tokens are left.
    fn merge(piece: &[u8]) -> u64 {
        // By the first byte of each part: where it ends, 0 once it is merged into the one before; and where that begins.
        let mut ends: Vec<usize> = (1..=piece.len()).collect();
        let mut befores: Vec<usize> = (0..piece.len()).map(|start| start.saturating_sub(1)).collect();
        // A heap, so that a long piece does not take the square of its length.
        let mut heap = BinaryHeap::new();
        let offer = |heap: &mut BinaryHeap<_>, start: usize, end: usize| {
            heap.extend(rank(&piece[start..end]).map(|rank| Reverse((rank, start, end))));
        };
        (2..=piece.len()).for_each(|end| offer(&mut heap, end - 2, end));
        let mut parts = piece.len() as u64;
        while let Some(Reverse((_, start, end))) = heap.pop() {
            let middle = ends[start];
            // One of the two was merged with another neighbor meanwhile.
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

/// Returns the rank of a token; `None` if the bytes are none.
fn rank(token: &[u8]) -> Option<u32> {
    let mut slot = first_slot(token);
    loop {
        let rank = u32::from_le_bytes(RANKS[slot]).checked_sub(1)?;
        if token_at(rank as usize) == token {
            return Some(rank);
        }
        slot = (slot + 1) % SLOTS;
    }
}

fn token_at(rank: usize) -> &'static [u8] {
    let start = rank.checked_sub(1).map_or(0, |before| u32::from_le_bytes(ENDS[before]));
    &BYTES[start as usize..u32::from_le_bytes(ENDS[rank]) as usize]
}
