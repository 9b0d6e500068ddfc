//! Detects a write-ahead log that lacks acknowledged commits.
//!
//! SQLite replays a log up to the first frame that is not intact, and silently ignores the rest. After a power failure
//! that is right: only the last transaction can be torn, because each is on the disk before the next one begins. But if
//! whole commits follow a broken frame, the disk has lost paid data, and with it the sums of the ledger. The layout is
//! that of SQLite's "WAL-mode File Format".

use std::fs::File;
use std::io;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::store::database::{file_error, open_bytes, with_suffix};
use crate::store::error::Error;

const PAGE: usize = 4096;
const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// The header of a log, by which its frames are recognized.
struct WalHeader {
    salts: [u8; 8],
    sums: (u32, u32),
    is_big_endian: bool,
}

/// Reads the header of a log; `None` if it is not intact.
fn read_header(log: &File) -> io::Result<Option<WalHeader>> {
    let mut bytes = [0; HEADER];
    if !read_all(log, 0, &mut bytes)? {
        return Ok(None);
    }
    let is_big_endian = match bytes[..4] {
        [0x37, 0x7f, 0x06, 0x82] => false,
        [0x37, 0x7f, 0x06, 0x83] => true,
        _ => return Ok(None),
    };
    let sums = add((0, 0), &bytes[..24], is_big_endian);
    let is_intact = sums == (word(&bytes[24..], true), word(&bytes[28..], true));
    let mut salts = [0; 8];
    salts.copy_from_slice(&bytes[16..24]);
    Ok(is_intact.then_some(WalHeader { salts, sums, is_big_endian }))
}

/// Returns whether the log of a database lacks acknowledged commits.
pub(super) fn is_log_broken(file: &Path) -> Result<bool, Error> {
    let path = with_suffix(file, "-wal");
    let Some(bytes) = open_bytes(&path)? else { return Ok(false) };
    // Checked twice, because a process that is writing to the log may seem to leave a gap.
    let is_broken = lacks_commits(&bytes).and_then(|once| Ok(once && lacks_commits(&bytes)?));
    is_broken.map_err(|source| file_error("read", &path, source))
}

/// Returns whether commits follow a frame that is not intact. If the header is not intact, every frame counts.
fn lacks_commits(log: &File) -> io::Result<bool> {
    let mut frame = [0; FRAME_HEADER + PAGE];
    let mut offset = HEADER as u64;
    let Some(header) = read_header(log)? else { return read_all(log, offset, &mut frame) };
    let (mut sums, mut is_intact, mut commits) = (header.sums, true, 0);
    while read_all(log, offset, &mut frame)? {
        let is_of_this_round = frame[8..16] == header.salts;
        if is_intact {
            sums = add(sums, &frame[..8], header.is_big_endian);
            sums = add(sums, &frame[FRAME_HEADER..], header.is_big_endian);
            is_intact = is_of_this_round && sums == (word(&frame[16..], true), word(&frame[20..], true));
        }
        let is_commit = word(&frame[4..], true) != 0;
        commits += u32::from(!is_intact && is_of_this_round && is_commit);
        offset += frame.len() as u64;
    }
    // One of them may belong to the transaction that was being written.
    Ok(1 < commits)
}

/// Fills the buffer; returns `false` if the file ends before that.
fn read_all(mut file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<bool> {
    file.seek(SeekFrom::Start(offset))?;
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn add(mut sums: (u32, u32), bytes: &[u8], is_big_endian: bool) -> (u32, u32) {
    // Each sum depends on the other, so the words cannot be added independently. The sizes of header and frames are
    // multiples of eight bytes.
    for pair in bytes.chunks_exact(8) {
        sums.0 = sums.0.wrapping_add(word(pair, is_big_endian)).wrapping_add(sums.1);
        sums.1 = sums.1.wrapping_add(word(&pair[4..], is_big_endian)).wrapping_add(sums.0);
    }
    sums
}

fn word(bytes: &[u8], is_big_endian: bool) -> u32 {
    let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
    if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}
