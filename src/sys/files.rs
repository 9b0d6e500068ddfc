//! Access to the project's tree that never reads anything outside of it.

use std::io;
use std::io::Read;
use std::path::Path;

use super::file_stat::{FileKind, FileStat};
use super::root_folder::RootFolder;
use crate::model::{FileStamp, FolderIdentity, RelPath};

/// The bytes of a file, and the stamp that it had both before and after they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    pub bytes: Vec<u8>,
    pub stamp: FileStamp,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("not a regular file")]
    NotRegular(FileKind),
    #[error("file of {size} bytes is over the limit")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        stamp: FileStamp,
    },
    #[error("file changed while it was read")]
    Changing,
    #[error("file cannot be read")]
    Io(#[from] io::Error),
}

/// Reads the files of one tree.
pub trait Files: Sync {
    /// Returns the `lstat` of `path`, which does not follow a link at its end.
    fn stat(&self, path: &RelPath) -> io::Result<FileStat>;

    /// Reads a regular file of at most `limit` bytes, once. A change while reading is an error.
    fn read(&self, path: &RelPath, limit: u64) -> Result<FileContent, ReadError>;

    /// Returns the names in a folder (relative to the root; empty for the root itself), in arbitrary order.
    fn entry_names(&self, folder: &[u8]) -> io::Result<Vec<Vec<u8>>>;

    /// Returns the names in a folder with their kinds, in arbitrary order.
    fn entries(&self, folder: &[u8]) -> io::Result<Vec<(Vec<u8>, FileKind)>>;
}

/// The files below a folder of the file system.
#[derive(Debug)]
pub struct RealFiles {
    root: RootFolder,
}

impl RealFiles {
    /// Opens the folder `root`.
    pub fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: RootFolder::open(root)? })
    }

    /// Opens the folder `root`, an absolute path without links. With an `identity`, any other folder is an error of
    /// kind `NotFound`.
    pub fn open_exact(root: &Path, identity: Option<FolderIdentity>) -> io::Result<Self> {
        let files = Self { root: RootFolder::open_without_links(root)? };
        if identity.is_some_and(|identity| files.identity().ok() != Some(identity)) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the folder was replaced by another one"));
        }
        Ok(files)
    }

    /// Returns the identity of the root.
    pub fn identity(&self) -> io::Result<FolderIdentity> {
        let FileStamp { dev, ino, .. } = self.root_stat()?.stamp;
        Ok(FolderIdentity { dev, ino })
    }

    /// Returns the `stat` of the root itself.
    pub fn root_stat(&self) -> io::Result<FileStat> {
        self.root.root_stat()
    }

    fn open_error(&self, path: &RelPath, error: io::Error) -> ReadError {
        let is_link = |folder: &[u8]| {
            let stat = RelPath::new(folder).ok().and_then(|folder| self.stat(&folder).ok());
            stat.is_some_and(|stat| stat.kind == FileKind::Symlink)
        };
        if path.ancestors().any(is_link) {
            return ReadError::NotRegular(FileKind::Symlink);
        }
        match self.stat(path) {
            Ok(stat) if stat.kind != FileKind::Regular => ReadError::NotRegular(stat.kind),
            Ok(_) | Err(_) => ReadError::Io(error),
        }
    }
}

impl Files for RealFiles {
    fn stat(&self, path: &RelPath) -> io::Result<FileStat> {
        self.root.stat(path)
    }

    fn read(&self, path: &RelPath, limit: u64) -> Result<FileContent, ReadError> {
        let mut file = match self.root.open_file(path) {
            // With NOFOLLOW, a link at the end of the path causes ELOOP, and a socket ENXIO.
            Err(error) => return Err(self.open_error(path, error)),
            Ok(file) => file,
        };
        let before = RootFolder::file_stat(&file)?;
        if before.kind != FileKind::Regular {
            return Err(ReadError::NotRegular(before.kind));
        }
        let size = before.stamp.size;
        if limit < size {
            return Err(ReadError::TooLarge { size, stamp: before.stamp });
        }
        // One byte more than the size, to detect that the file grows.
        let capacity = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1);
        let mut bytes = Vec::with_capacity(capacity);
        io::Read::by_ref(&mut file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        let after = RootFolder::file_stat(&file)?;
        // The name must still refer to the opened file, which an atomic save replaces.
        let named = self.stat(path)?;
        if after != before || named != before || bytes.len() as u64 != size {
            return Err(ReadError::Changing);
        }
        Ok(FileContent { bytes, stamp: before.stamp })
    }

    fn entry_names(&self, folder: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        Ok(self.entries(folder)?.into_iter().map(|(name, _)| name).collect())
    }

    fn entries(&self, folder: &[u8]) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        self.root.entries(folder)
    }
}
