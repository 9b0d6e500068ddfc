//! The location of a project's cache: in the project's folder, or for a linked worktree in the repository's main
//! checkout.

use std::path::{Path, PathBuf};

use crate::discover;
use crate::discover::LinkedWorktree;
use crate::model::RelPath;
use crate::sys::{Disk, device_id, is_own};

/// The name of the cache folder in a bare repository. Git ignores unknown names there.
const FOLDER_IN_REPOSITORY: &[u8] = b"slop_cache";

/// The folder with a project's databases, and the part of them that belongs to the project.
///
/// The daemon's files and the history of curation are always in the project's own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct CacheLocation {
    /// The folder below which slop may create the cache folder.
    pub(in crate::engine) base: PathBuf,
    /// The path of the cache folder, relative to the base.
    pub(in crate::engine) folder: RelPath,
    /// The name of a linked worktree or clone in the cache; `None` if the cache is in the project.
    pub(in crate::engine) worktree: Option<String>,
    /// Git's folders of the repositories whose linked worktrees share the cache.
    repositories: Vec<PathBuf>,
    /// The clones that share the cache.
    clones: Vec<PathBuf>,
}

impl CacheLocation {
    /// Returns the location of the cache in the project's own folder, which other clones may share.
    pub(in crate::engine) fn own(root: &Path, cache_dir: &RelPath, clones: &[PathBuf]) -> Self {
        // Even if no linked worktree is left: the last one may have just been removed.
        let git = |folder: &Path| Some(folder.join(".git")).filter(|git| git.is_dir());
        let repositories =
            git(root).into_iter().chain(clones.iter().filter_map(|clone| git(clone))).collect();
        Self {
            base: root.to_owned(),
            folder: cache_dir.clone(),
            worktree: None,
            repositories,
            clones: clones.to_vec(),
        }
    }

    /// Finds the cache of a project, and returns why it is not the shared one, if it should be. Creates nothing.
    ///
    /// The linked worktrees of a repository share the cache of its main checkout, and the clones that the user has
    /// listed share that of the first one.
    pub(in crate::engine) fn find(
        root: &Path,
        cache_dir: &RelPath,
        clones: &[PathBuf],
        disk: &dyn Disk,
    ) -> (Self, Option<String>) {
        let own = || Self::own(root, cache_dir, &[]);
        let worktree = match discover::linked_worktree(root, disk) {
            Ok(worktree) => worktree,
            Err(reason) => return (own(), Some(reason.to_owned())),
        };
        let checkout = worktree.as_ref().map_or(Some(root), |found| found.main_checkout.as_deref());
        let clones: Vec<PathBuf> =
            clones.iter().filter_map(|clone| dunce::canonicalize(clone).ok()).collect();
        let is_shared = checkout.is_some_and(|checkout| clones.iter().any(|clone| clone == checkout));
        let clones = if is_shared { clones } else { Vec::new() };
        let (name, base, folder) = match (worktree, clones.first()) {
            (None, None) => return (own(), None),
            (None, Some(first)) if first == root => return (Self::own(root, cache_dir, &clones), None),
            (None, Some(first)) => match clone_name(root) {
                Some(name) => (name, first.clone(), cache_dir.clone()),
                None => return (own(), Some("it is not a checkout with a repository of its own".to_owned())),
            },
            (Some(LinkedWorktree { name, .. }), Some(first)) => (name, first.clone(), cache_dir.clone()),
            (Some(LinkedWorktree { name, main_checkout: Some(main), .. }), None) => {
                (name, main, cache_dir.clone())
            }
            (Some(LinkedWorktree { name, repository, main_checkout: None }), None) => {
                match RelPath::new(FOLDER_IN_REPOSITORY) {
                    Ok(folder) => (name, repository, folder),
                    Err(_) => return (own(), None),
                }
            }
        };
        let mut found = Self { folder, worktree: Some(name), ..Self::own(&base, cache_dir, &clones) };
        if !found.base.join(".git").is_dir() {
            // A bare repository is itself git's folder.
            found.repositories.push(found.base.clone());
        }
        // A sandboxed program may only be able to write to its own worktree.
        if let Err(error) = found.check_usable(disk) {
            let reason = format!("{} cannot be used: {error}", found.path().display());
            return (own(), Some(reason));
        }
        (found, None)
    }

    /// Returns whether several worktrees or clones may use the cache.
    pub(in crate::engine) fn is_shared(&self) -> bool {
        let has_worktrees = |git: &PathBuf| git.join("worktrees").is_dir();
        self.worktree.is_some() || 1 < self.clones.len() || self.repositories.iter().any(has_worktrees)
    }

    /// Returns whether a linked worktree or clone of this name still exists.
    pub(in crate::engine) fn has_worktree(&self, name: &str, disk: &dyn Disk) -> bool {
        self.clones.iter().any(|clone| clone_name(clone).as_deref() == Some(name))
            || self.repositories.iter().any(|git| discover::has_linked_worktree(git, name, disk))
    }

    /// Returns the path of the cache folder.
    pub(in crate::engine) fn path(&self) -> PathBuf {
        self.base.join(self.folder.as_path())
    }

    /// Returns whether the cache is on the same file system as a folder.
    pub(in crate::engine) fn is_on_device_of(&self, folder: &Path) -> bool {
        let device = |path: &Path| device_id(path).ok();
        device(&self.path()) == device(folder)
    }

    fn check_usable(&self, disk: &dyn Disk) -> std::io::Result<()> {
        // The user lists clones, and may not have noticed that one now belongs to another user.
        if !is_own(&self.base)? {
            return Err(std::io::Error::other("its folder belongs to another user"));
        }
        match disk.check_writable(&self.path()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => disk.check_writable(&self.base),
            checked => checked,
        }
    }
}

/// Returns the name of a clone, by its `.git` folder: a new clone in the same place has another name.
fn clone_name(root: &Path) -> Option<String> {
    discover::folder_name(&root.join(".git"), "clone")
}
