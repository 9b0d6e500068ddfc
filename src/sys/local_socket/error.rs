//! Errors of binding a local socket.

use std::io;
use std::path::PathBuf;

/// The most bytes of a socket's path.
// `sun_path` has 108 bytes on Linux, the last of which is the NUL.
pub const SOCKET_PATH_BYTES: usize = 107;

/// Why a socket could not be bound at a path.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("socket path {} has {} bytes, limit is {SOCKET_PATH_BYTES}", .0.display(), .0.as_os_str().len())]
    TooLong(PathBuf),
    /// The folder is not writable by the user alone.
    #[error("socket folder {} {reason}", .folder.display())]
    UnsafeFolder { folder: PathBuf, reason: &'static str },
    #[error("{} exists and is not a socket", .0.display())]
    Occupied(PathBuf),
    #[error("socket {} is in use", .0.display())]
    InUse(PathBuf),
    #[error("socket {} cannot be bound", .path.display())]
    Io { path: PathBuf, source: io::Error },
}
