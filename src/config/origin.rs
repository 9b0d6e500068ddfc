//! Where a value came from.

use std::fmt;
use std::path::Path;
use std::path::PathBuf;

/// The place that a value was taken from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SettingOrigin {
    /// `config/default.toml`, as it was when slop was built.
    BuiltIn,
    /// The user's own file.
    UserFile {
        /// The file, as the caller named it.
        path: PathBuf,
        /// Line of the key, from 1.
        line: usize,
    },
    /// The project's `slop.toml`.
    ProjectFile {
        /// The file, as the caller named it.
        path: PathBuf,
        /// Line of the key, from 1.
        line: usize,
    },
    /// The environment variable of that name.
    Environment(String),
    /// A flag of the command.
    Flag,
}

impl SettingOrigin {
    /// Returns the file, where it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::UserFile { path, .. } | Self::ProjectFile { path, .. } => Some(path),
            Self::BuiltIn | Self::Environment(_) | Self::Flag => None,
        }
    }
}

/// Prints `built-in`, `slop.toml:12`, `SLOP_PROJECT_NAME` or `flag`.
impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::UserFile { path, line } | Self::ProjectFile { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Self::Environment(name) => f.write_str(name),
            Self::Flag => f.write_str("flag"),
        }
    }
}
