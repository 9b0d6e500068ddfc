//! The system's events, and the few file operations that watching needs.

use std::fs::OpenOptions;
use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::inbox::{WatchEvent, WatchPaths};
use crate::sys::{create_private_folder, private_file_options};

/// Handles events, on the source's own thread; must be fast.
pub(super) type EventHandler = Box<dyn FnMut(WatchEvent) + Send>;

pub(super) trait EventSource: Send + Sync {
    /// Opens a new queue of events.
    fn open(&self, handler: EventHandler) -> io::Result<Box<dyn WatchQueue>>;

    /// Returns the system's limit of watches for the user.
    fn limit(&self) -> Option<u64>;

    /// Returns the magic number of a folder's file system.
    fn file_system(&self, folder: &Path) -> io::Result<u64>;
}

/// The watches of one queue; they end with it.
pub(super) trait WatchQueue: Send {
    /// Watches folders, not recursively. Missing and unreadable ones are skipped; the others are returned.
    fn watch(&mut self, folders: Vec<PathBuf>, follow: bool) -> Result<Vec<PathBuf>, WatchError>;

    fn unwatch(&mut self, folders: Vec<PathBuf>);
}

/// Why a folder could not be watched.
#[derive(Debug, thiserror::Error)]
pub(super) enum WatchError {
    #[error("system limit of watched folders reached")]
    OutOfWatches,
    #[error("folder cannot be watched")]
    Io(#[source] io::Error),
}

/// Returns whether a path is a folder, not a link to one.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub(super) fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Returns the names in a folder that are not folders; empty if it cannot be read.
pub(super) fn files_in(folder: &Path) -> Vec<std::ffi::OsString> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_dir());
    entries.flatten().filter(is_file).map(|entry| entry.file_name()).collect()
}

/// Creates a new empty file, and deletes it at once: only the event of its creation matters.
pub(super) fn make_cookie(path: &Path) -> io::Result<()> {
    private_file_options().write(true).create_new(true).open(path)?;
    std::fs::remove_file(path)
}

/// Creates a cookie's file again. It may exist: the requester may just have created it in a folder that was not watched
/// yet, so that its creation was not reported.
pub(super) fn remake_cookie(path: &Path) -> io::Result<()> {
    match make_cookie(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Its creator may have deleted it first.
            _ = std::fs::remove_file(path);
            make_cookie(path)
        }
        made => made,
    }
}

/// Creates the folder of cookies. If the cache folder is created as well, it gets the marker files by which slop
/// recognizes it, and backups and git skip it.
pub(super) fn make_cookie_folder(places: &WatchPaths) -> io::Result<()> {
    // A link could lead out of the project.
    if !is_folder(&places.cache) && places.cache.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "the cache is not a folder"));
    }
    if !is_folder(&places.cache) {
        create_private_folder(&places.cache)?;
        let tag = &b"Signature: 8a477f597d28d172789f06886806bc55\n"[..];
        for (name, bytes) in [("CACHEDIR.TAG", tag), (".gitignore", b"*\n")] {
            let file = OpenOptions::new().write(true).create_new(true).open(places.cache.join(name));
            match file {
                Ok(mut file) => file.write_all(bytes)?,
                // The store also creates them.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
    create_private_folder(&places.cookies)
}

/// Returns whether a path is a folder, following links.
pub(super) fn is_folder_or_link(path: &Path) -> bool {
    path.is_dir()
}

/// File systems without events, by the number that `statfs` returns, from <linux/magic.h> and their sources.
const WITHOUT_EVENTS: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x794c_7630, "overlayfs"),
    (0x6175_6673, "aufs"),
    (0xf15f, "eCryptfs"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x564c, "NCP"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x0bd0_0bd0, "Lustre"),
    (0x2003_0528, "OrangeFS"),
    (0x1983_0326, "BeeGFS"),
    (0x4750_4653, "GPFS"),
    (0xaad7_aaea, "PanFS"),
    (0x786f_4256, "vboxsf"),
    (0xbacb_acbc, "vmhgfs"),
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
];

/// Returns the name of a file system that is known not to report every change; `None` for others.
pub(super) fn without_events(magic: u64) -> Option<&'static str> {
    WITHOUT_EVENTS.iter().find(|(number, _)| *number == magic).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_with_remote_changes_are_recognized() {
        assert_eq!(without_events(0x794c_7630), Some("overlayfs"));
        assert_eq!(without_events(0x6969), Some("NFS"));
        assert_eq!(without_events(0xef53), None, "ext4");
        assert_eq!(without_events(0x0102_1994), None, "tmpfs");
        assert_eq!(without_events(0x9123_683e), None, "btrfs");
    }
}
