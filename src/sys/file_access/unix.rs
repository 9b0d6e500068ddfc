//! Modes, owners and inodes.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::io::{Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags};

use crate::model::{FileStamp, TEMPORARY_PREFIX};

/// Returns the device number of a path's file system, following links.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub fn device_id(path: &Path) -> io::Result<u64> {
    std::fs::metadata(path).map(|found| found.dev())
}

/// Returns the device and inode numbers of a name, which may be a socket or a link. While it is open, no other has its
/// number.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub fn file_identity(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::symlink_metadata(path).map(|found| identity(&found))
}

/// Returns the device and inode numbers of an open file.
pub fn open_file_identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|found| identity(&found))
}

fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// Returns the stamp of a path's target, following links.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub(in crate::sys) fn stamp(path: &Path) -> io::Result<FileStamp> {
    let found = std::fs::metadata(path)?;
    Ok(FileStamp {
        dev: found.dev(),
        ino: found.ino(),
        size: found.size(),
        mtime_ns: nanoseconds(found.mtime(), found.mtime_nsec()),
        ctime_ns: nanoseconds(found.ctime(), found.ctime_nsec()),
    })
}

/// Returns when an open file was last written to, in nanoseconds since the epoch.
pub(in crate::sys) fn write_time(file: &File) -> io::Result<i64> {
    let found = file.metadata()?;
    Ok(nanoseconds(found.mtime(), found.mtime_nsec()))
}

const fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// Opens a path without following a link at its end, and without waiting for the other end of a FIFO.
pub(in crate::sys) fn open_without_links(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();
    options.clone().custom_flags(flags).open(path)
}

/// Opens a path for reading, without waiting for the other end of a FIFO.
pub(in crate::sys) fn open_without_waiting(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// Returns options for creating a file that only the user may read.
pub fn private_file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Creates a folder and its parents, readable only by the user; an existing one is left unchanged.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates an empty folder that only the user may read, and that is deleted on drop.
pub(in crate::sys) fn private_temporary_folder() -> io::Result<tempfile::TempDir> {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir()
}

/// Creates a temporary file in a folder that only the user may read, even after it is renamed.
pub(in crate::sys) fn private_temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}

/// Creates a temporary file in a folder, readable by others as far as the umask allows.
pub(in crate::sys) fn shared_temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)
}

/// Creates a temporary file in a folder, with the permissions of the file that it will replace, or else those of a new
/// file.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub(in crate::sys) fn temporary_file_like(
    replaced: &Path,
    folder: &Path,
) -> io::Result<tempfile::NamedTempFile> {
    let permissions = std::fs::metadata(replaced).map(|old| old.permissions());
    let permissions = permissions.unwrap_or_else(|_| Permissions::from_mode(0o644));
    tempfile::Builder::new().prefix(TEMPORARY_PREFIX).permissions(permissions).tempfile_in(folder)
}

/// Opens the file that is locked on behalf of a folder, which leaves nothing in the folder.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub fn open_folder_lock(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Returns the file that names the holder of a locked file: the locked file itself.
pub(in crate::sys) fn holder_file(lock: &Path) -> PathBuf {
    lock.to_owned()
}

/// Replaces the text about the holder of a locked file.
pub(in crate::sys) fn write_holder(_lock: &Path, mut locked: &File, text: &[u8]) -> io::Result<()> {
    locked.set_len(0)?;
    locked.rewind()?;
    locked.write_all(text)
}

/// Returns an error if the user may not write to a file or to a folder. Writes nothing.
pub(in crate::sys) fn check_writable(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(path, Access::WRITE_OK)?)
}

/// Returns whether other users may read or write a file.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub(in crate::sys) fn is_open_to_others(path: &Path) -> io::Result<bool> {
    Ok(is_for_others(&std::fs::metadata(path)?))
}

fn is_for_others(found: &Metadata) -> bool {
    found.mode() & 0o077 != 0
}

/// Returns whether an open file belongs to the user, and no other user may read it.
pub(in crate::sys) fn is_own_secret(file: &File) -> io::Result<bool> {
    let found = file.metadata()?;
    Ok(found.uid() == user_id() && !is_for_others(&found))
}

/// Returns whether a file belongs to the user, and no other user can write to it.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub fn is_private_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.uid() == user_id() && found.mode() & 0o022 == 0)
}

/// Returns whether a file, a folder or a link belongs to the user.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub fn is_own(path: &Path) -> io::Result<bool> {
    Ok(std::fs::symlink_metadata(path)?.uid() == user_id())
}

/// Returns whether a folder belongs to another user, whose settings could make slop act on their behalf. Root may serve
/// anyone.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub fn is_other_users(path: &Path) -> io::Result<bool> {
    Ok(belongs_to_other_user(std::fs::metadata(path)?.uid(), user_id()))
}

const fn belongs_to_other_user(owner: u32, us: u32) -> bool {
    us != 0 && owner != us
}

/// Returns the path of the program with this name in a folder; `None` if there is none, or if it is not executable.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub fn program_in(folder: &Path, name: &str) -> Option<PathBuf> {
    let file = folder.join(name);
    let is_executable = |found: Metadata| found.is_file() && found.mode() & 0o111 != 0;
    std::fs::metadata(&file).is_ok_and(is_executable).then_some(file)
}

/// Returns an identifier of the user that this process runs as, for use in file names.
pub fn user_tag() -> String {
    user_id().to_string()
}

fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_watches_the_project_of_another_user() {
        assert!(belongs_to_other_user(1000, 1001));
        assert!(belongs_to_other_user(0, 1000));
        assert!(!belongs_to_other_user(1000, 1000));
        assert!(!belongs_to_other_user(1000, 0));
    }
}
