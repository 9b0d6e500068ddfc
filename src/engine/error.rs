//! Errors of use cases, each with a stable code.

use std::io;
use std::path::PathBuf;

use crate::model::{InvalidPath, RelPath, SkipReason, ViewMode};
use crate::{aggregate, discover, search, sections, slices, store};

/// Why a use case could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("project files cannot be listed")]
    Discover(#[from] discover::Error),
    #[error("cache is unusable")]
    Store(#[from] store::Error),
    #[error("agent.db is unusable")]
    Paid(#[source] store::Error),
    #[error("takes.db is unusable")]
    History(#[source] store::Error),
    #[error(transparent)]
    Select(#[from] aggregate::Error),
    #[error("`{path}` is not in the project")]
    BadPath { path: String, source: InvalidPath },
    #[error(
        "{path} is not part of the project: it belongs to version control, to the cache or to written documents"
    )]
    Apart { path: RelPath },
    #[error("no such file: {path}{}", suggestion(nearest))]
    NoSuchFile { path: RelPath, nearest: Vec<String> },
    #[error("{name} is the name of several files: {}", paths.join(", "))]
    AmbiguousName { name: RelPath, paths: Vec<String> },
    #[error("{}", left_out(path, *reason))]
    LeftOut { path: RelPath, reason: SkipReason },
    #[error("no {view} of {path}: {}", lacking(file_type, *feature))]
    NoSuchView {
        path: RelPath,
        view: ViewMode,
        file_type: &'static str,
        /// The build feature that it requires.
        feature: Option<&'static str>,
    },
    #[error("{path}: {reason}")]
    NoImage { path: RelPath, reason: String },
    #[error("no file of the project matches `{word}`")]
    NothingSelected { word: String },
    #[error("nothing is cached of `{word}`")]
    NothingCached { word: String },
    #[error("{word} has no slice `{slice}`{}", marked(known))]
    NoSuchSlice { word: String, slice: String, known: Vec<String> },
    #[error("no file matches the focus `{word}`{}", suggestion(nearest))]
    NothingInFocus { word: String, nearest: Vec<String> },
    #[error("no symbol named `{name}` in the references of the project{}", suggestion(nearest))]
    NoSuchSymbol { name: String, nearest: Vec<String> },
    #[error("no revision `{revision}` in the git repository")]
    NoSuchRevision { revision: String },
    #[error("{reason}")]
    NothingToCompare { reason: &'static str },
    #[error("task cannot be read")]
    Task(#[from] search::Error),
    #[error("no such lines in {path}")]
    Slice { path: RelPath, source: slices::Error },
    #[error("request was cancelled")]
    Cancelled,
    #[error("cache is disabled or cannot be opened")]
    NoCache,
    #[error("document needs {tokens} tokens, budget is {budget}")]
    OverBudget {
        /// Its tokens, more than `budget`.
        tokens: u64,
        budget: u64,
    },
    #[error("pinned files need {tokens} tokens, budget is {budget}")]
    PinsOverBudget {
        /// Their tokens at the least depths that their pins allow; more than `budget`.
        tokens: u64,
        budget: u64,
    },
    #[error("project is not hydrated")]
    NotHydrated,
    #[error("document needs {bytes} bytes, limit is {limit}")]
    OverSize {
        /// Its bytes, more than `limit`.
        bytes: u64,
        limit: u64,
    },
    #[error("discussion {} is invalid", path.display())]
    Discussion { path: PathBuf, source: sections::Error },
    #[error("discussion {} cannot be read", path.display())]
    DiscussionFile { path: PathBuf, source: io::Error },
    #[error("request body would be empty")]
    NothingToSend,
    #[error("project.output_dir leads through {link}, which is not a folder but a link")]
    OutputLink { link: RelPath },
    #[error("{} cannot be written", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// The stable name of an error, for clients to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Files could not be listed.
    ListFailed,
    /// A folder that was not named explicitly has too many files to be a project.
    TooManyFiles,
    /// The cache was written by a newer slop.
    StoreTooNew,
    /// The cache cannot be used.
    StoreUnusable,
    /// The summaries by models, which were paid for, cannot be used.
    PaidUnusable,
    /// The history of what is curated cannot be used.
    UndoUnusable,
    /// A pattern is invalid.
    BadPattern,
    /// A path is not in the project.
    OutsideProject,
    NotFound,
    /// Several files match the given name.
    AmbiguousName,
    Secret,
    /// A file has nothing to show.
    NotShown,
    /// A file cannot be read, usually because of its permissions.
    Unreadable,
    NoSuchView,
    /// A file cannot be shown as an image.
    NoImage,
    /// No file in a supported language defines a symbol of this name.
    NoSuchSymbol,
    NoSuchSlice,
    /// Git does not know the revision.
    NoSuchRevision,
    /// A task has no content.
    BadTask,
    /// A file does not have the lines that should be marked.
    NoSuchLines,
    Cancelled,
    NoCache,
    OverBudget,
    /// The pinned files exceed the HOT tokens.
    PinsOverBudget,
    /// Nothing has been placed yet.
    NotHydrated,
    /// A discussion cannot be understood.
    BadDiscussion,
    /// The file of a discussion does not exist, or cannot be read.
    HistoryNotFound,
    /// A request body would be empty.
    NothingToSend,
    /// The output folder is behind a link.
    OutputLink,
    /// An output cannot be written.
    WriteFailed,
}

/// Returns why a file cannot be shown. The remedy is the hint of the error's code.
fn left_out(path: &RelPath, reason: SkipReason) -> String {
    match reason {
        SkipReason::Vanished => format!("no such file: {path}"),
        SkipReason::Secret => format!("{path} holds secrets by its name"),
        SkipReason::Binary
        | SkipReason::TooLarge
        | SkipReason::Unreadable
        | SkipReason::Undecodable
        | SkipReason::Unstable
        | SkipReason::Symlink
        | SkipReason::Special
        | SkipReason::Submodule
        | SkipReason::NestedRepository
        | SkipReason::History
        | SkipReason::Settings
        | SkipReason::Takes
        | SkipReason::SkippedFolder
        | SkipReason::HiddenFolder
        | SkipReason::OtherFileSystem
        | SkipReason::ResourceGone
        | SkipReason::Unlisted => format!("{path}: {}", reason.description()),
    }
}

/// The maximum number of names that a message suggests instead of one that does not exist.
pub(in crate::engine) const MAX_NEAREST: usize = 3;

/// Returns the end of a message that suggests similar names.
fn suggestion(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        [one] => format!(", the nearest is {one}"),
        several => format!(", the nearest are {}", several.join(", ")),
    }
}

fn marked(slices: &[String]) -> String {
    if slices.is_empty() { String::new() } else { format!("; its slices are {}", slices.join(", ")) }
}

/// Returns why there is no such view.
fn lacking(file_type: &str, feature: Option<&str>) -> String {
    match feature {
        Some(feature) => format!("slop was built without {feature}"),
        None => format!("its type ({file_type}) has none"),
    }
}

impl Error {
    /// Returns the error's stable code.
    pub fn code(&self) -> Code {
        match self {
            Self::Discover(discover::Error::TooManyFiles { .. }) => Code::TooManyFiles,
            Self::Discover(_) => Code::ListFailed,
            Self::Store(store::Error::TooNew { .. }) => Code::StoreTooNew,
            Self::Store(_) => Code::StoreUnusable,
            Self::Paid(_) => Code::PaidUnusable,
            Self::History(_) => Code::UndoUnusable,
            Self::Select(_) => Code::BadPattern,
            Self::BadPath { .. } | Self::Apart { .. } => Code::OutsideProject,
            Self::LeftOut { reason: SkipReason::Vanished, .. }
            | Self::NoSuchFile { .. }
            | Self::NothingInFocus { .. }
            | Self::NothingSelected { .. }
            | Self::NothingCached { .. } => Code::NotFound,
            Self::NoSuchSlice { .. } => Code::NoSuchSlice,
            Self::AmbiguousName { .. } => Code::AmbiguousName,
            Self::LeftOut { reason: SkipReason::Secret, .. } => Code::Secret,
            Self::LeftOut { reason: SkipReason::Unreadable, .. } => Code::Unreadable,
            Self::LeftOut { .. } => Code::NotShown,
            Self::NoImage { .. } => Code::NoImage,
            Self::NoSuchView { .. } => Code::NoSuchView,
            Self::NoSuchSymbol { .. } => Code::NoSuchSymbol,
            Self::NoSuchRevision { .. } | Self::NothingToCompare { .. } => Code::NoSuchRevision,
            Self::Task(_) => Code::BadTask,
            Self::Slice { .. } => Code::NoSuchLines,
            Self::Cancelled => Code::Cancelled,
            Self::NoCache => Code::NoCache,
            Self::OverBudget { .. } | Self::OverSize { .. } => Code::OverBudget,
            Self::PinsOverBudget { .. } => Code::PinsOverBudget,
            Self::NotHydrated => Code::NotHydrated,
            // A file over the limit exists: the remedy is a smaller file or a higher limit, not another path.
            Self::DiscussionFile { source, .. } if source.kind() != io::ErrorKind::FileTooLarge => {
                Code::HistoryNotFound
            }
            Self::Discussion { .. } | Self::DiscussionFile { .. } => Code::BadDiscussion,
            Self::NothingToSend => Code::NothingToSend,
            Self::OutputLink { .. } => Code::OutputLink,
            Self::Write { .. } => Code::WriteFailed,
        }
    }
}
