//! A pack: many entries in one object, for engines that need one request per entry.
//!
//! ```text
//! format 1 │ count 4 │ count × (key 32 │ length 2), by key │ the entries in the same order
//! ```
//!
//! A pack is not trusted: it only locates entries, and each is checked like any other.

use std::ops::Range;

use super::engine::RemoteKey;
use super::entry::MAX_ENTRY_BYTES;

const FORMAT: u8 = 1;
const COUNT_BYTES: usize = 4;
const ROW_BYTES: usize = 32 + 2;
const HEAD_BYTES: usize = 1 + COUNT_BYTES;

/// The maximum number of entries in a pack.
pub(super) const MAX_PACK_ENTRIES: usize = 20_000;
/// The number of bytes that are read first: the index of some 7,000 entries.
pub(super) const FIRST_READ_BYTES: usize = 256 << 10;
/// The maximum number of bytes of entries that are read at once.
const READ_BYTES: u64 = 1 << 20;
/// The maximum size of the gap between two entries that are read at once.
const MAX_GAP_BYTES: u64 = 64 << 10;

/// Returns packs of these entries, none of which may be longer than [`MAX_ENTRY_BYTES`].
pub(super) fn build_packs(mut entries: Vec<(RemoteKey, Vec<u8>)>) -> Vec<Vec<u8>> {
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries.dedup_by_key(|(key, _)| *key);
    entries.chunks(MAX_PACK_ENTRIES).map(build_pack).collect()
}

/// Returns how many times the usual timeout a request with `bytes` may take: one more for each megabyte.
pub(super) fn pack_timeouts(bytes: usize) -> u32 {
    1 + u32::try_from(bytes >> 20).unwrap_or(u32::MAX - 1)
}

fn build_pack(entries: &[(RemoteKey, Vec<u8>)]) -> Vec<u8> {
    let count = u32::try_from(entries.len()).expect("a pack has few entries");
    let mut pack = vec![FORMAT];
    pack.extend(count.to_le_bytes());
    for (key, entry) in entries {
        pack.extend(key);
        pack.extend(u16::try_from(entry.len()).expect("an entry is short").to_le_bytes());
    }
    for (_, entry) in entries {
        pack.extend(entry);
    }
    pack
}

/// The positions of the entries in a pack.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PackIndex {
    /// By key, with the position of the entry in the pack.
    rows: Vec<(RemoteKey, Range<u64>)>,
}

/// Adjacent entries that are read at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PackRead {
    pub(super) bytes: Range<u64>,
    pub(super) entries: Vec<(RemoteKey, Range<u64>)>,
}

impl PackIndex {
    /// Returns the length of a pack's index in bytes; `None` if it is not a pack of this format.
    pub(super) fn length(start: &[u8]) -> Option<usize> {
        let (format, rest) = start.split_first()?;
        let count = u32::from_le_bytes(rest.get(..COUNT_BYTES)?.try_into().ok()?) as usize;
        (*format == FORMAT && count <= MAX_PACK_ENTRIES).then_some(HEAD_BYTES + count * ROW_BYTES)
    }

    /// Parses the index; `None` if it is invalid.
    pub(super) fn parse(start: &[u8]) -> Option<Self> {
        let rows = start.get(HEAD_BYTES..Self::length(start)?)?;
        let mut end = (HEAD_BYTES + rows.len()) as u64;
        let row = |row: &[u8]| {
            let (key, length) = row.split_at(32);
            let length = u16::from_le_bytes(length.try_into().ok()?);
            let begin = end;
            end += u64::from(length);
            let is_entry = usize::from(length) <= MAX_ENTRY_BYTES;
            is_entry.then_some((RemoteKey::try_from(key).ok()?, begin..end))
        };
        let rows: Option<Vec<_>> = rows.chunks_exact(ROW_BYTES).map(row).collect();
        // Otherwise, an entry could not be found by its key.
        rows.filter(|rows| rows.is_sorted_by(|(a, _), (b, _)| a < b)).map(|rows| Self { rows })
    }

    pub(super) fn contains(&self, key: &RemoteKey) -> bool {
        self.rows.binary_search_by_key(key, |(known, _)| *known).is_ok()
    }

    /// Returns the reads for the entries of these keys: few requests, with few unwanted bytes.
    pub(super) fn plan_reads(&self, wanted: impl Fn(&RemoteKey) -> bool) -> Vec<PackRead> {
        let mut reads: Vec<PackRead> = Vec::new();
        for (key, place) in self.rows.iter().filter(|(key, _)| wanted(key)) {
            match reads.last_mut() {
                Some(read)
                    if place.start - read.bytes.end <= MAX_GAP_BYTES
                        && place.end - read.bytes.start <= READ_BYTES =>
                {
                    read.bytes.end = place.end;
                    read.entries.push((*key, place.clone()));
                }
                _ => reads.push(PackRead { bytes: place.clone(), entries: vec![(*key, place.clone())] }),
            }
        }
        reads
    }
}

impl PackRead {
    /// Returns the entries in the bytes of a read, without truncated ones.
    pub(super) fn entries<'b>(
        &'b self,
        bytes: &'b [u8],
    ) -> impl Iterator<Item = (&'b RemoteKey, &'b [u8])> + 'b {
        let at = |offset: u64| usize::try_from(offset - self.bytes.start).unwrap_or(usize::MAX);
        self.entries
            .iter()
            .filter_map(move |(key, place)| Some((key, bytes.get(at(place.start)..at(place.end))?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: u8, length: usize) -> Vec<(RemoteKey, Vec<u8>)> {
        (0..count).rev().map(|number| ([number; 32], vec![number; length])).collect()
    }

    fn read(pack: &[u8], wanted: impl Fn(&RemoteKey) -> bool) -> Vec<(RemoteKey, Vec<u8>)> {
        let reads = PackIndex::parse(pack).unwrap().plan_reads(wanted);
        let found = reads.iter().flat_map(|read| {
            let [start, end] = [read.bytes.start, read.bytes.end].map(|at| usize::try_from(at).unwrap());
            read.entries(&pack[start..end.min(pack.len())]).map(|(key, entry)| (*key, entry.to_vec()))
        });
        found.collect()
    }

    #[test]
    fn packed_entries_are_found_by_their_keys() {
        let [pack] = &build_packs(entries(5, 700))[..] else { panic!("one pack") };
        let all = read(pack, |_| true);
        assert_eq!(all, entries(5, 700).into_iter().rev().collect::<Vec<_>>());
        assert_eq!(read(pack, |key| key[0] == 3), [([3; 32], vec![3; 700])]);
        let index = PackIndex::parse(pack).unwrap();
        assert!(index.contains(&[4; 32]) && !index.contains(&[5; 32]));
        // A truncated pack loses only the entries at its end.
        assert_eq!(read(&pack[..pack.len() - 1], |_| true).len(), 4);
    }

    #[test]
    fn entries_that_are_close_are_read_at_once_and_no_read_is_large() {
        let [pack] = &build_packs(entries(200, MAX_ENTRY_BYTES))[..] else { panic!("one pack") };
        let index = PackIndex::parse(pack).unwrap();
        let count = |wanted: fn(&RemoteKey) -> bool| {
            let reads = index.plan_reads(wanted);
            assert!(reads.iter().all(|read| read.bytes.end - read.bytes.start <= READ_BYTES));
            reads.len()
        };
        assert_eq!(count(|_| true), 2);
        assert_eq!(count(|key| key[0] == 1 || key[0] == 5), 1);
        assert_eq!(count(|key| key[0] == 1 || key[0] == 50), 2);
        assert_eq!(count(|_| false), 0);
    }

    #[test]
    fn invalid_packs_are_not_read() {
        let [pack] = &build_packs(entries(3, 10))[..] else { panic!("one pack") };
        for wrong in
            [&b""[..], b"\x01\xff", &pack[..20], &[&[2], &pack[1..]].concat(), &[1, 255, 255, 255, 255]]
        {
            assert_eq!(PackIndex::parse(wrong), None, "{wrong:?}");
        }
        let mut unsorted = pack.clone();
        unsorted[HEAD_BYTES] = 9;
        assert_eq!(PackIndex::parse(&unsorted), None);
        let mut long = pack.clone();
        long[HEAD_BYTES + 32..HEAD_BYTES + 34].copy_from_slice(&u16::MAX.to_le_bytes());
        assert_eq!(PackIndex::parse(&long), None);
        assert_eq!(PackIndex::parse(&build_pack(&[])), Some(PackIndex { rows: Vec::new() }));
    }
}
