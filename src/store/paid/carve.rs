//! Finding rows in the bytes of a database that SQLite itself cannot read any more.
//!
//! A row's checksum says that it is whole and of which table. So neither the tree that its page hangs in nor the file's
//! header is needed: each page that looks like a leaf of a table is taken apart, in the file and then in its log. The
//! layout is that of SQLite's "Database File Format", for pages of 4,096 bytes, which all of ours are.

use std::collections::HashMap;
use std::fs::File;
use std::io;

use rusqlite::types::ValueRef;

use super::log;
use super::log::PAGE;
use super::log::read_all;

/// The most bytes of a row that lie in its own page.
const LOCAL: usize = PAGE - 35;
/// The fewest, of a row that goes on in other pages.
const LEAST_LOCAL: usize = (PAGE - 12) * 32 / 255 - 23;
/// No row of ours is larger.
const LARGEST: usize = 1 << 20;
/// No row of ours has more columns.
const MOST_COLUMNS: usize = 32;

/// A damaged database and its log.
pub(super) struct Remains {
    file: File,
    log: Option<File>,
    /// Where in the log the last copy of a page is.
    logged: HashMap<u32, u64>,
}

impl Remains {
    /// Takes up a database and its log.
    pub(super) fn new(file: File, log: Option<File>) -> io::Result<Self> {
        let mut remains = Self { file, log, logged: HashMap::new() };
        for (page, offset) in remains.frames()? {
            remains.logged.insert(page, offset);
        }
        Ok(remains)
    }

    /// Calls `each` with the number and the columns of everything that looks like a row: those of the file first, then
    /// those of its log, which are later ones.
    pub(super) fn each_row(&self, each: &mut dyn FnMut(i64, Vec<ValueRef<'_>>)) -> io::Result<()> {
        let mut page = [0; PAGE];
        let mut offset = 0;
        while read_all(&self.file, offset, &mut page)? {
            // The first page begins with the header of the file.
            self.each_of_page(&page, if offset == 0 { 100 } else { 0 }, each);
            offset += PAGE as u64;
        }
        let Some(log) = &self.log else { return Ok(()) };
        for (number, offset) in self.frames()? {
            if read_all(log, offset, &mut page)? {
                self.each_of_page(&page, if number == 1 { 100 } else { 0 }, each);
            }
        }
        Ok(())
    }

    /// Returns the pages of the log, each with its place in it. Those of an earlier round are passed over, where the
    /// log's header can be believed: what they say is out of date.
    fn frames(&self) -> io::Result<Vec<(u32, u64)>> {
        let Some(log) = &self.log else { return Ok(Vec::new()) };
        let header = log::header(log)?;
        let mut frames = Vec::new();
        let mut offset = log::HEADER as u64;
        let mut frame = [0; log::FRAME_HEADER];
        while read_all(log, offset, &mut frame)? {
            if header.as_ref().is_none_or(|header| frame[8..16] == header.salts) {
                frames.push((number(&frame[..4]), offset + log::FRAME_HEADER as u64));
            }
            offset += (log::FRAME_HEADER + PAGE) as u64;
        }
        Ok(frames)
    }

    fn each_of_page(&self, page: &[u8; PAGE], start: usize, each: &mut dyn FnMut(i64, Vec<ValueRef<'_>>)) {
        const LEAF: u8 = 0x0d;
        if page[start] != LEAF {
            return;
        }
        let cells = usize::from(u16::from_be_bytes([page[start + 3], page[start + 4]]));
        let pointers = page[start + 8..].chunks_exact(2).take(cells);
        for pointer in pointers {
            let at = usize::from(u16::from_be_bytes([pointer[0], pointer[1]]));
            let Some((id, payload)) = page.get(at..).and_then(|cell| self.payload(cell)) else { continue };
            if let Some(columns) = columns(&payload) {
                each(id, columns);
            }
        }
    }

    /// Returns the number and the bytes of a row.
    fn payload(&self, cell: &[u8]) -> Option<(i64, Vec<u8>)> {
        let (size, cell) = varint(cell)?;
        let (id, cell) = varint(cell)?;
        let size = usize::try_from(size).ok().filter(|size| *size <= LARGEST)?;
        if size <= LOCAL {
            return Some((id, cell.get(..size)?.to_vec()));
        }
        let most = LEAST_LOCAL + (size - LEAST_LOCAL) % (PAGE - 4);
        let local = if most <= LOCAL { most } else { LEAST_LOCAL };
        let mut payload = cell.get(..local)?.to_vec();
        let mut next = number(cell.get(local..local + 4)?);
        while payload.len() < size {
            let page = self.page(next)?;
            let left = (size - payload.len()).min(PAGE - 4);
            payload.extend_from_slice(&page[4..4 + left]);
            next = number(&page[..4]);
        }
        Some((id, payload))
    }

    /// Returns a page as it was last.
    fn page(&self, number: u32) -> Option<[u8; PAGE]> {
        let mut page = [0; PAGE];
        let from = match (self.logged.get(&number), &self.log) {
            (Some(offset), Some(log)) => read_all(log, *offset, &mut page),
            (_, None) | (None, _) => {
                read_all(&self.file, u64::from(number.checked_sub(1)?) * PAGE as u64, &mut page)
            }
        };
        from.ok()?.then_some(page)
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Reads a number of one to nine bytes; returns it and what follows it.
fn varint(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut value: u64 = 0;
    for index in 0..8 {
        let byte = *bytes.get(index)?;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value.cast_signed(), &bytes[index + 1..]));
        }
    }
    let value = value << 8 | u64::from(*bytes.get(8)?);
    Some((value.cast_signed(), &bytes[9..]))
}

/// Takes a row apart. `None` where its bytes are no row.
fn columns(payload: &[u8]) -> Option<Vec<ValueRef<'_>>> {
    let (header_size, rest) = varint(payload)?;
    let header_size = usize::try_from(header_size).ok()?;
    let mut types = payload.get(payload.len() - rest.len()..header_size)?;
    let mut body = payload.get(header_size..)?;
    let mut columns = Vec::new();
    while !types.is_empty() {
        if columns.len() == MOST_COLUMNS {
            return None;
        }
        let (kind, rest) = varint(types)?;
        types = rest;
        let (value, rest) = column(kind, body)?;
        columns.push(value);
        body = rest;
    }
    Some(columns)
}

/// Reads a value of that kind; returns it and what follows it.
fn column(kind: i64, body: &[u8]) -> Option<(ValueRef<'_>, &[u8])> {
    let integer = |size: usize| {
        let (bytes, rest) = body.split_at_checked(size)?;
        let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
        let value = bytes.iter().fold(sign, |value: i64, byte| value << 8 | i64::from(*byte));
        Some((ValueRef::Integer(value), rest))
    };
    match kind {
        0 => Some((ValueRef::Null, body)),
        1..=4 => integer(usize::try_from(kind).ok()?),
        5 => integer(6),
        6 => integer(8),
        8 => Some((ValueRef::Integer(0), body)),
        9 => Some((ValueRef::Integer(1), body)),
        12.. => {
            let (bytes, rest) = body.split_at_checked(usize::try_from((kind - 12) / 2).ok()?)?;
            let value = if kind % 2 == 0 { ValueRef::Blob(bytes) } else { ValueRef::Text(bytes) };
            Some((value, rest))
        }
        // A fraction, which none of our columns holds, or what SQLite never writes.
        _ => None,
    }
}
