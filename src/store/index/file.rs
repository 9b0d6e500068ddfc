//! The table `file`: the last known state of the project's files. Those of linked worktrees are in `worktree`.

use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::content;
use super::open::Store;
use crate::model::{ContentFacts, ContentHash, FileStamp, RelPath, SkipReason};
use crate::store::database::IntegrityReport;
use crate::store::error::Error;
use crate::store::row::{RowChecksum, RowFields, delete_damaged};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    pub path: RelPath,
    /// Its stamp; `None` if it cannot be trusted later.
    pub stamp: Option<FileStamp>,
    /// When it was read, in the file system's time, in nanoseconds since the epoch.
    pub read_at_ns: i64,
    pub state: StoredFileState,
}

/// The stored state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredFileState {
    Content {
        hash: ContentHash,
        /// The id of its file type.
        language: String,
        facts: ContentFacts,
    },
    /// It could not or should not be read.
    LeftOut(SkipReason),
}

impl Store {
    /// Returns all files, by path.
    pub fn files(&self) -> Result<Vec<FileRow>, Error> {
        let Some(worktree) = &self.worktree else { return self.select("ORDER BY file.path", []) };
        let mut files = self.worktree_files(worktree)?;
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    pub fn file(&self, path: &RelPath) -> Result<Option<FileRow>, Error> {
        if let Some(worktree) = &self.worktree {
            return self.worktree_file(worktree, path);
        }
        let found = self.select("WHERE file.path = ?1", [path.as_bytes()])?;
        Ok(found.into_iter().next())
    }

    /// Returns whether there is a row of a file, even a damaged one.
    pub fn has_file_row(&self, path: &RelPath) -> Result<bool, Error> {
        if let Some(worktree) = &self.worktree {
            return self.worktree_file(worktree, path).map(|row| row.is_some());
        }
        let mut statement = self.database.connection.prepare_cached("SELECT 1 FROM file WHERE path = ?1")?;
        Ok(statement.exists([path.as_bytes()])?)
    }

    /// Returns how many files there are.
    pub fn file_count(&self) -> Result<u64, Error> {
        if let Some(worktree) = &self.worktree {
            return self.worktree_file_count(worktree);
        }
        let mut statement = self.database.connection.prepare_cached("SELECT count(*) FROM file")?;
        let files: i64 = statement.query_row([], |row| row.get(0))?;
        Ok(files.cast_unsigned())
    }

    fn select(&self, condition: &str, params: impl Params) -> Result<Vec<FileRow>, Error> {
        let mut statement = self.database.connection.prepare_cached(&format!("{SELECT} {condition}"))?;
        let mut rows = statement.query(params)?;
        let mut files = Vec::new();
        while let Some(row) = rows.next()? {
            if let Some(file) = from_row(row) {
                files.push(file);
                continue;
            }
            self.record_damage();
            if let Ok(path) = row.get(0) {
                self.damaged_paths.borrow_mut().push(path);
            }
        }
        Ok(files)
    }
}

/// Inserts or replaces a file, whose content must exist under the given id. Returns the id of its previous content.
pub(super) fn upsert(
    connection: &Connection,
    file: &FileRow,
    content_id: Option<i64>,
) -> Result<Option<i64>, Error> {
    // Read before the row is replaced, because the previous content may no longer have any file.
    let before = select_content_id(connection, file.path.as_bytes())?;
    let (language, left_out) = match &file.state {
        StoredFileState::Content { language, .. } => (Some(language.as_str()), None),
        StoredFileState::LeftOut(reason) => (None, Some(reason.name())),
    };
    let stamp = file.stamp.as_ref();
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO file
                 (path, content_id, language, left_out, dev, ino, size, mtime_ns, ctime_ns, read_at_ns, ck)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            file.path.as_bytes(),
            content_id,
            language,
            left_out,
            stamp.map(|stamp| stamp.dev.cast_signed()),
            stamp.map(|stamp| stamp.ino.cast_signed()),
            stamp.map(|stamp| stamp.size.cast_signed()),
            stamp.map(|stamp| stamp.mtime_ns),
            stamp.map(|stamp| stamp.ctime_ns),
            file.read_at_ns,
            checksum(file),
        ])?;
    Ok(before)
}

/// Deletes a file. Returns the id of its content, and whether the file existed.
pub(super) fn delete(connection: &Connection, path: &[u8]) -> Result<(Option<i64>, bool), Error> {
    let before = select_content_id(connection, path)?;
    let removed = connection.prepare_cached(DELETE)?.execute([path])?;
    Ok((before, 0 < removed))
}

pub(super) fn is_content_referenced(connection: &Connection, content_id: i64) -> Result<bool, Error> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM file WHERE content_id = ?1")?;
    Ok(statement.exists([content_id])?)
}

/// Deletes the rows that are damaged or refer to a missing content.
pub(super) fn verify(connection: &Connection, report: &mut IntegrityReport) -> Result<(), Error> {
    let damaged = |row: &Row<'_>| {
        let path = || RelPath::new(row.get_ref(0).ok()?.as_blob().ok()?).ok();
        let label = || path().map_or("file of no path".to_owned(), |path| format!("file {path}"));
        from_row(row).is_none().then(label)
    };
    delete_damaged(connection, SELECT, DELETE, &[0], damaged, report).map(drop)
}

// LEFT JOIN, because a file that was left out has no content.
const SELECT: &str = "
    SELECT file.path, language, left_out, dev, ino, file.size, mtime_ns, ctime_ns, read_at_ns, file.ck, sha,
           content.size, encoding, lines, dialect, claims, content.ck
    FROM file LEFT JOIN content ON content.id = file.content_id";

const DELETE: &str = "DELETE FROM file WHERE path = ?1";

fn select_content_id(connection: &Connection, path: &[u8]) -> Result<Option<i64>, Error> {
    let found = connection
        .prepare_cached("SELECT content_id FROM file WHERE path = ?1")?
        .query_row([path], |row| row.get(0))
        .optional()?;
    Ok(found.flatten())
}

/// Reads a file from the columns of [`SELECT`]; `None` if they are damaged.
fn from_row(row: &Row<'_>) -> Option<FileRow> {
    let left_out = row.get_ref(2).ok()?.as_str_or_null().ok()?;
    let state = if let Some(name) = left_out {
        StoredFileState::LeftOut(SkipReason::from_name(name)?)
    } else {
        let hash = content::hash_from_row(row, 10)?;
        StoredFileState::Content {
            hash,
            language: row.get(1).ok()?,
            facts: content::facts_from_row(row, 11, &hash)?,
        }
    };
    let file = FileRow {
        path: RelPath::new(row.get_ref(0).ok()?.as_blob().ok()?).ok()?,
        stamp: stamp_from_row(row)?,
        read_at_ns: row.get(8).ok()?,
        state,
    };
    let stored: RowChecksum = row.get(9).ok()?;
    (stored == checksum(&file)).then_some(file)
}

#[expect(clippy::option_option, reason = "a damaged stamp is not an absent one")]
fn stamp_from_row(row: &Row<'_>) -> Option<Option<FileStamp>> {
    let number = |column| row.get::<_, Option<i64>>(column).ok();
    let (dev, ino, size) = (number(3)?, number(4)?, number(5)?);
    let (mtime_ns, ctime_ns) = (number(6)?, number(7)?);
    let Some(dev) = dev else {
        return Some(None);
    };
    Some(Some(FileStamp {
        dev: dev.cast_unsigned(),
        ino: ino?.cast_unsigned(),
        size: size?.cast_unsigned(),
        mtime_ns: mtime_ns?,
        ctime_ns: ctime_ns?,
    }))
}

fn checksum(file: &FileRow) -> RowChecksum {
    let sum = RowFields::keyed("file/1").bytes(file.path.as_bytes());
    let sum = match &file.stamp {
        Some(stamp) => sum
            .number(stamp.dev.cast_signed())
            .number(stamp.ino.cast_signed())
            .number(stamp.size.cast_signed())
            .number(stamp.mtime_ns)
            .number(stamp.ctime_ns),
        None => sum.text("no stamp"),
    };
    let sum = sum.number(file.read_at_ns);
    match &file.state {
        StoredFileState::Content { hash, language, .. } => {
            sum.text("content").bytes(hash.as_bytes()).text(language)
        }
        StoredFileState::LeftOut(reason) => sum.text("left out").text(reason.name()),
    }
    .checksum()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TempStore, batch, path, row};

    /// Damages one file in a store of three, of which the other two must be intact.
    #[track_caller]
    fn check_one_lost(harm: &str) {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let files = [("a.py", "alpha"), ("b.py", "beta"), ("c.py", "gamma")];
        store.save(&batch(&files, 1)).unwrap();
        sandbox.raw_connection().execute_batch(harm).unwrap();
        assert_eq!(store.files().unwrap(), [row("a.py", "alpha"), row("c.py", "gamma")]);
        assert_eq!(store.file(&path("b.py")).unwrap(), None);
        assert!(0 < store.damaged_rows());
        // Saving it again repairs it.
        store.save(&batch(&files, 2)).unwrap();
        assert_eq!(store.files().unwrap().len(), 3);
        assert_eq!(store.size().unwrap().files, 3);
    }

    #[test]
    fn a_file_that_refers_to_another_content_is_not_returned() {
        check_one_lost("UPDATE file SET content_id = 1 WHERE path = CAST('b.py' AS BLOB)");
    }

    #[test]
    fn a_file_whose_content_is_missing_is_not_returned() {
        check_one_lost("DELETE FROM content WHERE id = 2");
    }

    #[test]
    fn a_file_with_damaged_facts_of_its_content_is_not_returned() {
        check_one_lost("UPDATE content SET lines = 4 WHERE id = 2");
        check_one_lost("UPDATE content SET lines = -4 WHERE id = 2");
        check_one_lost("UPDATE content SET dialect = 'x' WHERE id = 2");
        check_one_lost("UPDATE content SET claims = '' WHERE id = 2");
        check_one_lost("UPDATE content SET encoding = NULL WHERE id = 2");
        check_one_lost("UPDATE content SET encoding = CAST(x'ff' AS TEXT) WHERE id = 2");
        check_one_lost("UPDATE content SET ck = x'00' WHERE id = 2");
    }

    #[test]
    fn a_damaged_stamp_is_not_returned() {
        for column in ["dev", "ino", "size", "mtime_ns", "ctime_ns", "read_at_ns"] {
            check_one_lost(&format!("UPDATE file SET {column} = 123 WHERE content_id = 2"));
        }
        check_one_lost("UPDATE file SET dev = NULL WHERE content_id = 2");
        check_one_lost("UPDATE file SET ino = NULL WHERE content_id = 2");
    }

    #[test]
    fn a_file_with_a_damaged_name_is_not_returned_and_deleted_by_the_next_write() {
        check_one_lost("UPDATE file SET path = CAST('bb.py' AS BLOB) WHERE content_id = 2");
        check_one_lost("UPDATE file SET path = CAST('../b.py' AS BLOB) WHERE content_id = 2");
    }

    #[test]
    fn a_file_with_a_damaged_language_is_not_returned() {
        check_one_lost("UPDATE file SET language = 'c' WHERE content_id = 2");
    }

    #[test]
    fn files_are_in_the_order_of_their_bytes() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        let names = ["é.py", "b", "a/b", "a.b", "B"];
        let files: Vec<_> = names.iter().map(|name| (*name, "text")).collect();
        store.save(&batch(&files, 1)).unwrap();
        let read: Vec<_> = store.files().unwrap().into_iter().map(|file| file.path.to_string()).collect();
        assert_eq!(read, ["B", "a.b", "a/b", "b", "é.py"]);
    }
}
