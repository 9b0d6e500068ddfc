//! Lists the files of a project, with git in a checkout and with a walk elsewhere.

use std::collections::BTreeSet;
use std::path::Path;

use super::git_files::{MissingAnswer, ls_files};
use super::listing::{DiscoveredFile, Error, FileListing, KeptFolders, NameRules};
use super::walk::walk;
use crate::model::{LinkedFolder, RelPath, ResourceKind, SkipReason};
use crate::sys::Processes;

/// Lists the files below the folder `root`.
///
/// In a git checkout these are exactly the files that `git ls-files --cached --others --exclude-standard` lists there.
/// Elsewhere, and if git fails, the tree is walked; it is an error if the walk finds more than `max_files`. Files that
/// [`NameRules::is_excluded`] excludes are never listed. A folder that is left out as a whole is listed itself, with
/// the reason.
pub fn list(
    root: &Path,
    names: &NameRules,
    max_files: Option<u64>,
    processes: &dyn Processes,
) -> Result<FileListing, Error> {
    // The real path, so that a link to a folder within a checkout is recognized as part of it.
    let root = dunce::canonicalize(root).map_err(Error::Root)?;
    // Only for its error: for git and the walk, an unreadable folder is empty.
    root.read_dir().map_err(Error::Root)?;

    let mut listing = list_unsorted(&root, names, max_files, processes)?;
    listing.files.sort_by(|one, other| one.path.cmp(&other.path));
    listing.files.dedup_by(merge_duplicate);
    Ok(listing)
}

/// Lists the files of a linked folder by their paths in the project. Submodules and nested repositories are entries, as
/// in the root, and the folder's own ignore files apply.
pub fn list_linked(
    linked: &LinkedFolder,
    names: &NameRules,
    processes: &dyn Processes,
) -> Result<FileListing, Error> {
    let mut listing = list_folder(linked, names, processes)?;
    let mounted = |path: &RelPath| {
        RelPath::new(&[linked.mount_point().as_bytes(), b"/", path.as_bytes()].concat())
            .expect("two paths with a slash between them are a path")
    };
    for file in &mut listing.files {
        file.path = mounted(&file.path);
        if matches!(file.skip_reason, None | Some(SkipReason::Secret)) {
            // The allowed paths in the settings are paths in the project.
            file.skip_reason = names.skip_reason(&file.path);
        }
    }
    listing.folders.iter_mut().for_each(|folder| *folder = mounted(folder));
    listing.notes.iter_mut().for_each(|note| *note = format!("@{}: {note}", linked.name));
    Ok(listing)
}

/// Lists the files of a linked folder by their paths in that folder.
pub fn list_folder(
    linked: &LinkedFolder,
    names: &NameRules,
    processes: &dyn Processes,
) -> Result<FileListing, Error> {
    match linked.kind {
        ResourceKind::GitCheckout => list(&linked.path, names, None, processes),
        ResourceKind::Directory => {
            linked.path.read_dir().map_err(Error::Root)?;
            let mut listing = walk(&linked.path, names, None)?;
            listing.files.sort_by(|one, other| one.path.cmp(&other.path));
            Ok(listing)
        }
    }
}

fn list_unsorted(
    root: &Path,
    names: &NameRules,
    max_files: Option<u64>,
    processes: &dyn Processes,
) -> Result<FileListing, Error> {
    if !is_in_checkout(root) {
        return walk(root, names, max_files);
    }
    let MissingAnswer { note, is_lasting } = match ls_files(root, names, processes) {
        Ok(mut listing) => {
            leave_out_folders(&mut listing.files, names);
            return Ok(listing);
        }
        Err(missing) => missing,
    };
    match walk(root, names, max_files) {
        Ok(mut listing) => {
            listing.notes.insert(0, note);
            Ok(FileListing { is_lasting, ..listing })
        }
        // The note has git's reason, which has to be fixed.
        Err(Error::TooManyFiles { max, note: None }) => Err(Error::TooManyFiles { max, note: Some(note) }),
        Err(error) => Err(error),
    }
}

/// Replaces the untracked files in folders that are left out by name with an entry for each folder. Without an ignore
/// rule, git lists the files of virtual environments and builds.
fn leave_out_folders(files: &mut Vec<DiscoveredFile>, names: &NameRules) {
    let nothing_kept = KeptFolders::default();
    let may_go =
        |file: &DiscoveredFile| !file.tracked && names.skipped_folder(&file.path, &nothing_kept).is_some();
    if !files.iter().any(may_go) {
        return;
    }
    // A folder with a tracked file is part of the project, whatever its name: all of it is kept.
    let kept = KeptFolders::among(files, names);
    let mut folders = BTreeSet::new();
    files.retain(|file| {
        let folder = if file.tracked { None } else { names.skipped_folder(&file.path, &kept) };
        let is_kept = folder.is_none();
        folders.extend(folder);
        is_kept
    });
    files.extend(folders.into_iter().map(|path| DiscoveredFile {
        path,
        skip_reason: Some(SkipReason::SkippedFolder),
        tracked: false,
    }));
}

/// Checks for a `.git`, which is a file in worktrees and submodules. Git decides whether it is a repository.
fn is_in_checkout(root: &Path) -> bool {
    root.ancestors().any(|folder| folder.join(".git").exists())
}

/// Drops `later` if it is the same file as the previous one: an unmerged file has an entry for each side.
fn merge_duplicate(later: &mut DiscoveredFile, kept: &mut DiscoveredFile) -> bool {
    if later.path != kept.path {
        return false;
    }
    kept.skip_reason = kept.skip_reason.or(later.skip_reason);
    kept.tracked |= later.tracked;
    true
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::io;

    use expect_test::{Expect, expect};

    use super::super::list;
    use super::super::listing::ListingSource;
    use super::super::testing::{GitSandbox, lines, names};
    use super::*;
    use crate::sys::{ProcessOutput, RealProcesses};

    #[test]
    fn untracked_files_in_a_skipped_folder_are_one_entry_and_tracked_ones_keep_the_folder() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["vendored/lib/a", "web/node_modules/x/y", "web/a", "file/node_modules"]);
        sandbox.git(".", &["add", "vendored/lib/a"]);
        sandbox.write_all(&["vendored/new", "vendored/node_modules/deep/z", "web/node_modules/x/vendored/b"]);
        sandbox.git("web/node_modules/x", &["init", "-q"]);
        let listing = sandbox.list(".");
        expect![[r"
            file/node_modules
            vendored/lib/a tracked
            vendored/new
            vendored/node_modules [skipped_folder]
            web/a
            web/node_modules [skipped_folder]
        "]]
        .assert_eq(&lines(&listing.files));
        sandbox.git(".", &["add", "-f", "vendored/node_modules/deep/z"]);
        assert!(lines(&sandbox.list(".").files).contains("vendored/node_modules/deep/z tracked\n"));
    }

    #[test]
    fn a_walk_ends_at_the_limit_and_git_has_none() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["a", "b", "c", "sub/d"]);
        let list = |max_files| list(&sandbox.path("."), &names(), Some(max_files), &RealProcesses);
        assert_eq!(list(4).unwrap().files.len(), 4);
        assert_eq!(
            list(3).unwrap_err().to_string(),
            "folder has more than 3 files and is not in a git checkout"
        );
        sandbox.git(".", &["init", "-q"]);
        assert_eq!(list(3).unwrap().files.len(), 4);
        sandbox.git(".", &["add", "a"]);
        sandbox.write(".git/index", "this is no index, nor was it ever");
        assert!(list(3).unwrap_err().to_string().contains("; the tree was walked, because git refused"));
    }

    #[test]
    fn a_broken_repository_is_walked_with_a_note() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["a"]);
        sandbox.git(".", &["add", "-A"]);
        sandbox.write(".git/index", "this is no index, nor was it ever");
        let listing = sandbox.list(".");
        assert_eq!((listing.source, lines(&listing.files)), (ListingSource::Walk, "a\n".to_owned()));
        assert!(listing.notes[0].starts_with("the tree was walked, because git refused to list it: "));
        assert!(listing.notes[0].ends_with("; try `git status` in the project's folder"));
    }

    #[test]
    fn a_program_configured_in_the_checkout_is_not_run() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["a"]);
        sandbox.git(".", &["config", "core.fsmonitor", "touch ran; false"]);
        sandbox.list(".");
        assert!(!sandbox.path("ran").exists());
    }

    /// A git that always gives the same answer; `None` if it does not exist.
    struct FakeGit(fn() -> Option<ProcessOutput>);

    impl Processes for FakeGit {
        fn run(
            &self,
            program: &str,
            _: &[&OsStr],
            _: &Path,
            variables: &[(&str, Option<&str>)],
            _: &[u8],
        ) -> io::Result<ProcessOutput> {
            assert_eq!(program, "git");
            assert!(variables.contains(&("GIT_DIR", None)));
            (self.0)().ok_or_else(|| io::ErrorKind::NotFound.into())
        }
    }

    fn answer(success: bool, stdout: &[u8], stderr: &[u8]) -> ProcessOutput {
        ProcessOutput { success, stdout: stdout.to_vec(), stderr: stderr.to_vec() }
    }

    #[track_caller]
    fn check_note(fake: fn() -> Option<ProcessOutput>, expected: &Expect) {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&[".git/HEAD", "a"]);
        let listing = list(&sandbox.path("."), &names(), None, &FakeGit(fake)).unwrap();
        assert_eq!((listing.source, lines(&listing.files)), (ListingSource::Walk, "a\n".to_owned()));
        expected.assert_eq(&listing.notes.join("\n"));
    }

    #[test]
    fn without_git_the_tree_is_walked() {
        check_note(
            || None,
            &expect![
                "the tree was walked, because git could not be started (entity not found): install git, or put it on the PATH, so that its ignore rules count in full"
            ],
        );
    }

    #[test]
    fn dubious_ownership_is_reported_with_the_fixing_command() {
        check_note(
            || {
                let stderr = "warning: x\nfatal: detected dubious ownership in repository at '/r'\nTo add, call:\n\n\
                            \tgit config --global --add safe.directory /r\n";
                Some(answer(false, b"", stderr.as_bytes()))
            },
            &expect![
                "the tree was walked, because git refused to list it: fatal: detected dubious ownership in repository at '/r'; try `git config --global --add safe.directory /r` in the project's folder"
            ],
        );
    }

    #[test]
    fn a_silent_refusal_is_reported_too() {
        check_note(
            || Some(answer(false, b"", b"")),
            &expect![
                "the tree was walked, because git refused to list it: git gave no reason; try `git status` in the project's folder"
            ],
        );
    }

    #[test]
    fn an_invalid_answer_is_not_used() {
        check_note(
            || Some(answer(true, b"? b\0H 100644 \x1b[31m\0", b"")),
            &expect![[r"the tree was walked, because git's list cannot be parsed: `H 100644 \u{1b}[31m`"]],
        );
        check_note(
            || Some(answer(true, b"? ../b\0", b"")),
            &expect!["the tree was walked, because git's list cannot be parsed: `? ../b`"],
        );
    }

    #[test]
    fn outside_of_a_checkout_git_is_not_run() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["a"]);
        let asked = FakeGit(|| panic!("git was asked"));
        let listing = list(&sandbox.path("."), &names(), None, &asked).unwrap();
        assert_eq!(listing.source, ListingSource::Walk);
    }
}
