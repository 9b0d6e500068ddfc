//! Recognizes a database file and its version, and migrates an older one.
//!
//! `migrations/NNNN_what.sql` are appended, never edited: a store with a schema other than the one they produce is not
//! trusted.

use rusqlite::{Connection, TransactionBehavior};

use super::error::Error;

/// The tables that a database file must have.
#[derive(Debug)]
pub(super) struct DatabaseSchema {
    /// The application id in SQLite's header, which identifies the file as slop's.
    application_id: i64,
    migrations: &'static [&'static str],
    /// The statements of all tables after all migrations, as SQLite reports them.
    tables: &'static str,
}

/// The schema of `index.db`: data derived from files.
pub(super) const INDEX_SCHEMA: DatabaseSchema = DatabaseSchema {
    application_id: i64::from_be_bytes(*b"\0\0\0\0slop"),
    migrations: &[
        include_str!("../../migrations/0001_first.sql"),
        include_str!("../../migrations/0002_token_counts.sql"),
        include_str!("../../migrations/0003_given.sql"),
        include_str!("../../migrations/0004_compressed.sql"),
        include_str!("../../migrations/0005_given_documents.sql"),
        include_str!("../../migrations/0006_fragments.sql"),
        include_str!("../../migrations/0007_worktrees.sql"),
        include_str!("../../migrations/0008_slice_fragments.sql"),
        include_str!("../../migrations/0009_meta_by_rowid.sql"),
    ],
    tables: include_str!("../../migrations/schema.sql"),
};

/// The schema of `agent.db`: summaries by models and their cost.
pub(super) const AGENT_SCHEMA: DatabaseSchema = DatabaseSchema {
    application_id: i64::from_be_bytes(*b"\0\0\0\0slpa"),
    migrations: &[
        include_str!("../../migrations/agent/0001_first.sql"),
        include_str!("../../migrations/agent/0002_shared.sql"),
        include_str!("../../migrations/agent/0003_team_memory.sql"),
    ],
    tables: include_str!("../../migrations/agent/schema.sql"),
};

/// The schema of `takes.db`: the history of the curation.
pub(super) const HISTORY_SCHEMA: DatabaseSchema = DatabaseSchema {
    application_id: i64::from_be_bytes(*b"\0\0\0\0slpt"),
    migrations: &[include_str!("../../migrations/history/0001_first.sql")],
    tables: include_str!("../../migrations/history/schema.sql"),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaState {
    /// It is new, or an older version of slop created it.
    Behind,
    Current,
}

/// Reads the state of a database from the file's header. A file of a newer version or of another program is an error.
pub(super) fn read_state(connection: &Connection, schema: &DatabaseSchema) -> Result<SchemaState, Error> {
    let application = query_number(connection, "PRAGMA application_id")?;
    let version = query_number(connection, "PRAGMA user_version")?;
    if application != schema.application_id {
        // The file is new, and nothing has been written to it.
        if application == 0 && version == 0 && read_schema(connection)?.is_empty() {
            return Ok(SchemaState::Behind);
        }
        return Err(Error::NotAStore { what: "another program's database" });
    }
    let Ok(found) = u32::try_from(version) else {
        return Err(Error::NotAStore { what: "a store of a negative version" });
    };
    let known = newest_version(schema);
    match found {
        _ if known < found => Err(Error::TooNew { found, known }),
        _ if found == known => Ok(SchemaState::Current),
        _ => Ok(SchemaState::Behind),
    }
}

/// Returns whether a database has no tables yet.
pub(super) fn is_empty(connection: &Connection) -> Result<bool, Error> {
    Ok(read_schema(connection)?.is_empty())
}

/// Applies the missing migrations, all of them or none.
pub(super) fn migrate(connection: &mut Connection, schema: &DatabaseSchema) -> Result<(), Error> {
    // IMMEDIATE: two processes starting at once queue here, not half-way.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again: another process may have migrated the file while this one waited for the lock.
    if read_state(&transaction, schema)? == SchemaState::Current {
        return Ok(());
    }
    // `read_state` has rejected negative versions.
    let done = usize::try_from(query_number(&transaction, "PRAGMA user_version")?).unwrap_or(0);
    for migration in &schema.migrations[done..] {
        match transaction.execute_batch(migration).map_err(Error::from) {
            Ok(()) => {}
            // The tables are not those of the version in the header.
            Err(Error::Sqlite(_)) => return Err(Error::NotAStore { what: MISSING_TABLES }),
            Err(error) => return Err(error),
        }
    }
    // Both are fields of the file's header and belong to the transaction, so they cannot disagree with the tables.
    transaction.pragma_update(None, "application_id", schema.application_id)?;
    transaction.pragma_update(None, "user_version", newest_version(schema))?;
    Ok(transaction.commit()?)
}

/// Checks that the schema has exactly the expected tables, and no added trigger or view.
pub(super) fn check_schema(connection: &Connection, schema: &DatabaseSchema) -> Result<(), Error> {
    if read_schema(connection)? == schema.tables {
        return Ok(());
    }
    Err(Error::NotAStore { what: MISSING_TABLES })
}

const MISSING_TABLES: &str = "a store without all of its tables";

fn newest_version(schema: &DatabaseSchema) -> u32 {
    u32::try_from(schema.migrations.len()).expect("there are few migrations")
}

fn query_number(connection: &Connection, query: &str) -> Result<i64, Error> {
    Ok(connection.query_row(query, [], |row| row.get(0))?)
}

/// Returns the statements that create the tables, each with a semicolon, without what SQLite adds itself, such as the
/// statistics of `ANALYZE`.
fn read_schema(connection: &Connection) -> Result<String, Error> {
    // The underscore is escaped because it is a wildcard of LIKE.
    let mut statement = connection.prepare(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )?;
    let mut rows = statement.query([])?;
    let mut schema = String::new();
    while let Some(row) = rows.next()? {
        // A value that is not text differs from the expected schema either way.
        schema.push_str(row.get_ref(0)?.as_str().unwrap_or_default());
        schema.push_str(";\n");
    }
    Ok(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migrated() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &INDEX_SCHEMA).unwrap();
        connection
    }

    #[test]
    fn the_migrations_of_the_index_produce_the_expected_schema() {
        expect_test::expect_file!["../../migrations/schema.sql"]
            .assert_eq(&read_schema(&migrated()).unwrap());
    }

    #[test]
    fn the_migrations_of_the_agent_database_produce_the_expected_schema() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &AGENT_SCHEMA).unwrap();
        expect_test::expect_file!["../../migrations/agent/schema.sql"]
            .assert_eq(&read_schema(&connection).unwrap());
    }

    #[test]
    fn the_migrations_of_the_history_produce_the_expected_schema() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &HISTORY_SCHEMA).unwrap();
        expect_test::expect_file!["../../migrations/history/schema.sql"]
            .assert_eq(&read_schema(&connection).unwrap());
    }

    #[test]
    fn migrating_is_idempotent() {
        let mut connection = migrated();
        let before = read_schema(&connection).unwrap();
        migrate(&mut connection, &INDEX_SCHEMA).unwrap();
        assert_eq!(read_schema(&connection).unwrap(), before);
        assert_eq!(read_state(&connection, &INDEX_SCHEMA).unwrap(), SchemaState::Current);
    }

    #[test]
    fn an_empty_database_waits_to_be_migrated() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(read_state(&connection, &INDEX_SCHEMA).unwrap(), SchemaState::Behind);
    }

    #[test]
    fn an_added_trigger_is_detected() {
        let connection = migrated();
        check_schema(&connection, &INDEX_SCHEMA).unwrap();
        connection
            .execute_batch("CREATE TRIGGER t AFTER INSERT ON file BEGIN DELETE FROM content; END")
            .unwrap();
        assert!(check_schema(&connection, &INDEX_SCHEMA).unwrap_err().is_damage());
    }

    #[test]
    fn statistics_are_not_mistaken_for_damage() {
        let connection = migrated();
        connection.execute_batch("ANALYZE").unwrap();
        check_schema(&connection, &INDEX_SCHEMA).unwrap();
    }

    #[test]
    fn a_store_that_lost_its_version_is_damaged_not_half_migrated() {
        let mut connection = migrated();
        connection.pragma_update(None, "user_version", 0).unwrap();
        assert!(migrate(&mut connection, &INDEX_SCHEMA).unwrap_err().is_damage());
    }

    #[test]
    fn a_negative_version_is_damage() {
        let connection = migrated();
        connection.pragma_update(None, "user_version", -1).unwrap();
        assert!(read_state(&connection, &INDEX_SCHEMA).unwrap_err().is_damage());
    }
}
