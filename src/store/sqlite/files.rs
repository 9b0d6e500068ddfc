//! The file operations that SQLite does not do: what a path refers to, locks, renames with logs.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::Error;

/// The suffixes of the files that SQLite keeps next to a database.
const LOG_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// What a name in a folder refers to. Inode numbers are reused, but not while the file is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct FileInode {
    dev: u64,
    ino: u64,
}

impl FileInode {
    /// Returns what the path refers to, without following a link; `None` where there is nothing.
    pub(in crate::store) fn from_path(file: &Path) -> Result<Option<Self>, Error> {
        Ok(metadata_if_exists(file)?.as_ref().map(Self::from_metadata))
    }

    /// Returns what this metadata is of.
    pub(in crate::store) fn from_metadata(metadata: &fs::Metadata) -> Self {
        Self { dev: metadata.dev(), ino: metadata.ino() }
    }
}

/// Locks the folder of a file until the result is dropped: shared, so that the file is not moved while it is opened, or
/// exclusively, to create or to move it. `None` where the file system has no locks: then SQLite's own must do.
///
/// SQLite finds a file's log by its name, some time after it has opened the file. If the file were moved in between, it
/// would take the next file's log for its own, and delete it in the end.
#[expect(clippy::disallowed_methods, reason = "this is the only access to the database file")]
pub(in crate::store) fn lock_folder(file: &Path, lock: fn(&File) -> io::Result<()>) -> Option<File> {
    let folder = File::open(file.parent()?).ok()?;
    lock(&folder).ok()?;
    Some(folder)
}

/// Returns the metadata of what the path names, without following a link; `None` where there is nothing.
#[expect(clippy::disallowed_methods, reason = "this is the only access to the database file")]
pub(in crate::store) fn metadata_if_exists(file: &Path) -> Result<Option<fs::Metadata>, Error> {
    match fs::symlink_metadata(file) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(file_error("inspected", file, source)),
    }
}

/// Returns whether the path names anything.
pub(in crate::store) fn exists(file: &Path) -> Result<bool, Error> {
    Ok(metadata_if_exists(file)?.is_some())
}

/// Opens a regular file for reading. `None` where there is none.
#[expect(clippy::disallowed_methods, reason = "these are the bytes of the database file")]
pub(in crate::store) fn open_bytes(path: &Path) -> Result<Option<File>, Error> {
    if !metadata_if_exists(path)?.is_some_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        // The last connection closed it in between.
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(file_error("opened", path, source)),
    }
}

/// Returns the absolute path: SQLite takes some relative ones for something else, such as `:memory:` and `file:…`.
pub(in crate::store) fn absolute(file: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(file).map_err(|source| file_error("resolved", file, source))
}

/// Returns the path of the file with `suffix` after its name.
pub(in crate::store) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(suffix);
    PathBuf::from(name)
}

/// Deletes the logs that SQLite keeps next to a database.
pub(in crate::store) fn remove_logs(file: &Path) -> Result<(), Error> {
    LOG_SUFFIXES.iter().try_for_each(|suffix| remove_if_exists(&with_suffix(file, suffix)))
}

/// Deletes a file, if there is one.
pub(in crate::store) fn remove_if_exists(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(file_error("deleted", path, source)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Renames a file.
pub(in crate::store) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).map_err(|source| file_error("renamed", from, source))
}

/// Renames a database and its logs. With its log it stays the database that it is, and a process that has it open shares
/// its locks with one that opens it by the new name.
pub(in crate::store) fn rename_with_logs(from: &Path, to: &Path) -> Result<(), Error> {
    for suffix in LOG_SUFFIXES {
        let log = with_suffix(from, suffix);
        if exists(&log)? {
            rename(&log, &with_suffix(to, suffix))?;
        }
    }
    rename(from, to)
}

/// Returns the error that a file cannot be `done`: a past participle.
pub(in crate::store) fn file_error(done: &'static str, path: &Path, source: io::Error) -> Error {
    Error::File { done, path: path.to_owned(), source }
}
