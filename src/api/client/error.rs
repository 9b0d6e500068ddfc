//! Why there is no answer from a daemon.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::api::fault::ApiError;

/// No daemon can be asked there.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// There is no socket.
    #[error("no daemon socket at {}", .0.display())]
    NotThere(PathBuf),
    /// Nobody listens on the socket.
    #[error("no daemon is listening on {}", .0.display())]
    NobodyListens(PathBuf),
    /// Another user listens, whose answers are not to be believed.
    #[error("socket {} belongs to another user", .0.display())]
    NotOurs(PathBuf),
    /// Somebody listens, and says nothing.
    #[error("daemon sent nothing for {} s", .0.as_secs())]
    Silent(Duration),
    /// The connection broke, or could not be made.
    #[error("connection to the daemon failed")]
    Broken(#[source] io::Error),
}

/// The error.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No daemon answers, or not to the end.
    #[error(transparent)]
    Unreachable(#[from] ConnectError),
    /// The daemon understood, and says why not.
    #[error("{}", .0.message)]
    Fault(ApiError),
    /// Nobody waits for the answer any more.
    #[error("request was cancelled")]
    Cancelled,
    /// A daemon is not asked this.
    #[error("query has no route to the daemon")]
    NoRoute,
    /// What it says is not what a daemon of this protocol says.
    #[error("invalid answer from the daemon: {0}")]
    NotUnderstood(String),
}

/// Converts an error of a connection.
pub(super) fn io_error(error: hyper::Error) -> ConnectError {
    ConnectError::Broken(io::Error::other(error))
}
