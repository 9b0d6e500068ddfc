//! Where the cache of a project is: in the project's folder, or for a linked worktree in the repository's main checkout.

use std::path::{Path, PathBuf};

use crate::discover;
use crate::discover::LinkedWorktree;
use crate::model::RelPath;
use crate::sys::{Disk, device_id};

/// The name of the cache's folder in a bare repository. Git ignores what it does not know there.
const FOLDER_IN_REPOSITORY: &[u8] = b"slop_cache";

/// The folder with a project's databases, and what of them is the project's.
///
/// The daemon's files and the history of curation are always in the project's own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct CacheLocation {
    /// The folder below which slop may create the cache's.
    pub(in crate::engine) base: PathBuf,
    /// The cache's folder, below the base.
    pub(in crate::engine) folder: RelPath,
    /// The name of the linked worktree that the project is; `None` where the cache lies in the project.
    pub(in crate::engine) worktree: Option<String>,
    /// Git's folder for the repository whose linked worktrees share the cache.
    pub(in crate::engine) repository: Option<PathBuf>,
}

impl CacheLocation {
    /// Returns the location of the cache in the project's own folder.
    pub(in crate::engine) fn own(root: &Path, cache_dir: &RelPath) -> Self {
        let git = root.join(".git");
        // Also where there is no linked worktree any more: the last one may be what is to be forgotten.
        let repository = git.is_dir().then_some(git);
        Self { base: root.to_owned(), folder: cache_dir.clone(), worktree: None, repository }
    }

    /// Finds the cache of a project, and returns why it is not that of the repository although the project is a linked
    /// worktree. Creates nothing.
    pub(in crate::engine) fn find(
        root: &Path,
        cache_dir: &RelPath,
        disk: &dyn Disk,
    ) -> (Self, Option<String>) {
        let own = || Self::own(root, cache_dir);
        let worktree = match discover::linked_worktree(root, disk) {
            Ok(Some(worktree)) => worktree,
            Ok(None) => return (own(), None),
            Err(reason) => return (own(), Some(reason.to_owned())),
        };
        let LinkedWorktree { name, repository, main_checkout } = worktree;
        let (base, folder) = match main_checkout {
            Some(checkout) => (checkout, cache_dir.clone()),
            None => match RelPath::new(FOLDER_IN_REPOSITORY) {
                Ok(folder) => (repository.clone(), folder),
                Err(_) => return (own(), None),
            },
        };
        let found = Self { base, folder, worktree: Some(name), repository: Some(repository) };
        // A program in a sandbox may be able to write to its own worktree and nowhere else.
        if let Err(error) = found.check_writable(disk) {
            let reason =
                format!("that of the repository, {}, cannot be written: {error}", found.path().display());
            return (own(), Some(reason));
        }
        (found, None)
    }

    /// Returns whether several worktrees may use the cache.
    pub(in crate::engine) fn is_shared(&self) -> bool {
        self.worktree.is_some() || self.repository.as_ref().is_some_and(|git| git.join("worktrees").is_dir())
    }

    /// Returns the path of the cache's folder.
    pub(in crate::engine) fn path(&self) -> PathBuf {
        self.base.join(self.folder.as_path())
    }

    /// Returns whether the cache is on the file system that a folder is on.
    pub(in crate::engine) fn is_on_device_of(&self, folder: &Path) -> bool {
        let device = |path: &Path| path.metadata().map(|found| device_id(&found)).ok();
        device(&self.path()) == device(folder)
    }

    fn check_writable(&self, disk: &dyn Disk) -> std::io::Result<()> {
        match disk.check_writable(&self.path()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => disk.check_writable(&self.base),
            checked => checked,
        }
    }
}
