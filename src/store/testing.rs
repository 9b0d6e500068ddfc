//! A folder for the database of a test.

use std::path::PathBuf;

use rusqlite::Connection;

/// Incompressible bytes, the same each time.
pub(super) fn noise(count: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[4]
    };
    (0..count).map(|_| next()).collect()
}

/// A folder for one database file, deleted when it is dropped.
pub(super) struct DatabaseFolder {
    folder: tempfile::TempDir,
    file_name: &'static str,
}

impl DatabaseFolder {
    pub(super) fn new(file_name: &'static str) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), file_name }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn file(&self) -> PathBuf {
        self.path(self.file_name)
    }

    /// Opens the database directly, to damage it.
    pub(super) fn raw_connection(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    pub(super) fn file_names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
