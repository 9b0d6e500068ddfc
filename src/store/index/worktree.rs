//! The tables `worktree`, `worktree_page` and `listing`: the files of linked worktrees, which share everything else
//! with the checkout that contains the cache.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::file::FileRow;
use super::open::Store;
use super::page::{
    PageFile, decode_page, encode_listing, encode_stamps, listed_contents, page_checksum, page_of,
};
use super::scope::{scoped, worktree_names};
use super::{content, delivered, fragment};
use crate::model::{ContentHash, RelPath};
use crate::store::compression;
use crate::store::database::IntegrityReport;
use crate::store::error::Error;
use crate::store::row::{RowChecksum, execute};

impl Store {
    /// Selects the linked worktree to which this connection's files, named facts and deliveries belong. By default they
    /// belong to the checkout that contains the cache.
    pub fn select_worktree(&mut self, name: &str) {
        self.worktree = Some(name.to_owned());
    }

    /// Deletes the linked worktrees for which `is_there` returns false; returns how many there were. Contents that only
    /// they had become garbage.
    pub fn delete_worktrees(&mut self, is_there: &dyn Fn(&str) -> bool, now_s: i64) -> Result<usize, Error> {
        // Looked up before a transaction begins, because there is usually nothing to delete.
        if worktree_names(&self.database.connection)?.iter().all(|name| is_there(name)) {
            return Ok(0);
        }
        let transaction = self.begin()?;
        let names = worktree_names(&transaction)?;
        let gone: Vec<&String> = names.iter().filter(|name| !is_there(name)).collect();
        let held = held_contents(&transaction)?;
        for name in &gone {
            delete(&transaction, name)?;
            fragment::delete_worktree(&transaction, name)?;
        }
        let still_held = held_contents(&transaction)?;
        for id in held.difference(&still_held) {
            content::restart_idle_time(&transaction, *id, now_s)?;
        }
        transaction.commit()?;
        Ok(gone.len())
    }

    /// Returns all files of a linked worktree, in arbitrary order.
    pub(super) fn worktree_files(&self, worktree: &str) -> Result<Vec<FileRow>, Error> {
        let connection = &self.database.connection;
        let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE name = ?1"))?;
        let mut rows = statement.query([worktree])?;
        let mut files = Vec::new();
        while let Some(row) = rows.next()? {
            match from_row(connection, row)? {
                Some(page) => files.extend(page.into_iter().map(|file| file.row)),
                None => self.record_damage(),
            }
        }
        Ok(files)
    }

    /// Returns the row of a file of a linked worktree.
    pub(super) fn worktree_file(&self, worktree: &str, path: &RelPath) -> Result<Option<FileRow>, Error> {
        let connection = &self.database.connection;
        let files = match select_page(connection, worktree, page_of(path))? {
            StoredPage::Absent => return Ok(None),
            StoredPage::Damaged => {
                self.record_damage();
                return Ok(None);
            }
            StoredPage::Intact(files) => files,
        };
        Ok(files.into_iter().map(|file| file.row).find(|row| row.path == *path))
    }

    /// Returns how many files a linked worktree has.
    pub(super) fn worktree_file_count(&self, worktree: &str) -> Result<u64, Error> {
        let query = "SELECT coalesce(sum(files), 0) FROM worktree_page
             WHERE worktree_id = (SELECT id FROM worktree WHERE name = ?1)";
        let mut statement = self.database.connection.prepare_cached(query)?;
        let files: i64 = statement.query_row([worktree], |row| row.get(0))?;
        Ok(files.cast_unsigned())
    }
}

/// Returns the ids of the contents of files in linked worktrees.
pub(super) fn held_contents(connection: &Connection) -> Result<HashSet<i64>, Error> {
    let query = "SELECT body FROM listing WHERE id IN (SELECT listing_id FROM worktree_page)";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query([])?;
    let mut held = HashSet::new();
    while let Some(row) = rows.next()? {
        if let Some(listing) = row.get_ref(0)?.as_blob().ok().and_then(compression::decompress) {
            held.extend(listed_contents(&listing));
        }
    }
    Ok(held)
}

/// Inserts or replaces files of a linked worktree, each with the id of its content, and deletes others. Returns the ids
/// of the contents that these files no longer have.
pub(super) fn write_files(
    connection: &Connection,
    worktree: &str,
    files: &[(&FileRow, Option<i64>)],
    removed: &[RelPath],
) -> Result<BTreeSet<i64>, Error> {
    let id = get_or_insert(connection, worktree)?;
    let mut changes: BTreeMap<u8, PageChanges<'_>> = BTreeMap::new();
    for path in removed {
        changes.entry(page_of(path)).or_default().removed.push(path);
    }
    for (row, content_id) in files {
        changes.entry(page_of(&row.path)).or_default().files.push((row, *content_id));
    }
    let mut left = BTreeSet::new();
    for (page, changes) in changes {
        let before = match select_page(connection, worktree, page)? {
            StoredPage::Intact(files) => files,
            // The files of a damaged page are read again.
            StoredPage::Absent | StoredPage::Damaged => Vec::new(),
        };
        let held =
            |files: &[PageFile]| files.iter().filter_map(|file| file.content_id).collect::<HashSet<_>>();
        let held_before = held(&before);
        let after = changes.apply(before);
        write_page(connection, id, worktree, page, &after)?;
        left.extend(held_before.difference(&held(&after)));
    }
    Ok(left)
}

/// Deletes files of a linked worktree, and adds the ids of their contents to `left`. Returns how many files there were.
pub(super) fn delete_files(
    connection: &Connection,
    worktree: &str,
    paths: &[RelPath],
    left: &mut BTreeSet<i64>,
) -> Result<u64, Error> {
    let count = || -> Result<i64, Error> {
        let query = "SELECT coalesce(sum(files), 0) FROM worktree_page";
        Ok(connection.query_row(query, [], |row| row.get(0))?)
    };
    let before = count()?;
    left.extend(write_files(connection, worktree, &[], paths)?);
    Ok(before.abs_diff(count()?))
}

#[derive(Default)]
struct PageChanges<'a> {
    removed: Vec<&'a RelPath>,
    files: Vec<(&'a FileRow, Option<i64>)>,
}

impl PageChanges<'_> {
    /// Returns the files of a page after these changes, by path. A path that is also in `files` exists again.
    fn apply(self, files: Vec<PageFile>) -> Vec<PageFile> {
        let mut files: BTreeMap<RelPath, PageFile> =
            files.into_iter().map(|file| (file.row.path.clone(), file)).collect();
        for path in self.removed {
            files.remove(path);
        }
        for (row, content_id) in self.files {
            files.insert(row.path.clone(), PageFile { row: row.clone(), content_id });
        }
        files.into_values().collect()
    }
}

fn write_page(
    connection: &Connection,
    id: i64,
    worktree: &str,
    page: u8,
    files: &[PageFile],
) -> Result<(), Error> {
    let before: Option<i64> = connection
        .prepare_cached("SELECT listing_id FROM worktree_page WHERE worktree_id = ?1 AND page = ?2")?
        .query_row(params![id, page], |row| row.get(0))
        .optional()?;
    if files.is_empty() {
        let query = "DELETE FROM worktree_page WHERE worktree_id = ?1 AND page = ?2";
        execute(connection, query, params![id, page])?;
    } else {
        let listing = get_or_insert_listing(connection, &encode_listing(files))?;
        let stamps = encode_stamps(files);
        let ck = page_checksum(worktree, page, files, &stamps);
        let query = "INSERT OR REPLACE INTO worktree_page (worktree_id, page, files, listing_id, stamps, ck)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        execute(connection, query, params![id, page, files.len().cast_signed(), listing, stamps, ck])?;
    }
    match before {
        Some(before) => delete_orphaned_listing(connection, before),
        None => Ok(()),
    }
}

fn delete_orphaned_listing(connection: &Connection, id: i64) -> Result<(), Error> {
    let query = "DELETE FROM listing
         WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM worktree_page WHERE listing_id = ?1)";
    execute(connection, query, [id]).map(drop)
}

/// Returns the id of a listing, which is inserted if it is new.
fn get_or_insert_listing(connection: &Connection, listing: &[u8]) -> Result<i64, Error> {
    let hash = ContentHash::digest(listing);
    let sha = &hash.as_bytes()[..16];
    let stored: Option<(i64, Vec<u8>)> = connection
        .prepare_cached("SELECT id, body FROM listing WHERE sha = ?1")?
        .query_row([sha], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((id, body)) = stored {
        if compression::decompress(&body).as_deref() != Some(listing) {
            let body = compression::compress(listing);
            execute(connection, "UPDATE listing SET body = ?2 WHERE id = ?1", params![id, body])?;
        }
        return Ok(id);
    }
    let body = compression::compress(listing);
    execute(connection, "INSERT INTO listing (sha, body) VALUES (?1, ?2)", params![sha, body])?;
    Ok(connection.last_insert_rowid())
}

fn get_or_insert(connection: &Connection, name: &str) -> Result<i64, Error> {
    execute(connection, "INSERT OR IGNORE INTO worktree (name) VALUES (?1)", [name])?;
    let query = "SELECT id FROM worktree WHERE name = ?1";
    Ok(connection.prepare_cached(query)?.query_row([name], |row| row.get(0))?)
}

/// Deletes everything of one linked worktree; returns how many files it had.
pub(super) fn delete(connection: &Connection, name: &str) -> Result<u64, Error> {
    let of_worktree = "worktree_id = (SELECT id FROM worktree WHERE name = ?1)";
    let query = format!("SELECT coalesce(sum(files), 0) FROM worktree_page WHERE {of_worktree}");
    let files: i64 = connection.query_row(&query, [name], |row| row.get(0))?;
    connection.execute(&format!("DELETE FROM worktree_page WHERE {of_worktree}"), [name])?;
    execute(connection, "DELETE FROM worktree WHERE name = ?1", [name])?;
    delete_orphaned_listings(connection)?;
    let prefix = scoped(Some(name), "");
    for query in [
        "DELETE FROM meta WHERE substr(key, 1, length(?1)) = ?1",
        "DELETE FROM given WHERE substr(name, 1, length(?1)) = ?1",
        "DELETE FROM given_document WHERE substr(name, 1, length(?1)) = ?1",
    ] {
        execute(connection, query, [&prefix])?;
    }
    delivered::delete_orphaned_texts(connection)?;
    Ok(files.cast_unsigned())
}

fn delete_orphaned_listings(connection: &Connection) -> Result<(), Error> {
    let query = "DELETE FROM listing WHERE id NOT IN (SELECT listing_id FROM worktree_page)";
    execute(connection, query, []).map(drop)
}

/// Deletes the pages that are damaged or refer to a missing content.
pub(super) fn verify(connection: &Connection, report: &mut IntegrityReport) -> Result<(), Error> {
    let mut doomed: Vec<(i64, i64)> = Vec::new();
    let mut statement = connection.prepare(SELECT)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        report.rows += 1;
        if from_row(connection, row)?.is_none() {
            report.damaged_rows.push("files of a worktree".to_owned());
            doomed.push((row.get(4)?, row.get(3)?));
        }
    }
    for key in doomed {
        execute(connection, "DELETE FROM worktree_page WHERE worktree_id = ?1 AND page = ?2", key)?;
    }
    delete_orphaned_listings(connection)
}

// LEFT JOIN, because a page without its worktree or its listing is damaged.
const SELECT: &str = "
    SELECT body, stamps, worktree_page.ck, page, worktree_id, name
    FROM worktree_page
    LEFT JOIN listing ON listing.id = listing_id
    LEFT JOIN worktree ON worktree.id = worktree_id";

enum StoredPage {
    Absent,
    Damaged,
    Intact(Vec<PageFile>),
}

fn select_page(connection: &Connection, worktree: &str, page: u8) -> Result<StoredPage, Error> {
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE name = ?1 AND page = ?2"))?;
    let mut rows = statement.query(params![worktree, page])?;
    let Some(row) = rows.next()? else { return Ok(StoredPage::Absent) };
    Ok(from_row(connection, row)?.map_or(StoredPage::Damaged, StoredPage::Intact))
}

/// Reads a page from the columns of [`SELECT`]; `None` if they are damaged.
fn from_row(connection: &Connection, row: &Row<'_>) -> Result<Option<Vec<PageFile>>, Error> {
    let bytes = |column| row.get_ref(column).ok()?.as_blob().ok();
    let columns = || {
        let listing = compression::decompress(bytes(0)?)?;
        let ck: RowChecksum = row.get(2).ok()?;
        let page = u8::try_from(row.get::<_, i64>(3).ok()?).ok()?;
        Some((listing, bytes(1)?, ck, page, row.get_ref(5).ok()?.as_str().ok()?))
    };
    let Some((listing, stamps, stored, page, worktree)) = columns() else { return Ok(None) };
    let files = decode_page(connection, &listing, stamps)?;
    Ok(files.filter(|files| page_checksum(worktree, page, files, stamps) == stored))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TempStore, batch, hash, producers, removal, row};
    use super::super::upkeep::ClearScope;
    use super::*;
    use crate::model::SkipReason;
    use crate::store::index::{DeliveryUpdate, StoredFileState};

    fn open(sandbox: &TempStore, worktree: &str) -> Store {
        let mut store = sandbox.open();
        store.select_worktree(worktree);
        store
    }

    fn names(store: &Store) -> Vec<String> {
        store.files().unwrap().into_iter().map(|file| file.path.to_string()).collect()
    }

    /// A checkout with `a.py`, and two worktrees: `one` with the same file and `b.py`, `two` with a different `a.py`.
    fn filled() -> TempStore {
        let sandbox = TempStore::new();
        sandbox.open().save(&batch(&[("a.py", "alpha")], 1)).unwrap();
        open(&sandbox, "one").save(&batch(&[("a.py", "alpha"), ("d/b.py", "beta")], 1)).unwrap();
        open(&sandbox, "two").save(&batch(&[("a.py", "gamma")], 1)).unwrap();
        sandbox
    }

    fn is_derived(sandbox: &TempStore, text: &str) -> bool {
        sandbox.open().has_artifacts(&hash(text), &producers()).unwrap()
    }

    #[test]
    fn each_worktree_has_its_own_files_facts_and_deliveries() {
        let sandbox = filled();
        let (main, mut one, two) = (sandbox.open(), open(&sandbox, "one"), open(&sandbox, "two"));
        assert_eq!(main.files().unwrap(), [row("a.py", "alpha")]);
        assert_eq!(one.files().unwrap(), [row("a.py", "alpha"), row("d/b.py", "beta")]);
        assert_eq!(two.file(&row("a.py", "").path).unwrap(), Some(row("a.py", "gamma")));
        assert_eq!(two.file(&row("d/b.py", "").path).unwrap(), None);
        one.save(&removal(&["a.py"], 2)).unwrap();
        assert_eq!((names(&one), names(&main)), (vec!["d/b.py".to_owned()], vec!["a.py".to_owned()]));
        one.set_meta("key", b"one").unwrap();
        assert_eq!((main.get_meta("key").unwrap(), two.get_meta("key").unwrap()), (None, None));
        assert_eq!(one.list_meta("k").unwrap(), [("key".to_owned(), b"one".to_vec())]);
        one.record_delivery(
            "x",
            &DeliveryUpdate { removed: vec![row("a", "").path], ..Default::default() },
            1,
        )
        .unwrap();
        assert!(one.delivery_version("x").unwrap().is_some());
        assert_eq!(two.delivery_version("x").unwrap(), None);
        assert!(one.verify().unwrap().damaged_rows.is_empty());
    }

    #[test]
    fn stamps_and_files_without_contents_round_trip() {
        let sandbox = TempStore::new();
        let mut store = open(&sandbox, "one");
        let mut files = batch(&[], 1);
        for at in 0..100_i64 {
            let mut file = row(&format!("d{}/{at}", at % 7), "text");
            let stamp = file.stamp.as_mut().unwrap();
            (stamp.mtime_ns, stamp.ctime_ns) = (at * 1_000_003, at * 1_000_009);
            stamp.ino = 1_u64.rotate_right(u32::try_from(at % 3).unwrap());
            stamp.size = u64::MAX - at.cast_unsigned();
            file.read_at_ns = stamp.ctime_ns + at;
            match at % 5 {
                0 => file.stamp = None,
                1 => file.state = StoredFileState::LeftOut(SkipReason::TooLarge),
                _ => {}
            }
            files.files.push(file);
        }
        store.save(&files).unwrap();
        files.files.sort_by(|a, b| a.path.cmp(&b.path));
        assert_eq!(store.files().unwrap(), files.files);
        assert_eq!(store.file_count().unwrap(), 100);
    }

    #[test]
    fn a_time_of_reading_is_rounded_only_if_the_stamp_stays_equally_trusted() {
        let sandbox = TempStore::new();
        let mut store = open(&sandbox, "one");
        let read_after = |store: &mut Store, rest: i64| {
            let mut files = batch(&[("a.py", "alpha")], 1);
            files.files[0].read_at_ns = 7 + rest;
            store.save(&files).unwrap();
            store.files().unwrap()[0].read_at_ns - 7
        };
        assert_eq!(read_after(&mut store, 55_000_001), 55_000_001);
        let young = read_after(&mut store, 1_000_000_001);
        assert!((983_000_000..=1_000_000_001).contains(&young), "{young}");
        assert_eq!(read_after(&mut store, 99_000_000_000), 3_000_000_000);
    }

    #[test]
    fn a_page_of_another_worktree_or_with_other_contents_is_not_returned() {
        for harm in [
            "UPDATE worktree SET name = 'three' WHERE name = 'one'",
            "UPDATE worktree_page SET worktree_id = 9 - worktree_id",
            "UPDATE worktree_page SET stamps = x'00'",
            "UPDATE worktree_page SET listing_id = 3 - listing_id",
            "UPDATE content SET sha = randomblob(32)",
            "UPDATE content SET id = id + 10",
            "UPDATE listing SET body = x'0001'",
        ] {
            let sandbox = filled();
            sandbox
                .raw_connection()
                .execute_batch(&format!("PRAGMA ignore_check_constraints = 1; {harm}"))
                .unwrap();
            for (worktree, own) in [("one", ["alpha", "beta"]), ("two", ["gamma", ""]), ("three", ["", ""])] {
                let mut store = open(&sandbox, worktree);
                for file in store.files().unwrap() {
                    let StoredFileState::Content { hash: found, .. } = &file.state else { panic!("{harm}") };
                    assert!(own.iter().any(|text| hash(text) == *found), "{harm}: {file:?}");
                }
                store.save(&batch(&[("a.py", own[0])], 2)).unwrap();
                assert_eq!(store.file(&row("a.py", "").path).unwrap(), Some(row("a.py", own[0])), "{harm}");
            }
        }
    }

    #[test]
    fn garbage_is_what_no_worktree_holds() {
        let sandbox = filled();
        let mut main = sandbox.open();
        main.save(&removal(&["a.py"], 5)).unwrap();
        let all = || ["alpha", "beta", "gamma"].map(|text| is_derived(&sandbox, text));
        main.collect_garbage(i64::MAX, &producers()).unwrap();
        assert_eq!(all(), [true; 3]);
        assert_eq!(main.size().unwrap().idle_contents, 0);
        // Contents of a removed worktree are kept for as long as those of a removed file.
        assert_eq!(main.delete_worktrees(&|name| name == "two", 50).unwrap(), 1);
        main.collect_garbage(50, &producers()).unwrap();
        assert_eq!(all(), [true; 3]);
        main.collect_garbage(51, &producers()).unwrap();
        assert_eq!(all(), [false, false, true]);
        assert_eq!(names(&open(&sandbox, "one")), [""; 0]);
        // So is the previous content of a changed file in a worktree.
        open(&sandbox, "two").save(&batch(&[("a.py", "delta")], 60)).unwrap();
        main.collect_garbage(60, &producers()).unwrap();
        assert!(is_derived(&sandbox, "gamma"));
        main.collect_garbage(61, &producers()).unwrap();
        assert!(!is_derived(&sandbox, "gamma") && is_derived(&sandbox, "delta"));
    }

    #[test]
    fn clearing_one_worktree_does_not_affect_others() {
        let sandbox = filled();
        let freed = open(&sandbox, "one").clear(&ClearScope::All).unwrap();
        assert_eq!((freed.files, freed.contents, freed.other_worktrees), (2, 1, 2));
        assert!(is_derived(&sandbox, "alpha") && is_derived(&sandbox, "gamma"));
        let freed = sandbox.open().clear(&ClearScope::All).unwrap();
        assert_eq!((freed.files, freed.contents, freed.other_worktrees), (1, 1, 1));
        assert_eq!(names(&open(&sandbox, "two")), ["a.py"]);
        let file = ClearScope::Files(vec![row("a.py", "").path]);
        let freed = open(&sandbox, "two").clear(&file).unwrap();
        assert_eq!((freed.files, freed.contents, freed.other_worktrees), (1, 1, 0));
        let freed = open(&sandbox, "two").clear(&ClearScope::All).unwrap();
        assert_eq!((freed.files, freed.contents), (0, 0));
    }

    #[test]
    fn equal_worktrees_share_their_listings() {
        let sandbox = TempStore::new();
        let texts: Vec<(String, String)> =
            (0..500).map(|at| (format!("d{}/file_{at}.py", at / 40), format!("text {at}"))).collect();
        let files: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (&**name, &**text)).collect();
        open(&sandbox, "first").save(&batch(&files, 1)).unwrap();
        let count =
            |query: &str| -> i64 { sandbox.raw_connection().query_row(query, [], |row| row.get(0)).unwrap() };
        let listings = count("SELECT count(*) FROM listing");
        for at in 0..20 {
            open(&sandbox, &format!("tree {at}")).save(&batch(&files, 1)).unwrap();
        }
        assert_eq!(count("SELECT count(*) FROM listing"), listings);
        let bytes = count("SELECT sum(length(stamps) + 40) / 21 FROM worktree_page");
        assert!(bytes < 3_000, "{bytes} bytes for each worktree");
        // A listing without references is deleted.
        sandbox.open().delete_worktrees(&|_| false, 1).unwrap();
        assert_eq!(count("SELECT count(*) FROM listing"), 0);
    }
}
