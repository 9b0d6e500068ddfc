//! Looking at every byte of the store.

use rusqlite::Connection;

use super::Error;
use super::Store;
use super::artifact;
use super::content;
use super::file;
use super::given;
use super::meta;
use super::token_count;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IntegrityReport {
    /// Rows that were looked at.
    pub rows: u64,
    /// Rows that were damaged and are deleted now, in words.
    pub damaged_rows: Vec<String>,
    /// What is wrong with the file's structure. Then no row was looked at, and the store should be set aside.
    pub structure_error: Option<String>,
}

impl Store {
    /// Checks the file's structure and every row; deletes the rows that are not what was once written.
    pub fn verify(&mut self) -> Result<IntegrityReport, Error> {
        let mut verdict = IntegrityReport {
            structure_error: check_structure(&self.database.connection)?,
            ..IntegrityReport::default()
        };
        if verdict.structure_error.is_some() {
            return Ok(verdict);
        }
        let transaction = self.begin()?;
        // Contents first: what was derived from one that goes is then seen to belong to nothing.
        content::verify(&transaction, &mut verdict)?;
        artifact::verify(&transaction, &mut verdict)?;
        file::verify(&transaction, &mut verdict)?;
        meta::verify(&transaction, &mut verdict)?;
        token_count::verify(&transaction, &mut verdict)?;
        given::verify(&transaction, &mut verdict)?;
        transaction.commit()?;
        Ok(verdict)
    }
}

/// Returns what is wrong with the structure of the file, if anything is.
pub(super) fn check_structure(connection: &Connection) -> Result<Option<String>, Error> {
    // The first finding is enough to set the file aside.
    let said = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
    match said.map_err(Error::from) {
        Ok(said) if said == "ok" => Ok(None),
        Ok(said) => Ok(Some(said)),
        Err(Error::Damaged(error)) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::TempStore;
    use super::super::samples::batch;
    use super::super::samples::row;
    use super::*;

    fn filled(sandbox: &TempStore) -> Store {
        let mut store = sandbox.open();
        store.save(&batch(&[("a.py", "a"), ("b.py", "b")], 1)).unwrap();
        store.set_meta("key", b"value").unwrap();
        store
    }

    /// Does harm, and compares what is found; then all must be well.
    #[track_caller]
    fn check(harm: &str, expected: &[&str]) {
        let sandbox = TempStore::new();
        let mut store = filled(&sandbox);
        sandbox.raw_connection().execute_batch(harm).unwrap();
        let verdict = store.verify().unwrap();
        assert_eq!(verdict.structure_error, None);
        assert_eq!(verdict.damaged_rows, expected);
        let again = store.verify().unwrap();
        assert!(again.damaged_rows.is_empty());
        store.save(&batch(&[("a.py", "a"), ("b.py", "b")], 2)).unwrap();
        assert_eq!(store.files().unwrap(), [row("a.py", "a"), row("b.py", "b")]);
    }

    #[test]
    fn a_sound_store_is_found_sound() {
        let sandbox = TempStore::new();
        let verdict = filled(&sandbox).verify().unwrap();
        let sound = IntegrityReport { rows: 2 + 6 + 2 + 1, ..IntegrityReport::default() };
        assert_eq!(verdict, sound);
    }

    #[test]
    fn damaged_rows_are_named_and_deleted() {
        check("UPDATE file SET size = 99 WHERE content_id = 1", &["file a.py"]);
        check("UPDATE file SET path = CAST('/' AS BLOB) WHERE content_id = 1", &["file of no path"]);
        check("UPDATE meta SET value = x'00'", &["fact key"]);
        check("UPDATE artifact SET made_at = 2 WHERE key = 1 << 40 | 1", &["outline of ca978112ca1b"]);
    }

    #[test]
    fn what_belongs_to_a_damaged_content_goes_with_it() {
        check(
            "UPDATE content SET size = 99 WHERE id = 1",
            &[
                "content ca978112ca1b",
                "outline of no content",
                "skeleton of no content",
                "summary of no content",
                "file a.py",
            ],
        );
    }

    #[test]
    fn a_producer_under_another_name_makes_nothing_sound() {
        check(
            "UPDATE producer SET version = 'outline/2' WHERE id = 1",
            &["outline of ca978112ca1b", "outline of 3e23e8160039"],
        );
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test does harm to the file")]
    fn a_broken_structure_is_told_and_no_row_is_touched() {
        let sandbox = TempStore::new();
        drop(filled(&sandbox));
        let mut bytes = std::fs::read(sandbox.file()).unwrap();
        // The header of the first page of a table says that it holds ten thousand rows.
        bytes[2 * 4096 + 3..2 * 4096 + 5].copy_from_slice(&10_000_u16.to_be_bytes());
        std::fs::write(sandbox.file(), bytes).unwrap();
        let mut store = sandbox.open();
        let verdict = store.verify().unwrap();
        assert!(verdict.structure_error.is_some());
        assert_eq!((verdict.rows, verdict.damaged_rows.len()), (0, 0));
        assert!(store.set_aside().unwrap().is_some());
    }
}
