//! The table `given_document`: the composition of the last documents of each name.
//!
//! The newest document of a name is a list of pieces; an older one is a list of pieces and of ranges of the next newer
//! one's pieces. So a new document is added without rewriting more than one row, and the oldest is deleted without any.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use super::open::Store;
use super::scope::{scoped, split_scope};
use crate::model::{
    ContentHash, DocumentLayout, DocumentPiece, PieceSubject, PrefixCaching, RelPath, ViewMode,
};
use crate::store::compression;
use crate::store::database::IntegrityReport;
use crate::store::error::Error;
use crate::store::row::{RowChecksum, RowFields, delete_damaged, execute};

/// The maximum number of stored documents of one name.
const MAX_DOCUMENTS: usize = 20;
/// The maximum size of the stored documents of one name; the newest one is kept in any case.
const MAX_BYTES: i64 = 16 << 20;
/// The time is updated when it is older than this, so that an unchanged document is seldom written.
const MILLISECONDS_A_MINUTE: i64 = 60_000;

/// A document that was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveredDocument {
    /// When it was last delivered, in milliseconds since the epoch.
    pub at_ms: i64,
    pub layout: Arc<DocumentLayout>,
    pub caching: PrefixCaching,
}

impl Store {
    /// Returns at most `count` documents delivered under a name, newest first.
    pub fn delivered_documents(&self, name: &str, count: usize) -> Result<Vec<DeliveredDocument>, Error> {
        let query = "SELECT name, at_ms, sha, body, ck FROM given_document WHERE name = ?1
             ORDER BY id DESC LIMIT ?2";
        let mut statement = self.database.connection.prepare_cached(query)?;
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let name = scoped(self.worktree.as_deref(), name);
        let mut rows = statement.query(params![name, count])?;
        let mut found: Vec<DeliveredDocument> = Vec::new();
        let mut newer: Option<StoredDocument> = None;
        while let Some(row) = rows.next()? {
            let Some(stored) = StoredDocument::from_row(row) else {
                self.record_damage();
                break;
            };
            // If a row in between was damaged and deleted, older ones cannot be read.
            let base = newer.as_ref().zip(found.last()).map(|(newer, last)| (&newer.sha, &*last.layout));
            let Some((layout, caching)) = decode(&stored.body, base) else { break };
            found.push(DeliveredDocument { at_ms: stored.at_ms, layout: Arc::new(layout), caching });
            newer = Some(stored);
        }
        Ok(found)
    }

    /// Returns the names under which anything was delivered.
    pub fn delivered_names(&self) -> Result<Vec<String>, Error> {
        let worktree = self.worktree.as_deref();
        let names = select_names(&self.database.connection)?;
        let names = names.iter().map(|name| split_scope(name)).filter(|(whose, _)| *whose == worktree);
        Ok(names.map(|(_, name)| name.to_owned()).collect())
    }
}

/// Adds a document to those of its name, unless it equals the last one.
pub(super) fn record(connection: &Connection, name: &str, document: &DeliveredDocument) -> Result<(), Error> {
    let last = newest(connection, name)?;
    let sha = identity(document);
    if let Some((id, last)) = &last
        && last.sha == sha
    {
        let row = StoredDocument { at_ms: document.at_ms, ..last.clone() };
        return row.update(connection, *id);
    }
    let older = last.and_then(|(id, last)| {
        let (layout, caching) = decode(&last.body, None)?;
        let body = encode(&layout, caching, Some((&sha, &document.layout)));
        Some((id, StoredDocument { body, ..last }))
    });
    match older {
        Some((id, older)) => older.update(connection, id)?,
        // Rows that refer to it could not be read.
        None => delete(connection, name)?,
    }
    let body = encode(&document.layout, document.caching, None);
    StoredDocument { name: name.to_owned(), at_ms: document.at_ms, sha, body }.insert(connection)?;
    delete_oldest(connection, name)
}

/// Returns whether [`record`] would write nothing.
pub(super) fn is_recorded(
    connection: &Connection,
    name: &str,
    document: &DeliveredDocument,
) -> Result<bool, Error> {
    // The row's checksum is not verified, which would read the whole body: damage is found with the next document.
    let query = "SELECT at_ms, sha FROM given_document WHERE name = ?1 ORDER BY id DESC LIMIT 1";
    let last: Option<(i64, [u8; 32])> = connection
        .prepare_cached(query)?
        .query_row([name], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .unwrap_or_default();
    Ok(last.is_some_and(|(at_ms, sha)| {
        let is_recent = (0..MILLISECONDS_A_MINUTE).contains(&(document.at_ms - at_ms));
        is_recent && sha == *identity(document).as_bytes()
    }))
}

/// Returns the newest row of a name, if it is intact.
fn newest(connection: &Connection, name: &str) -> Result<Option<(i64, StoredDocument)>, Error> {
    let query =
        "SELECT name, at_ms, sha, body, ck, id FROM given_document WHERE name = ?1 ORDER BY id DESC LIMIT 1";
    let row = connection
        .prepare_cached(query)?
        .query_row([name], |row| Ok((row.get(5)?, StoredDocument::from_row(row))))
        .optional()?;
    Ok(row.and_then(|(id, stored)| Some((id, stored?))))
}

/// Deletes the oldest documents of a name beyond the maximum number and size.
fn delete_oldest(connection: &Connection, name: &str) -> Result<(), Error> {
    let query = "SELECT id, length(body) FROM given_document WHERE name = ?1 ORDER BY id DESC";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query([name])?;
    let (mut bytes, mut count) = (0_i64, 0);
    while let Some(row) = rows.next()? {
        let (id, length): (i64, i64) = (row.get(0)?, row.get(1)?);
        count += 1;
        bytes += length;
        if MAX_DOCUMENTS < count || MAX_BYTES < bytes && 1 < count {
            execute(
                connection,
                "DELETE FROM given_document WHERE name = ?1 AND id <= ?2",
                params![name, id],
            )?;
            break;
        }
    }
    Ok(())
}

pub(super) fn select_names(connection: &Connection) -> Result<Vec<String>, Error> {
    let query = "SELECT name FROM given UNION SELECT name FROM given_document ORDER BY name";
    let mut names = connection.prepare_cached(query)?;
    let names = names.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Deletes the documents of a name.
pub(super) fn delete(connection: &Connection, name: &str) -> Result<(), Error> {
    execute(connection, "DELETE FROM given_document WHERE name = ?1", [name]).map(drop)
}

/// Deletes the rows that are damaged.
pub(super) fn verify(connection: &Connection, report: &mut IntegrityReport) -> Result<(), Error> {
    let query = "SELECT name, at_ms, sha, body, ck, id FROM given_document";
    let delete = "DELETE FROM given_document WHERE id = ?1";
    let damaged =
        |row: &Row<'_>| StoredDocument::from_row(row).is_none().then(|| "a given document".to_owned());
    delete_damaged(connection, query, delete, &[5], damaged, report).map(drop)
}

/// A row.
#[derive(Clone)]
struct StoredDocument {
    name: String,
    at_ms: i64,
    sha: ContentHash,
    /// The uncompressed result of [`encode`].
    body: Vec<u8>,
}

impl StoredDocument {
    /// Reads a row from the columns `name, at_ms, sha, body, ck`; `None` if they are damaged.
    fn from_row(row: &Row<'_>) -> Option<Self> {
        let sha: [u8; 32] = row.get(2).ok()?;
        let body = compression::decompress(row.get_ref(3).ok()?.as_blob().ok()?)?.into_owned();
        let stored: RowChecksum = row.get(4).ok()?;
        let (name, at_ms) = (row.get(0).ok()?, row.get(1).ok()?);
        let found = Self { name, at_ms, sha: ContentHash::from_bytes(sha), body };
        (found.checksum() == stored).then_some(found)
    }

    fn checksum(&self) -> RowChecksum {
        let fields = RowFields::keyed("given_document/1").text(&self.name).number(self.at_ms);
        fields.bytes(self.sha.as_bytes()).bytes(&self.body).checksum()
    }

    fn insert(&self, connection: &Connection) -> Result<(), Error> {
        let query = "INSERT INTO given_document (name, at_ms, sha, body, ck) VALUES (?1, ?2, ?3, ?4, ?5)";
        let (sha, body) = (self.sha.as_bytes(), compression::compress(&self.body));
        execute(connection, query, params![self.name, self.at_ms, sha, body, self.checksum()]).map(drop)
    }

    fn update(&self, connection: &Connection, id: i64) -> Result<(), Error> {
        let query = "UPDATE given_document SET at_ms = ?2, body = ?3, ck = ?4 WHERE id = ?1";
        let body = compression::compress(&self.body);
        execute(connection, query, params![id, self.at_ms, body, self.checksum()]).map(drop)
    }
}

/// Returns a hash of the pieces of a document and of how it is cached.
fn identity(document: &DeliveredDocument) -> ContentHash {
    let PrefixCaching { marks, min_tokens } = document.caching;
    let marks = marks.map_or(-1, i64::from);
    let mut bytes = document.layout.digest().as_bytes().to_vec();
    bytes.extend(marks.to_le_bytes());
    bytes.extend(min_tokens.to_le_bytes());
    ContentHash::digest(&bytes)
}

#[derive(Serialize, Deserialize)]
struct DocumentRow<'a> {
    marks: Option<u8>,
    min_tokens: u64,
    stable: Option<u64>,
    prefix: u64,
    /// The identity of the document whose pieces are referred to.
    base: Option<[u8; 32]>,
    #[serde(borrow)]
    parts: Vec<PartRow<'a>>,
}

#[derive(Serialize, Deserialize)]
enum PartRow<'a> {
    /// A range of pieces of the base.
    Shared { first: u64, count: u64 },
    #[serde(borrow)]
    Piece(PieceRow<'a>),
}

#[derive(Serialize, Deserialize)]
struct PieceRow<'a> {
    /// `None` for a section.
    path: Option<&'a [u8]>,
    /// The name of the file's view, or the section's.
    name: &'a str,
    bytes: u64,
    lines: u64,
    tokens: u64,
    hash: [u8; 32],
}

/// Encodes a layout, with references to the pieces of `base`, if there is one.
fn encode(
    layout: &DocumentLayout,
    caching: PrefixCaching,
    base: Option<(&ContentHash, &DocumentLayout)>,
) -> Vec<u8> {
    let shared = base.map_or(&[][..], |(_, base)| &base.pieces);
    let places: HashMap<&ContentHash, usize> =
        shared.iter().enumerate().rev().map(|(at, piece)| (&piece.hash, at)).collect();
    let mut parts: Vec<PartRow<'_>> = Vec::new();
    for piece in &layout.pieces {
        if let Some(PartRow::Shared { first, count }) = parts.last_mut()
            && shared.get(offset(*first + *count)) == Some(piece)
        {
            *count += 1;
            continue;
        }
        let place = places.get(&piece.hash).filter(|place| shared[**place] == *piece);
        parts.push(match place {
            Some(place) => PartRow::Shared { first: *place as u64, count: 1 },
            None => PartRow::Piece(piece_to_row(piece)),
        });
    }
    let row = DocumentRow {
        marks: caching.marks,
        min_tokens: caching.min_tokens,
        stable: layout.stable.map(|stable| stable as u64),
        prefix: layout.prefix as u64,
        base: base.map(|(sha, _)| *sha.as_bytes()),
        parts,
    };
    postcard::to_stdvec(&row).expect("numbers, texts and lists of known length always fit into a vector")
}

/// Decodes a layout; `None` if the bytes are invalid, or refer to a different document than `base`.
fn decode(
    bytes: &[u8],
    base: Option<(&ContentHash, &DocumentLayout)>,
) -> Option<(DocumentLayout, PrefixCaching)> {
    let (row, rest) = postcard::take_from_bytes::<DocumentRow<'_>>(bytes).ok()?;
    let shared = match &row.base {
        Some(sha) => &base.filter(|(base, _)| base.as_bytes() == sha)?.1.pieces[..],
        None => &[],
    };
    let mut pieces = Vec::new();
    for part in &row.parts {
        match part {
            PartRow::Shared { first, count } => {
                let end = first.checked_add(*count)?;
                pieces.extend_from_slice(shared.get(offset(*first)..offset(end))?);
            }
            PartRow::Piece(piece) => pieces.push(piece_from_row(piece)?),
        }
    }
    let (stable, prefix) = (row.stable.map(offset), offset(row.prefix));
    let is_sound = rest.is_empty() && prefix <= pieces.len() && stable <= Some(pieces.len());
    let caching = PrefixCaching { marks: row.marks, min_tokens: row.min_tokens };
    is_sound.then_some((DocumentLayout { pieces, stable, prefix }, caching))
}

fn offset(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn piece_to_row(piece: &DocumentPiece) -> PieceRow<'_> {
    let (path, name) = match &piece.subject {
        PieceSubject::Section(name) => (None, &**name),
        PieceSubject::File { path, view } => (Some(path.as_bytes()), view.name()),
    };
    let DocumentPiece { bytes, lines, tokens, hash, .. } = piece;
    PieceRow { path, name, bytes: *bytes, lines: *lines, tokens: *tokens, hash: *hash.as_bytes() }
}

fn piece_from_row(row: &PieceRow<'_>) -> Option<DocumentPiece> {
    let subject = match row.path {
        Some(path) => {
            PieceSubject::File { path: RelPath::new(path).ok()?, view: ViewMode::from_name(row.name)? }
        }
        None => PieceSubject::Section(row.name.to_owned().into()),
    };
    let PieceRow { bytes, lines, tokens, hash, .. } = *row;
    Some(DocumentPiece { subject, bytes, lines, tokens, hash: ContentHash::from_bytes(hash) })
}

#[cfg(test)]
mod tests {
    use super::super::delivered::DeliveryUpdate;
    use super::super::testing::{TempStore, hash, path};
    use super::super::upkeep::{ClearScope, DeletedRows};
    use super::*;

    /// A document of these files, each given as `path text`.
    fn document(at_ms: i64, files: &[String]) -> DeliveredDocument {
        let piece = |text: &String| DocumentPiece {
            subject: match text.split_once(' ') {
                Some((file, _)) => PieceSubject::File { path: path(file), view: ViewMode::Skeleton },
                None => PieceSubject::Section(text.clone().into()),
            },
            bytes: text.len() as u64,
            lines: 1,
            tokens: 3,
            hash: hash(text),
        };
        let pieces: Vec<_> = files.iter().map(piece).collect();
        let layout = Arc::new(DocumentLayout { prefix: pieces.len(), stable: Some(1), pieces });
        DeliveredDocument { at_ms, layout, caching: PrefixCaching { marks: Some(2), min_tokens: 1024 } }
    }

    /// The document of a project of 100 files after a number of edits.
    fn edited(edits: u8) -> DeliveredDocument {
        let mut files: Vec<String> = (0..100).map(|file| format!("f{file}.py text")).collect();
        files.insert(0, "Files".to_owned());
        files[50] = format!("f49.py edit {edits}");
        files.swap(20, 21 + usize::from(edits % 7));
        document(i64::from(edits) * 1_000, &files)
    }

    fn give(store: &mut Store, name: &str, document: DeliveredDocument) {
        let update = DeliveryUpdate { document: Some(document), ..DeliveryUpdate::default() };
        store.record_delivery(name, &update, 10).unwrap();
    }

    #[test]
    fn the_last_documents_of_a_name_survive_a_restart() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        for edits in 0..23 {
            give(&mut store, "x", edited(edits));
            give(&mut store, "y", edited(7));
        }
        drop(store);
        let store = sandbox.open();
        let expected: Vec<_> = (3..23).rev().map(edited).collect();
        assert_eq!(store.delivered_documents("x", MAX_DOCUMENTS).unwrap(), expected);
        // A document that is delivered again is not a new one.
        assert_eq!(store.delivered_documents("y", MAX_DOCUMENTS).unwrap(), [edited(7)]);
        assert_eq!(store.delivered_names().unwrap(), ["x", "y"]);
        let bytes: i64 = sandbox
            .raw_connection()
            .query_row("SELECT sum(length(body)) FROM given_document WHERE name = 'x'", [], |row| row.get(0))
            .unwrap();
        assert!(bytes < 10_000, "{bytes}: what they have in common is stored once");
    }

    #[test]
    fn a_document_that_is_delivered_again_later_gets_the_new_time() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        for at_ms in [0, 59_999, 60_000] {
            give(&mut store, "x", DeliveredDocument { at_ms, ..edited(1) });
        }
        assert_eq!(
            store.delivered_documents("x", MAX_DOCUMENTS).unwrap(),
            [DeliveredDocument { at_ms: 60_000, ..edited(1) }]
        );
    }

    #[test]
    fn a_damaged_document_is_not_returned_and_is_found_by_verify() {
        for harm in [
            "UPDATE given_document SET at_ms = 5 WHERE id = 2",
            "UPDATE given_document SET name = 'y' WHERE id = 2",
            "UPDATE given_document SET sha = zeroblob(32) WHERE id = 2",
            "UPDATE given_document SET body = x'00' WHERE id = 2",
        ] {
            let sandbox = TempStore::new();
            let mut store = sandbox.open();
            (0..3).for_each(|edits| give(&mut store, "x", edited(edits)));
            sandbox.raw_connection().execute_batch(harm).unwrap();
            assert_eq!(store.delivered_documents("x", MAX_DOCUMENTS).unwrap(), [edited(2)], "{harm}");
            assert_eq!(store.verify().unwrap().damaged_rows, ["a given document"], "{harm}");
            // Rows that referred to it are not misread.
            assert_eq!(store.delivered_documents("x", MAX_DOCUMENTS).unwrap(), [edited(2)], "{harm}");
            give(&mut store, "x", edited(5));
            assert_eq!(
                store.delivered_documents("x", MAX_DOCUMENTS).unwrap(),
                [edited(5), edited(2)],
                "{harm}"
            );
        }
    }

    #[test]
    fn documents_are_deleted_with_their_delivery() {
        let cleared: [&dyn Fn(&mut Store) -> DeletedRows; 3] = [
            &|store| store.clear(&ClearScope::All).unwrap(),
            &|store| store.clear(&ClearScope::Files(vec![path("f1.py")])).unwrap(),
            &|store| store.collect_garbage(11, &[]).unwrap(),
        ];
        for clear in cleared {
            let sandbox = TempStore::new();
            let mut store = sandbox.open();
            give(&mut store, "x", edited(1));
            clear(&mut store);
            assert_eq!(store.delivered_documents("x", MAX_DOCUMENTS).unwrap(), []);
            assert_eq!(store.delivered_names().unwrap(), [""; 0]);
        }
    }
}
