//! Files that slop reads and writes for itself: settings, outputs, the cache's folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

use super::file_access;
use super::file_access::{
    create_private_folder, file_identity, open_folder_lock, open_without_links, open_without_waiting,
    private_temporary_file, shared_temporary_file, temporary_file_like, write_time,
};
use crate::model::FileStamp;

/// Writes the content of a file.
pub type WriteContent<'w> = &'w mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>;

/// Reads and writes single files.
pub trait Disk: Sync {
    /// Returns a file's bytes; `None` if there is no such file.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Returns at most the first `most` bytes of a regular file. Never waits on a pipe.
    fn read_prefix(&self, path: &Path, most: u64) -> io::Result<Vec<u8>>;

    /// Deletes a regular file; an error for anything else.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Creates a new file, and its folder if necessary; an error of kind `AlreadyExists` if the file exists.
    fn create_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.create_new_with(path, &mut |file| file.write_all(bytes))
    }

    /// Creates a new file like [`Disk::create_new`], with the output of `write`.
    fn create_new_with(&self, path: &Path, write: WriteContent<'_>) -> io::Result<()>;

    /// Replaces a file with `bytes` atomically. A link is kept and its target replaced; a pipe or a device is written
    /// to.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace_with(path, &mut |file| file.write_all(bytes))
    }

    /// Replaces a file with the output of `write`, like [`Disk::replace`].
    fn replace_with(&self, path: &Path, write: WriteContent<'_>) -> io::Result<()>;

    /// Locks a folder until the result is dropped, waiting a while for other holders of this lock; `None` if the file
    /// system does not support locks. Leaves nothing in the folder.
    fn lock_folder(&self, folder: &Path) -> io::Result<Option<File>>;

    /// Creates a folder and its parents, readable only by the user; an existing one is left unchanged.
    fn create_private_folder(&self, path: &Path) -> io::Result<()>;

    /// Returns an error if the user may not write to a file or to a folder. Writes nothing.
    fn check_writable(&self, path: &Path) -> io::Result<()>;

    /// Returns the names in a folder, in arbitrary order; empty if there is no such folder.
    fn entry_names(&self, folder: &Path) -> io::Result<Vec<std::ffi::OsString>>;

    /// Returns the size of a file in bytes; 0 if there is no such file.
    fn size(&self, path: &Path) -> io::Result<u64>;

    /// Returns the stamp of the target of a path, following links; `None` if it does not exist.
    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>>;

    /// Writes one byte to a file, and returns the time with which the file system stamped it, in nanoseconds since the
    /// epoch: the current time for files next to it.
    fn file_system_time(&self, path: &Path) -> io::Result<i64>;
}

/// How often to retry locking a folder, and the pause in between.
const LOCK_TRIES: u32 = 1000;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The machine's disk.
#[derive(Debug, Clone, Copy)]
pub struct RealDisk;

/// Operations that no test needs to replace.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
impl RealDisk {
    /// Reads at most `most` bytes of an input that the user names. Waits for a pipe, as in `--task-file <(gh issue view
    /// 7)`.
    pub fn read_input(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns at most the last `most` bytes of a regular file; empty if there is no such file.
    pub fn read_suffix(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut file = match open_regular(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(most)))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Replaces a file with `bytes` atomically, readable only by the user.
    pub fn replace_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = private_temporary_file(path.parent().unwrap_or(Path::new(".")))?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    }

    /// Returns whether a path leads to a folder.
    pub fn is_folder(&self, path: &Path) -> io::Result<bool> {
        match std::fs::metadata(path) {
            Ok(found) => Ok(found.is_dir()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns whether other users may read or write a file.
    pub fn is_open_to_others(&self, path: &Path) -> io::Result<bool> {
        file_access::is_open_to_others(path)
    }

    /// Creates a file atomically, readable by others as far as the umask allows, and its folder if necessary. An
    /// existing file is replaced or kept. Returns whether the file was written.
    pub fn write_shared(&self, path: &Path, bytes: &[u8], replaces: bool) -> io::Result<bool> {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = shared_temporary_file(folder)?;
        file.write_all(bytes)?;
        if replaces {
            file.persist(path)?;
            return Ok(true);
        }
        match file.persist_noclobber(path) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error),
        }
    }

    /// Renames a file, replacing the target.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    /// Returns the device and inode numbers of a name, which may be a socket or a link; `None` if it does not exist.
    /// While a socket is open, no other has its number.
    pub fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        file_identity(path).ok()
    }

    /// Returns the target of a link if it is not in `folder`; `None` for anything else.
    pub fn link_outside(&self, path: &Path, folder: &Path) -> Option<PathBuf> {
        if !std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            return None;
        }
        let target = dunce::canonicalize(path).ok()?;
        let is_inside = dunce::canonicalize(folder).is_ok_and(|folder| target.starts_with(folder));
        (!is_inside).then_some(target)
    }

    /// Deletes an empty folder; an error for any other.
    pub fn remove_empty_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(path)
    }

    /// Deletes a file or a socket.
    pub fn unlink(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the window")]
impl Disk for RealDisk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match std::fs::metadata(path) {
            // Opening a FIFO might block forever.
            Ok(found) if !found.is_file() => Err(not_regular()),
            Ok(_) => std::fs::read(path).map(Some),
            // What the file says is unknown if it is a link to a file that is missing.
            Err(error) if error.kind() == io::ErrorKind::NotFound => match std::fs::symlink_metadata(path) {
                Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "a link to a missing file")),
                Err(_) => Ok(None),
            },
            Err(error) => Err(error),
        }
    }

    fn read_prefix(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let file = open_regular(path)?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        if !std::fs::symlink_metadata(path)?.is_file() {
            return Err(not_regular());
        }
        std::fs::remove_file(path)
    }

    fn create_new_with(&self, path: &Path, write: WriteContent<'_>) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let written = write(&mut file);
        if written.is_err() {
            // A partial output is worse than none; the first error is the one to report.
            let _ = std::fs::remove_file(path);
        }
        written
    }

    fn replace_with(&self, path: &Path, write: WriteContent<'_>) -> io::Result<()> {
        let target = match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            // Replacing /dev/null with a file would break the machine.
            Ok(found) if !found.is_file() => {
                return write(&mut OpenOptions::new().write(true).open(path)?);
            }
            Ok(_) => dunce::canonicalize(path)?,
            Err(_) => path.to_owned(),
        };
        let path = target.as_path();
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        // The error would name a file that nobody asked for.
        let mut file = temporary_file_like(path, folder).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(error.kind(), "its folder does not exist"),
            _ => error,
        })?;
        write(&mut file)?;
        file.persist(path)?;
        Ok(())
    }

    fn lock_folder(&self, folder: &Path) -> io::Result<Option<File>> {
        // A folder that does not exist yet is locked through its parent.
        let folder = folder.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("."));
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let handle = open_folder_lock(folder)?;
        // Not `lock`, which would wait forever if slop was started by the holder of the lock.
        for _ in 0..LOCK_TRIES {
            match handle.try_lock() {
                Ok(()) => return Ok(Some(handle)),
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return Ok(None);
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::WouldBlock, "another program keeps its folder locked"))
    }

    fn create_private_folder(&self, path: &Path) -> io::Result<()> {
        create_private_folder(path)
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        file_access::check_writable(path)
    }

    fn entry_names(&self, folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
        match std::fs::read_dir(folder) {
            Ok(entries) => entries.map(|entry| Ok(entry?.file_name())).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        match std::fs::symlink_metadata(path) {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>> {
        match file_access::stamp(path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    fn file_system_time(&self, path: &Path) -> io::Result<i64> {
        // A checked-out project may contain a link of this name, which would redirect the write, or a FIFO, which would
        // block forever.
        let mut file = open_without_links(OpenOptions::new().write(true).create(true).truncate(false), path)?;
        if !file.metadata()?.is_file() {
            return Err(not_regular());
        }
        file.write_all(b"\n")?;
        write_time(&file)
    }
}

/// Opens a regular file for reading. Opening a FIFO without a writer would block forever.
fn open_regular(path: &Path) -> io::Result<File> {
    let file = open_without_waiting(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test sets the scene, and looks at what became of it")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn make_fifo(path: &Path) {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    }

    #[test]
    fn a_link_in_the_place_of_the_stamp_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (stamp, victim) = (folder.path().join("stamp"), folder.path().join("victim"));
        fs::write(&victim, "dear to someone").unwrap();
        symlink(&victim, &stamp).unwrap();
        assert!(RealDisk.file_system_time(&stamp).is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "dear to someone");
    }

    #[test]
    fn a_pipe_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        make_fifo(&pipe);
        assert!(RealDisk.file_system_time(&pipe).is_err());
        assert!(RealDisk.read(&pipe).is_err());
        assert!(RealDisk.read_prefix(&pipe, 1).is_err());
        assert!(RealDisk.remove_file(&pipe).is_err());
    }

    #[test]
    fn a_folder_has_one_lock_holder_at_a_time_and_nothing_is_left_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let held = RealDisk.lock_folder(folder.path()).unwrap().unwrap();
        assert!(File::open(folder.path()).unwrap().try_lock().is_err());
        drop(held);
        assert!(RealDisk.lock_folder(&folder.path().join("not/yet")).unwrap().is_some());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_stamp_can_be_taken_repeatedly() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = folder.path().join("stamp");
        let first = RealDisk.file_system_time(&stamp).unwrap();
        assert!(first <= RealDisk.file_system_time(&stamp).unwrap());
        assert_eq!(fs::read(&stamp).unwrap(), b"\n");
    }

    #[test]
    fn the_end_of_a_log_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        assert_eq!(RealDisk.read_suffix(&file, 3).unwrap(), b"");
        RealDisk.replace_private(&file, b"abcdef").unwrap();
        assert_eq!(RealDisk.read_suffix(&file, 3).unwrap(), b"def");
        assert_eq!(RealDisk.read_suffix(&file, 9).unwrap(), b"abcdef");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_beginning_of_a_large_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "abcdef").unwrap();
        assert_eq!(RealDisk.read_prefix(&file, 3).unwrap(), b"abc");
        assert_eq!(RealDisk.read_prefix(&file, 9).unwrap(), b"abcdef");
        assert_eq!(
            RealDisk.read_prefix(Path::new("/dev/zero"), 9).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }

    #[test]
    fn a_document_is_written_to_the_target_of_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        fs::write(&file, "old").unwrap();
        symlink("file", &link).unwrap();
        RealDisk.replace(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn a_document_is_written_to_a_pipe_without_replacing_it() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        make_fifo(&pipe);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| fs::read(&pipe).unwrap());
            RealDisk.replace(&pipe, b"text").unwrap();
            assert_eq!(reader.join().unwrap(), b"text");
        });
        assert!(!fs::metadata(&pipe).unwrap().is_file());
    }
}
