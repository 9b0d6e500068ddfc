//! The tables `given` and `given_text`: what the last aggregation of each name delivered of each file.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::delivered_document::{self, DeliveredDocument, select_names};
use super::meta;
use super::open::Store;
use super::scope::{scoped, split_scope, worktree_names};
use crate::model::{ContentHash, RelPath, SECONDS_A_DAY, ViewMode};
use crate::store::compression;
use crate::store::database::IntegrityReport;
use crate::store::error::Error;
use crate::store::row::{RowChecksum, RowFields, delete_damaged, execute};

/// The key prefix of the time when a name was last used.
const USED_AT_PREFIX: &str = "given/";
/// The key prefix of the version of a delivery, which changes with every write.
const VERSION_PREFIX: &str = "given-mark/";
/// The key prefix of the last request under a name.
const REQUEST_PREFIX: &str = "given-request/";
/// The time of use is updated when it is older than this, so that most runs write nothing.
const MAX_USED_AT_AGE_S: i64 = SECONDS_A_DAY;

/// What was delivered of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveredFile {
    pub path: RelPath,
    pub view: ViewMode,
    pub shown: ContentHash,
    /// A hash of what would have been shown without a limit.
    pub wanted: ContentHash,
}

/// The changes of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeliveryUpdate {
    /// Files that are new or shown differently, each with the shown text, unless it is not stored.
    pub changed: Vec<(DeliveredFile, Option<String>)>,
    /// Files that are no longer delivered.
    pub removed: Vec<RelPath>,
    /// The document, if it is stored for comparison with later ones.
    pub document: Option<DeliveredDocument>,
    /// A hash of the request; `None` if it is unchanged.
    pub request: Option<ContentHash>,
}

/// The versions of a delivery before and after an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionChange {
    /// `None` if nothing was delivered under the name.
    pub before: Option<Vec<u8>>,
    pub after: Vec<u8>,
}

impl Store {
    /// Returns the files delivered under a name, by path.
    pub fn delivered_files(&self, name: &str) -> Result<Vec<DeliveredFile>, Error> {
        let mut statement = self
            .database
            .connection
            .prepare_cached("SELECT path, view, shown, wanted, text_id, ck FROM given WHERE name = ?1")?;
        let name = scoped(self.worktree.as_deref(), name);
        let mut rows = statement.query([&name])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            match from_row(row, &name) {
                Some((given, _)) => found.push(given),
                None => self.record_damage(),
            }
        }
        Ok(found)
    }

    /// Returns the version of the delivery under a name, which changes with everything in it.
    pub fn delivery_version(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.get_meta(&format!("{VERSION_PREFIX}{name}"))
    }

    /// Returns the hash of the last request under a name.
    pub fn delivered_request(&self, name: &str) -> Result<Option<ContentHash>, Error> {
        let value = self.get_meta(&format!("{REQUEST_PREFIX}{name}"))?;
        Ok(value.and_then(|value| value.try_into().ok()).map(ContentHash::from_bytes))
    }

    /// Returns the delivered text of a file; `None` if it was not stored.
    pub fn delivered_text(&self, name: &str, path: &RelPath) -> Result<Option<String>, Error> {
        let mut statement = self.database.connection.prepare_cached(
            "SELECT body, given_text.ck FROM given JOIN given_text ON id = text_id WHERE name = ?1 AND path = ?2",
        )?;
        let name = scoped(self.worktree.as_deref(), name);
        let mut rows = statement.query(params![name, path.as_bytes()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let text = text_from_row(row, 0, &name, path.as_bytes());
        if text.is_none() {
            self.record_damage();
        }
        Ok(text)
    }

    /// Stores the changes of the delivery under a name atomically. Returns the versions before and after them; `None` if
    /// nothing has changed.
    pub fn record_delivery(
        &mut self,
        name: &str,
        update: &DeliveryUpdate,
        at_s: i64,
    ) -> Result<Option<VersionChange>, Error> {
        let name = &*scoped(self.worktree.as_deref(), name).into_owned();
        let key = meta_key(USED_AT_PREFIX, name);
        let used = meta::get_intact(&self.database.connection, &key)?
            .and_then(|value| value.try_into().ok())
            .map(i64::from_le_bytes);
        let is_fresh =
            used.is_some_and(|used| (used..used.saturating_add(MAX_USED_AT_AGE_S)).contains(&at_s));
        let is_known = match &update.document {
            Some(document) => delivered_document::is_recorded(&self.database.connection, name, document)?,
            None => true,
        };
        let request_key = meta_key(REQUEST_PREFIX, name);
        let last_request = meta::get_intact(&self.database.connection, &request_key)?;
        let request = update.request.filter(|request| last_request.as_deref() != Some(request.as_bytes()));
        let has_changed = request.is_some() || !update.changed.is_empty() || !update.removed.is_empty();
        if is_fresh && is_known && !has_changed {
            return Ok(None);
        }
        let transaction = self.begin()?;
        if let Some(document) = &update.document {
            delivered_document::record(&transaction, name, document)?;
        }
        meta::upsert(&transaction, &key, &at_s.to_le_bytes())?;
        if let Some(request) = &request {
            meta::upsert(&transaction, &request_key, request.as_bytes())?;
        }
        let mut versions = None;
        if has_changed {
            let key = meta_key(VERSION_PREFIX, name);
            let before = meta::get_intact(&transaction, &key)?;
            let after = next_version(before.clone().unwrap_or_default(), update, at_s);
            meta::upsert(&transaction, &key, after.as_bytes())?;
            versions = Some(VersionChange { before, after: after.as_bytes().to_vec() });
        }
        for (row, text) in &update.changed {
            delete(&transaction, name, row.path.as_bytes())?;
            insert(&transaction, name, row, text.as_deref())?;
        }
        for path in &update.removed {
            delete(&transaction, name, path.as_bytes())?;
        }
        transaction.commit()?;
        Ok(versions)
    }
}

/// Returns the version after these changes.
fn next_version(mut before: Vec<u8>, update: &DeliveryUpdate, at_s: i64) -> ContentHash {
    before.extend_from_slice(&at_s.to_le_bytes());
    for (row, _) in &update.changed {
        before.extend_from_slice(row.path.as_bytes());
        before.extend_from_slice(row.shown.as_bytes());
        before.extend_from_slice(row.wanted.as_bytes());
    }
    for path in &update.removed {
        before.extend_from_slice(path.as_bytes());
        before.push(0);
    }
    if let Some(request) = &update.request {
        before.extend_from_slice(request.as_bytes());
    }
    ContentHash::digest(&before)
}

/// Returns the key of a fact about a name, which belongs to the same worktree as the name.
fn meta_key(prefix: &str, name: &str) -> String {
    let (worktree, name) = split_scope(name);
    scoped(worktree, &format!("{prefix}{name}")).into_owned()
}

/// Deletes all versions of a worktree, because rows are deleted outside of a delivery.
fn delete_versions(connection: &Connection, worktree: Option<&str>) -> Result<(), Error> {
    let prefix = scoped(worktree, VERSION_PREFIX);
    execute(connection, "DELETE FROM meta WHERE substr(key, 1, length(?1)) = ?1", [prefix]).map(drop)
}

fn insert(connection: &Connection, name: &str, row: &DeliveredFile, text: Option<&str>) -> Result<(), Error> {
    let path = row.path.as_bytes();
    let mut text_id = None;
    if let Some(text) = text {
        let values = params![compression::compress(text.as_bytes()), text_checksum(name, path, text)];
        execute(connection, "INSERT INTO given_text (body, ck) VALUES (?1, ?2)", values)?;
        text_id = Some(connection.last_insert_rowid());
    }
    let (view, shown, wanted) = (row.view.name(), row.shown.as_bytes(), row.wanted.as_bytes());
    let ck = checksum(name, path, view, shown, wanted, text_id);
    let query = "INSERT INTO given (name, path, view, shown, wanted, text_id, ck) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    execute(connection, query, params![name, path, view, shown, wanted, text_id, ck]).map(drop)
}

fn delete(connection: &Connection, name: &str, path: &[u8]) -> Result<(), Error> {
    let text_id: Option<Option<i64>> = connection
        .prepare_cached("DELETE FROM given WHERE name = ?1 AND path = ?2 RETURNING text_id")?
        .query_row(params![name, path], |row| row.get(0))
        .optional()?;
    if let Some(text_id) = text_id.flatten() {
        connection.prepare_cached("DELETE FROM given_text WHERE id = ?1")?.execute([text_id])?;
    }
    Ok(())
}

/// Deletes what was delivered of some files of a worktree, under any name.
pub(super) fn delete_files(
    connection: &Connection,
    worktree: Option<&str>,
    paths: &[RelPath],
) -> Result<(), Error> {
    delete_versions(connection, worktree)?;
    let names = select_names(connection)?.into_iter();
    for name in names.filter(|name| split_scope(name).0 == worktree) {
        // It is not worth looking up the documents that contained a file.
        delivered_document::delete(connection, &name)?;
        paths.iter().try_for_each(|path| delete(connection, &name, path.as_bytes()))?;
    }
    Ok(())
}

/// Deletes the names that have not been used since `before_s`.
pub(super) fn delete_older(connection: &Connection, before_s: i64) -> Result<(), Error> {
    for name in select_names(connection)? {
        let key = meta_key(USED_AT_PREFIX, &name);
        let used = meta::get_intact(connection, &key)?.and_then(|value| value.try_into().ok());
        if used.is_none_or(|used| i64::from_le_bytes(used) < before_s) {
            delivered_document::delete(connection, &name)?;
            execute(connection, "DELETE FROM given WHERE name = ?1", [&name])?;
            meta::delete(connection, &key)?;
            meta::delete(connection, &meta_key(REQUEST_PREFIX, &name))?;
            meta::delete(connection, &meta_key(VERSION_PREFIX, &name))?;
        }
    }
    delete_orphaned_texts(connection)
}

pub(super) fn delete_orphaned_texts(connection: &Connection) -> Result<(), Error> {
    let query =
        "DELETE FROM given_text WHERE id NOT IN (SELECT text_id FROM given WHERE text_id IS NOT NULL)";
    execute(connection, query, []).map(drop)
}

/// Deletes damaged rows, and texts without a row.
pub(super) fn verify(connection: &Connection, report: &mut IntegrityReport) -> Result<(), Error> {
    let query = "SELECT path, view, shown, wanted, text_id, given.ck, body, given_text.ck, name
         FROM given LEFT JOIN given_text ON id = text_id";
    let delete = "DELETE FROM given WHERE name = ?1 AND path = ?2";
    let damaged = |row: &Row<'_>| (!is_intact(row)).then(|| "what an aggregation gave".to_owned());
    if 0 < delete_damaged(connection, query, delete, &[8, 0], damaged, report)? {
        delete_versions(connection, None)?;
        for worktree in worktree_names(connection)? {
            delete_versions(connection, Some(&worktree))?;
        }
    }
    delivered_document::verify(connection, report)?;
    delete_orphaned_texts(connection)
}

/// Returns whether a row and its text, as selected by [`verify`], are intact.
fn is_intact(row: &Row<'_>) -> bool {
    let intact = || {
        let name = row.get_ref(8).ok()?.as_str().ok()?;
        let (given, text_id) = from_row(row, name)?;
        if text_id.is_none() {
            return Some(());
        }
        text_from_row(row, 6, name, given.path.as_bytes()).map(drop)
    };
    intact().is_some()
}

/// Reads a row from six columns: `path, view, shown, wanted, text_id, ck`. `None` if they are damaged.
fn from_row(row: &Row<'_>, name: &str) -> Option<(DeliveredFile, Option<i64>)> {
    let path = row.get_ref(0).ok()?.as_blob().ok()?;
    let view = row.get_ref(1).ok()?.as_str().ok()?;
    let (shown, wanted): ([u8; 32], [u8; 32]) = (row.get(2).ok()?, row.get(3).ok()?);
    let text_id: Option<i64> = row.get(4).ok()?;
    let stored: RowChecksum = row.get(5).ok()?;
    if stored != checksum(name, path, view, &shown, &wanted, text_id) {
        return None;
    }
    let given = DeliveredFile {
        path: RelPath::new(path).ok()?,
        view: ViewMode::from_name(view)?,
        shown: ContentHash::from_bytes(shown),
        wanted: ContentHash::from_bytes(wanted),
    };
    Some((given, text_id))
}

/// Reads a text from two columns: `body, ck`. `None` if they are damaged.
fn text_from_row(row: &Row<'_>, first: usize, name: &str, path: &[u8]) -> Option<String> {
    let body = row.get_ref(first).ok()?.as_blob().ok()?;
    let text = String::from_utf8(compression::decompress(body)?.into_owned()).ok()?;
    let stored: RowChecksum = row.get(first + 1).ok()?;
    (stored == text_checksum(name, path, &text)).then_some(text)
}

fn checksum(
    name: &str,
    path: &[u8],
    view: &str,
    shown: &[u8; 32],
    wanted: &[u8; 32],
    text_id: Option<i64>,
) -> RowChecksum {
    let sum = RowFields::keyed("given/1").text(name).bytes(path).text(view).bytes(shown).bytes(wanted);
    sum.number(text_id.unwrap_or(-1)).checksum()
}

/// Returns the checksum of a text, not of its stored form, so that rows from before compression keep theirs.
fn text_checksum(name: &str, path: &[u8], text: &str) -> RowChecksum {
    RowFields::keyed("given_text/1").text(name).bytes(path).text(text).checksum()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TempStore, batch, hash, path, producers, row};
    use super::super::upkeep::ClearScope;
    use super::*;

    fn given(name: &str, text: &str) -> (DeliveredFile, Option<String>) {
        let (shown, wanted) = (hash(text), hash("all"));
        let row = DeliveredFile { path: path(name), view: ViewMode::Skeleton, shown, wanted };
        (row, Some(text.to_owned()))
    }

    fn update(files: &[(&str, &str)], removed: &[&str]) -> DeliveryUpdate {
        DeliveryUpdate {
            changed: files.iter().map(|(name, text)| given(name, text)).collect(),
            removed: removed.iter().map(|name| path(name)).collect(),
            ..DeliveryUpdate::default()
        }
    }

    fn filled(sandbox: &TempStore) -> Store {
        let mut store = sandbox.open();
        store.record_delivery("x", &update(&[("a.py", "a"), ("b.py", "b")], &[]), 10).unwrap();
        store
    }

    /// Returns the paths and texts delivered under a name.
    fn texts(store: &Store, name: &str) -> Vec<(String, Option<String>)> {
        let rows = store.delivered_files(name).unwrap().into_iter();
        rows.map(|row| (row.path.to_string(), store.delivered_text(name, &row.path).unwrap())).collect()
    }

    fn said(files: &[(&str, &str)]) -> Vec<(String, Option<String>)> {
        files.iter().map(|(name, text)| ((*name).to_owned(), Some((*text).to_owned()))).collect()
    }

    fn count(sandbox: &TempStore, table: &str) -> i64 {
        sandbox
            .raw_connection()
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn a_delivery_is_read_back_only_under_its_name() {
        let sandbox = TempStore::new();
        drop(filled(&sandbox));
        let mut store = sandbox.open();
        assert_eq!(store.delivered_files("x").unwrap()[0], given("a.py", "a").0);
        assert_eq!(texts(&store, "x"), said(&[("a.py", "a"), ("b.py", "b")]));
        assert_eq!(texts(&store, "y"), []);
        store.record_delivery("x", &update(&[("a.py", "new")], &["b.py", "c.py"]), 11).unwrap();
        assert_eq!(texts(&store, "x"), said(&[("a.py", "new")]));
        // Replaced texts are deleted.
        assert_eq!((count(&sandbox, "given_text"), store.damaged_rows()), (1, 0));
    }

    #[test]
    fn the_last_request_is_kept_for_each_name() {
        let sandbox = TempStore::new();
        let mut store = filled(&sandbox);
        assert_eq!(store.delivered_request("x").unwrap(), None);
        let versions = ["one", "two"].map(|request| {
            let update = DeliveryUpdate { request: Some(hash(request)), ..DeliveryUpdate::default() };
            store.record_delivery("x", &update, 11).unwrap();
            assert_eq!(store.delivered_request("x").unwrap(), Some(hash(request)));
            store.delivery_version("x").unwrap()
        });
        assert_ne!(versions[0], versions[1]);
        assert_eq!(store.delivered_request("y").unwrap(), None);
        store.collect_garbage(12, &producers()).unwrap();
        assert_eq!(store.delivered_request("x").unwrap(), None);
    }

    #[test]
    fn a_text_that_is_not_stored_is_none() {
        let sandbox = TempStore::new();
        let mut store = filled(&sandbox);
        let changed = vec![(given("a.py", "new").0, None)];
        store.record_delivery("x", &DeliveryUpdate { changed, ..DeliveryUpdate::default() }, 11).unwrap();
        assert_eq!(texts(&store, "x")[0], ("a.py".to_owned(), None));
        assert!(store.verify().unwrap().damaged_rows.is_empty());
    }

    #[test]
    fn a_damaged_row_is_not_returned_and_is_found_by_verify() {
        for harm in [
            "UPDATE given SET view = 'full' WHERE path = CAST('a.py' AS BLOB)",
            "UPDATE given SET wanted = shown WHERE path = CAST('a.py' AS BLOB)",
            "UPDATE given SET name = 'y' WHERE path = CAST('a.py' AS BLOB)",
            "UPDATE given SET text_id = 2 WHERE path = CAST('a.py' AS BLOB)",
        ] {
            let sandbox = TempStore::new();
            let mut store = filled(&sandbox);
            sandbox.raw_connection().execute_batch(harm).unwrap();
            assert_eq!(texts(&store, "x"), said(&[("b.py", "b")]), "{harm}");
            assert_eq!(store.verify().unwrap().damaged_rows, ["what an aggregation gave"], "{harm}");
            assert!(store.verify().unwrap().damaged_rows.is_empty());
            assert_eq!((count(&sandbox, "given"), count(&sandbox, "given_text")), (1, 1));
        }
    }

    #[test]
    fn a_damaged_text_counts_as_missing() {
        for harm in
            ["UPDATE given_text SET body = x'0062' WHERE id = 1", "DELETE FROM given_text WHERE id = 1"]
        {
            let sandbox = TempStore::new();
            let mut store = filled(&sandbox);
            sandbox.raw_connection().execute_batch(harm).unwrap();
            assert_eq!(texts(&store, "x")[0], ("a.py".to_owned(), None));
            assert_eq!(store.verify().unwrap().damaged_rows.len(), 1);
            assert_eq!(texts(&store, "x"), said(&[("b.py", "b")]));
        }
    }

    #[test]
    fn an_unused_name_is_collected_and_everything_is_cleared() {
        let sandbox = TempStore::new();
        let mut store = filled(&sandbox);
        store.record_delivery("y", &update(&[("a.py", "a")], &[]), 10).unwrap();
        store.record_delivery("y", &update(&[], &[]), 10 + SECONDS_A_DAY).unwrap();
        store.collect_garbage(11, &producers()).unwrap();
        assert_eq!((texts(&store, "x"), texts(&store, "y")), (vec![], said(&[("a.py", "a")])));
        assert_eq!((count(&sandbox, "given_text"), count(&sandbox, "meta")), (1, 2));
        assert!(store.delivery_version("y").unwrap().is_some());
        store.clear(&ClearScope::All).unwrap();
        assert_eq!((count(&sandbox, "given"), count(&sandbox, "given_text")), (0, 0));
    }

    #[test]
    fn clearing_a_file_forgets_its_delivery() {
        let sandbox = TempStore::new();
        let mut store = filled(&sandbox);
        store.clear(&ClearScope::Files(vec![path("a.py")])).unwrap();
        assert_eq!(texts(&store, "x"), said(&[("b.py", "b")]));
        assert_eq!(count(&sandbox, "given_text"), 1);
    }

    #[test]
    fn nothing_is_written_without_changes() {
        let sandbox = TempStore::new();
        let mut store = filled(&sandbox);
        // A second writer would wait for this one.
        let other = sandbox.raw_connection();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        store.record_delivery("x", &update(&[], &[]), 11).unwrap();
    }

    #[test]
    fn a_store_of_the_third_version_keeps_deliveries_and_derives_the_rest_again() {
        let sandbox = TempStore::new();
        let mut store = filled(&sandbox);
        store.save(&batch(&[("a.py", "a")], 1)).unwrap();
        store.set_meta("producers", b"all").unwrap();
        drop(store);
        // As an older version wrote it, with the same checksums, which are those of the text.
        let older = "
            ALTER TABLE given_text RENAME TO newer;
            CREATE TABLE given_text (id INTEGER PRIMARY KEY, text TEXT NOT NULL, ck BLOB NOT NULL) STRICT;
            INSERT INTO given_text SELECT id, CAST(substr(body, 2) AS TEXT), ck FROM newer;
            DROP TABLE newer;
            DROP TABLE given_document;
            DROP TABLE fragment;
            DROP TABLE worktree; DROP TABLE listing; DROP TABLE worktree_page;
            PRAGMA user_version = 3";
        sandbox.raw_connection().execute_batch(older).unwrap();
        let mut store = sandbox.open();
        assert_eq!(texts(&store, "x"), said(&[("a.py", "a"), ("b.py", "b")]));
        assert_eq!(store.files().unwrap(), [row("a.py", "a")]);
        assert_eq!((count(&sandbox, "artifact"), store.get_meta("producers").unwrap()), (0, None));
        assert!(store.verify().unwrap().damaged_rows.is_empty());
    }

    #[test]
    fn a_store_of_the_second_version_keeps_its_data_and_stores_deliveries() {
        let sandbox = TempStore::new();
        sandbox.open().save(&batch(&[("a.py", "a")], 1)).unwrap();
        let older = "DROP TABLE given; DROP TABLE given_text; DROP TABLE given_document; DROP TABLE fragment;
             DROP TABLE worktree; DROP TABLE listing; DROP TABLE worktree_page; PRAGMA user_version = 2";
        sandbox.raw_connection().execute_batch(older).unwrap();
        let mut store = sandbox.open();
        assert_eq!(store.files().unwrap(), [row("a.py", "a")]);
        store.record_delivery("x", &update(&[("a.py", "a")], &[]), 10).unwrap();
        assert_eq!(texts(&store, "x"), said(&[("a.py", "a")]));
    }
}
