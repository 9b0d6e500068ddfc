//! The table `content`: facts about contents, independent of files.

use rusqlite::{Connection, Row, params_from_iter};

use super::open::Store;
use crate::model::{ContentFacts, ContentHash, HeaderDialect};
use crate::store::database::IntegrityReport;
use crate::store::error::Error;
use crate::store::row::{RowChecksum, RowFields, delete_damaged, execute};

impl Store {
    #[cfg(test)]
    pub fn facts(&self, hash: &ContentHash) -> Result<Option<ContentFacts>, Error> {
        let mut statement = self.database.connection.prepare_cached(SELECT_BY_HASH)?;
        let mut rows = statement.query([hash.as_bytes()])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let facts = facts_from_row(row, 2, hash);
        if facts.is_none() {
            self.record_damage();
        }
        Ok(facts)
    }
}

/// Returns a content by its id; `None` if it is missing or damaged.
pub(super) fn select(connection: &Connection, id: i64) -> Result<Option<(ContentHash, ContentFacts)>, Error> {
    let query = "SELECT sha, size, encoding, lines, dialect, claims, ck FROM content WHERE id = ?1";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let found = || {
        let hash = hash_from_row(row, 0)?;
        Some((hash, facts_from_row(row, 1, &hash)?))
    };
    Ok(found())
}

// Through the id, so that the hash is read from the table and not from the index that led to it: they differ if one of
// them is damaged.
const SELECT_BY_HASH: &str = "
    SELECT id, sha, size, encoding, lines, dialect, claims, ck FROM content
    WHERE id = (SELECT id FROM content WHERE sha = ?1)";

/// Reads the facts of a content from six columns: `size, encoding, lines, dialect, claims, ck`. `None` if they are
/// damaged.
pub(super) fn facts_from_row(row: &Row<'_>, first: usize, hash: &ContentHash) -> Option<ContentFacts> {
    let facts = ContentFacts {
        size: row.get::<_, i64>(first).ok()?.cast_unsigned(),
        encoding: row.get(first + 1).ok()?,
        lines: row.get(first + 2).ok()?,
        dialect: dialect_from_name(row.get_ref(first + 3).ok()?.as_str().ok()?)?,
        claimed_type: row.get(first + 4).ok()?,
    };
    let stored: RowChecksum = row.get(first + 5).ok()?;
    (stored == fields(hash, &facts).checksum()).then_some(facts)
}

/// Reads the hash of a content; `None` if it is invalid.
pub(super) fn hash_from_row(row: &Row<'_>, column: usize) -> Option<ContentHash> {
    row.get(column).ok().map(ContentHash::from_bytes)
}

/// Returns the id of a content, which is inserted if it is new. Its facts are updated if they differ.
pub(super) fn get_or_insert(
    connection: &Connection,
    hash: &ContentHash,
    facts: &ContentFacts,
) -> Result<i64, Error> {
    let mut statement = connection.prepare_cached(SELECT_BY_HASH)?;
    let mut rows = statement.query([hash.as_bytes()])?;
    let Some(row) = rows.next()? else {
        return insert(connection, hash, facts);
    };
    let id = row.get(0)?;
    let is_right =
        hash_from_row(row, 1).as_ref() == Some(hash) && facts_from_row(row, 2, hash).as_ref() == Some(facts);
    drop(rows);
    if !is_right {
        update(connection, id, hash, facts)?;
    }
    Ok(id)
}

/// Records since when no file has a content, or that one has it again.
pub(super) fn update_idle_since(connection: &Connection, id: i64, now_s: i64) -> Result<(), Error> {
    // Updates the row only if it differs.
    connection
        .prepare_cached(
            "UPDATE content SET idle_since = CASE WHEN idle_since IS NULL THEN ?2 END
             WHERE id = ?1
               AND (idle_since IS NULL) = (NOT EXISTS (SELECT 1 FROM file WHERE content_id = ?1))",
        )?
        .execute([id, now_s])?;
    Ok(())
}

/// Records that a content without a file in the table `file` was in use until now, by a file of a linked worktree.
pub(super) fn restart_idle_time(connection: &Connection, id: i64, now_s: i64) -> Result<(), Error> {
    let query = "UPDATE content SET idle_since = ?2 WHERE id = ?1 AND idle_since IS NOT NULL";
    execute(connection, query, [id, now_s]).map(drop)
}

/// Returns the ids of the contents that have had no row in the table `file` since before `before_s`.
pub(super) fn select_idle(connection: &Connection, before_s: i64) -> Result<Vec<i64>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM content
         WHERE idle_since < ?1 AND NOT EXISTS (SELECT 1 FROM file WHERE content_id = content.id)",
    )?;
    let ids = statement.query_map([before_s], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns the ids of the contents without a row in the table `file`.
pub(super) fn select_unreferenced(connection: &Connection) -> Result<Vec<i64>, Error> {
    let query = "SELECT id FROM content WHERE NOT EXISTS (SELECT 1 FROM file WHERE content_id = content.id)";
    let mut statement = connection.prepare_cached(query)?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Deletes a content; returns how many there were: 1 or 0. Its artifacts must be gone.
pub(super) fn delete(connection: &Connection, id: i64) -> Result<u64, Error> {
    execute(connection, "DELETE FROM content WHERE id = ?1", [id])
}

/// Deletes the rows that are damaged.
pub(super) fn verify(connection: &Connection, report: &mut IntegrityReport) -> Result<(), Error> {
    let query = "SELECT id, sha, size, encoding, lines, dialect, claims, ck FROM content";
    let damaged = |row: &Row<'_>| {
        let hash = hash_from_row(row, 1);
        let is_damaged = hash.and_then(|hash| facts_from_row(row, 2, &hash)).is_none();
        is_damaged
            .then(|| format!("content {}", hash.map_or("of no hash".to_owned(), |hash| hash.short_hex())))
    };
    delete_damaged(connection, query, "DELETE FROM content WHERE id = ?1", &[0], damaged, report).map(drop)
}

fn insert(connection: &Connection, hash: &ContentHash, facts: &ContentFacts) -> Result<i64, Error> {
    let query = "INSERT INTO content (sha, size, encoding, lines, dialect, claims, ck)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    execute(connection, query, params_from_iter(fields(hash, facts).into_values()))?;
    Ok(connection.last_insert_rowid())
}

fn update(connection: &Connection, id: i64, hash: &ContentHash, facts: &ContentFacts) -> Result<(), Error> {
    let query = "UPDATE content
                 SET sha = ?1, size = ?2, encoding = ?3, lines = ?4, dialect = ?5, claims = ?6, ck = ?7
                 WHERE id = ?8";
    let values = fields(hash, facts).into_values().into_iter().chain([id.into()]);
    execute(connection, query, params_from_iter(values)).map(drop)
}

/// All fields except `idle_since`, which changes independently and, if damaged, only causes a content to be derived
/// again.
fn fields<'f>(hash: &'f ContentHash, facts: &'f ContentFacts) -> RowFields<'f> {
    RowFields::keyed("content/1")
        .bytes(hash.as_bytes())
        .number(facts.size.cast_signed())
        .optional_text(facts.encoding.as_deref())
        .number(i64::from(facts.lines))
        .text(dialect_name(facts.dialect))
        .optional_text(facts.claimed_type.as_deref())
}

const fn dialect_name(dialect: HeaderDialect) -> &'static str {
    match dialect {
        HeaderDialect::Neutral => "neutral",
        HeaderDialect::Cpp => "cpp",
    }
}

fn dialect_from_name(name: &str) -> Option<HeaderDialect> {
    let all = [HeaderDialect::Neutral, HeaderDialect::Cpp];
    all.into_iter().find(|dialect| dialect_name(*dialect) == name)
}
