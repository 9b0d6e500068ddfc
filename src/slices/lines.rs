//! A text as lines that can be compared, counted and searched quickly.

use std::collections::HashMap;

/// Identifies a line of a text by its content: equal lines have equal ids.
pub(super) type LineId = u32;

/// Splits a text as git does: only at line feeds, so that a carriage return is part of its line. A final line feed does
/// not begin another line.
pub(super) fn split_lines(text: &str) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    text.strip_suffix('\n').unwrap_or(text).split('\n').collect()
}

/// Returns the short hash of a line: FNV-1a, mixed and folded to 32 bits. It only finds lines; whether a whole slice is
/// unchanged is decided by its SHA-256.
pub(super) fn short_hash(line: &str) -> u32 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = line.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    // The last characters of a line have hardly affected the upper bits.
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    u32::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).expect("half of 64 bits are 32")
}

/// Returns whether a line contains more than brackets and blanks.
pub(super) fn is_solid(line: &str) -> bool {
    line.chars().any(|c| c.is_alphanumeric() || c == '_')
}

/// The lines of a text, with the positions of equal lines.
pub(super) struct LineTable<'t> {
    pub(super) texts: Vec<&'t str>,
    pub(super) ids: Vec<LineId>,
    /// For each id, the lines that have it, ascending, from 0.
    places: Vec<Vec<u32>>,
    known: HashMap<&'t str, LineId>,
}

impl<'t> LineTable<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let texts = split_lines(text);
        // The standard hasher is keyed. With a fixed key, a crafted file could make all of its lines collide.
        let mut known = HashMap::with_capacity(texts.len());
        let mut places: Vec<Vec<u32>> = Vec::with_capacity(texts.len());
        let mut ids = Vec::with_capacity(texts.len());
        for (place, line) in texts.iter().enumerate() {
            let next = to_line_number(places.len());
            let id = *known.entry(*line).or_insert(next);
            if id == next {
                places.push(Vec::new());
            }
            places[to_index(id)].push(to_line_number(place));
            ids.push(id);
        }
        Self { texts, ids, places, known }
    }

    pub(super) fn id_of(&self, line: &str) -> Option<LineId> {
        self.known.get(line).copied()
    }

    /// Returns the lines that have this id, ascending, from 0.
    pub(super) fn places(&self, id: LineId) -> &[u32] {
        &self.places[to_index(id)]
    }

    pub(super) fn short_hashes(&self) -> Vec<u32> {
        // Each id has a position: it was created for one.
        self.places.iter().map(|places| short_hash(self.texts[to_index(places[0])])).collect()
    }
}

/// The lines of a file can be counted in 32 bits: slop reads no larger file.
pub(super) fn to_line_number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub(super) fn to_index(number: u32) -> usize {
    usize::try_from(number).expect("slop runs where a size has 32 bits or more")
}

/// Returns where `wanted` begins in `lines`, from 0, ascending, with overlaps. Takes linear time for any lines (Knuth,
/// Morris, Pratt): a file may be one line ten thousand times.
pub(super) fn find_occurrences<T: PartialEq>(lines: &[T], wanted: &[T]) -> Vec<usize> {
    let mut found = Vec::new();
    if wanted.is_empty() {
        return found;
    }
    let borders = borders(wanted);
    let mut matched = 0;
    for (place, line) in lines.iter().enumerate() {
        // Also after a full match, so that overlapping copies are found: they count when the number of copies is
        // compared.
        while 0 < matched && (matched == wanted.len() || wanted[matched] != *line) {
            matched = borders[matched - 1];
        }
        if wanted[matched] == *line {
            matched += 1;
        }
        if matched == wanted.len() {
            found.push(place + 1 - matched);
        }
    }
    found
}

/// Returns for each prefix of `wanted` the length of its longest border: a proper prefix that is also its suffix.
fn borders<T: PartialEq>(wanted: &[T]) -> Vec<usize> {
    let mut borders = vec![0; wanted.len()];
    let mut matched = 0;
    for place in 1..wanted.len() {
        while 0 < matched && wanted[matched] != wanted[place] {
            matched = borders[matched - 1];
        }
        if wanted[matched] == wanted[place] {
            matched += 1;
        }
        borders[place] = matched;
    }
    borders
}

/// Why a slice cannot be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("lines {start_line}-{end_line} requested, the text has {lines}")]
    NoSuchLines { start_line: u32, end_line: u32, lines: u32 },
}

#[cfg(test)]
mod tests {
    use super::find_occurrences;

    #[test]
    fn every_place_is_found_and_places_may_overlap() {
        assert_eq!(find_occurrences(b"abcabcab", b"abcab"), [0, 3]);
        assert_eq!(find_occurrences(b"aaaa", b"aa"), [0, 1, 2]);
        assert_eq!(find_occurrences(b"aabaaab", b"aab"), [0, 4]);
        assert!(
            find_occurrences(b"abc", b"").is_empty()
                && find_occurrences(b"", b"a").is_empty()
                && find_occurrences(b"a", b"aa").is_empty()
        );
    }
}
