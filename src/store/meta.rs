//! The table `meta`: small facts that are dear to find out again.

use rusqlite::Connection;
use rusqlite::Row;
use rusqlite::params;
use rusqlite::types::Value;

use super::Error;
use super::IntegrityReport;
use super::Store;
use super::checksum::ChecksumBuilder;
use super::checksum::RowChecksum;

impl Store {
    /// Keeps `value` under `key`, in place of what was there. The key must name all that the value depends on.
    pub fn set_meta(&mut self, key: &str, value: &[u8]) -> Result<(), Error> {
        let transaction = self.begin()?;
        upsert(&transaction, key, value)?;
        Ok(transaction.commit()?)
    }

    /// Returns what was kept under `key`.
    pub fn get_meta(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(value) = select(&self.database.connection, key)? else { return Ok(None) };
        if value.is_none() {
            self.record_damage();
        }
        Ok(value)
    }

    /// Returns all that was kept under keys that begin with `prefix`, by key.
    pub fn list_meta(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
        // Compared by hand and not with LIKE, in which a name could hold wildcards.
        let mut statement = self
            .database
            .connection
            .prepare_cached("SELECT value, ck, key FROM meta WHERE ?1 <= key AND substr(key, 1, length(?1)) = ?1 ORDER BY key")?;
        let mut rows = statement.query([prefix])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let key: String = row.get(2)?;
            match value_from_row(row, &key) {
                Some(value) => found.push((key, value)),
                None => self.record_damage(),
            }
        }
        Ok(found)
    }

    /// Forgets what was kept under `key`.
    pub fn delete_meta(&mut self, key: &str) -> Result<(), Error> {
        let transaction = self.begin()?;
        transaction.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([key])?;
        Ok(transaction.commit()?)
    }
}

/// Keeps `value` under `key` as a part of what is written together.
pub(super) fn upsert(connection: &Connection, key: &str, value: &[u8]) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO meta (key, value, ck) VALUES (?1, ?2, ?3)")?
        .execute(params![key, value, checksum(key, value)])?;
    Ok(())
}

/// Returns what was kept under `key`, if it is sound.
pub(super) fn get_intact(connection: &Connection, key: &str) -> Result<Option<Vec<u8>>, Error> {
    Ok(select(connection, key)?.flatten())
}

/// Returns what was kept under `key`, if anything was, and if it is sound.
#[expect(clippy::option_option, reason = "what is damaged is not what was never kept")]
fn select(connection: &Connection, key: &str) -> Result<Option<Option<Vec<u8>>>, Error> {
    let mut statement = connection.prepare_cached("SELECT value, ck FROM meta WHERE key = ?1")?;
    let mut rows = statement.query([key])?;
    Ok(rows.next()?.map(|row| value_from_row(row, key)))
}

/// Deletes the rows that are damaged.
pub(super) fn verify(connection: &Connection, verdict: &mut IntegrityReport) -> Result<(), Error> {
    let mut doomed: Vec<Value> = Vec::new();
    let mut statement = connection.prepare("SELECT value, ck, key FROM meta")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        verdict.rows += 1;
        let key = row.get_ref(2)?.as_str().ok();
        if key.and_then(|key| value_from_row(row, key)).is_none() {
            let key = key.map_or_else(|| "of no name".to_owned(), |key| key.escape_debug().to_string());
            verdict.damaged_rows.push(format!("fact {key}"));
            doomed.push(row.get(2)?);
        }
    }
    for key in doomed {
        connection.execute("DELETE FROM meta WHERE key = ?1", [key])?;
    }
    Ok(())
}

fn value_from_row(row: &Row<'_>, key: &str) -> Option<Vec<u8>> {
    let value = row.get_ref(0).ok()?.as_blob().ok()?;
    let stored: RowChecksum = row.get(1).ok()?;
    (stored == checksum(key, value)).then(|| value.to_vec())
}

fn checksum(key: &str, value: &[u8]) -> RowChecksum {
    ChecksumBuilder::new("meta/1").text(key).bytes(value).finish()
}

#[cfg(test)]
mod tests {
    use super::super::samples::TempStore;

    #[test]
    fn what_was_kept_below_a_prefix_is_recalled_alone() {
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
    fn what_was_kept_is_recalled_until_it_is_damaged() {
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
}
