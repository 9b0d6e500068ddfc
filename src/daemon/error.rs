//! Errors that stop a daemon or prevent its start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::api::{ApiError, BindError};
use crate::model::error_chain;

/// Why a daemon could not start or continue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another one runs.
    #[error("a daemon is already running{}", .pid.map_or(String::new(), |pid| format!(", process {pid}")))]
    AlreadyRunning {
        /// Its process, as far as is known.
        pid: Option<u32>,
    },
    /// The lock cannot be had.
    #[error("{} cannot be locked", .path.display())]
    Lock {
        /// The lock's file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file system has no locks, so that two daemons could not exclude each other.
    #[error("file system of {} does not support locks", .path.display())]
    NoLocks {
        /// The lock's file.
        path: PathBuf,
    },
    /// The project's folder is another user's.
    #[error("{} belongs to another user", .path.display())]
    ForeignProject {
        /// The folder.
        path: PathBuf,
    },
    /// The cache's folder cannot be used.
    #[error("cache folder {} cannot be used", .path.display())]
    CacheFolder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The settings say that there is no cache.
    #[error("cache is disabled: aggregation.cache_enabled is false")]
    NoCache,
    /// The socket cannot be listened on.
    #[error(transparent)]
    BindSocket(Box<BindError>),
    /// The address cannot be listened on.
    #[error("{address} is unavailable")]
    BindAddress {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// A thread or a process could not be started.
    #[error("{what} did not start")]
    Spawn {
        /// What should have been started.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A daemon was started, and does not answer.
    #[error("daemon {why}")]
    StartTimedOut {
        /// What became of it, in words.
        why: String,
    },
    /// A daemon holds the lock, and does not answer.
    #[error("daemon does not answer: process {pid} holds the lock")]
    HolderUnresponsive {
        /// Its process.
        pid: u32,
    },
    /// A daemon that runs does not end.
    #[error("daemon did not stop: process {pid} is still running")]
    StillRunning {
        /// Its process.
        pid: u32,
    },
    /// The project cannot be opened.
    #[error("{}", .0.message)]
    Project(ApiError),
    /// It ended because what it stood on is gone.
    #[error("{0}")]
    StateLost(&'static str),
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let (message, hint) = (error_chain(&error), hint(&error));
        match error {
            Error::AlreadyRunning { .. } => Self::user("daemon_runs", message, hint),
            Error::NoLocks { .. } => Self::user("no_locks", message, hint),
            Error::ForeignProject { .. } => Self::user("foreign_project", message, hint),
            Error::NoCache => Self::user("no_cache", message, hint),
            Error::Lock { .. } => Self::environment("lock_failed", message, hint),
            Error::CacheFolder { .. } => Self::environment("cache_unusable", message, hint),
            Error::BindSocket(_) | Error::BindAddress { .. } => {
                Self::environment("listen_failed", message, hint)
            }
            Error::Spawn { .. } => Self::environment("start_failed", message, hint),
            Error::StartTimedOut { .. } => Self::environment("daemon_silent", message, hint),
            Error::HolderUnresponsive { .. } => Self::environment("daemon_hangs", message, hint),
            Error::StillRunning { .. } => Self::environment("daemon_goes_on", message, hint),
            Error::StateLost(_) => Self::environment("project_gone", message, hint),
            Error::Project(fault) => fault,
        }
    }
}

const fn hint(error: &Error) -> &'static str {
    match error {
        Error::AlreadyRunning { .. } => "`slop daemon status` says how it is, `slop daemon stop` stops it",
        Error::Lock { .. } | Error::CacheFolder { .. } => {
            "see whose folder it is, and whether it can be written"
        }
        Error::NoLocks { .. } => {
            "keep the project on a local disk; without a daemon every command works there too"
        }
        Error::ForeignProject { .. } => "start it as the user that the folder belongs to",
        Error::NoCache => "set aggregation.cache_enabled = true",
        Error::BindSocket(_) => "see what is in the socket's place, and whether its folder can be written",
        Error::BindAddress { .. } => "choose another port, or 0 for any that is free",
        Error::Spawn { .. } => "try again when the machine has fewer threads and processes to run",
        Error::StartTimedOut { .. } => {
            "`slop daemon logs` says what it said; `slop watch` starts it in the foreground"
        }
        Error::HolderUnresponsive { .. } => {
            "ask again if it was started just now; else `slop daemon stop` stops it, or kill the process"
        }
        Error::StillRunning { .. } => "see what keeps it, or kill the process",
        Error::StateLost(_) => "start it again where the project is now",
        Error::Project(_) => "",
    }
}

pub(super) fn stopping_error() -> ApiError {
    let message = "daemon is shutting down".to_owned();
    ApiError::environment("stopping", message, "ask again: without a daemon each command answers by itself")
}

pub(super) fn cancelled_error() -> ApiError {
    let message = "request was cancelled".to_owned();
    ApiError::environment("cancelled", message, "ask again")
}
