//! A file that one process at a time holds, for as long as it lives.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::file_access::{
    file_identity, holder_file, open_file_identity, open_without_links, private_file_options, write_holder,
};

/// A lock on a file. The kernel gives it back when the process ends, however it ends; no child inherits it.
#[derive(Debug)]
pub struct FileLock {
    path: PathBuf,
    file: File,
}

#[expect(clippy::disallowed_methods, reason = "this is the window")]
impl FileLock {
    /// Locks the file at `path`, which is made if there is none; `None` if another process holds it. A link in its
    /// place is not followed. An error of kind `Unsupported` where the file system knows no locks.
    pub fn acquire(path: &Path) -> io::Result<Option<Self>> {
        // Someone may delete the file between its opening and its locking: then the lock is worth nothing, and the next
        // one is tried.
        loop {
            let mut options = private_file_options();
            options.read(true).write(true).create(true).truncate(false);
            let lock = Self { path: path.to_owned(), file: open_without_links(&options, path)? };
            match lock.file.try_lock() {
                Ok(()) if lock.is_intact() => return Ok(Some(lock)),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Returns whether another process holds the file at `path`. A file that nobody holds is deleted: it is for files that are locked
    /// once, by the process that made them, and never again.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        let file = match open_without_links(OpenOptions::new().read(true), path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Another process may have deleted it since, which is as well.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(false),
        }
    }

    /// Deletes the files in `folder` that nobody holds and whose names begin and end so: what processes left behind
    /// that were killed.
    pub fn sweep(folder: &Path, beginning: &str, ending: &str) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.starts_with(beginning) && name.ends_with(ending) {
                Self::is_held(&folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Deletes the file, if it is still the one that is held, and lets go of it.
    pub fn remove(&self) -> io::Result<()> {
        if self.is_intact() { std::fs::remove_file(&self.path) } else { Ok(()) }
    }

    /// Writes down which process holds the file.
    pub fn write_holder(&self) -> io::Result<()> {
        write_holder(&self.path, &self.file, std::process::id().to_string().as_bytes())
    }

    /// Deletes what says which process holds the file: from now on its number may be that of a stranger.
    pub fn clear_holder(&self) -> io::Result<()> {
        write_holder(&self.path, &self.file, b"")
    }

    /// Returns which process held the file at `path` last, by what it wrote itself.
    pub fn holder(path: &Path) -> Option<u32> {
        let mut text = String::new();
        File::open(holder_file(path)).ok()?.take(16).read_to_string(&mut text).ok()?;
        text.parse().ok()
    }

    /// Returns whether the file's name still refers to the file that is locked. If not, others can lock another.
    pub fn is_intact(&self) -> bool {
        let held = open_file_identity(&self.file);
        file_identity(&self.path).is_ok_and(|named| held.is_ok_and(|held| named == held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_holds_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = FileLock::acquire(&path).unwrap().unwrap();
        held.write_holder().unwrap();
        assert!(FileLock::acquire(&path).unwrap().is_none());
        assert_eq!(FileLock::holder(&path), Some(std::process::id()));
        drop(held);
        assert!(FileLock::acquire(&path).unwrap().is_some());
    }

    #[test]
    fn a_deleted_lock_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = FileLock::acquire(&path).unwrap().unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(!held.is_intact());
        let next = FileLock::acquire(&path).unwrap().unwrap();
        assert!(next.is_intact());
        assert!(!held.is_intact());
    }

    #[test]
    fn a_lock_that_nobody_holds_is_deleted_by_whoever_looks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert!(!FileLock::is_held(&path).unwrap());
        let held = FileLock::acquire(&path).unwrap().unwrap();
        assert!(FileLock::is_held(&path).unwrap() && held.is_intact());
        drop(held);
        assert!(path.exists());
        assert!(!FileLock::is_held(&path).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn what_dead_processes_left_is_swept_and_what_is_held_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let held = FileLock::acquire(&path("agent-1.lock")).unwrap().unwrap();
        for name in ["agent-2.lock", "daemon.lock"] {
            drop(FileLock::acquire(&path(name)).unwrap().unwrap());
        }
        FileLock::sweep(folder.path(), "agent-", ".lock").unwrap();
        assert!(held.is_intact() && !path("agent-2.lock").exists() && path("daemon.lock").exists());
        held.remove().unwrap();
        assert!(!path("agent-1.lock").exists());
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("lock"), folder.path().join("victim"));
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        assert!(FileLock::acquire(&path).is_err());
        assert!(!victim.exists());
    }
}
