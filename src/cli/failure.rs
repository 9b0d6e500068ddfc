//! Errors become words and an exit code.

use std::io;

use crate::api::Fault;
use crate::api::Kind;
use crate::config as settings;
use crate::model::with_causes;

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
pub(super) enum Failure {
    /// The engine's answer.
    Fault(Fault),
    /// The command line's own.
    Usage {
        /// What was attempted, and why it could not be done.
        message: String,
        /// What to do.
        hint: String,
    },
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Failure {
    pub(super) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Fault(fault) => match fault.kind {
                Kind::User => USER,
                Kind::Environment => ENVIRONMENT,
            },
            Self::Usage { .. } => USER,
            // Whoever closes a pipe has read enough.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => DONE,
            Self::Output(_) => ENVIRONMENT,
        }
    }

    pub(super) fn message(&self) -> String {
        match self {
            Self::Fault(fault) => fault.message.clone(),
            Self::Usage { message, .. } => message.clone(),
            Self::Output(error) => format!("write to the standard output: {error}"),
        }
    }

    /// Returns the failure's stable name, for programs.
    pub(super) fn code(&self) -> &str {
        match self {
            Self::Fault(fault) => &fault.code,
            Self::Usage { .. } => "usage",
            Self::Output(_) => "write_failed",
        }
    }

    pub(super) fn hint(&self) -> &str {
        match self {
            Self::Fault(fault) => &fault.hint,
            Self::Usage { hint, .. } => hint,
            Self::Output(_) => "check where the output goes",
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// What is wrong with `slop.toml`, or with an edit of it.
impl From<settings::Error> for Failure {
    fn from(error: settings::Error) -> Self {
        let (message, hint) = (with_causes(&error), hint(&error));
        let code = match error {
            settings::Error::Thread(_) => "no_thread",
            settings::Error::Write { .. } => "write_failed",
            settings::Error::Changed { .. } => "changed_meanwhile",
            settings::Error::NotUtf8 { .. }
            | settings::Error::Syntax { .. }
            | settings::Error::UnknownKey { .. }
            | settings::Error::BadValue { .. }
            | settings::Error::Read { .. }
            | settings::Error::Unwritable { .. }
            | settings::Error::NoSuchItem { .. }
            | settings::Error::NoSuchSlice { .. }
            | settings::Error::SliceExists { .. }
            | settings::Error::NoSuchMask { .. }
            | settings::Error::NoSuchPreset { .. }
            | settings::Error::PresetExists { .. }
            | settings::Error::NothingToSave { .. }
            | settings::Error::WouldLose { .. } => return Self::usage(message, hint),
        };
        Self::Fault(Fault::environment(code, message, hint))
    }
}

const fn hint(error: &settings::Error) -> &'static str {
    match error {
        settings::Error::NotUtf8 { .. }
        | settings::Error::Syntax { .. }
        | settings::Error::UnknownKey { .. }
        | settings::Error::BadValue { .. } => {
            "mend what the message names; `slop init` in an empty folder writes out every setting there is"
        }
        settings::Error::Thread(_) => "try again when the machine has fewer threads to run",
        settings::Error::Read { .. } => "make the file readable, or move it away",
        settings::Error::Write { .. } => {
            "check the permissions of the file and its folder, and the room on the disk"
        }
        settings::Error::Changed { .. } => "nothing was written; try again",
        settings::Error::Unwritable { .. } => {
            "nothing was written; give what is to be edited a header of its own, as [[files]] or [presets.NAME]"
        }
        settings::Error::NoSuchItem { .. } | settings::Error::NoSuchSlice { .. } => {
            "`slop slice list` and `slop mask list` say what there is"
        }
        settings::Error::SliceExists { .. } => "remove it first with `slop slice remove`",
        settings::Error::NoSuchMask { .. } => "`slop mask list` says what there is",
        settings::Error::NoSuchPreset { .. } => "`slop preset list` says which presets there are",
        settings::Error::PresetExists { .. } => "choose another name, or overwrite it with --force",
        settings::Error::NothingToSave { .. } => "name the files to save, or curate some first",
        settings::Error::WouldLose { .. } => {
            "save it first with `slop preset save`, or replace it all the same with --yes"
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
