//! Errors of use cases, each with a stable code.

use std::io;
use std::path::PathBuf;

use crate::model::{InvalidPath, RelPath, SkipReason, ViewMode};
use crate::{aggregate, discover, sections, slices, store};

/// Why a use case could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The files could not be listed.
    #[error("project files cannot be listed")]
    Discover(#[from] discover::Error),
    /// The store refuses.
    #[error("cache is unusable")]
    Store(#[from] store::Error),
    /// What models wrote, and what it cost, cannot be read or written.
    #[error("agent.db is unusable")]
    Paid(#[source] store::Error),
    /// A pattern or a word for files cannot be read.
    #[error(transparent)]
    Select(#[from] aggregate::Error),
    /// A path does not lie in the project.
    #[error("`{path}` is not in the project")]
    BadPath {
        /// The path as it was given.
        path: String,
        /// What is wrong with it.
        source: InvalidPath,
    },
    /// A path lies in what is never part of a project.
    #[error("{path} is not part of the project")]
    Apart {
        /// The path.
        path: RelPath,
    },
    /// A file that was named cannot be shown.
    #[error("{}", left_out(path, *reason))]
    LeftOut {
        /// The file.
        path: RelPath,
        /// Why.
        reason: SkipReason,
    },
    /// A file's type has no such view.
    #[error("no {view} of {path}: {}", lacking(file_type, *feature))]
    NoSuchView {
        /// The file.
        path: RelPath,
        /// The view.
        view: ViewMode,
        /// The type's name.
        file_type: &'static str,
        /// What this build would need to have it.
        feature: Option<&'static str>,
    },
    /// Words that should select files select none.
    #[error("no file of the project matches `{word}`")]
    NothingSelected {
        /// The word.
        word: String,
    },
    /// Git does not know a revision.
    #[error("no revision `{revision}` in the git repository")]
    NoSuchRevision {
        /// The revision as it was given.
        revision: String,
    },
    /// Lines of a file cannot be marked.
    #[error("no such lines in {path}")]
    Slice {
        /// The file.
        path: RelPath,
        /// What is wrong with them.
        source: slices::Error,
    },
    /// The request was cancelled.
    #[error("request was cancelled")]
    Cancelled,
    /// There is no cache to work on.
    #[error("cache is disabled or cannot be opened")]
    NoCache,
    /// A document is larger than it may be.
    #[error("document needs {tokens} tokens, budget is {budget}")]
    OverBudget {
        /// Its tokens, more than `budget`.
        tokens: u64,
        /// The most that it may have.
        budget: u64,
    },
    /// A document has more bytes than it may have.
    #[error("document needs {bytes} bytes, limit is {limit}")]
    OverSize {
        /// Its bytes, more than `limit`.
        bytes: u64,
        /// The most that it may have.
        limit: u64,
    },
    /// A discussion cannot be read.
    #[error("discussion {} is invalid", path.display())]
    Discussion {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: sections::Error,
    },
    /// The file of a discussion cannot be read.
    #[error("discussion {} cannot be read", path.display())]
    DiscussionFile {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A request body would hold nothing.
    #[error("request body would be empty")]
    NothingToSend,
    /// An output file cannot be written.
    #[error("{} cannot be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The stable name of an error: what clients branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Files could not be listed.
    ListFailed,
    /// The cache was written by a newer slop.
    StoreTooNew,
    /// The cache cannot be used.
    StoreUnusable,
    /// What models wrote cannot be used. It was paid for.
    PaidUnusable,
    /// A pattern cannot be read.
    BadPattern,
    /// A path does not lie in the project.
    OutsideProject,
    /// There is no such file.
    NotFound,
    /// A file holds secrets.
    Secret,
    /// A file has nothing to show.
    NotShown,
    /// A file's type has no such view.
    NoSuchView,
    /// Git does not know a revision.
    NoSuchRevision,
    /// A file does not have the lines that should be marked.
    NoSuchLines,
    /// The request was cancelled.
    Cancelled,
    /// There is no cache.
    NoCache,
    /// A document is larger than it may be.
    OverBudget,
    /// A discussion cannot be understood.
    BadDiscussion,
    /// There is no file of a discussion, or it cannot be read.
    HistoryNotFound,
    /// A request body would hold nothing.
    NothingToSend,
    /// An output cannot be written.
    WriteFailed,
}

/// Returns why a file cannot be shown. What can be done about it is the hint of the error's code.
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
        | SkipReason::History => format!("{path}: {}", reason.description()),
    }
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
            Self::Discover(_) => Code::ListFailed,
            Self::Store(store::Error::TooNew { .. }) => Code::StoreTooNew,
            Self::Store(_) => Code::StoreUnusable,
            Self::Paid(_) => Code::PaidUnusable,
            Self::Select(_) => Code::BadPattern,
            Self::BadPath { .. } | Self::Apart { .. } => Code::OutsideProject,
            Self::LeftOut { reason: SkipReason::Vanished, .. } | Self::NothingSelected { .. } => {
                Code::NotFound
            }
            Self::LeftOut { reason: SkipReason::Secret, .. } => Code::Secret,
            Self::LeftOut { .. } => Code::NotShown,
            Self::NoSuchView { .. } => Code::NoSuchView,
            Self::NoSuchRevision { .. } => Code::NoSuchRevision,
            Self::Slice { .. } => Code::NoSuchLines,
            Self::Cancelled => Code::Cancelled,
            Self::NoCache => Code::NoCache,
            Self::OverBudget { .. } | Self::OverSize { .. } => Code::OverBudget,
            Self::DiscussionFile { source, .. } if source.kind() != io::ErrorKind::FileTooLarge => {
                Code::HistoryNotFound
            }
            Self::Discussion { .. } | Self::DiscussionFile { .. } => Code::BadDiscussion,
            Self::NothingToSend => Code::NothingToSend,
            Self::Write { .. } => Code::WriteFailed,
        }
    }
}
