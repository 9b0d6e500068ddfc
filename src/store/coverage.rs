//! Reads which test ran which lines of which file, as recorded by coverage.py.
//!
//! coverage.py 5.0 to 7.x writes these tables: `file`, `context` with the name of a test, and for each file and context
//! the lines that ran as bits (`line_bits`), or the jumps between lines if branches were measured (`arc`).

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

use rusqlite::Connection;

use super::database::connect_foreign;
use super::error::Error;

/// An open coverage file.
#[derive(Debug)]
pub struct CoverageFile {
    connection: Connection,
    /// The measured files: their row numbers, and their recorded paths.
    files: Vec<(i64, String)>,
}

impl CoverageFile {
    /// Opens a coverage file; `None` if there is none.
    pub fn open(path: &Path) -> Result<Option<Self>, Error> {
        let Some(connection) = connect_foreign(path)? else { return Ok(None) };
        // Only tables, because the queries of views could do anything.
        let tables: u32 = connection.query_row(
            "SELECT count(*) FROM sqlite_master
             WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'
                 AND name IN ('file', 'context', 'line_bits', 'arc')",
            [],
            |row| row.get(0),
        )?;
        if tables != 4 {
            return Err(Error::NotAStore { what: "not a coverage file of coverage.py 5.0 or later" });
        }
        let mut query = connection.prepare("SELECT id, path FROM file ORDER BY path")?;
        let files = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
        drop(query);
        Ok(Some(Self { connection, files }))
    }

    /// Returns the row number of a file: that of its absolute or its relative path, or else of the only path that ends
    /// in it, as after a run on another machine.
    pub fn find_file(&self, absolute: &Path, relative: &str) -> Option<i64> {
        let exact = |(_, path): &&(i64, String)| Path::new(path) == absolute || path == relative;
        if let Some((file, _)) = self.files.iter().find(exact) {
            return Some(*file);
        }
        let is_tail =
            |path: &str| path.strip_suffix(relative).is_some_and(|rest| rest.ends_with(['/', '\\']));
        let mut tails = self.files.iter().filter(|(_, path)| is_tail(path));
        match (tails.next(), tails.next()) {
            (Some((file, _)), None) => Some(*file),
            _ => None,
        }
    }

    /// Returns whether the file records which test ran a line.
    pub fn has_contexts(&self) -> Result<bool, Error> {
        let query = "SELECT EXISTS (SELECT 1 FROM context WHERE context <> '')";
        Ok(self.connection.query_row(query, [], |row| row.get(0))?)
    }

    /// Returns the contexts that ran any of these lines of a file.
    pub fn contexts_of(&self, file: i64, lines: &[RangeInclusive<u32>]) -> Result<BTreeSet<String>, Error> {
        let mut contexts = BTreeSet::new();
        let mut bits = self.connection.prepare(
            "SELECT context.id, line_bits.numbits FROM line_bits
             JOIN context ON context.id = line_bits.context_id WHERE line_bits.file_id = ?1",
        )?;
        let mut rows = bits.query([file])?;
        while let Some(row) = rows.next()? {
            let numbits = row.get_ref(1)?.as_blob().unwrap_or_default();
            if lines.iter().any(|lines| has_bit(numbits, lines)) {
                contexts.insert(row.get::<_, i64>(0)?);
            }
        }
        // A jump from or to a line means that it ran; negative numbers are the entries and exits of code.
        let mut arcs = self.connection.prepare(
            "SELECT DISTINCT context_id FROM arc
             WHERE file_id = ?1 AND (fromno BETWEEN ?2 AND ?3 OR tono BETWEEN ?2 AND ?3)",
        )?;
        for lines in lines {
            let found = arcs.query_map((file, lines.start(), lines.end()), |row| row.get::<_, i64>(0))?;
            for context in found {
                contexts.insert(context?);
            }
        }
        let mut name = self.connection.prepare("SELECT context FROM context WHERE id = ?1")?;
        contexts.into_iter().map(|context| Ok(name.query_row([context], |row| row.get(0))?)).collect()
    }
}

/// Returns whether a line of a range is in a set of lines: bit `n % 8` of byte `n / 8` is line `n`.
fn has_bit(numbits: &[u8], lines: &RangeInclusive<u32>) -> bool {
    let (first, last) = (*lines.start() as usize, *lines.end() as usize);
    let end = last.min(numbits.len().saturating_mul(8).saturating_sub(1));
    (first..=end).any(|line| numbits.get(line / 8).is_some_and(|byte| byte & (1 << (line % 8)) != 0))
}

/// Writes a coverage file in which one context ran these lines of one file.
#[cfg(test)]
pub(crate) fn write_coverage(path: &Path, file: &str, lines: &[u32], context: &str) {
    let mut numbits = vec![0_u8; 100];
    for line in lines {
        numbits[*line as usize / 8] |= 1 << (line % 8);
    }
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE file (id integer primary key, path text, unique (path));
             CREATE TABLE context (id integer primary key, context text, unique (context));
             CREATE TABLE line_bits (file_id integer, context_id integer, numbits blob);
             CREATE TABLE arc (file_id integer, context_id integer, fromno integer, tono integer);",
        )
        .unwrap();
    connection.execute("INSERT INTO file VALUES (1, ?1)", [file]).unwrap();
    connection.execute("INSERT INTO context VALUES (1, ?1)", [context]).unwrap();
    connection.execute("INSERT INTO line_bits VALUES (1, 1, ?1)", [numbits]).unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::DatabaseFolder;

    #[test]
    fn lines_are_found_in_bits_and_in_arcs() {
        let folder = DatabaseFolder::new(".coverage");
        let path = folder.file();
        assert!(CoverageFile::open(&path).unwrap().is_none());
        write_coverage(&path, "/ci/build/src/a.py", &[9], "t.py::test_a|run");
        let more = "INSERT INTO file VALUES (2, '/ci/build/tests/src/b.py');
            INSERT INTO context VALUES (2, 't.py::test_b|run');
            INSERT INTO arc VALUES (1, 2, -1, 12), (1, 2, 12, -1);";
        folder.raw_connection().execute_batch(more).unwrap();
        let coverage = CoverageFile::open(&path).unwrap().unwrap();
        assert!(coverage.has_contexts().unwrap());
        let file = coverage.find_file(Path::new("/home/me/src/a.py"), "src/a.py").unwrap();
        let contexts = |lines| Vec::from_iter(coverage.contexts_of(file, &[lines]).unwrap());
        assert_eq!(contexts(8..=11), ["t.py::test_a|run"]);
        assert_eq!(contexts(9..=12), ["t.py::test_a|run", "t.py::test_b|run"]);
        assert_eq!(contexts(13..=u32::MAX), [""; 0]);
        assert_eq!(coverage.find_file(Path::new("/home/me/b.py"), "b.py"), Some(2));
        assert_eq!(coverage.find_file(Path::new("/home/me/.py"), ".py"), None);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the file is damaged directly, past the room")]
    fn foreign_and_invalid_databases_are_errors() {
        let folder = DatabaseFolder::new(".coverage");
        let path = folder.file();
        std::fs::write(&path, "!coverage.py: old\n".repeat(99)).unwrap();
        assert!(CoverageFile::open(&path).is_err());
        std::fs::remove_file(&path).unwrap();
        folder.raw_connection().execute_batch("CREATE TABLE file (id integer)").unwrap();
        assert!(matches!(CoverageFile::open(&path), Err(Error::NotAStore { .. })));
    }
}
