//! Files that slop itself reads and writes by a path of their own: settings, outputs, the cache's folder.

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

    /// Returns the first bytes of a regular file, `most` of them at most. Never waits on a pipe.
    fn read_prefix(&self, path: &Path, most: u64) -> io::Result<Vec<u8>>;

    /// Deletes a regular file; an error for anything else.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Makes a new file, its folder too; an error of kind `AlreadyExists` where there is one.
    fn create_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.create_new_with(path, &mut |file| file.write_all(bytes))
    }

    /// Makes a new file as [`Disk::create_new`] does, with what `write` writes.
    fn create_new_with(&self, path: &Path, write: WriteContent<'_>) -> io::Result<()>;

    /// Puts `bytes` in a file's place, whole or not at all. A link stays, and what it leads to is replaced; a pipe or
    /// a device is written to.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace_with(path, &mut |file| file.write_all(bytes))
    }

    /// Puts what `write` writes in a file's place, as [`Disk::replace`] does.
    fn replace_with(&self, path: &Path, write: WriteContent<'_>) -> io::Result<()>;

    /// Keeps others that ask the same from working in a folder until what is returned is dropped, and waits for them
    /// a while; `None` if the file system has no locks. Leaves nothing in the folder.
    fn lock_folder(&self, folder: &Path) -> io::Result<Option<File>>;

    /// Makes a folder and those above it, readable by the user alone; one that is there already is left as it is.
    fn create_private_folder(&self, path: &Path) -> io::Result<()>;

    /// Returns an error if the user may not write to a file or to a folder. Writes nothing.
    fn check_writable(&self, path: &Path) -> io::Result<()>;

    /// Returns the names in a folder, in no order; none if there is no such folder.
    fn entry_names(&self, folder: &Path) -> io::Result<Vec<std::ffi::OsString>>;

    /// Returns the size of a file in bytes; 0 if there is no such file.
    fn size(&self, path: &Path) -> io::Result<u64>;

    /// Returns the stamp of what a path leads to, links followed; `None` if there is nothing.
    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>>;

    /// Writes one byte to a file and returns the time that the file system stamped it with, nanoseconds since
    /// the epoch: what the time is for the files next to it.
    fn file_system_time(&self, path: &Path) -> io::Result<i64>;
}

/// How often a folder that another holds is tried again, and how long after.
const LOCK_TRIES: u32 = 1000;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The machine's disk.
#[derive(Debug, Clone, Copy)]
pub struct RealDisk;

/// What a daemon does with files of its own, for which no test needs another world.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
impl RealDisk {
    /// Reads the beginning of what somebody names as input, `most` bytes at most. A pipe is waited for, as by any program
    /// that is given one: `--task-file <(gh issue view 7)`.
    pub fn read_input(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the last bytes of a regular file, `most` of them at most; none if there is no such file.
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

    /// Puts `bytes` in a file's place, whole or not at all, readable by the user alone.
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

    /// Makes a file, whole or not at all, that everybody may read whom the user's mask lets; its folder too. Where there
    /// is one, it is replaced or kept. Returns whether the file was written.
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

    /// Renames a file, in place of what has the new name.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    /// Returns by which device and number the system knows what has this name, be it a socket or a link; `None` if
    /// nothing has it. As long as a socket is open, no other has its number.
    pub fn identity(&self, path: &Path) -> Option<(u64, u64)> {
        file_identity(path).ok()
    }

    /// Returns where a link leads, if that is not in `folder`; `None` for anything else.
    pub fn link_outside(&self, path: &Path, folder: &Path) -> Option<PathBuf> {
        if !std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            return None;
        }
        let target = dunce::canonicalize(path).ok()?;
        let is_inside = dunce::canonicalize(folder).is_ok_and(|folder| target.starts_with(folder));
        (!is_inside).then_some(target)
    }

    /// Deletes a folder in which there is nothing; an error for any other.
    pub fn remove_empty_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(path)
    }

    /// Deletes a file or a socket, whatever it holds.
    pub fn unlink(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the window")]
impl Disk for RealDisk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match std::fs::metadata(path) {
            // The opening of a FIFO might never end.
            Ok(found) if !found.is_file() => Err(not_regular()),
            Ok(_) => std::fs::read(path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
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
            // Half an output is worse than none; the first error is the one to report.
            let _ = std::fs::remove_file(path);
        }
        written
    }

    fn replace_with(&self, path: &Path, write: WriteContent<'_>) -> io::Result<()> {
        let target = match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            // To put a file in the place of /dev/null would break the machine.
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
        // A folder that is still to be made is kept by the one above it.
        let folder = folder.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("."));
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let handle = open_folder_lock(folder)?;
        // Not `lock`, which would wait forever where slop is started by the one who holds the folder.
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
        // A checked-out project may hold a link or a FIFO of this name: the one would have us write to wherever it
        // leads, the other never end.
        let mut file = open_without_links(OpenOptions::new().write(true).create(true).truncate(false), path)?;
        if !file.metadata()?.is_file() {
            return Err(not_regular());
        }
        file.write_all(b"\n")?;
        write_time(&file)
    }
}

/// Opens a regular file for reading. Opening a FIFO without a writer would never return.
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
    fn a_pipe_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        make_fifo(&pipe);
        assert!(RealDisk.file_system_time(&pipe).is_err());
        assert!(RealDisk.read(&pipe).is_err());
        assert!(RealDisk.read_prefix(&pipe, 1).is_err());
        assert!(RealDisk.remove_file(&pipe).is_err());
    }

    #[test]
    fn a_folder_is_locked_by_one_at_a_time_and_nothing_is_left_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let held = RealDisk.lock_folder(folder.path()).unwrap().unwrap();
        assert!(File::open(folder.path()).unwrap().try_lock().is_err());
        drop(held);
        assert!(RealDisk.lock_folder(&folder.path().join("not/yet")).unwrap().is_some());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_stamp_is_taken_again_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = folder.path().join("stamp");
        let first = RealDisk.file_system_time(&stamp).unwrap();
        assert!(first <= RealDisk.file_system_time(&stamp).unwrap());
        assert_eq!(fs::read(&stamp).unwrap(), b"\n");
    }

    #[test]
    fn of_a_log_the_end_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        assert_eq!(RealDisk.read_suffix(&file, 3).unwrap(), b"");
        RealDisk.replace_private(&file, b"abcdef").unwrap();
        assert_eq!(RealDisk.read_suffix(&file, 3).unwrap(), b"def");
        assert_eq!(RealDisk.read_suffix(&file, 9).unwrap(), b"abcdef");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn of_a_large_file_the_beginning_is_read() {
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
    fn a_document_goes_to_where_a_link_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        fs::write(&file, "old").unwrap();
        symlink("file", &link).unwrap();
        RealDisk.replace(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn a_document_is_written_to_a_pipe_and_not_put_in_its_place() {
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
