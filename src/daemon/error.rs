//! Errors that stop a daemon or prevent its start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::api::ApiError;
use crate::api::ApiErrorKind::{Environment, User};
use crate::model::error_chain;
use crate::sys::BindError;

/// Why a daemon could not start or continue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("a daemon is already running{}", .pid.map_or(String::new(), |pid| format!(", process {pid}")))]
    AlreadyRunning {
        /// The id of its process, if known.
        pid: Option<u32>,
    },
    #[error("{} cannot be locked", .path.display())]
    Lock { path: PathBuf, source: io::Error },
    #[error("file system of {} does not support locks", .path.display())]
    NoLocks { path: PathBuf },
    #[error("{} belongs to another user", .path.display())]
    ForeignProject { path: PathBuf },
    #[error("cache folder {} cannot be used", .path.display())]
    CacheFolder { path: PathBuf, source: io::Error },
    #[error("daemon log {} cannot be written", .path.display())]
    Log { path: PathBuf, source: io::Error },
    #[error("cache is disabled: aggregation.cache_enabled is false")]
    NoCache,
    #[error(transparent)]
    BindSocket(Box<BindError>),
    #[error("{address} is unavailable")]
    BindAddress { address: SocketAddr, source: io::Error },
    #[error("{what} did not start")]
    Spawn { what: &'static str, source: io::Error },
    #[error("daemon {why}")]
    StartTimedOut {
        /// What happened to it, in words.
        why: String,
    },
    #[error("daemon does not answer: process {pid} holds the lock")]
    HolderUnresponsive { pid: u32 },
    #[error("daemon did not stop: process {pid} is still running")]
    StillRunning { pid: u32 },
    #[error("{}", .0.message)]
    Project(ApiError),
    #[error("{0}")]
    StateLost(&'static str),
}

impl Error {
    /// Returns whether the cache folder, or a file in it, vanished meanwhile.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Lock { source, .. } | Self::CacheFolder { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let message = error_chain(&error);
        let (kind, code, hint) = match error {
            // The engine's error has a code and a hint of its own.
            Error::Project(error) => return error,
            Error::AlreadyRunning { .. } => {
                let hint = "`slop daemon status` shows its state, `slop daemon stop` stops it";
                (User, "daemon_runs", hint)
            }
            Error::Lock { .. } => (Environment, "lock_failed", UNUSABLE_FOLDER),
            Error::NoLocks { .. } => {
                let hint = "keep the project on a local disk, or use slop without a daemon: every command works without one";
                (User, "no_locks", hint)
            }
            Error::ForeignProject { .. } => {
                (User, "foreign_project", "start it as the user who owns the folder")
            }
            Error::CacheFolder { .. } | Error::Log { .. } => (Environment, "cache_unusable", UNUSABLE_FOLDER),
            Error::NoCache => (User, "no_cache", "set aggregation.cache_enabled = true"),
            Error::BindSocket(_) => {
                let hint = "check what exists at the socket's path, and that its folder is writable";
                (Environment, "listen_failed", hint)
            }
            Error::BindAddress { .. } => {
                (Environment, "listen_failed", "choose another port, or 0 for any that is free")
            }
            Error::Spawn { .. } => {
                let hint = "try again when the machine has fewer threads and processes to run";
                (Environment, "start_failed", hint)
            }
            Error::StartTimedOut { .. } => {
                let hint = "`slop daemon logs` shows its output; `slop watch` starts it in the foreground";
                (Environment, "daemon_silent", hint)
            }
            Error::HolderUnresponsive { .. } => {
                let hint = "ask again if it was started just now; else `slop daemon stop` stops it, or kill the process";
                (Environment, "daemon_hangs", hint)
            }
            Error::StillRunning { .. } => {
                (Environment, "daemon_goes_on", "check what blocks it, or kill the process")
            }
            Error::StateLost(_) => {
                (Environment, "project_gone", "start it again in the project's new folder")
            }
        };
        Self { code: code.into(), message, hint: hint.into(), kind }
    }
}

const UNUSABLE_FOLDER: &str = "check who owns the folder, and that it is writable";

pub(super) fn stopping_error() -> ApiError {
    let message = "daemon is shutting down".to_owned();
    ApiError::environment("stopping", message, "try again: without a daemon, commands answer by themselves")
}

pub(super) fn cancelled_error() -> ApiError {
    let message = "request was cancelled".to_owned();
    ApiError::environment("cancelled", message, "ask again")
}
