//! The project's tree, opened so that nothing outside of it is ever read.

use std::fs::{File, Metadata};
use std::io;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType as InodeType, Mode, OFlags};

use crate::model::{FileStamp, FolderIdentity, RelPath};

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

/// Returns the number of the file system that a file is on.
pub fn device_id(metadata: &Metadata) -> u64 {
    metadata.dev()
}

/// Returns the number by which the file system knows a file.
pub fn inode(metadata: &Metadata) -> u64 {
    metadata.ino()
}

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
    root: OwnedFd,
}

impl RealFiles {
    /// Opens the folder `root`.
    pub fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: rustix::fs::open(root, FOLDER_FLAGS, Mode::empty())? })
    }

    /// Opens the folder `root`, an absolute path on which no link lies. With an `identity`, any other folder is an error
    /// of the kind `NotFound`.
    pub fn open_exact(root: &Path, identity: Option<FolderIdentity>) -> io::Result<Self> {
        let files = Self { root: open_without_links(root)? };
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
        Ok(to_stat(&rustix::fs::fstat(&self.root)?))
    }

    /// Opens a file for reading. Never blocks on a FIFO, never follows a link, never leaves the root.
    #[cfg(target_os = "linux")]
    fn open_beneath(&self, path: &Path) -> io::Result<OwnedFd> {
        use rustix::fs::ResolveFlags;
        use rustix::io::Errno;
        // A folder on the way may be replaced by a link between the listing and this call; the kernel alone can check
        // each step.
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(&self.root, path, OPEN_FLAGS, Mode::empty(), resolve) {
            // An old kernel, or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => open_by_parts(&self.root, path, OPEN_FLAGS),
            other => Ok(other?),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, path: &Path) -> io::Result<OwnedFd> {
        open_by_parts(&self.root, path, OPEN_FLAGS)
    }
}

/// Opens what lies below a folder, each part of the path in the folder that was opened before it, so that no link is
/// followed on the way.
fn open_by_parts(root: &OwnedFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mut folder = None;
    for part in path.parent().unwrap_or(Path::new("")) {
        let flags = FOLDER_FLAGS | OFlags::NOFOLLOW;
        folder = Some(rustix::fs::openat(folder.as_ref().unwrap_or(root), part, flags, Mode::empty())?);
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::fs::openat(folder.as_ref().unwrap_or(root), name, flags, Mode::empty())?)
}

const FOLDER_FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

#[cfg(target_os = "linux")]
fn open_without_links(folder: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{CWD, ResolveFlags};
    // Without a fallback to an older call: the path decides which folder of the machine is read, and a link may have
    // taken the place of any folder on it since it was resolved.
    Ok(rustix::fs::openat2(CWD, folder, FOLDER_FLAGS, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(folder: &Path) -> io::Result<OwnedFd> {
    let top = rustix::fs::open("/", FOLDER_FLAGS, Mode::empty())?;
    match folder.strip_prefix("/") {
        Ok(below) if below.as_os_str().is_empty() => Ok(top),
        Ok(below) => open_by_parts(&top, below, FOLDER_FLAGS | OFlags::NOFOLLOW),
        Err(_) => Err(io::ErrorKind::InvalidInput.into()),
    }
}

const OPEN_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

impl Files for RealFiles {
    fn stat(&self, path: &RelPath) -> io::Result<FileStat> {
        Ok(to_stat(&rustix::fs::statat(&self.root, path.as_path(), AtFlags::SYMLINK_NOFOLLOW)?))
    }

    fn read(&self, path: &RelPath, limit: u64) -> Result<FileContent, ReadError> {
        let file = match self.open_beneath(path.as_path()) {
            // With NOFOLLOW a link at the path's end is a loop; so is a socket no device.
            Err(error) => return Err(self.open_error(path, error)),
            Ok(file) => file,
        };
        let before = to_stat(&rustix::fs::fstat(file.as_fd()).map_err(io::Error::from)?);
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
        let mut file = File::from(file);
        io::Read::by_ref(&mut file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        let after = to_stat(&rustix::fs::fstat(file.as_fd()).map_err(io::Error::from)?);
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
        let path = RelPath::new(folder).ok();
        let path = path.as_ref().map_or(Path::new("."), |path| path.as_path());
        let flags = FOLDER_FLAGS | OFlags::NOFOLLOW;
        let directory = rustix::fs::openat(&self.root, path, flags, Mode::empty())?;
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::new(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Not every file system returns the kind with the name. For a file that is gone by now the kind does not matter.
                InodeType::Unknown => {
                    let inside = path.join(std::ffi::OsStr::from_bytes(name));
                    rustix::fs::statat(&self.root, &inside, AtFlags::SYMLINK_NOFOLLOW)
                        .map_or(FileKind::Special, |stat| to_stat(&stat).kind)
                }
                InodeType::RegularFile
                | InodeType::Directory
                | InodeType::Symlink
                | InodeType::Fifo
                | InodeType::Socket
                | InodeType::CharacterDevice
                | InodeType::BlockDevice => kind_of(entry.file_type()),
            };
            entries.push((name.to_vec(), kind));
        }
        Ok(entries)
    }
}

impl RealFiles {
    fn open_error(&self, path: &RelPath, error: io::Error) -> ReadError {
        match self.stat(path) {
            Ok(stat) if stat.kind != FileKind::Regular => ReadError::NotRegular(stat.kind),
            Ok(_) | Err(_) => ReadError::Io(error),
        }
    }
}

#[expect(clippy::unnecessary_cast, reason = "the fields' types differ between systems")]
#[expect(clippy::cast_sign_loss, reason = "sizes are not negative")]
#[expect(clippy::cast_possible_wrap, reason = "nanoseconds are below a billion")]
fn to_stat(stat: &rustix::fs::Stat) -> FileStat {
    let kind = kind_of(InodeType::from_raw_mode(stat.st_mode));
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    let stamp = FileStamp {
        dev: stat.st_dev as u64,
        ino: stat.st_ino as u64,
        size: stat.st_size as u64,
        mtime_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
    };
    FileStat { kind, stamp }
}

const fn kind_of(kind: InodeType) -> FileKind {
    match kind {
        InodeType::RegularFile => FileKind::Regular,
        InodeType::Directory => FileKind::Directory,
        InodeType::Symlink => FileKind::Symlink,
        InodeType::Fifo
        | InodeType::Socket
        | InodeType::CharacterDevice
        | InodeType::BlockDevice
        | InodeType::Unknown => FileKind::Special,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn without_openat2_no_link_is_followed_either() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("real/deep")).unwrap();
        File::create_new(folder.path().join("real/deep/file")).unwrap();
        symlink("real", folder.path().join("link")).unwrap();
        symlink("real/deep/file", folder.path().join("last")).unwrap();
        let root = RealFiles::open(folder.path()).unwrap().root;
        let opens = |path: &str| open_by_parts(&root, Path::new(path), OPEN_FLAGS).is_ok();
        assert!(opens("real/deep/file"));
        assert_eq!(["link/deep/file", "last", ".."].map(opens), [false; 3]);
    }
}
