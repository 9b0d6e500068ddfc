//! What the file system says of a file, and why a file may be left out.

use std::fmt;

/// What `stat` tells of a regular file; equal stamps *may* mean equal bytes, different ones always mean a look.
///
/// Compared by equality alone, never by order: clocks step and tools set times as they like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileStamp {
    /// Device that holds the file.
    pub dev: u64,
    /// Inode number on that device.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the bytes, nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// Time of the last change of the bytes or of the inode, nanoseconds since the epoch; no tool can set it.
    pub ctime_ns: i64,
}

/// Why a file that the project lists is not rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// Its bytes are not text.
    Binary,
    /// It is larger than `limits.structure_max_bytes` and was not read.
    TooLarge,
    /// It could not be opened or read.
    Unreadable,
    /// It is marked as text in an encoding that its bytes do not keep.
    Undecodable,
    /// It was listed, and gone when it was to be read.
    Vanished,
    /// It kept changing while it was read.
    Unstable,
    /// It is a symbolic link; links are listed, never followed.
    Symlink,
    /// It is a FIFO, a socket or a device.
    Special,
    /// It is a submodule: a repository of its own.
    Submodule,
    /// It is a repository of its own that git does not track.
    NestedRepository,
    /// Its name says that it holds secrets, and `secrets.allow` does not name it.
    Secret,
    /// It records a discussion (`history.toml`, `*_history.toml`).
    History,
}

impl SkipReason {
    /// Every reason there is.
    pub const ALL: [Self; 12] = [
        Self::Binary,
        Self::TooLarge,
        Self::Unreadable,
        Self::Undecodable,
        Self::Vanished,
        Self::Unstable,
        Self::Symlink,
        Self::Special,
        Self::Submodule,
        Self::NestedRepository,
        Self::Secret,
        Self::History,
    ];

    /// Returns the stable name, as it stands in reports and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::TooLarge => "too_large",
            Self::Unreadable => "unreadable",
            Self::Undecodable => "undecodable",
            Self::Vanished => "vanished",
            Self::Unstable => "unstable",
            Self::Symlink => "symlink",
            Self::Special => "special",
            Self::Submodule => "submodule",
            Self::NestedRepository => "nested_repository",
            Self::Secret => "secret",
            Self::History => "history",
        }
    }

    /// Returns the reason of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// Says whether it is an error that left the file out: one that another try, or the user, may mend.
    pub const fn is_error(self) -> bool {
        match self {
            Self::Unreadable | Self::Undecodable | Self::Unstable => true,
            // A file that git tracks and somebody deleted, or that a sparse checkout leaves out, is no error.
            Self::Vanished
            | Self::Binary
            | Self::TooLarge
            | Self::Symlink
            | Self::Special
            | Self::Submodule
            | Self::NestedRepository
            | Self::Secret
            | Self::History => false,
        }
    }

    /// Says the reason in words that fit after "left out:".
    pub const fn description(self) -> &'static str {
        match self {
            Self::Binary => "not text",
            Self::TooLarge => "larger than limits.structure_max_bytes",
            Self::Unreadable => "cannot be read",
            Self::Undecodable => "its bytes do not keep the encoding that its byte order mark names",
            Self::Vanished => "file not found",
            Self::Unstable => "kept changing while it was read",
            Self::Symlink => "a symbolic link, which is never followed",
            Self::Special => "a FIFO, socket or device, which is never opened",
            Self::Submodule => "a submodule, which is a project of its own",
            Self::NestedRepository => "a git repository of its own",
            Self::Secret => "holds secrets by its name; list it in secrets.allow to render it",
            Self::History => "a discussion's history",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
