//! A file lock that one process at a time holds, at most until it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::file_access::{
    file_identity, holder_file, open_file_identity, open_without_links, private_file_options, write_holder,
};

/// A lock on a file. The kernel releases it when the process ends, however it ends; children do not inherit it.
#[derive(Debug)]
pub struct FileLock {
    path: PathBuf,
    file: File,
}

#[expect(clippy::disallowed_methods, reason = "this is the window")]
impl FileLock {
    /// Locks the file at `path`, which is created if necessary; `None` if another process holds it. A link is not
    /// followed. An error of kind `Unsupported` if the file system does not support locks.
    pub fn acquire(path: &Path) -> io::Result<Option<Self>> {
        // The file may be deleted between opening and locking: then the lock is useless, and the next attempt follows.
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

    /// Returns whether another process holds the file at `path`. A file that is not held is deleted: this is for files
    /// that are locked only once, by the process that created them.
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
        // Another process may have deleted it in the meantime.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(false),
        }
    }

    /// Deletes the files in `folder` with this prefix and suffix that no process holds, which were left by killed
    /// processes.
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

    /// Deletes the file, if it is still the held one, and releases the lock.
    pub fn remove(&self) -> io::Result<()> {
        if self.is_intact() { std::fs::remove_file(&self.path) } else { Ok(()) }
    }

    /// Records the id of the process that holds the file.
    pub fn write_holder(&self) -> io::Result<()> {
        write_holder(&self.path, &self.file, std::process::id().to_string().as_bytes())
    }

    /// Deletes the recorded process id, which another process may reuse from now on.
    pub fn clear_holder(&self) -> io::Result<()> {
        write_holder(&self.path, &self.file, b"")
    }

    /// Returns the recorded id of the process that last held the file at `path`.
    pub fn holder(path: &Path) -> Option<u32> {
        let mut text = String::new();
        File::open(holder_file(path)).ok()?.take(16).read_to_string(&mut text).ok()?;
        text.parse().ok()
    }

    /// Returns whether the file's name still refers to the locked file. If not, another process can lock a different
    /// file.
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
    fn a_lock_without_a_holder_is_deleted_by_a_check() {
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
    fn locks_of_dead_processes_are_swept_and_held_ones_are_not() {
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
    fn a_link_in_place_of_the_lock_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("lock"), folder.path().join("victim"));
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        assert!(FileLock::acquire(&path).is_err());
        assert!(!victim.exists());
    }
}
