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
/// The environment failed; a retry may succeed.
pub(super) const ENVIRONMENT: u8 = 3;
/// Done, but an error left some files out.
pub(super) const INCOMPLETE: u8 = 4;
pub(super) const BUG: u8 = 70;

/// The stable name of errors of the command line itself.
pub(super) const USAGE: &str = "usage";

/// Codes of errors in arguments that are only detected later.
const OF_ARGUMENTS: [&str; 1] = ["bad_shares"];

/// Fields of requests that hints mention, and the corresponding flags.
const FLAGS_OF_FIELDS: [(&str, &str); 8] = [
    ("budget", "--budget"),
    ("max_bytes", "--max-bytes"),
    ("history", "--history"),
    ("part", "--history-only"),
    ("format", "--format"),
    ("preset", "--preset"),
    ("overwrite", "--force"),
    ("force", "--yes"),
];

#[derive(Debug)]
pub(super) enum CommandError {
    Api(ApiError),
    /// Standard output cannot be written.
    // A variant of its own, because a closed pipe is not a failure and has to be recognized.
    Output(io::Error),
}

impl CommandError {
    /// Returns an error of the command line's own.
    pub(super) fn usage(message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Self::Api(ApiError::user(USAGE, message, hint))
    }

    /// Returns the error as clients of the API get it.
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

/// Returns an error as the command line reports it: hints are written for all clients and name fields of requests,
/// which are replaced with flags.
pub(super) fn for_command_line(error: ApiError) -> ApiError {
    let mut hint = error.hint.into_owned();
    for (field, flag) in FLAGS_OF_FIELDS {
        hint = hint.replace(&format!("`{field}`"), flag);
    }
    ApiError { hint: hint.into(), ..error }
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::CliArgs;

    #[test]
    fn hints_name_flags_on_the_command_line() {
        let hint = |hint: &'static str| for_command_line(ApiError::user("over_budget", "", hint)).hint;
        assert_eq!(
            hint("raise `budget` or tiers.N.budget_tokens, or `max_bytes`"),
            "raise --budget or tiers.N.budget_tokens, or --max-bytes"
        );
        assert_eq!(hint("delete it all the same with `force`"), "delete it all the same with --yes");
        assert_eq!(
            hint("`slop preset list` says which `presets` there are"),
            "`slop preset list` says which `presets` there are"
        );
    }

    #[test]
    fn every_flag_in_the_table_exists() {
        fn flags(command: &clap::Command) -> Vec<String> {
            let own = command.get_arguments().filter_map(|argument| argument.get_long());
            let own = own.map(|name| format!("--{name}"));
            own.chain(command.get_subcommands().flat_map(flags)).collect()
        }
        let known = flags(&CliArgs::command());
        for (field, flag) in FLAGS_OF_FIELDS {
            assert!(known.iter().any(|known| known == flag), "{flag}");
            assert!(include_str!("../../docs/openapi.json").contains(&format!("\"{field}\": {{")), "{field}");
        }
    }
}
