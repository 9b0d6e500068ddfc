//! Errors of editing an agent's settings.

use std::io;
use std::path::PathBuf;

/// Why a settings file of an agent cannot be edited.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} cannot be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} cannot be written", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// The message is complete by itself: a parser's own error, printed as a source, would repeat the line.
    #[error("{}:{line}: {message}", path.display())]
    Syntax { path: PathBuf, line: usize, message: String },
    #[error("{} has `{key}`, but not as {expected}", path.display())]
    OtherForm { path: PathBuf, key: String, expected: &'static str },
    #[error("{} has a layout that cannot be edited without changing other settings", path.display())]
    Uneditable { path: PathBuf },
    #[error("{} leads out of the project", path.display())]
    OutsideProject { path: PathBuf },
    #[error("{} is a link to a file that does not exist", path.display())]
    DanglingLink { path: PathBuf },
    #[error("{} changed while it was edited", path.display())]
    Changed { path: PathBuf },
    #[error("no home folder is set")]
    NoHome,
    #[error("record {} is damaged", path.display())]
    Record { path: PathBuf, source: serde_json::Error },
}

/// Why a text cannot be edited. [`Error`] adds the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextError {
    Syntax { line: usize, message: String },
    OtherForm { key: String, expected: &'static str },
    Uneditable,
}

impl TextError {
    pub(super) fn at(self, path: &std::path::Path) -> Error {
        let path = path.to_owned();
        match self {
            Self::Syntax { line, message } => Error::Syntax { path, line, message },
            Self::OtherForm { key, expected } => Error::OtherForm { path, key, expected },
            Self::Uneditable => Error::Uneditable { path },
        }
    }
}
