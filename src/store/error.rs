//! What may go wrong with the store, sorted by what its caller can do about it.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;
use rusqlite::ffi;

/// Why the store could not do as asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file was written by a newer slop; it was left as it is.
    #[error("store has schema {found}, this slop knows {known}")]
    TooNew {
        /// Version found in the file, newer than `known`.
        found: u32,
        /// Newest version that this binary can read.
        known: u32,
    },
    /// The file is no store, or not all of one.
    #[error("open a store in what is {what}")]
    NotAStore {
        /// What it is instead.
        what: &'static str,
    },
    /// The file's structure is broken.
    #[error("read a damaged store")]
    Damaged(#[source] rusqlite::Error),
    /// The file was deleted or replaced while it was open: what is written now would be lost.
    #[error("write to a store that was deleted or replaced")]
    Gone,
    /// There is no room left to write to. What was stored before can still be read.
    #[error("write to the store on a full disk")]
    Full(#[source] rusqlite::Error),
    /// Another process held the store for longer than one waits.
    #[error("wait for another process to let go of the store")]
    Busy(#[source] rusqlite::Error),
    /// The store may be read, not written.
    #[error("write to a read-only store")]
    ReadOnly(#[source] rusqlite::Error),
    /// The file cannot be opened or made.
    #[error("open the store")]
    CannotOpen(#[source] rusqlite::Error),
    /// The file system refused something about the file itself.
    #[error("{attempt} {}", path.display())]
    File {
        /// What was attempted.
        attempt: &'static str,
        /// With what file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A statement failed.
    #[error("query the store")]
    Sqlite(#[source] rusqlite::Error),
}

impl Error {
    /// Says whether the file should be set aside and made anew.
    pub const fn is_damage(&self) -> bool {
        match self {
            Self::NotAStore { .. } | Self::Damaged(_) => true,
            Self::TooNew { .. }
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
            // A quota that is used up shows as a plain write error, a full disk under the index of the log as a
            // size that it cannot have.
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
