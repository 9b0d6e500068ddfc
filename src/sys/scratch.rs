//! A temporary folder of one process.

use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, RealDisk};
use super::lock::FileLock;

/// A folder of one process, deleted with its content on drop. The next process deletes what a killed one left.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
    lock: FileLock,
}

impl ScratchFolder {
    /// Creates the empty folder `name` in a folder that exists; `None` if another process has it.
    pub fn create(parent: &Path, name: &str) -> io::Result<Option<Self>> {
        let Some(lock) = FileLock::acquire(&parent.join(format!("{name}.lock")))? else { return Ok(None) };
        let scratch = Self { path: parent.join(name), lock };
        scratch.delete()?;
        RealDisk.create_private_folder(&scratch.path)?;
        Ok(Some(scratch))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn delete(&self) -> io::Result<()> {
        // A link in its place is an error, and its target is not touched.
        match std::fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // What cannot be deleted now is deleted by the next process.
        _ = self.delete();
        _ = self.lock.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test looks at real files")]
    fn a_scratch_folder_has_one_owner_and_leaves_nothing() {
        let parent = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(parent.path().join("s/left/behind")).unwrap();
        let scratch = ScratchFolder::create(parent.path(), "s").unwrap().unwrap();
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
        assert!(ScratchFolder::create(parent.path(), "s").unwrap().is_none());
        std::fs::write(scratch.path().join("f"), "x").unwrap();
        drop(scratch);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
