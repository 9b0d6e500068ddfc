//! Finds the repository of a linked worktree without running git.
//!
//! A `.git` file may come from anyone and name any folder. It is trusted only if the repository refers back to the
//! worktree in one of its own files, and if all of this belongs to the user.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::checkout::is_bare_repository;
use crate::model::bytes_as_path;
use crate::sys::{Disk, file_identity, is_own};

/// The most bytes that are read: these files have one line.
const MAX_BYTES: u64 = 64 << 10;
/// The folder of a repository in which git keeps a folder for each linked worktree.
const WORKTREES: &str = "worktrees";

/// A linked worktree of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedWorktree {
    /// A name that is unique among all worktrees that the repository has or had: it contains the creation time of git's
    /// folder for it.
    pub name: String,
    /// Git's folder of the repository.
    pub repository: PathBuf,
    /// The folder of the main checkout; `None` for a bare repository.
    pub main_checkout: Option<PathBuf>,
}

/// Returns the repository of a linked worktree, given its folder; `None` if it is not one. The error is the reason why
/// the repository is not trusted.
pub fn linked_worktree(root: &Path, disk: &dyn Disk) -> Result<Option<LinkedWorktree>, &'static str> {
    let file = root.join(".git");
    if !file.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Ok(None);
    }
    let Some(admin) = named_git_folder(root, disk) else { return Ok(None) };
    // A submodule also has a `.git` file, but not this file.
    let Some(common) = read_line(&admin.join("commondir"), disk) else { return Ok(None) };
    let Some(repository) = resolve(&admin, &common) else { return Err("its repository does not exist") };
    if admin.parent() != Some(&repository.join(WORKTREES)) {
        return Err("the repository that its `.git` names does not contain it");
    }
    let named = read_line(&admin.join("gitdir"), disk).and_then(|path| resolve(&admin, &path));
    if named.is_none() || named != dunce::canonicalize(&file).ok() {
        return Err("the repository that its `.git` names has another folder for it");
    }
    let main_checkout = main_checkout(&repository, disk);
    let of_repository = main_checkout.as_deref().unwrap_or(&repository);
    let is_users = |path: &Path| is_own(path).unwrap_or(false);
    let believed = [root, &file, &admin, &admin.join("gitdir"), &admin.join("commondir"), of_repository];
    if !is_users(&repository) || !believed.into_iter().all(is_users) {
        return Err("it or its repository belongs to another user");
    }
    let Some(name) = worktree_name(&admin) else { return Err("its repository does not exist") };
    Ok(Some(LinkedWorktree { name, repository, main_checkout }))
}

/// Returns whether two checkouts belong to the same repository, as linked worktrees or its main checkout.
pub fn are_of_one_repository(one: &Path, other: &Path, disk: &dyn Disk) -> bool {
    let repository = |root: &Path| match linked_worktree(root, disk) {
        Ok(Some(worktree)) => Some(worktree.repository),
        // The `.git` file of a submodule names its repository.
        Ok(None) => named_git_folder(root, disk).or_else(|| dunce::canonicalize(root.join(".git")).ok()),
        Err(_) => None,
    };
    repository(one).is_some_and(|of_one| repository(other) == Some(of_one))
}

/// Returns the folder that the `.git` file of a checkout names.
fn named_git_folder(root: &Path, disk: &dyn Disk) -> Option<PathBuf> {
    let line = read_line(&root.join(".git"), disk)?;
    resolve(root, line.strip_prefix(b"gitdir: ")?)
}

/// Returns whether a repository still has the linked worktree of this name. A worktree on a removable disk, which git
/// keeps, counts as existing.
pub fn has_linked_worktree(repository: &Path, name: &str, disk: &dyn Disk) -> bool {
    let Some((id, _)) = name.split_once('/') else { return false };
    let admin = repository.join(WORKTREES).join(id);
    if worktree_name(&admin).as_deref() != Some(name) {
        return false;
    }
    let file = read_line(&admin.join("gitdir"), disk).map(|path| admin.join(bytes_as_path(&path)));
    file.is_some_and(|file| file.exists()) || admin.join("locked").exists()
}

/// Returns the name of a worktree, made from the name of git's folder for it and what distinguishes that from an
/// earlier one of the same name. It does not change when the worktree is moved.
fn worktree_name(admin: &Path) -> Option<String> {
    folder_name(admin, admin.file_name()?.to_str()?)
}

/// Returns a name for a folder that a folder created later in its place will not have.
pub fn folder_name(folder: &Path, id: &str) -> Option<String> {
    let found = folder.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
    // Not every file system stores creation times.
    let made = found.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    let (_, number) = file_identity(folder).ok()?;
    Some(format!("{id}/{number:x}.{:x}", made.map_or(0, |made| made.as_nanos())))
}

/// Returns the folder of a repository's main checkout; `None` if it has none, or if it is elsewhere.
fn main_checkout(repository: &Path, disk: &dyn Disk) -> Option<PathBuf> {
    let is_in_checkout = repository.file_name() == Some(OsStr::new(".git"));
    let checkout = repository.parent().filter(|folder| folder.parent().is_some())?;
    (is_in_checkout && !is_bare_repository(repository, disk)).then(|| checkout.to_owned())
}

fn read_line(file: &Path, disk: &dyn Disk) -> Option<Vec<u8>> {
    let text = disk.read_prefix(file, MAX_BYTES).ok()?;
    Some(text.trim_ascii_end().to_owned())
}

fn resolve(folder: &Path, path: &[u8]) -> Option<PathBuf> {
    dunce::canonicalize(folder.join(bytes_as_path(path))).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::GitSandbox;
    use super::*;
    use crate::sys::RealDisk;

    fn repository_with_worktree() -> GitSandbox {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["main/a"]);
        sandbox.git("main", &["init", "-q"]);
        sandbox.commit_all("main");
        sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
        sandbox
    }

    fn found(sandbox: &GitSandbox, folder: &str) -> Result<Option<LinkedWorktree>, &'static str> {
        linked_worktree(&sandbox.path(folder).canonicalize().unwrap(), &RealDisk)
    }

    #[test]
    fn a_worktree_leads_to_its_repository_until_it_is_removed() {
        let sandbox = repository_with_worktree();
        let linked = found(&sandbox, "linked").unwrap().unwrap();
        let main = sandbox.path("main").canonicalize().unwrap();
        assert_eq!(linked.main_checkout.as_ref(), Some(&main));
        assert_eq!(linked.repository, main.join(".git"));
        assert_eq!(found(&sandbox, "main"), Ok(None));
        let is_there = || has_linked_worktree(&linked.repository, &linked.name, &RealDisk);
        sandbox.git("main", &["worktree", "move", "../linked", "../moved"]);
        assert_eq!(found(&sandbox, "moved"), Ok(Some(linked.clone())));
        assert!(is_there());
        fs::rename(sandbox.path("moved"), sandbox.path("lost")).unwrap();
        assert!(!is_there());
        sandbox.git("main", &["worktree", "prune"]);
        sandbox.git("main", &["worktree", "add", "-q", "-f", "../linked", "linked"]);
        assert!(!is_there());
        // A worktree of a bare repository.
        sandbox.git(".", &["clone", "-q", "--bare", "main", "bare.git"]);
        sandbox.git("bare.git", &["worktree", "add", "-q", "../of_bare", "-b", "new"]);
        assert_eq!(found(&sandbox, "of_bare").unwrap().unwrap().main_checkout, None);
    }

    #[test]
    fn worktrees_of_one_repository_are_recognized() {
        let sandbox = repository_with_worktree();
        sandbox.git("main", &["worktree", "add", "-q", "../second"]);
        sandbox.git(".", &["clone", "-q", "main", "clone"]);
        sandbox.git("main", &["submodule", "--quiet", "add", "../clone", "sub"]);
        sandbox.git("main/sub", &["worktree", "add", "-q", "../../of_sub"]);
        let are = |one: &str, other: &str| {
            let path = |folder: &str| sandbox.path(folder).canonicalize().unwrap();
            are_of_one_repository(&path(one), &path(other), &RealDisk)
        };
        for (one, other) in
            [("main", "linked"), ("linked", "main"), ("linked", "second"), ("main/sub", "of_sub")]
        {
            assert!(are(one, other), "{one} {other}");
        }
        for (one, other) in
            [("main", "clone"), ("main", "main/sub"), ("linked", "of_sub"), ("clone", "linked")]
        {
            assert!(!are(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_repository_that_does_not_name_the_worktree_is_not_believed() {
        let sandbox = repository_with_worktree();
        let admin = sandbox.path("main/.git/worktrees/linked").canonicalize().unwrap();
        // A `.git` that names the git folder of another worktree.
        sandbox.write("hostile/.git", format!("gitdir: {}\n", admin.display()));
        assert!(found(&sandbox, "hostile").unwrap_err().contains("another folder for it"));
        // A `.git` that names a forged folder, which leads to another repository.
        sandbox.write("hostile/.git", "gitdir: own/worktrees/x\n");
        let brought = sandbox.path("hostile/own/worktrees/x");
        sandbox.write("hostile/own/worktrees/x/gitdir", "../../../.git\n");
        sandbox.write("hostile/own/worktrees/x/commondir", "../../../../main/.git\n");
        assert!(found(&sandbox, "hostile").unwrap_err().contains("does not contain it"));
        // Through a link, too.
        fs::create_dir_all(sandbox.path("other/.git")).unwrap();
        std::os::unix::fs::symlink(brought.parent().unwrap(), sandbox.path("other/.git/worktrees")).unwrap();
        sandbox.write("hostile/own/worktrees/x/commondir", "../../../../other/.git\n");
        assert!(found(&sandbox, "hostile").unwrap_err().contains("does not contain it"));
        for text in ["gitdir: /\n", "gitdir: \n", "", "gitdir: ../missing\n"] {
            sandbox.write("hostile/.git", text);
            assert_eq!(found(&sandbox, "hostile"), Ok(None), "{text:?}");
        }
    }
}
