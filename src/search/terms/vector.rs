//! The term vector of a content: the terms of a text and their counts.
//!
//! A vector is derived once for each content and stored. Ranking a project reads the vectors of all its files for each
//! query, so they are small, and a query is matched against the stored bytes without building anything in memory:
//!
//! ```text
//! varint   number of terms
//! varint   length of the text, in words
//! bits     for each term, in ascending order:
//!            distance from the term before it, less one: Rice code, its parameter computed from the number of terms
//!            count: Elias gamma code
//! ```
//!
//! Bits are taken from the lowest of each byte upward, and the last byte is padded with zeros. In a large project, a
//! term takes 2.8 bytes. Arrays of numbers would allow a binary search but take 5 bytes; decoding all vectors of a
//! project takes a few nanoseconds per term, less than reading twice the bytes would.
//!
//! A vector stores the lowest 28 bits of a term, and queries compare the same 28. In a project of 4,000 files, a term
//! that is in no file then matches by accident once in 150 queries; each bit less would save an eighth of a byte per
//! term and double this rate.

use super::bits::{BitReader, BitWriter, read_varint};
use super::stems::{MULTIPLIER, Term};
use super::words::{Word, words};

/// The version of the format and of the limits below.
pub const VECTOR_VERSION: u32 = 1;

/// Bits of a term that are stored.
const TERM_BITS: u32 = 28;
/// Further distinct words of a text are not indexed: a text with more of them is data, and not about anything.
const MAX_WORDS: usize = 16_384;
/// Counts are capped here; in the score, the fiftieth occurrence already adds nothing.
const MAX_COUNT: u32 = 255;
/// The maximum number of terms in a vector. A word of at most 128 bytes has at most 64 parts.
const MAX_TERMS: u64 = 65 * MAX_WORDS as u64;

/// The bytes are not a term vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("term vector is damaged")]
pub struct DamagedVector;

/// Returns the bits of a term that vectors store.
fn stored_bits(term: Term) -> u32 {
    term.bits() & ((1 << TERM_BITS) - 1)
}

/// Builds term vectors. It reuses its buffers, so each thread should use one for all files.
#[derive(Debug, Default)]
pub struct VectorBuilder {
    words: WordCounts,
    terms: Vec<u64>,
}

impl VectorBuilder {
    /// Returns the vector of a text, encoded.
    pub fn build(&mut self, text: &[u8]) -> Vec<u8> {
        self.words.count(text);
        let length = self.collect_terms(text);
        self.encode(length)
    }

    /// Collects the terms of all words, sorted, each with its count in the lower half. Returns the length of the text.
    fn collect_terms(&mut self, text: &[u8]) -> u64 {
        self.terms.clear();
        let mut length = 0;
        for counted in &self.words.found {
            let word =
                Word::new(text, counted.start, counted.start + usize::from(counted.length), counted.is_plain);
            for term in word.terms() {
                self.terms.push(u64::from(stored_bits(term)) << 32 | u64::from(counted.count));
                if !term.is_identifier() {
                    length += u64::from(counted.count);
                }
            }
        }
        self.terms.sort_unstable();
        self.terms.dedup_by(|next, kept| {
            let is_same = *next >> 32 == *kept >> 32;
            if is_same {
                let sum = (*kept & COUNT_MASK) + (*next & COUNT_MASK);
                *kept = *kept & !COUNT_MASK | sum.min(COUNT_MASK);
            }
            is_same
        });
        length
    }

    fn encode(&self, length: u64) -> Vec<u8> {
        let mut writer = BitWriter::with_capacity(16 + self.terms.len() * 3);
        writer.write_varint(self.terms.len() as u64);
        writer.write_varint(length);
        let parameter = rice_parameter(self.terms.len() as u64);
        let mut next = 0;
        for packed in &self.terms {
            let (term, count) = (packed >> 32, (packed & COUNT_MASK).min(u64::from(MAX_COUNT)));
            let distance = term - next;
            next = term + 1;
            writer.write_rice(distance, parameter);
            writer.write_gamma(count);
        }
        writer.finish()
    }
}

const COUNT_MASK: u64 = 0xffff_ffff;

/// The distinct words of a text, with their counts. Only these are split and stemmed; there are five times fewer of
/// them than occurrences.
#[derive(Debug, Default)]
struct WordCounts {
    /// For each word, its position in `found` plus one in the lowest 24 bits, and the upper bits of its hash above.
    /// Zero is a free slot.
    slots: Vec<u64>,
    found: Vec<CountedWord>,
}

#[derive(Clone, Copy, Debug)]
struct CountedWord {
    start: usize,
    count: u32,
    length: u8,
    is_plain: bool,
}

const POSITION_BITS: u32 = 24;

impl WordCounts {
    fn count(&mut self, text: &[u8]) {
        self.found.clear();
        self.slots.clear();
        self.slots.resize(1024, 0);
        words(text).for_each(|word| {
            let hash = hash_word(text, word.start(), word.end());
            let slot = self.slot_of(hash);
            let position = self.slots[slot] & ((1 << POSITION_BITS) - 1);
            if let Some(found) = self.found.get_mut((position as usize).wrapping_sub(1)) {
                found.count = found.count.saturating_add(1);
            } else {
                self.insert(&word, hash, slot);
            }
        });
    }

    /// Returns the slot of a word, or the free slot for it. Two words count as equal if the upper 40 bits of their
    /// hashes are: for texts of 16,384 words, this goes wrong once in 8,000 texts.
    #[inline]
    fn slot_of(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (hash >> 40) as usize & mask;
        while let found = self.slots[slot]
            && found != 0
            && (found ^ hash) >> POSITION_BITS != 0
        {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn insert(&mut self, word: &Word<'_>, hash: u64, slot: usize) {
        let Ok(length) = u8::try_from(word.end() - word.start()) else { return };
        if self.found.len() == MAX_WORDS {
            return;
        }
        self.found.push(CountedWord { start: word.start(), count: 1, length, is_plain: word.is_plain() });
        self.slots[slot] = hash >> POSITION_BITS << POSITION_BITS | self.found.len() as u64;
        if self.slots.len() < self.found.len() * 2 {
            let doubled = vec![0; self.slots.len() * 2];
            for moved in std::mem::replace(&mut self.slots, doubled) {
                if moved == 0 {
                    continue;
                }
                let slot = self.slot_of(moved);
                self.slots[slot] = moved;
            }
        }
    }
}

/// Hashes a word for the table of one text; unlike a term, the hash is never stored.
#[inline]
fn hash_word(text: &[u8], start: usize, end: usize) -> u64 {
    let mut hash = (end - start) as u64;
    let mut at = start;
    loop {
        let rest = end - at;
        let bytes = match text[at..].first_chunk::<8>() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => text[at..].iter().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte)),
        };
        let bytes = if rest < 8 { bytes & ((1 << (8 * rest)) - 1) } else { bytes };
        hash = (hash.rotate_left(23) ^ bytes).wrapping_mul(MULTIPLIER);
        if rest <= 8 {
            return hash ^ hash >> 32;
        }
        at += 8;
    }
}

/// Returns how many low bits of a distance are written as they are. The distances of random terms are distributed like
/// waiting times, for which the optimum is the logarithm of 0.69 times their mean.
fn rice_parameter(terms: u64) -> u32 {
    let mean = (1_u64 << TERM_BITS) / terms.max(1);
    (mean * 11 / 16).max(1).ilog2()
}

/// A stored term vector.
#[derive(Clone, Copy, Debug)]
pub struct TermVector<'a> {
    terms: u64,
    length: u64,
    bits: &'a [u8],
}

impl<'a> TermVector<'a> {
    /// Parses the header of a stored vector. The rest is checked when it is read.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, DamagedVector> {
        let mut rest = bytes;
        let terms = read_varint(&mut rest).ok_or(DamagedVector)?;
        let length = read_varint(&mut rest).ok_or(DamagedVector)?;
        // The shortest code of a term is two bits.
        let is_too_short = (rest.len() as u64).saturating_mul(4) < terms;
        if MAX_TERMS < terms || is_too_short {
            return Err(DamagedVector);
        }
        Ok(Self { terms, length, bits: rest })
    }

    /// Returns the length of the text: its words, less the stop words, each as often as it occurs.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Calls `found` for each term of the query that the text contains, with its position in the query and its count.
    pub fn match_terms(
        &self,
        query: &QueryTerms,
        mut found: impl FnMut(usize, u8),
    ) -> Result<(), DamagedVector> {
        self.read_terms(|term, count| {
            if let Some(position) = query.position(term) {
                found(position, count);
            }
        })
    }

    /// Calls `found` for each term in ascending order, with its count. Of a term, only the bits that are stored are set.
    pub(in crate::search) fn read_terms(&self, mut found: impl FnMut(Term, u8)) -> Result<(), DamagedVector> {
        let parameter = rice_parameter(self.terms);
        let mut reader = BitReader::new(self.bits);
        let mut next = 0_u32;
        for _ in 0..self.terms {
            let distance = reader.read_rice(parameter, TERM_BITS).ok_or(DamagedVector)?;
            let count = reader.read_gamma(MAX_COUNT.ilog2()).ok_or(DamagedVector)?;
            let count = u8::try_from(count).map_err(|_| DamagedVector)?;
            let term = next + distance;
            if term >> TERM_BITS != 0 {
                return Err(DamagedVector);
            }
            next = term + 1;
            found(Term::from_bits(term), count);
        }
        Ok(())
    }
}

/// The terms of a query, prepared for matching with vectors.
#[derive(Clone, Debug)]
pub struct QueryTerms {
    /// What vectors store of each term, ascending.
    stored: Vec<u32>,
    /// One bit for each value of the lowest 16 bits. Nearly all terms of a vector are not in the query, and this
    /// rejects them without an unpredictable branch.
    filter: Box<[u64; 1024]>,
}

impl QueryTerms {
    /// Prepares terms. Positions below refer to `order`, the second value: the positions of the given terms, sorted by
    /// their stored bits, without those that are indistinguishable from an earlier one.
    pub fn new(terms: &[Term]) -> (Self, Vec<usize>) {
        let mut order: Vec<usize> = (0..terms.len()).collect();
        order.sort_by_key(|at| (stored_bits(terms[*at]), *at));
        order.dedup_by_key(|at| stored_bits(terms[*at]));
        let stored: Vec<u32> = order.iter().map(|at| stored_bits(terms[*at])).collect();
        let mut filter = Box::new([0; 1024]);
        for term in &stored {
            filter[(term >> 6 & 1023) as usize] |= 1 << (term & 63);
        }
        (Self { stored, filter }, order)
    }

    /// Returns how many terms there are.
    pub fn len(&self) -> usize {
        self.stored.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    /// Returns the position of a term.
    #[inline]
    pub fn position(&self, term: Term) -> Option<usize> {
        let stored = stored_bits(term);
        if self.may_contain(stored) { self.stored.binary_search(&stored).ok() } else { None }
    }

    #[inline]
    fn may_contain(&self, stored: u32) -> bool {
        self.filter[(stored >> 6 & 1023) as usize] >> (stored & 63) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::super::words::terms;
    use super::*;

    fn build(text: &str) -> Vec<u8> {
        VectorBuilder::default().build(text.as_bytes())
    }

    /// Returns the count of each of `queried` in the vector of a text.
    fn counts(bytes: &[u8], queried: &str) -> Vec<(String, u8)> {
        let words: Vec<&str> = queried.split(' ').collect();
        let query: Vec<Term> =
            words.iter().map(|word| terms(word.as_bytes()).next().expect("each word has a term")).collect();
        let (query, order) = QueryTerms::new(&query);
        let mut found = Vec::new();
        let vector = TermVector::from_bytes(bytes).expect("the vector was just built");
        vector
            .match_terms(&query, |position, count| found.push((words[order[position]].to_owned(), count)))
            .expect("the vector was just built");
        found.sort();
        found
    }

    #[track_caller]
    fn check(text: &str, queried: &str, expected: &[(&str, u8)]) {
        let expected: Vec<_> = expected.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect();
        assert_eq!(counts(&build(text), queried), expected);
    }

    #[test]
    fn words_are_found_with_their_counts() {
        check("", "proxy", &[]);
        check("proxy", "proxy other", &[("proxy", 1)]);
        check(
            "parse_header(proxies) # the Proxy",
            "parse header proxy name",
            &[("header", 1), ("parse", 1), ("proxy", 2)],
        );
    }

    #[test]
    fn an_identifier_is_found_as_it_is_written() {
        check("HTTPServer and http server", "HTTPServer HTTPserver", &[("HTTPServer", 1)]);
    }

    #[test]
    fn counts_are_cut_at_255_and_the_length_is_not() {
        let bytes = build(&"proxy ".repeat(300));
        assert_eq!(counts(&bytes, "proxy"), [("proxy".to_owned(), 255)]);
        assert_eq!(TermVector::from_bytes(&bytes).map(|vector| vector.length()), Ok(300));
    }

    #[test]
    fn a_builder_forgets_the_previous_text() {
        let mut builder = VectorBuilder::default();
        builder.build(&b"alpha beta gamma ".repeat(1000));
        assert_eq!(builder.build(b"proxy header"), build("proxy header"));
    }

    #[test]
    fn a_text_of_too_many_distinct_words_is_indexed_by_its_first_ones() {
        let word = |number: u32| {
            let letters = (0..5).map(|place| char::from(b'a' + (number / 26_u32.pow(place) % 26) as u8));
            letters.collect::<String>()
        };
        let text: Vec<String> = (0..100_000).map(word).collect();
        let bytes = build(&text.join(" "));
        let vector = TermVector::from_bytes(&bytes).unwrap();
        assert!(vector.terms <= MAX_WORDS as u64);
        assert!(bytes.len() < 3 * MAX_WORDS);
        assert_eq!(counts(&bytes, &format!("{} {}", text[77], text[99_000])).len(), 1);
    }

    #[test]
    fn indistinguishable_terms_are_merged() {
        let high = Term::from_bits(1 << TERM_BITS | 6);
        let (query, order) = QueryTerms::new(&[Term::from_bits(9), Term::from_bits(6), high]);
        assert_eq!((query.len(), order), (2, vec![1, 0]));
        assert_eq!(query.position(high), Some(0));
        assert_eq!(query.position(Term::from_bits(7)), None);
    }

    #[test]
    fn the_format_does_not_change_unless_its_version_does() {
        let bytes = build("def parse_header(text):\n    return Header.parse(text)\n");
        let expected: [u8; 21] = [
            0x05, 0x06, 0x61, 0xb9, 0x65, 0xd5, 0xa2, 0xb7, 0x60, 0x8a, 0x8a, 0x39, 0xd1, 0xde, 0x64, 0x24,
            0x8f, 0xe1, 0x14, 0x92, 0x00,
        ];
        assert_eq!((VECTOR_VERSION, bytes.as_slice()), (1, expected.as_slice()));
    }

    proptest! {
        // Fixed cases: a suite that fails occasionally says nothing about a change.
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        #[test]
        fn every_term_of_a_text_is_found_with_its_count(text in "([a-zA-Z_0-9]{1,9}[ .\n]){0,300}") {
            let mut expected = BTreeMap::new();
            for term in terms(text.as_bytes()) {
                *expected.entry(stored_bits(term)).or_insert(0_u32) += 1;
            }
            let bytes = build(&text);
            let all: Vec<Term> = terms(text.as_bytes()).collect();
            let (query, _) = QueryTerms::new(&all);
            let mut found = BTreeMap::new();
            let vector = TermVector::from_bytes(&bytes).unwrap();
            vector.match_terms(&query, |position, count| {
                found.insert(query.stored[position], u32::from(count));
            }).unwrap();
            prop_assert_eq!(vector.terms, expected.len() as u64);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn damaged_bytes_are_an_error_or_another_vector_and_never_a_panic(
            text in "([a-z]{2,6} ){0,60}", at in 0_usize..200, byte in any::<u8>(), length in 0_usize..200,
        ) {
            let mut bytes = build(&text);
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(length);
            let (query, _) = QueryTerms::new(&terms(text.as_bytes()).collect::<Vec<_>>());
            if let Ok(vector) = TermVector::from_bytes(&bytes) {
                let _ = vector.match_terms(&query, |_, _| {});
            }
        }

        #[test]
        fn any_bytes_are_an_error_or_a_vector_and_never_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let (query, _) = QueryTerms::new(&[Term::from_bits(1), Term::from_bits(0x0fff_ffff)]);
            if let Ok(vector) = TermVector::from_bytes(&bytes) {
                let _ = vector.match_terms(&query, |_, _| {});
            }
        }
    }
}
