//! Errors of the store, grouped by how the caller can react.

use std::io;
use std::path::PathBuf;

use rusqlite::{ErrorCode, ffi};

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file was written by a newer version of slop; it was left unchanged.
    #[error("store has schema {found}, this version of slop reads up to {known}")]
    TooNew {
        /// Version found in the file, newer than `known`.
        found: u32,
        /// Newest version that this binary can read.
        known: u32,
    },
    /// An older version of slop wrote the file: it has to be opened for writing first.
    #[error("store is to be migrated")]
    Outdated,
    /// The file is not a store, or an incomplete one.
    #[error("file is {what}")]
    NotAStore { what: &'static str },
    /// The file's structure is broken.
    #[error("store is damaged")]
    Damaged(#[source] rusqlite::Error),
    /// The file was deleted or replaced while it was open, so written data would be lost.
    #[error("store was deleted or replaced while it was open")]
    Gone,
    /// No space is left on the device. Stored data can still be read.
    #[error("disk is full, store cannot be written")]
    Full(#[source] rusqlite::Error),
    /// Another process held its lock on the store longer than a statement waits.
    #[error("store is locked by another process")]
    Busy(#[source] rusqlite::Error),
    /// The store can be read but not written.
    #[error("store is read-only")]
    ReadOnly(#[source] rusqlite::Error),
    #[error("store cannot be opened")]
    CannotOpen(#[source] rusqlite::Error),
    #[error("{} cannot be {done}", path.display())]
    File {
        /// The failed operation, as a past participle.
        done: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("query failed")]
    Sqlite(#[source] rusqlite::Error),
}

impl Error {
    /// Returns whether the file should be set aside and created again.
    pub const fn is_damage(&self) -> bool {
        match self {
            Self::NotAStore { .. } | Self::Damaged(_) => true,
            Self::TooNew { .. }
            | Self::Outdated
            | Self::Gone
            | Self::Full(_)
            | Self::Busy(_)
            | Self::ReadOnly(_)
            | Self::CannotOpen(_)
            | Self::File { .. }
            | Self::Sqlite(_) => false,
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let Some(failure) = error.sqlite_error() else {
            return Self::Sqlite(error);
        };
        match failure.extended_code {
            ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS => return Self::Damaged(error),
            // An exhausted quota is reported as a plain write error, and a full disk while the log's index grows as an
            // invalid size of that index.
            ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE => return Self::Full(error),
            ffi::SQLITE_READONLY_DBMOVED => return Self::Gone,
            _ => {}
        }
        match failure.code {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Damaged(error),
            ErrorCode::DiskFull => Self::Full(error),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy(error),
            ErrorCode::ReadOnly => Self::ReadOnly(error),
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied => Self::CannotOpen(error),
            _ => Self::Sqlite(error),
        }
    }
}
