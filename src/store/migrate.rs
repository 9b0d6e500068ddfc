//! Whether a file is a store, and of what version; and how an older one is brought up to date.
//!
//! `migrations/NNNN_what.sql` are appended, never edited: a store whose schema is not, word for word, what they give
//! is not trusted.

use rusqlite::Connection;
use rusqlite::TransactionBehavior;

use super::Error;

/// What a database file of ours is to hold.
#[derive(Debug)]
pub(super) struct Schema {
    /// What makes a SQLite file ours, in the four bytes that SQLite's header has room for.
    application_id: i64,
    migrations: &'static [&'static str],
    /// What the tables look like after all migrations, as SQLite itself tells it.
    tables: &'static str,
}

/// What is derived from files.
pub(super) const STORE: Schema = Schema {
    application_id: i64::from_be_bytes(*b"\0\0\0\0slop"),
    migrations: &[
        include_str!("../../migrations/0001_first.sql"),
        include_str!("../../migrations/0002_token_counts.sql"),
        include_str!("../../migrations/0003_given.sql"),
    ],
    tables: include_str!("../../migrations/schema.sql"),
};

/// What was paid for.
pub(super) const PAID: Schema = Schema {
    application_id: i64::from_be_bytes(*b"\0\0\0\0slpa"),
    migrations: &[include_str!("../../migrations/agent/0001_first.sql")],
    tables: include_str!("../../migrations/agent/schema.sql"),
};

/// How far a store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It is new, or an older slop made it.
    Behind,
    /// It has all migrations.
    Current,
}

/// Reads from the file's header whether it is a store. A file of a newer slop is an error, and so is another's.
pub(super) fn state(connection: &Connection, ours: &Schema) -> Result<State, Error> {
    let application = number(connection, "PRAGMA application_id")?;
    let version = number(connection, "PRAGMA user_version")?;
    if application != ours.application_id {
        // SQLite has made a file, or will make one, but nobody has put anything into it.
        if application == 0 && version == 0 && schema(connection)?.is_empty() {
            return Ok(State::Behind);
        }
        return Err(Error::NotAStore { what: "another program's database" });
    }
    let Ok(found) = u32::try_from(version) else {
        return Err(Error::NotAStore { what: "a store of a negative version" });
    };
    let known = newest(ours);
    match found {
        _ if known < found => Err(Error::TooNew { found, known }),
        _ if found == known => Ok(State::Current),
        _ => Ok(State::Behind),
    }
}

/// Applies the migrations that the store does not have yet: all of them or none.
pub(super) fn run(connection: &mut Connection, ours: &Schema) -> Result<(), Error> {
    // IMMEDIATE: two processes starting at once queue here, not half-way.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if state(&transaction, ours)? == State::Current {
        return Ok(());
    }
    let done = usize::try_from(number(&transaction, "PRAGMA user_version")?).unwrap_or(0);
    for migration in &ours.migrations[done..] {
        match transaction.execute_batch(migration).map_err(Error::from) {
            Ok(()) => {}
            // The tables are not those that its version promises.
            Err(Error::Sqlite(_)) => return Err(Error::NotAStore { what: INCOMPLETE }),
            Err(error) => return Err(error),
        }
    }
    transaction.pragma_update(None, "application_id", ours.application_id)?;
    transaction.pragma_update(None, "user_version", newest(ours))?;
    Ok(transaction.commit()?)
}

/// Makes sure that the tables are ours and nothing is beside them: no trigger or view that someone has put in.
pub(super) fn check_schema(connection: &Connection, ours: &Schema) -> Result<(), Error> {
    if schema(connection)? == ours.tables {
        return Ok(());
    }
    Err(Error::NotAStore { what: INCOMPLETE })
}

const INCOMPLETE: &str = "a store without all of its tables";

fn newest(ours: &Schema) -> u32 {
    u32::try_from(ours.migrations.len()).expect("there are few migrations")
}

fn number(connection: &Connection, question: &str) -> Result<i64, Error> {
    Ok(connection.query_row(question, [], |row| row.get(0))?)
}

/// Returns the statements that make the tables, each with a semicolon. What SQLite adds of its own accord, such as the
/// statistics that `ANALYZE` leaves, is not among them.
fn schema(connection: &Connection) -> Result<String, Error> {
    let mut statement = connection.prepare(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )?;
    let mut rows = statement.query([])?;
    let mut schema = String::new();
    while let Some(row) = rows.next()? {
        // What is no text cannot be what we expect, and need not be told apart.
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
        run(&mut connection, &STORE).unwrap();
        connection
    }

    #[test]
    fn the_migrations_give_the_expected_schema() {
        expect_test::expect_file!["../../migrations/schema.sql"].assert_eq(&schema(&migrated()).unwrap());
    }

    #[test]
    fn the_migrations_of_what_is_paid_for_give_the_expected_schema() {
        let mut connection = Connection::open_in_memory().unwrap();
        run(&mut connection, &PAID).unwrap();
        expect_test::expect_file!["../../migrations/agent/schema.sql"]
            .assert_eq(&schema(&connection).unwrap());
    }

    #[test]
    fn migrating_twice_is_migrating_once() {
        let mut connection = migrated();
        let before = schema(&connection).unwrap();
        run(&mut connection, &STORE).unwrap();
        assert_eq!(schema(&connection).unwrap(), before);
        assert_eq!(state(&connection, &STORE).unwrap(), State::Current);
    }

    #[test]
    fn an_empty_database_waits_to_be_migrated() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(state(&connection, &STORE).unwrap(), State::Behind);
    }

    #[test]
    fn a_trigger_that_someone_put_in_is_noticed() {
        let connection = migrated();
        check_schema(&connection, &STORE).unwrap();
        connection
            .execute_batch("CREATE TRIGGER t AFTER INSERT ON file BEGIN DELETE FROM content; END")
            .unwrap();
        assert!(check_schema(&connection, &STORE).unwrap_err().is_damage());
    }

    #[test]
    fn statistics_are_not_taken_for_damage() {
        let connection = migrated();
        connection.execute_batch("ANALYZE").unwrap();
        check_schema(&connection, &STORE).unwrap();
    }

    #[test]
    fn a_store_that_lost_its_version_is_damaged_not_half_migrated() {
        let mut connection = migrated();
        connection.pragma_update(None, "user_version", 0).unwrap();
        assert!(run(&mut connection, &STORE).unwrap_err().is_damage());
    }

    #[test]
    fn a_negative_version_is_damage() {
        let connection = migrated();
        connection.pragma_update(None, "user_version", -1).unwrap();
        assert!(state(&connection, &STORE).unwrap_err().is_damage());
    }
}
