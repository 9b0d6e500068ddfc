//! Index terms: hashes of identifiers as written, and of words without their endings.
//!
//! Components of at most eight bytes, which nearly all are, are handled as numbers: lower-casing, stop words and
//! stemming need no access to single bytes.

/// The version of the rules below. Indexes made by different rules cannot be compared.
pub const TERMS_VERSION: u32 = 1;

/// Words that are too common to distinguish files, in English and in programming languages, including what precedes an
/// apostrophe. At most eight letters each.
const STOP_WORDS: &[&str] = &[
    "the", "a", "an", "and", "or", "of", "to", "in", "is", "it", "that", "this", "for", "on", "with", "as",
    "at", "by", "be", "are", "was", "not", "if", "from", "but", "have", "has", "i", "you", "we", "can",
    "when", "which", "do", "does", "will", "would", "should", "there", "so", "my", "me", "what", "then",
    "else", "self", "def", "return", "import", "none", "true", "false", "let", "pub", "fn", "mut", "use",
    "const", "int", "void", "char", "auto", "var", "new", "null", "str", "aren", "couldn", "didn", "doesn",
    "don", "hasn", "haven", "isn", "shouldn", "wasn", "wouldn",
];

/// A 32-bit hash of an identifier as written, or of a stemmed word. Its lowest bit distinguishes the two, so that the
/// identifier `Cache` and the word `cache` are different terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

impl Term {
    pub(in crate::search) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the number that identifies this term in a stored index.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Returns whether this is an identifier as written, as opposed to a word in it. The length of a document is the
    /// number of its other terms.
    pub fn is_identifier(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the term of an identifier as written, even if [`terms`](super::words::terms) would not yield it.
    pub(super) fn of_identifier(name: &[u8]) -> Self {
        let mut hash = 0;
        for chunk in name.chunks(8) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            hash = mix(hash, u64::from_le_bytes(bytes));
        }
        Self(finish(hash) | 1)
    }
}

/// Returns up to eight bytes as a little-endian number, with letters in lower case.
#[inline]
pub(in crate::search) fn load(text: &[u8], start: usize, length: usize) -> u64 {
    const LOWER_CASE: u64 = 0x2020_2020_2020_2020;
    let bytes = match text[start..].first_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => text[start..].iter().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte)),
    };
    (bytes | LOWER_CASE) & (u64::MAX >> (64 - 8 * length))
}

/// Returns the term of a part of at least two letters or digits, unless it is a stop word.
#[inline]
pub(super) fn part_term(text: &[u8], start: usize, end: usize) -> Option<Term> {
    let length = end - start;
    if 8 < length {
        return Some(long_part_term(text, start, end));
    }
    let part = load(text, start, length);
    if is_stop_word(part) {
        return None;
    }
    let stem = stem(part << (8 * (8 - length)), length);
    let bytes = part & (u64::MAX >> (64 - 8 * stem.length));
    Some(Term(finish(mix(0, stem.with_last_byte(bytes, stem.length))) & !1))
}

fn long_part_term(text: &[u8], start: usize, end: usize) -> Term {
    let stem = stem(load(text, end - 8, 8), end - start);
    let mut hash = 0;
    for at in (0..stem.length).step_by(8) {
        let count = (stem.length - at).min(8);
        let mut bytes = load(text, start + at, count);
        if at + count == stem.length {
            bytes = stem.with_last_byte(bytes, count);
        }
        hash = mix(hash, bytes);
    }
    Term(finish(hash) & !1)
}

/// A word without its ending.
struct Stem {
    length: usize,
    /// Whether the last remaining byte counts as `y`.
    ends_in_y: bool,
}

impl Stem {
    /// Replaces the last byte by `y` if necessary; `bytes` has the last `count` bytes of the word.
    fn with_last_byte(&self, bytes: u64, count: usize) -> u64 {
        let last = 8 * (count - 1);
        if self.ends_in_y { bytes & !(0xff << last) | u64::from(b'y') << last } else { bytes }
    }
}

/// Removes English endings from a word of `length` bytes, where `tail` has the last eight, the last one highest.
///
/// A plural ending is removed first, then `ing` or `ed` with a doubled consonant before it, then `e`. So `file`,
/// `files` and `filed`, or `set`, `sets` and `settings`, have one stem. The stem need not be a word.
#[inline]
fn stem(mut tail: u64, mut length: usize) -> Stem {
    let [.., d, c, b, a] = tail.to_le_bytes();
    let mut cut = 0;
    if 3 < length && a == b's' && !matches!(b, b's' | b'u') {
        if 5 < length && b == b'e' && c == b'i' {
            return Stem { length: length - 2, ends_in_y: true };
        }
        let is_sibilant = matches!(c, b's' | b'x' | b'z') || c == b'h' && matches!(d, b'c' | b's');
        cut = if 4 < length && b == b'e' && is_sibilant { 2 } else { 1 };
    }
    tail <<= 8 * cut;
    length -= cut;
    let [.., c, b, a] = tail.to_le_bytes();
    cut = match (c, b, a) {
        (b'i', b'n', b'g') if 6 <= length => 3,
        (_, b'e', b'd') if 5 <= length => 2,
        _ => 0,
    };
    if 0 < cut {
        tail <<= 8 * cut;
        length -= cut;
        let [.., b, a] = tail.to_le_bytes();
        if 3 < length && a == b && !matches!(a, b'l' | b's' | b'z') {
            return Stem { length: length - 1, ends_in_y: false };
        }
    }
    let [.., a] = tail.to_le_bytes();
    Stem { length: length - usize::from(3 < length && a == b'e'), ends_in_y: false }
}

/// The stop words as numbers, in an open-addressing hash table; zero marks a free slot.
static STOP_SLOTS: [u64; 256] = {
    let mut slots = [0; 256];
    let mut next = 0;
    while next < STOP_WORDS.len() {
        let word = STOP_WORDS[next].as_bytes();
        let mut number = 0;
        let mut at = word.len();
        while 0 < at {
            at -= 1;
            number = number << 8 | word[at] as u64;
        }
        let mut slot = stop_slot(number);
        while slots[slot] != 0 {
            slot = (slot + 1) % 256;
        }
        slots[slot] = number;
        next += 1;
    }
    slots
};

const fn stop_slot(word: u64) -> usize {
    (word.wrapping_mul(MULTIPLIER) >> 56) as usize
}

#[inline]
pub(in crate::search) fn is_stop_word(word: u64) -> bool {
    let mut slot = stop_slot(word);
    while STOP_SLOTS[slot] != 0 {
        if STOP_SLOTS[slot] == word {
            return true;
        }
        slot = (slot + 1) % 256;
    }
    false
}

/// An odd number without a pattern: the fractional part of the golden ratio.
pub(super) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Adds eight bytes to a hash. The result is stored in indexes, so it must be the same on every machine.
#[inline]
fn mix(hash: u64, bytes: u64) -> u64 {
    let product = u128::from(hash ^ bytes) * u128::from(MULTIPLIER);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

#[inline]
fn finish(hash: u64) -> u32 {
    (hash.wrapping_mul(MULTIPLIER) >> 32) as u32
}
