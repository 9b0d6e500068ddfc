//! The project's tree, opened so that nothing outside of it is ever read.

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

/// Why a file's bytes could not be had.
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

/// Looks at the files of one tree.
pub trait Files: Sync {
    /// Returns what `path` is, without following a link at its end.
    fn stat(&self, path: &RelPath) -> io::Result<FileStat>;

    /// Reads a regular file of at most `limit` bytes, once. A change during the reading is an error.
    fn read(&self, path: &RelPath, limit: u64) -> Result<FileContent, ReadError>;

    /// Returns the names in a folder (relative to the root; empty for the root itself), in no order.
    fn entry_names(&self, folder: &[u8]) -> io::Result<Vec<Vec<u8>>>;

    /// Returns the names in a folder with what each is, in no order.
    fn entries(&self, folder: &[u8]) -> io::Result<Vec<(Vec<u8>, FileKind)>>;
}

/// The files below a folder of the machine.
#[derive(Debug)]
pub struct RealFiles {
    root: RootFolder,
}

impl RealFiles {
    /// Opens the folder `root`.
    pub fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: RootFolder::open(root)? })
    }

    /// Opens the folder `root`, an absolute path on which no link lies. With an `identity`, any other folder is an error
    /// of the kind `NotFound`.
    pub fn open_exact(root: &Path, identity: Option<FolderIdentity>) -> io::Result<Self> {
        let files = Self { root: RootFolder::open_without_links(root)? };
        if identity.is_some_and(|identity| files.identity().ok() != Some(identity)) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "another folder has its name"));
        }
        Ok(files)
    }

    /// Returns which folder the root is.
    pub fn identity(&self) -> io::Result<FolderIdentity> {
        let FileStamp { dev, ino, .. } = self.root_stat()?.stamp;
        Ok(FolderIdentity { dev, ino })
    }

    /// Returns what `stat` returns for the root itself.
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
            // With NOFOLLOW a link at the path's end is a loop; so is a socket no device.
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
        // One byte more than the size: a file that grows shows it by that byte.
        let capacity = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1);
        let mut bytes = Vec::with_capacity(capacity);
        io::Read::by_ref(&mut file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        let after = RootFolder::file_stat(&file)?;
        // And the name must still refer to what was opened: an atomic save puts another file in its place.
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
