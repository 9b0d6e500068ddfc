//! Errors become words and an exit code.

use std::io;

use crate::api::{ApiError, ApiErrorKind};
use crate::config as settings;
use crate::service::settings_error;

/// Exit codes; the first two are every program's.
pub(super) const DONE: u8 = 0;
/// The user must act.
pub(super) const USER: u8 = 1;
/// The environment failed; another try may succeed.
pub(super) const ENVIRONMENT: u8 = 3;
/// Done, but an error left some files out.
pub(super) const INCOMPLETE: u8 = 4;
/// A bug.
pub(super) const BUG: u8 = 70;

/// Why a command failed.
#[derive(Debug)]
pub(super) enum CommandError {
    /// The engine's answer.
    Api(ApiError),
    /// The command line's own.
    Usage {
        /// The condition, complete without a prefix.
        message: String,
        /// What to do.
        hint: String,
    },
    /// Standard output cannot be written.
    Output(io::Error),
}

impl CommandError {
    pub(super) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Api(fault) => match fault.kind {
                ApiErrorKind::User => USER,
                ApiErrorKind::Environment => ENVIRONMENT,
            },
            Self::Usage { .. } => USER,
            // The reader of a pipe may close it early; that is not a failure.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => DONE,
            Self::Output(_) => ENVIRONMENT,
        }
    }

    pub(super) fn message(&self) -> String {
        match self {
            Self::Api(fault) => fault.message.clone(),
            Self::Usage { message, .. } => message.clone(),
            Self::Output(error) => format!("standard output cannot be written: {error}"),
        }
    }

    /// Returns the failure's stable name, for programs.
    pub(super) fn code(&self) -> &str {
        match self {
            Self::Api(fault) => &fault.code,
            Self::Usage { .. } => "usage",
            Self::Output(_) => "write_failed",
        }
    }

    pub(super) fn hint(&self) -> &str {
        match self {
            Self::Api(fault) => &fault.hint,
            Self::Usage { hint, .. } => hint,
            Self::Output(_) => "check where the output goes",
        }
    }
}

impl From<ApiError> for CommandError {
    fn from(fault: ApiError) -> Self {
        Self::Api(fault)
    }
}

/// What is wrong with `slop.toml`, or with an edit of it.
impl From<settings::Error> for CommandError {
    fn from(error: settings::Error) -> Self {
        Self::Api(settings_error(&error))
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
