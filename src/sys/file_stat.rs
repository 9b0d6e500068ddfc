//! What a name in a file system refers to.

use crate::model::FileStamp;

/// What a name in the tree refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Regular,
    Directory,
    /// A symbolic link, not followed.
    Symlink,
    /// A FIFO, a socket or a device.
    Special,
}

/// What `lstat` returns for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    pub kind: FileKind,
    pub stamp: FileStamp,
}
