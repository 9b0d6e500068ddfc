//! `takes.db`: the history of the curation. It is disposable but not derived, so `cache clear` does not delete it.

use std::fs::File;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::database::{DatabaseFile, absolute, exists, lock_folder, rename_with_logs, with_suffix};
use super::error::Error;
use super::migrate::HISTORY_SCHEMA;
use super::row::{RowColumns, RowFields, StoredRow};
use crate::model::ContentHash;

/// The name of the database in the cache folder.
pub const HISTORY_DATABASE: &str = "takes.db";

/// The most entries of a take; the oldest are deleted first.
pub const MAX_ENTRIES: usize = 500;

const PRAGMAS: &str = "
    PRAGMA synchronous = NORMAL;
    PRAGMA foreign_keys = OFF;
";

const UNREFERENCED_STATES: &str = "DELETE FROM state WHERE hash NOT IN (SELECT state FROM entry)";

/// One connection to the history.
#[derive(Debug)]
pub struct HistoryDb {
    database: DatabaseFile,
}

/// A state of the curation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    pub id: i64,
    pub take: String,
    /// The hash of the text.
    pub state: ContentHash,
    /// The previously current entry, which may have been deleted since.
    pub parent: Option<i64>,
    /// The description of the edit; `None` if the file was not edited by slop.
    pub label: Option<String>,
    /// Milliseconds since the epoch.
    pub at_ms: i64,
}

impl HistoryDb {
    /// Opens the database, and creates it if there is none; the folder must exist. A damaged file is set aside.
    pub fn open(file: &Path) -> Result<Self, Error> {
        let file = absolute(file)?;
        if let Some(database) = DatabaseFile::open_current(&file, &HISTORY_SCHEMA, PRAGMAS)? {
            return Ok(Self { database });
        }
        let _alone = lock_folder(&file, File::lock);
        let opened = DatabaseFile::open_writer(&file, &HISTORY_SCHEMA, PRAGMAS);
        let database = match opened {
            Err(error) if error.is_damage() => {
                rename_with_logs(&file, &with_suffix(&file, ".damaged"))?;
                DatabaseFile::open_writer(&file, &HISTORY_SCHEMA, PRAGMAS)?
            }
            opened => opened?,
        };
        Ok(Self { database })
    }

    /// Opens an existing database for reading; `None` if there is none.
    pub fn open_reader(file: &Path) -> Result<Option<Self>, Error> {
        let file = absolute(file)?;
        if !exists(&file)? {
            return Ok(None);
        }
        DatabaseFile::open_reader(&file, &HISTORY_SCHEMA, PRAGMAS).map(|database| Some(Self { database }))
    }

    /// Returns the entries of a take, oldest first. Damaged ones are left out.
    pub fn entries(&self, take: &str) -> Result<Vec<HistoryEntry>, Error> {
        take_entries(&self.database.connection, take)
    }

    /// Returns the current entry of a take.
    pub fn current(&self, take: &str) -> Result<Option<HistoryEntry>, Error> {
        current_entry(&self.database.connection, take)
    }

    /// Begins a change. Other processes wait until it is committed or dropped, so that none mistakes a text that is
    /// being written for an edit by another program.
    pub fn begin(&mut self) -> Result<HistoryChange<'_>, Error> {
        Ok(HistoryChange { transaction: self.database.begin()? })
    }
}

/// A change of the history, which is rolled back on drop.
#[derive(Debug)]
pub struct HistoryChange<'d> {
    transaction: Transaction<'d>,
}

impl HistoryChange<'_> {
    /// Returns the entries of a take, like [`HistoryDb::entries`].
    pub fn entries(&self, take: &str) -> Result<Vec<HistoryEntry>, Error> {
        take_entries(&self.transaction, take)
    }

    /// Returns the text of a state, if it still exists.
    pub fn text(&self, state: &ContentHash) -> Result<Option<Vec<u8>>, Error> {
        let row = StateRow::select_first(&self.transaction, "hash = ?", [state.as_bytes()])?;
        Ok(row.map(|row| row.text).filter(|text| ContentHash::digest(text) == *state))
    }

    /// Records a text as the current state of a take, following the previous one, and returns its entry. If it already
    /// is the current state, nothing is added.
    pub fn record(
        &self,
        take: &str,
        text: &[u8],
        label: Option<&str>,
        at_ms: i64,
    ) -> Result<HistoryEntry, Error> {
        let state = ContentHash::digest(text);
        let before = current_entry(&self.transaction, take)?;
        if let Some(same) = before.as_ref().filter(|entry| entry.state == state) {
            return Ok(same.clone());
        }
        StateRow { hash: state, text: text.to_vec() }.upsert(&self.transaction)?;
        let last: Option<i64> =
            self.transaction.query_row("SELECT max(id) FROM entry", [], |row| row.get(0))?;
        let id = last.unwrap_or(0).saturating_add(1);
        let parent = before.map(|entry| entry.id);
        let (take, label) = (take.to_owned(), label.map(str::to_owned));
        let entry = HistoryEntry { id, take, state, parent, label, at_ms };
        entry.upsert(&self.transaction)?;
        self.move_to(&entry)?;
        delete_oldest(&self.transaction, &entry.take, id)?;
        Ok(entry)
    }

    /// Makes an entry the current one of its take.
    pub fn move_to(&self, entry: &HistoryEntry) -> Result<(), Error> {
        PositionRow { take: entry.take.clone(), entry: entry.id }.upsert(&self.transaction)
    }

    /// Moves the history of a take to another name, whose own history is deleted.
    pub fn rename_take(&self, take: &str, to: &str) -> Result<(), Error> {
        self.delete_take(to)?;
        let (mut entries, current) = (self.entries(take)?, current_entry(&self.transaction, take)?);
        self.transaction.execute("DELETE FROM position WHERE take = ?", [take])?;
        for entry in &mut entries {
            // Written row by row, because the name of the take is authenticated with the rest.
            to.clone_into(&mut entry.take);
            entry.upsert(&self.transaction)?;
        }
        current.map_or(Ok(()), |current| self.move_to(&HistoryEntry { take: to.to_owned(), ..current }))
    }

    /// Deletes the history of a take, and texts without references.
    pub fn delete_take(&self, take: &str) -> Result<(), Error> {
        self.transaction.execute("DELETE FROM position WHERE take = ?", [take])?;
        self.transaction.execute("DELETE FROM entry WHERE take = ?", [take])?;
        self.transaction.execute(UNREFERENCED_STATES, [])?;
        Ok(())
    }

    pub fn commit(self) -> Result<(), Error> {
        Ok(self.transaction.commit()?)
    }
}

fn take_entries(connection: &Connection, take: &str) -> Result<Vec<HistoryEntry>, Error> {
    let mut entries = Vec::new();
    let each = &mut |row: Option<HistoryEntry>| entries.extend(row);
    HistoryEntry::select_each(connection, "take = ? ORDER BY id", [take], each)?;
    Ok(entries)
}

fn current_entry(connection: &Connection, take: &str) -> Result<Option<HistoryEntry>, Error> {
    let Some(position) = PositionRow::select_first(connection, "take = ?", [take])? else { return Ok(None) };
    HistoryEntry::select_first(connection, "id = ?", [position.entry])
}

/// Deletes entries of a take beyond [`MAX_ENTRIES`], oldest first, and texts without references.
fn delete_oldest(connection: &Connection, take: &str, current: i64) -> Result<(), Error> {
    let limit = i64::try_from(MAX_ENTRIES).unwrap_or(i64::MAX);
    let oldest_kept: Option<i64> = connection
        .query_row(
            "SELECT id FROM entry WHERE take = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2",
            (take, limit - 1),
            |row| row.get(0),
        )
        .optional()?;
    let Some(oldest_kept) = oldest_kept else { return Ok(()) };
    let deleted = connection.execute(
        "DELETE FROM entry WHERE take = ?1 AND id < ?2 AND id <> ?3",
        (take, oldest_kept, current),
    )?;
    if 0 < deleted {
        connection.execute(UNREFERENCED_STATES, [])?;
    }
    Ok(())
}

struct StateRow {
    hash: ContentHash,
    text: Vec<u8>,
}

impl StoredRow for StateRow {
    const TABLE: &'static str = "state";
    const LABEL: &'static str = "state";
    const COLUMNS: &'static str = "hash, text";

    fn fields(&self) -> RowFields<'_> {
        RowFields::new("history state 1").bytes(self.hash.as_bytes()).bytes(&self.text)
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        Some(Self { hash: columns.hash(0)?, text: columns.bytes(1)?.to_vec() })
    }
}

impl StoredRow for HistoryEntry {
    const TABLE: &'static str = "entry";
    const LABEL: &'static str = "entry";
    const COLUMNS: &'static str = "id, take, state, parent, label, at_ms";

    fn fields(&self) -> RowFields<'_> {
        let fields = RowFields::new("history entry 1").number(self.id).text(&self.take);
        let fields = fields.bytes(self.state.as_bytes()).optional_number(self.parent);
        fields.optional_text(self.label.as_deref()).number(self.at_ms)
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        Some(Self {
            id: columns.number(0)?,
            take: columns.text(1)?.to_owned(),
            state: columns.hash(2)?,
            parent: columns.optional_number(3)?,
            label: columns.optional_text(4)?.map(str::to_owned),
            at_ms: columns.number(5)?,
        })
    }
}

struct PositionRow {
    take: String,
    entry: i64,
}

impl StoredRow for PositionRow {
    const TABLE: &'static str = "position";
    const LABEL: &'static str = "position";
    const COLUMNS: &'static str = "take, entry";

    fn fields(&self) -> RowFields<'_> {
        RowFields::new("history position 1").text(&self.take).number(self.entry)
    }

    fn parse(columns: &RowColumns<'_>) -> Option<Self> {
        Some(Self { take: columns.text(0)?.to_owned(), entry: columns.number(1)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::DatabaseFolder;

    fn record(db: &mut HistoryDb, take: &str, text: &str, label: Option<&str>) {
        let change = db.begin().unwrap();
        change.record(take, text.as_bytes(), label, 1).unwrap();
        change.commit().unwrap();
    }

    fn text(db: &mut HistoryDb, text: &str) -> Option<Vec<u8>> {
        db.begin().unwrap().text(&ContentHash::digest(text.as_bytes())).unwrap()
    }

    #[test]
    fn an_edit_after_an_undo_begins_a_branch_and_each_text_is_stored_once() {
        let folder = DatabaseFolder::new(HISTORY_DATABASE);
        let mut db = HistoryDb::open(&folder.file()).unwrap();
        for (text, label) in [("a", None), ("b", Some("B")), ("b", None), ("c", Some("C")), ("a", Some("A"))]
        {
            record(&mut db, "main", text, label);
        }
        let second = db.entries("main").unwrap().remove(1);
        let change = db.begin().unwrap();
        change.move_to(&second).unwrap();
        change.commit().unwrap();
        record(&mut db, "main", "d", Some("D"));
        // An uncommitted change has no effect.
        db.begin().unwrap().record("main", b"e", None, 1).unwrap();
        let entries = db.entries("main").unwrap();
        let found: Vec<_> =
            entries.iter().map(|entry| (entry.id, entry.parent, entry.label.as_deref())).collect();
        let expected = [
            (1, None, None),
            (2, Some(1), Some("B")),
            (3, Some(2), Some("C")),
            (4, Some(3), Some("A")),
            (5, Some(2), Some("D")),
        ];
        assert_eq!(found, expected);
        assert_eq!(db.current("main").unwrap().unwrap().id, 5);
        assert_eq!(db.current("other").unwrap(), None);
        let states: i64 =
            folder.raw_connection().query_row("SELECT count(*) FROM state", [], |row| row.get(0)).unwrap();
        assert_eq!(states, 4);
    }

    #[test]
    fn the_history_of_a_take_is_renamed_and_deleted_with_it() {
        let folder = DatabaseFolder::new(HISTORY_DATABASE);
        let mut db = HistoryDb::open(&folder.file()).unwrap();
        for (take, state) in [("main", "a"), ("old", "b"), ("old", "c"), ("new", "left over")] {
            record(&mut db, take, state, None);
        }
        let change = db.begin().unwrap();
        change.rename_take("old", "new").unwrap();
        change.commit().unwrap();
        let ids = |take| db.entries(take).unwrap().iter().map(|entry| entry.id).collect::<Vec<_>>();
        assert_eq!((ids("old"), ids("new"), ids("main")), (vec![], vec![2, 3], vec![1]));
        assert_eq!(db.current("new").unwrap().map(|entry| entry.id), Some(3));
        let change = db.begin().unwrap();
        change.delete_take("new").unwrap();
        change.commit().unwrap();
        assert_eq!(db.current("new").unwrap(), None);
        let kept = ["a", "b", "c", "left over"].map(|state| text(&mut db, state).is_some());
        assert_eq!(kept, [true, false, false, false]);
    }

    #[test]
    fn the_oldest_entries_are_deleted_with_their_texts() {
        let folder = DatabaseFolder::new(HISTORY_DATABASE);
        let mut db = HistoryDb::open(&folder.file()).unwrap();
        record(&mut db, "other", "kept", None);
        for number in 0..MAX_ENTRIES + 2 {
            record(&mut db, "main", &number.to_string(), None);
        }
        let entries = db.entries("main").unwrap();
        assert_eq!((entries.len(), entries[0].id), (MAX_ENTRIES, 4));
        assert_eq!(text(&mut db, "0"), None);
        assert!(text(&mut db, "kept").is_some());
    }

    #[test]
    fn a_damaged_history_is_set_aside() {
        let folder = DatabaseFolder::new(HISTORY_DATABASE);
        folder.raw_connection().execute("CREATE TABLE other (x)", []).unwrap();
        let mut db = HistoryDb::open(&folder.file()).unwrap();
        record(&mut db, "main", "a", None);
        assert!(folder.path("takes.db.damaged").exists());
        // A row that was changed from outside is not returned.
        folder.raw_connection().execute("UPDATE state SET text = x'00'", []).unwrap();
        assert_eq!(text(&mut db, "a"), None);
    }
}
