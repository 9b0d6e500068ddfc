//! The table `producer`: the producers of artifacts.

use rusqlite::{Connection, OptionalExtension, params};

use crate::model::{ArtifactKind, Producer};
use crate::store::error::Error;

/// Returns the id of a producer, which is inserted if it is new.
///
/// The id is valid only in this transaction, because another process may clear the table after it.
pub(super) fn id(connection: &Connection, producer: &Producer) -> Result<i64, Error> {
    let kind = producer.artifact.name();
    let key = params![kind, producer.language, producer.version];
    let known = connection
        .prepare_cached("SELECT id FROM producer WHERE artifact = ?1 AND language = ?2 AND version = ?3")?
        .query_row(key, |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    connection
        .prepare_cached("INSERT INTO producer (artifact, language, version) VALUES (?1, ?2, ?3)")?
        .execute(key)?;
    Ok(connection.last_insert_rowid())
}

/// Returns the ids of the producers that are not in `current`.
pub(super) fn stale(connection: &Connection, current: &[Producer]) -> Result<Vec<i64>, Error> {
    let mut statement = connection.prepare_cached("SELECT id, artifact, language, version FROM producer")?;
    let mut rows = statement.query([])?;
    let mut others = Vec::new();
    while let Some(row) = rows.next()? {
        let (kind, language, version) = (row.get_ref(1)?, row.get_ref(2)?, row.get_ref(3)?);
        let is_current = current.iter().any(|producer| {
            kind.as_str() == Ok(producer.artifact.name())
                && language.as_str() == Ok(producer.language)
                && version.as_str() == Ok(&producer.version)
        });
        if !is_current {
            others.push(row.get(0)?);
        }
    }
    Ok(others)
}

/// Returns the ids of the producers of a kind of artifact.
pub(super) fn of_kind(connection: &Connection, kind: ArtifactKind) -> Result<Vec<i64>, Error> {
    let mut statement = connection.prepare_cached("SELECT id FROM producer WHERE artifact = ?1")?;
    let ids = statement.query_map([kind.name()], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Deletes a producer. Its artifacts must be gone.
pub(super) fn delete(connection: &Connection, id: i64) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM producer WHERE id = ?1")?.execute([id])?;
    Ok(())
}
