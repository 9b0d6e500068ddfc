//! The error that a client receives: a stable code, a message, and a hint.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use crate::engine::{Code, Error};
use crate::model::{SkipReason, error_chain};

/// Whether the user or the environment caused an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiErrorKind {
    /// The request: it will fail again if repeated.
    User,
    /// The environment: the same request may succeed later.
    Environment,
}

/// Why a request was not answered.
#[derive(Debug, Clone)]
pub struct ApiError {
    /// The stable name, for programs.
    pub code: Cow<'static, str>,
    /// The condition that prevented an answer: complete without a prefix, lowercase, no period, no advice.
    pub message: String,
    /// Advice on how to fix it.
    pub hint: Cow<'static, str>,
    /// Who can fix it.
    pub kind: ApiErrorKind,
}

impl ApiError {
    /// Returns an error of the request, which fails again if it is repeated.
    pub fn user(code: &'static str, message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { code: code.into(), message: message.into(), hint: hint.into(), kind: ApiErrorKind::User }
    }

    /// Returns an error of the environment: the same request may succeed later.
    pub fn environment(
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            hint: hint.into(),
            kind: ApiErrorKind::Environment,
        }
    }

    /// The project's folder cannot be opened.
    pub fn no_project(root: &Path, error: &io::Error) -> Self {
        let message = format!("project folder {} cannot be opened: {error}", root.display());
        Self::user("no_project", message, "name a readable folder: `slop --project DIR`")
    }

    /// The client expects other settings than those of the project.
    pub fn other_settings() -> Self {
        let message = "settings differ from those that the client has read".to_owned();
        Self::user("other_settings", message, "ask again with the current settings")
    }

    /// A bug in slop.
    pub fn bug() -> Self {
        // Counted as a failure of the environment, because the user cannot fix it by changing the request.
        let message = "internal error in slop".to_owned();
        Self::environment("bug", message, "ask again; `slop daemon logs` has the details for a report")
    }

    /// A file cannot be written.
    pub fn write_failed(path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind::{AlreadyExists, IsADirectory, NotADirectory, NotFound};
        let (code, kind, hint) = describe(Code::WriteFailed);
        let (kind, hint) = match error.kind() {
            AlreadyExists => (ApiErrorKind::User, "edit the existing file, or move it away first"),
            IsADirectory | NotADirectory | NotFound => {
                (ApiErrorKind::User, "give the path of a file in a folder that exists")
            }
            _ => (kind, hint),
        };
        let reason = match error.kind() {
            AlreadyExists => "it already exists".to_owned(),
            _ => error.to_string(),
        };
        let message = format!("{} cannot be written: {reason}", path.display());
        Self { code: code.into(), message, hint: hint.into(), kind }
    }

    /// The answer cannot be decoded.
    pub(super) fn unreadable_answer(error: &serde_json::Error) -> Self {
        let hint = "this is a bug in slop; asking for something else may still work";
        Self::environment("bug", format!("internal error in slop: {error}"), hint)
    }

    /// The answer is possibly not fresh, and the client requires that it is.
    pub fn not_fresh(reason: &str) -> Self {
        let message = format!("answer is possibly not fresh: {reason}");
        Self::environment(
            "not_fresh",
            message,
            "try again when the files are no longer changing, or ask without require_fresh",
        )
    }

    /// The JSON is not a valid slice.
    pub fn bad_slice(reason: &str) -> Self {
        Self::user(
            "bad_slice",
            format!("not a slice as JSON: {reason}"),
            "`slop slice make PATH A-B` prints a valid one",
        )
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let (code, kind, hint) = describe(error.code());
        let hint = match &error {
            Error::LeftOut { reason, .. } => left_out_hint(*reason).unwrap_or(hint),
            Error::Apart { .. } => {
                "if `aggregation.cache_dir` or `project.output_dir` names a folder with sources, name another one"
            }
            _ => hint,
        };
        Self { code: code.into(), message: error_chain(&error), hint: hint.into(), kind }
    }
}

/// Returns what can be done about a file that is left out for a reason other than its name or an error.
const fn left_out_hint(reason: SkipReason) -> Option<&'static str> {
    match reason {
        SkipReason::TooLarge => Some("raise `limits.structure_max_bytes` to have the file read"),
        SkipReason::Symlink => Some("name the file that the link leads to"),
        SkipReason::Submodule | SkipReason::NestedRepository => {
            Some("it is a project of its own: choose it with `slop --project DIR`")
        }
        SkipReason::SkippedFolder => {
            Some("remove the folder's name from `discover.skip` to have its files read")
        }
        SkipReason::Binary | SkipReason::Special => Some("name a text file"),
        _ => None,
    }
}

/// The hint for an unusable database of summaries by models. They were paid for, so it does not suggest deleting them.
pub const PAID_STORE_HINT: &str = "if it is damaged, `slop cache verify` or the next `slop summarize` repairs it, and \
                          keeps the old file; do not delete it, because the summaries were paid for";

/// Returns the stable name of a code, its kind, and its hint.
const fn describe(code: Code) -> (&'static str, ApiErrorKind, &'static str) {
    use ApiErrorKind::{Environment, User};
    // A table, and therefore longer than other functions. It has no `_` arm, so a new code does not compile until it
    // has a name, a kind and a hint.
    match code {
        Code::ListFailed => {
            ("list_failed", Environment, "check that the project's folder exists and is readable")
        }
        Code::TooManyFiles => (
            "too_many_files",
            User,
            "name the folder to read it anyway (`slop --project DIR`), or leave folders out (discover.skip, .slopignore); \
             discover.max_files is the limit",
        ),
        Code::StoreTooNew => (
            "store_too_new",
            User,
            "use the newer slop that wrote this cache, or delete index.db in the cache folder to rebuild it",
        ),
        Code::StoreUnusable => (
            "store_unusable",
            Environment,
            "try again; if that does not help, delete index.db in the cache folder, which only costs time",
        ),
        Code::PaidUnusable => ("paid_unusable", Environment, PAID_STORE_HINT),
        Code::UndoUnusable => (
            "undo_unusable",
            Environment,
            "try again; if that does not help, delete takes.db in the cache folder, which only loses the undo history",
        ),
        Code::BadPattern => ("bad_pattern", User, "quote the pattern, and close every bracket in it"),
        Code::OutsideProject => (
            "outside_project",
            User,
            "give a path below the project's folder, or choose another project (`slop --project DIR`)",
        ),
        Code::NotFound => ("not_found", User, "`slop status --all` lists the files of the project"),
        Code::AmbiguousName => ("ambiguous_name", User, "give more of the path, so that one file matches"),
        Code::Secret => ("secret", User, "name it under `secrets.allow` in slop.toml if it may be shown"),
        Code::Unreadable => ("unreadable", User, "check the permissions of the file and its folders"),
        Code::NotShown => ("not_shown", User, "`slop status --all` shows why files are left out"),
        Code::NoImage => {
            ("no_image", User, "give the path of a PNG, JPEG, GIF or WebP within `limits.screenshot_bytes`")
        }
        Code::NoSuchView => ("no_such_view", User, "`slop view --mode summary` works for every text"),
        Code::NoSuchSymbol => (
            "no_such_symbol",
            User,
            "`slop symbol NAME` finds names in every language; docs/references.md lists those whose references are read",
        ),
        Code::NoSuchSlice => ("no_such_slice", User, "`slop slice list` shows the slices of all files"),
        Code::NoSuchRevision => (
            "no_such_revision",
            User,
            "give a commit, a branch or a tag: `git rev-parse --verify REV^{commit}` has to know it",
        ),
        Code::BadTask => ("bad_task", User, "describe the task in words, or paste the text of an issue"),
        Code::NoSuchLines => {
            ("no_such_lines", User, "count lines from 1, the last one included, as in 10-25")
        }
        Code::Cancelled => ("cancelled", Environment, "ask again; what was derived until then is kept"),
        Code::NoCache => (
            "no_cache",
            User,
            "set `aggregation.cache_enabled = true`, and check that the cache folder is writable",
        ),
        Code::OverBudget => (
            "over_budget",
            User,
            "require fewer files in full (focus, force_full), leave out sections, or raise the limit: \
             tokens with `budget` or tiers.N.budget_tokens, bytes with `max_bytes`",
        ),
        Code::PinsOverBudget => (
            "pins_over_budget",
            User,
            "unpin some files (`slop fragments unpin`), pin them less deep, or raise hydration.hot_tokens or `budget`",
        ),
        Code::NotHydrated => ("not_hydrated", User, "place the files first: `slop hydrate`"),
        Code::BadDiscussion => (
            "bad_discussion",
            User,
            "a discussion is a list of strings or of {role, content}; in a file (`history`), it is JSON, JSONL or TOML \
             within limits.section_bytes",
        ),
        Code::HistoryNotFound => (
            "history_not_found",
            User,
            "name an existing, readable file in `history`; the default is history.toml",
        ),
        Code::NothingToSend => {
            ("nothing_to_send", User, "leave out `part`, or give a discussion that is not empty")
        }
        Code::OutputLink => (
            "output_link",
            User,
            "replace the link by a folder, name a file (`slop aggregate -o FILE`), or list the project's folder under \
             `trust.projects` in your own settings",
        ),
        Code::WriteFailed => {
            ("write_failed", Environment, "check the folder's permissions and the room on the disk")
        }
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}
