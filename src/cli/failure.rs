//! The errors of commands, and their exit codes.

use std::borrow::Cow;
use std::io;

use crate::api::{ApiError, ApiErrorKind};
use crate::config as settings;
use crate::service::settings_error;

/// The command succeeded.
// clap exits with 2 by itself; 70 is `EX_SOFTWARE` of sysexits.h.
pub(super) const DONE: u8 = 0;
/// The user must act.
pub(super) const USER: u8 = 1;
/// The arguments cannot be used.
const BAD_ARGUMENTS: u8 = 2;
/// The environment failed; another try may succeed.
pub(super) const ENVIRONMENT: u8 = 3;
/// Done, but an error left some files out.
pub(super) const INCOMPLETE: u8 = 4;
pub(super) const BUG: u8 = 70;

/// The stable name of errors of the command line itself.
pub(super) const USAGE: &str = "usage";

/// What is wrong with arguments, although it takes more than them to know it.
const OF_ARGUMENTS: [&str; 2] = ["bad_shares", "name_in_use"];

#[derive(Debug)]
pub(super) enum CommandError {
    Api(ApiError),
    /// Standard output cannot be written.
    // A variant of its own, because a closed pipe is no failure and has to be recognized.
    Output(io::Error),
}

impl CommandError {
    /// Returns an error of the command line's own.
    pub(super) fn usage(message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Self::Api(ApiError::user(USAGE, message, hint))
    }

    /// Returns what a client of the API would be given for the same error.
    pub(super) fn into_api_error(self) -> ApiError {
        match self {
            Self::Api(fault) => fault,
            Self::Output(error) => {
                let message = format!("standard output cannot be written: {error}");
                ApiError::environment("write_failed", message, "check where the output goes")
            }
        }
    }
}

pub(super) fn exit_code(error: &ApiError) -> u8 {
    if OF_ARGUMENTS.contains(&&*error.code) {
        return BAD_ARGUMENTS;
    }
    match error.kind {
        ApiErrorKind::User => USER,
        ApiErrorKind::Environment => ENVIRONMENT,
    }
}

impl From<ApiError> for CommandError {
    fn from(fault: ApiError) -> Self {
        Self::Api(fault)
    }
}

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
