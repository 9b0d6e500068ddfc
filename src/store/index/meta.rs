//! The tables `meta`, named facts that are expensive to compute, and `token_count`.

use rusqlite::{Connection, Row, params};

use super::open::Store;
use super::scope::{scoped, split_scope, worktree_names};
use crate::model::ContentHash;
use crate::store::database::IntegrityReport;
use crate::store::error::Error;
use crate::store::row::{RowChecksum, RowFields, delete_damaged, execute};

impl Store {
    /// Stores `value` under `key`, replacing the previous value. The key must contain everything that the value depends
    /// on.
    pub fn set_meta(&mut self, key: &str, value: &[u8]) -> Result<(), Error> {
        let key = scoped(self.worktree.as_deref(), key).into_owned();
        let transaction = self.begin()?;
        upsert(&transaction, &key, value)?;
        Ok(transaction.commit()?)
    }

    /// Returns the value of `key`.
    pub fn get_meta(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        let key = scoped(self.worktree.as_deref(), key);
        let Some(value) = select(&self.database.connection, &key)? else { return Ok(None) };
        if value.is_none() {
            self.record_damage();
        }
        Ok(value)
    }

    /// Returns the values of all keys that begin with `prefix`, by key.
    pub fn list_meta(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let prefix = scoped(self.worktree.as_deref(), prefix);
        // Not compared with LIKE, because a name could contain wildcards.
        let mut statement = self
            .database
            .connection
            .prepare_cached("SELECT value, ck, key FROM meta WHERE ?1 <= key AND substr(key, 1, length(?1)) = ?1 ORDER BY key")?;
        let mut rows = statement.query([&prefix])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let key: String = row.get(2)?;
            match value_from_row(row, &key) {
                Some(value) => found.push((split_scope(&key).1.to_owned(), value)),
                None => self.record_damage(),
            }
        }
        Ok(found)
    }

    /// Deletes the value of `key`.
    pub fn delete_meta(&mut self, key: &str) -> Result<(), Error> {
        let key = scoped(self.worktree.as_deref(), key).into_owned();
        let transaction = self.begin()?;
        delete(&transaction, &key)?;
        Ok(transaction.commit()?)
    }

    /// Deletes the values of `key` for the checkout and for every linked worktree.
    pub fn delete_meta_of_all_worktrees(&mut self, key: &str) -> Result<(), Error> {
        let transaction = self.begin()?;
        delete(&transaction, key)?;
        for name in worktree_names(&transaction)? {
            delete(&transaction, &scoped(Some(&name), key))?;
        }
        Ok(transaction.commit()?)
    }
}

/// Stores `value` under `key` within a transaction.
pub(super) fn upsert(connection: &Connection, key: &str, value: &[u8]) -> Result<(), Error> {
    fields(key, value).upsert(connection, "meta", "key, value")
}

/// Deletes the value of `key`.
pub(super) fn delete(connection: &Connection, key: &str) -> Result<(), Error> {
    execute(connection, "DELETE FROM meta WHERE key = ?1", [key]).map(drop)
}

/// Returns the value of `key`, if it is intact.
pub(super) fn get_intact(connection: &Connection, key: &str) -> Result<Option<Vec<u8>>, Error> {
    Ok(select(connection, key)?.flatten())
}

/// Returns the value of `key`: `None` if it is missing, `Some(None)` if it is damaged.
#[expect(clippy::option_option, reason = "a damaged value differs from a missing one")]
fn select(connection: &Connection, key: &str) -> Result<Option<Option<Vec<u8>>>, Error> {
    let mut statement = connection.prepare_cached("SELECT value, ck FROM meta WHERE key = ?1")?;
    let mut rows = statement.query([key])?;
    Ok(rows.next()?.map(|row| value_from_row(row, key)))
}

/// Deletes the rows that are damaged.
pub(super) fn verify_meta(connection: &Connection, report: &mut IntegrityReport) -> Result<(), Error> {
    let damaged = |row: &Row<'_>| match row.get_ref(2).ok()?.as_str() {
        Ok(key) => value_from_row(row, key).is_none().then(|| format!("fact {}", key.escape_debug())),
        Err(_) => Some("fact of no name".to_owned()),
    };
    let query = "SELECT value, ck, key FROM meta";
    delete_damaged(connection, query, "DELETE FROM meta WHERE key = ?1", &[2], damaged, report).map(drop)
}

fn value_from_row(row: &Row<'_>, key: &str) -> Option<Vec<u8>> {
    let value = row.get_ref(0).ok()?.as_blob().ok()?;
    let stored: RowChecksum = row.get(1).ok()?;
    (stored == fields(key, value).checksum()).then(|| value.to_vec())
}

fn fields<'f>(key: &'f str, value: &'f [u8]) -> RowFields<'f> {
    RowFields::keyed("meta/1").text(key).bytes(value)
}

impl Store {
    /// Returns the count of `counter` for each text; `None` if it is unknown.
    pub fn get_token_counts(&self, counter: &str, texts: &[ContentHash]) -> Result<Vec<Option<u64>>, Error> {
        // One transaction for all lookups, instead of one for each.
        let _one_read = self.database.connection.unchecked_transaction()?;
        let mut statement = self
            .database
            .connection
            .prepare_cached("SELECT tokens, made_at, ck FROM token_count WHERE sha = ?1 AND counter = ?2")?;
        let mut counts = Vec::with_capacity(texts.len());
        for text in texts {
            let mut rows = statement.query(params![text.as_bytes(), counter])?;
            let count = match rows.next()? {
                None => None,
                Some(row) => {
                    let count = tokens_from_row(row, text.as_bytes(), counter);
                    if count.is_none() {
                        self.record_damage();
                    }
                    count
                }
            };
            counts.push(count);
        }
        Ok(counts)
    }

    /// Stores the counts of `counter` atomically.
    pub fn save_token_counts(
        &mut self,
        counter: &str,
        counts: &[(ContentHash, u64)],
        at_s: i64,
    ) -> Result<(), Error> {
        let transaction = self.begin()?;
        for (text, tokens) in counts {
            let fields = token_fields(text.as_bytes(), counter, tokens.cast_signed(), at_s);
            fields.upsert(&transaction, "token_count", "sha, counter, tokens, made_at")?;
        }
        Ok(transaction.commit()?)
    }
}

/// Deletes the counts that were made before `before_s`.
pub(super) fn delete_older_token_counts(connection: &Connection, before_s: i64) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM token_count WHERE made_at < ?1")?.execute([before_s])?;
    Ok(())
}

/// Deletes the rows that are damaged.
pub(super) fn verify_token_counts(
    connection: &Connection,
    report: &mut IntegrityReport,
) -> Result<(), Error> {
    let query = "SELECT tokens, made_at, ck, sha, counter FROM token_count";
    let delete = "DELETE FROM token_count WHERE sha = ?1 AND counter = ?2";
    let damaged = |row: &Row<'_>| {
        let key = || Some((row.get_ref(3).ok()?.as_blob().ok()?, row.get_ref(4).ok()?.as_str().ok()?));
        let tokens = key().and_then(|(sha, counter)| tokens_from_row(row, sha, counter));
        tokens.is_none().then(|| "count of tokens".to_owned())
    };
    delete_damaged(connection, query, delete, &[3, 4], damaged, report).map(drop)
}

/// Reads a count from three columns: `tokens, made_at, ck`. `None` if they are damaged.
fn tokens_from_row(row: &Row<'_>, sha: &[u8], counter: &str) -> Option<u64> {
    let tokens: i64 = row.get(0).ok()?;
    let made_at_s: i64 = row.get(1).ok()?;
    let stored: RowChecksum = row.get(2).ok()?;
    (stored == token_fields(sha, counter, tokens, made_at_s).checksum()).then(|| tokens.cast_unsigned())
}

fn token_fields<'f>(sha: &'f [u8], counter: &'f str, tokens: i64, made_at_s: i64) -> RowFields<'f> {
    RowFields::keyed("token_count/1").bytes(sha).text(counter).number(tokens).number(made_at_s)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TempStore, batch, hash, producers, row};
    use super::super::upkeep::ClearScope;
    use super::*;

    #[test]
    fn values_are_listed_by_prefix() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        for key in ["out/a%", "out/b", "ou", "outx", "p"] {
            store.set_meta(key, key.as_bytes()).unwrap();
        }
        let keys = |store: &super::Store| -> Vec<String> {
            store.list_meta("out/").unwrap().into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(keys(&store), ["out/a%", "out/b"]);
        store.delete_meta("out/b").unwrap();
        assert_eq!(keys(&store), ["out/a%"]);
        assert_eq!(store.get_meta("outx").unwrap().as_deref(), Some(&b"outx"[..]));
    }

    #[test]
    fn a_value_is_returned_until_it_is_damaged() {
        let sandbox = TempStore::new();
        let mut store = sandbox.open();
        assert_eq!(store.get_meta("scores").unwrap(), None);
        store.set_meta("scores", b"old").unwrap();
        store.set_meta("scores", b"\x00new").unwrap();
        assert_eq!(store.get_meta("scores").unwrap().as_deref(), Some(&b"\x00new"[..]));
        sandbox.raw_connection().execute_batch("UPDATE meta SET key = 'other'").unwrap();
        assert_eq!(store.get_meta("other").unwrap(), None);
        assert_eq!(store.damaged_rows(), 1);
    }

    /// The counts of three texts.
    fn counts(store: &Store) -> Vec<Option<u64>> {
        store.get_token_counts("c/1", &[hash("a"), hash("b"), hash("c")]).unwrap()
    }

    fn filled(sandbox: &TempStore) -> Store {
        let mut store = sandbox.open();
        store.save_token_counts("c/1", &[(hash("a"), 3), (hash("b"), 0)], 10).unwrap();
        store
    }

    #[test]
    fn counts_are_returned_only_for_their_counter() {
        let sandbox = TempStore::new();
        drop(filled(&sandbox));
        let mut store = sandbox.open();
        assert_eq!(counts(&store), [Some(3), Some(0), None]);
        assert_eq!(store.get_token_counts("c/2", &[hash("a")]).unwrap(), [None]);
        assert_eq!(store.get_token_counts("c/1", &[]).unwrap(), []);
        store.save_token_counts("c/1", &[(hash("a"), 4)], 11).unwrap();
        assert_eq!(counts(&store), [Some(4), Some(0), None]);
        assert_eq!(store.damaged_rows(), 0);
    }

    #[test]
    fn a_damaged_count_is_not_returned_and_is_found_by_verify() {
        for harm in [
            "UPDATE token_count SET tokens = 9 WHERE tokens = 3",
            "UPDATE token_count SET made_at = 9 WHERE tokens = 3",
            "UPDATE token_count SET sha = x'00' WHERE tokens = 3",
            "UPDATE token_count SET counter = 'c/0' WHERE tokens = 3",
        ] {
            let sandbox = TempStore::new();
            let mut store = filled(&sandbox);
            sandbox.raw_connection().execute_batch(harm).unwrap();
            assert_eq!(counts(&store), [None, Some(0), None]);
            assert_eq!(store.verify().unwrap().damaged_rows, ["count of tokens"]);
            assert_eq!(store.verify().unwrap().rows, 1);
            assert_eq!(counts(&store), [None, Some(0), None]);
        }
    }

    #[test]
    fn old_counts_are_collected_and_all_are_cleared() {
        let sandbox = TempStore::new();
        let mut store = filled(&sandbox);
        store.save_token_counts("c/1", &[(hash("c"), 5)], 20).unwrap();
        store.collect_garbage(20, &producers()).unwrap();
        assert_eq!(counts(&store), [None, None, Some(5)]);
        store.clear(&ClearScope::All).unwrap();
        assert_eq!(counts(&store), [None; 3]);
    }

    #[test]
    fn a_store_of_the_first_version_keeps_its_data_and_stores_counts() {
        let sandbox = TempStore::new();
        sandbox.open().save(&batch(&[("a.py", "a")], 1)).unwrap();
        let older =
            "DROP TABLE token_count; DROP TABLE given; DROP TABLE given_text; DROP TABLE given_document; DROP TABLE fragment;
             DROP TABLE worktree; DROP TABLE listing; DROP TABLE worktree_page; PRAGMA user_version = 1";
        sandbox.raw_connection().execute_batch(older).unwrap();
        let mut store = sandbox.open();
        assert_eq!(store.files().unwrap(), [row("a.py", "a")]);
        store.save_token_counts("c/1", &[(hash("a"), 3)], 10).unwrap();
        assert_eq!(counts(&store), [Some(3), None, None]);
    }
}
