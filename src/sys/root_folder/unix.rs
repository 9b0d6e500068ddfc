//! Folders by descriptors: `openat2` on Linux, and elsewhere `openat`, part by part.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType as InodeType, Mode, OFlags};

use crate::model::{FileStamp, RelPath};
use crate::sys::file_stat::{FileKind, FileStat};

/// An open folder.
#[derive(Debug)]
pub(in crate::sys) struct RootFolder(OwnedFd);

impl RootFolder {
    /// Opens a folder. Links on its path are followed.
    pub(in crate::sys) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(root, FOLDER_FLAGS, Mode::empty())?))
    }

    /// Opens a folder by an absolute path; a link on the path is an error.
    pub(in crate::sys) fn open_without_links(root: &Path) -> io::Result<Self> {
        Ok(Self(open_without_links(root)?))
    }

    /// Returns the `stat` of the folder itself.
    pub(in crate::sys) fn root_stat(&self) -> io::Result<FileStat> {
        Ok(to_stat(&rustix::fs::fstat(&self.0)?))
    }

    /// Returns the `stat` of an open file.
    pub(in crate::sys) fn file_stat(file: &File) -> io::Result<FileStat> {
        Ok(to_stat(&rustix::fs::fstat(file)?))
    }

    /// Returns the `lstat` of `path`.
    pub(in crate::sys) fn stat(&self, path: &RelPath) -> io::Result<FileStat> {
        Ok(to_stat(&rustix::fs::statat(&self.0, path.as_path(), AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Opens a file for reading. Never blocks on a FIFO, never follows a link, never leaves the root.
    pub(in crate::sys) fn open_file(&self, path: &RelPath) -> io::Result<File> {
        self.open_beneath(path.as_path()).map(File::from)
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(&self, path: &Path) -> io::Result<OwnedFd> {
        use rustix::fs::ResolveFlags;
        use rustix::io::Errno;
        // A folder on the path may be replaced by a link between the listing and this call, and only the kernel can
        // check each step. Links within the root are not followed either, so that each file has a single path.
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&self.0, path, OPEN_FLAGS, Mode::empty(), resolve) {
            // An old kernel, or a sandbox that does not support the call.
            Err(Errno::NOSYS | Errno::PERM) => open_by_parts(&self.0, path, OPEN_FLAGS),
            other => Ok(other?),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, path: &Path) -> io::Result<OwnedFd> {
        open_by_parts(&self.0, path, OPEN_FLAGS)
    }

    /// Returns the names in a folder with their kinds, in arbitrary order.
    pub(in crate::sys) fn entries(&self, folder: &[u8]) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        let path = RelPath::new(folder).ok();
        let path = path.as_ref().map_or(Path::new("."), |path| path.as_path());
        let flags = FOLDER_FLAGS | OFlags::NOFOLLOW;
        let directory = rustix::fs::openat(&self.0, path, flags, Mode::empty())?;
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::new(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Not every file system returns the kind with the name. The kind of a file that is already gone does
                // not matter.
                InodeType::Unknown => {
                    let inside = path.join(std::ffi::OsStr::from_bytes(name));
                    rustix::fs::statat(&self.0, &inside, AtFlags::SYMLINK_NOFOLLOW)
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

/// Opens a path below a folder, each part in the folder that was opened before it, so that no link is followed.
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
    // Without a fallback to an older call: this path decides which folder is read, and any folder on it may have been
    // replaced by a link since it was resolved.
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
        let root = RootFolder::open(folder.path()).unwrap().0;
        let opens = |path: &str| open_by_parts(&root, Path::new(path), OPEN_FLAGS).is_ok();
        assert!(opens("real/deep/file"));
        assert_eq!(["link/deep/file", "last", ".."].map(opens), [false; 3]);
    }
}
