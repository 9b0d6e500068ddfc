//! Encodes the files of a linked worktree, one page at a time.
//!
//! A page consists of two values. The *listing* has what most worktrees of a repository share: the names of the files
//! and the ids of their contents. The *stamps* belong to one worktree. Both are columns of small numbers: the files of
//! a folder are usually written one after another, so most differences from the previous file are 0 or 1, and compress
//! well.

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::content;
use super::file::{FileRow, StoredFileState};
use crate::model::{ContentHash, FileStamp, RelPath, SkipReason};
use crate::store::compression;
use crate::store::error::Error;
use crate::store::row::{RowChecksum, RowFields};

/// The number of pages into which the files of a worktree are divided, by their folders. More pages would take more
/// space for each worktree; with fewer, more would be rewritten when a file changes.
pub(super) const PAGE_COUNT: u8 = 32;

/// A file that was read this long after its last change had settled, so the time of reading need not be exact.
const RESTED_NS: i64 = 3_000_000_000;
/// The precision of the time for younger files: at worst, one is read once more than necessary.
const YOUNG_NS: i64 = 300_000_000;
const YOUNG_UNIT_NS: i64 = 1 << 24;

/// A file in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageFile {
    pub(super) row: FileRow,
    /// The id of its content; `None` for a file that is left out.
    pub(super) content_id: Option<i64>,
}

/// Returns the page of a file, which depends on its folder.
pub(super) fn page_of(path: &RelPath) -> u8 {
    ContentHash::digest(path.parent()).as_bytes()[0] % PAGE_COUNT
}

#[derive(Serialize, Deserialize)]
struct ListingRow<'a> {
    /// For each path, the length of the common prefix with the previous one, and the rest.
    #[serde(borrow)]
    paths: Vec<(u32, &'a [u8])>,
    left_out: Vec<bool>,
    /// Ids of file types, and the reasons of files that are left out.
    #[serde(borrow)]
    labels: Vec<&'a str>,
    /// Differences from the previous id; only for files that are not left out.
    content_ids: Vec<i64>,
}

/// Stamps, as differences from those of the previous file unless stated otherwise.
#[derive(Default, Serialize, Deserialize)]
struct StampsRow {
    stamped: Vec<bool>,
    devices: Vec<i64>,
    inodes: Vec<i64>,
    /// As differences from the sizes of the contents.
    sizes: Vec<i64>,
    modified: Vec<i64>,
    /// As differences from the times of modification.
    changed: Vec<i64>,
    /// Which files had settled, so that they count as read [`RESTED_NS`] after their last change.
    rested: Vec<bool>,
    /// The times of reading; only for files that had not settled.
    read: Vec<i64>,
}

/// Encodes names and contents; the files must be sorted by path.
pub(super) fn encode_listing(files: &[PageFile]) -> Vec<u8> {
    let mut listing =
        ListingRow { paths: Vec::new(), left_out: Vec::new(), labels: Vec::new(), content_ids: Vec::new() };
    let (mut before, mut id_before) = (&[][..], 0);
    for file in files {
        let path = file.row.path.as_bytes();
        let common = path.iter().zip(before).take_while(|(a, b)| a == b).count();
        listing.paths.push((u32::try_from(common).unwrap_or(u32::MAX), &path[common..]));
        before = path;
        listing.left_out.push(file.content_id.is_none());
        listing.labels.push(label(&file.row.state));
        if let Some(id) = file.content_id {
            listing.content_ids.push(id.wrapping_sub(id_before));
            id_before = id;
        }
    }
    postcard::to_stdvec(&listing).expect("numbers, texts and lists of known length always fit into a vector")
}

fn label(state: &StoredFileState) -> &str {
    match state {
        StoredFileState::Content { language, .. } => language,
        StoredFileState::LeftOut(reason) => reason.name(),
    }
}

/// Encodes the stored stamps of files, in the order of the listing.
pub(super) fn encode_stamps(files: &[PageFile]) -> Vec<u8> {
    let mut row = StampsRow::default();
    let mut before = PageDeltas::default();
    for PageFile { row: file, .. } in files {
        row.stamped.push(file.stamp.is_some());
        let is_rested = has_rested(file);
        row.rested.push(is_rested);
        if !is_rested {
            row.read.push(before.read.step(stored_read_time(file)));
        }
        let Some(stamp) = &file.stamp else { continue };
        row.devices.push(before.device.step(stamp.dev.cast_signed()));
        row.inodes.push(before.inode.step(stamp.ino.cast_signed()));
        row.sizes.push(stamp.size.wrapping_sub(content_size(&file.state)).cast_signed());
        row.modified.push(before.modified.step(stamp.mtime_ns));
        row.changed.push(stamp.ctime_ns.wrapping_sub(stamp.mtime_ns));
    }
    let row = postcard::to_stdvec(&row).expect("lists of numbers always fit into a vector");
    compression::compress(&row)
}

/// Returns when a file was read, or an earlier rounded time that is equivalent for its stamp and takes less space: the
/// reads of a scan are microseconds apart.
fn stored_read_time(file: &FileRow) -> i64 {
    let Some(stamp) = &file.stamp else { return file.read_at_ns };
    let rested = file.read_at_ns.saturating_sub(stamp.ctime_ns);
    if YOUNG_NS < rested {
        file.read_at_ns - file.read_at_ns.rem_euclid(YOUNG_UNIT_NS)
    } else {
        file.read_at_ns
    }
}

fn has_rested(file: &FileRow) -> bool {
    file.stamp.as_ref().is_some_and(|stamp| RESTED_NS < file.read_at_ns.saturating_sub(stamp.ctime_ns))
}

const fn content_size(state: &StoredFileState) -> u64 {
    match state {
        StoredFileState::Content { facts, .. } => facts.size,
        StoredFileState::LeftOut(_) => 0,
    }
}

#[derive(Default)]
struct PageDeltas {
    device: ColumnDelta,
    inode: ColumnDelta,
    modified: ColumnDelta,
    read: ColumnDelta,
}

#[derive(Default)]
struct ColumnDelta(i64);

impl ColumnDelta {
    /// Returns the difference from the previous value.
    const fn step(&mut self, value: i64) -> i64 {
        let step = value.wrapping_sub(self.0);
        self.0 = value;
        step
    }

    /// Returns the value that differs by `step` from the previous one.
    const fn value(&mut self, step: i64) -> i64 {
        self.0 = self.0.wrapping_add(step);
        self.0
    }
}

/// Decodes a page from a stored listing and stored stamps. `None` if they cannot be decoded, or refer to a missing
/// content; the caller has to verify them with [`page_checksum`].
pub(super) fn decode_page(
    connection: &Connection,
    listing: &[u8],
    stamps: &[u8],
) -> Result<Option<Vec<PageFile>>, Error> {
    let Some(listing) = read_listing(listing) else { return Ok(None) };
    let mut files = Vec::with_capacity(listing.paths.len());
    let (mut path, mut content_id) = (Vec::new(), ColumnDelta::default());
    let mut steps = listing.content_ids.iter();
    for (((common, rest), is_left_out), label) in
        listing.paths.iter().zip(&listing.left_out).zip(&listing.labels)
    {
        path.truncate(*common as usize);
        path.extend_from_slice(rest);
        let Ok(path) = RelPath::new(&path) else { return Ok(None) };
        let (state, content_id) = if *is_left_out {
            let Some(reason) = SkipReason::from_name(label) else { return Ok(None) };
            (StoredFileState::LeftOut(reason), None)
        } else {
            let Some(step) = steps.next() else { return Ok(None) };
            let id = content_id.value(*step);
            let Some((hash, facts)) = content::select(connection, id)? else { return Ok(None) };
            (StoredFileState::Content { hash, language: (*label).to_owned(), facts }, Some(id))
        };
        files.push(PageFile { row: FileRow { path, stamp: None, read_at_ns: 0, state }, content_id });
    }
    Ok(add_stamps(&mut files, stamps).map(|()| files))
}

/// Returns the ids of the contents in a listing; empty if it cannot be decoded.
pub(super) fn listed_contents(listing: &[u8]) -> Vec<i64> {
    let mut content_id = ColumnDelta::default();
    let steps = read_listing(listing).map_or(Vec::new(), |listing| listing.content_ids);
    steps.into_iter().map(|step| content_id.value(step)).collect()
}

fn read_listing(bytes: &[u8]) -> Option<ListingRow<'_>> {
    let (listing, rest) = postcard::take_from_bytes::<ListingRow<'_>>(bytes).ok()?;
    let count = listing.paths.len();
    let contents = listing.left_out.iter().filter(|is_left_out| !**is_left_out).count();
    let is_whole = rest.is_empty()
        && listing.left_out.len() == count
        && listing.labels.len() == count
        && listing.content_ids.len() == contents;
    is_whole.then_some(listing)
}

fn add_stamps(files: &mut [PageFile], stored: &[u8]) -> Option<()> {
    let bytes = compression::decompress(stored)?;
    let (row, rest) = postcard::take_from_bytes::<StampsRow>(&bytes).ok()?;
    if !rest.is_empty() || row.stamped.len() != files.len() || row.rested.len() != files.len() {
        return None;
    }
    let mut before = PageDeltas::default();
    let (mut stamped, mut times) = (0, row.read.iter());
    for (at, PageFile { row: file, .. }) in files.iter_mut().enumerate() {
        if !row.rested[at] {
            file.read_at_ns = before.read.value(*times.next()?);
        }
        if !row.stamped[at] {
            continue;
        }
        let mtime_ns = before.modified.value(*row.modified.get(stamped)?);
        let ctime_ns = mtime_ns.wrapping_add(*row.changed.get(stamped)?);
        if row.rested[at] {
            file.read_at_ns = ctime_ns.saturating_add(RESTED_NS);
        }
        file.stamp = Some(FileStamp {
            dev: before.device.value(*row.devices.get(stamped)?).cast_unsigned(),
            ino: before.inode.value(*row.inodes.get(stamped)?).cast_unsigned(),
            size: content_size(&file.state).wrapping_add(row.sizes.get(stamped)?.cast_unsigned()),
            mtime_ns,
            ctime_ns,
        });
        stamped += 1;
    }
    Some(())
}

/// Returns the checksum of a page, over its worktree, the hashes of its contents and not only their ids, and the stored
/// stamps.
pub(super) fn page_checksum(worktree: &str, page: u8, files: &[PageFile], stamps: &[u8]) -> RowChecksum {
    let mut sum = RowFields::keyed("worktree_page/1").text(worktree).number(i64::from(page)).bytes(stamps);
    for PageFile { row, .. } in files {
        sum = sum.bytes(row.path.as_bytes()).text(label(&row.state));
        sum = match &row.state {
            StoredFileState::Content { hash, .. } => sum.text("content").bytes(hash.as_bytes()),
            StoredFileState::LeftOut(_) => sum.text("left out"),
        };
    }
    sum.checksum()
}
