//! Finds the git checkout around a folder without running git.
//!
//! Every command does this first, and most of them answer in less time than git takes to start.

use std::path::{Path, PathBuf};

use crate::model::bytes_as_path;
use crate::sys::{Disk, device_id};

/// The most bytes that are read: a `.git` file has one line, and a repository's settings have a few dozen.
const MAX_BYTES: u64 = 64 << 10;

/// Returns the top level of the git checkout that contains a folder; a linked worktree or a submodule has its own. A
/// bare repository has none.
///
/// As in git, the search ends at the boundary of the file system. Variables such as `GIT_DIR` are ignored, because a
/// hook sets them for its own repository, whatever its folder.
pub fn enclosing_checkout(folder: &Path, disk: &dyn Disk) -> Option<PathBuf> {
    let device = device_id(folder).ok()?;
    let on_device = |folder: &&Path| device_id(folder).is_ok_and(|found| found == device);
    for folder in folder.ancestors().take_while(on_device) {
        match repository_kind(&folder.join(".git"), disk) {
            Some(RepositoryKind::Checkout) => return Some(folder.to_owned()),
            // Git stops here, too.
            Some(RepositoryKind::Bare) => return None,
            None => {}
        }
    }
    None
}

enum RepositoryKind {
    Checkout,
    Bare,
}

/// Returns the kind of a `.git`; `None` if git would ignore it.
fn repository_kind(git: &Path, disk: &dyn Disk) -> Option<RepositoryKind> {
    let found = git.metadata().ok()?;
    let folder = if found.is_dir() {
        let is_repository =
            git.join("HEAD").exists() && git.join("objects").is_dir() && git.join("refs").is_dir();
        is_repository.then(|| git.to_owned())?
    } else if found.is_file() {
        let text = disk.read_prefix(git, MAX_BYTES).ok()?;
        let path = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
        git.parent()?.join(bytes_as_path(path))
    } else {
        return None;
    };
    // A linked worktree of a bare repository does have a working tree.
    let is_linked = folder.join("commondir").exists();
    let is_bare = !is_linked && is_bare_repository(&folder, disk);
    Some(if is_bare { RepositoryKind::Bare } else { RepositoryKind::Checkout })
}

/// Returns whether `core.bare` is set in the settings of the repository in a folder.
pub(super) fn is_bare_repository(folder: &Path, disk: &dyn Disk) -> bool {
    disk.read_prefix(&folder.join("config"), MAX_BYTES).is_ok_and(|text| is_bare(&text))
}

/// Returns whether `core.bare` is set in a repository's settings.
fn is_bare(settings: &[u8]) -> bool {
    let text = String::from_utf8_lossy(settings).to_ascii_lowercase();
    let mut is_core = false;
    let mut is_bare = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_core = line.starts_with("[core]");
        } else if is_core && let Some(value) = line.strip_prefix("bare") {
            is_bare =
                matches!(value.trim_start().trim_start_matches('=').trim(), "" | "true" | "yes" | "on" | "1");
        }
    }
    is_bare
}

#[cfg(test)]
mod tests {
    use super::super::testing::GitSandbox;
    use super::*;
    use crate::sys::RealDisk;

    #[track_caller]
    fn check(sandbox: &GitSandbox, folder: &str, expected: Option<&str>) {
        let found = enclosing_checkout(&sandbox.path(folder), &RealDisk);
        assert_eq!(found, expected.map(|folder| sandbox.path(folder)), "{folder}");
        // Git agrees, except for the worktree whose repository is gone, which is an error in git.
        let told = sandbox.try_git(folder, &["rev-parse", "--show-toplevel"]);
        let told = String::from_utf8(told.stdout).unwrap();
        let expected = expected.map(|folder| sandbox.path(folder).canonicalize().unwrap());
        assert_eq!(told.trim_end(), expected.map_or(String::new(), |path| path.display().to_string()));
    }

    #[test]
    fn the_top_level_equals_that_of_git() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["main/src/deep/a", "other/b", "plain/c"]);
        sandbox.git("main", &["init", "-q"]);
        sandbox.git("other", &["init", "-q"]);
        sandbox.commit_all("main");
        sandbox.commit_all("other");
        sandbox.git("main", &["worktree", "add", "-q", "trees/linked"]);
        sandbox.git("main", &["submodule", "--quiet", "add", "../other", "vendor/sub"]);
        check(&sandbox, "main", Some("main"));
        check(&sandbox, "main/src/deep", Some("main"));
        check(&sandbox, "main/trees/linked/src", Some("main/trees/linked"));
        check(&sandbox, "main/vendor/sub", Some("main/vendor/sub"));
        check(&sandbox, "plain", None);
        std::os::unix::fs::symlink("main/src", sandbox.path("link")).unwrap();
        check(&sandbox, "main/src", Some("main"));
    }

    #[test]
    fn a_bare_repository_is_not_a_checkout_but_its_worktrees_are() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["main/a"]);
        sandbox.git("main", &["init", "-q"]);
        sandbox.commit_all("main");
        sandbox.git(".", &["clone", "-q", "--bare", "main", "project/.bare"]);
        sandbox.write("project/.git", "gitdir: ./.bare\n");
        sandbox.write_all(&["project/notes/a"]);
        sandbox.git("project", &["worktree", "add", "-q", "tree"]);
        check(&sandbox, "project/.bare/refs", None);
        check(&sandbox, "project/notes", None);
        check(&sandbox, "project/tree", Some("project/tree"));
    }

    #[test]
    fn what_git_ignores_is_not_a_repository() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["a/.git", "b/.git/config", "c/d"]);
        check(&sandbox, "b", Some("."));
        check(&sandbox, "c", Some("."));
    }
}
