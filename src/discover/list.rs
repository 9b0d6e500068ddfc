//! The files of a project: git's answer in a checkout, a walk elsewhere.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::listing::{DiscoveredFile, Error, FileListing, KeptFolders, ListingSource, NameRules};
use super::walk::walk;
use crate::model::{RelPath, SkipReason};
use crate::sys::{ProcessOutput, Processes, run_git};

/// Lists the files below the folder `root`.
///
/// In a git checkout these are exactly the files that `git ls-files --cached --others --exclude-standard` lists
/// there. Elsewhere, and where git refuses to answer, the tree is walked; it is an error if the walk finds more than
/// `max_files`. What [`NameRules::is_excluded`] excludes is in neither. A folder that is left out as a whole is listed
/// itself, with the reason.
pub fn list(
    root: &Path,
    names: &NameRules,
    max_files: Option<u64>,
    processes: &dyn Processes,
) -> Result<FileListing, Error> {
    // The real path, so that a link to a folder within a checkout is known to be in it.
    let root = root.canonicalize().map_err(Error::Root)?;
    // Asked for its error alone: to git and to the walk a folder that cannot be read is an empty one.
    root.read_dir().map_err(Error::Root)?;

    let mut listing = list_unsorted(&root, names, max_files, processes)?;
    listing.files.sort_by(|one, other| one.path.cmp(&other.path));
    listing.files.dedup_by(merge_duplicate);
    Ok(listing)
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
    let note = match ls_files(root, names, processes) {
        Ok(mut listing) => {
            leave_out_folders(&mut listing.files, names);
            return Ok(listing);
        }
        Err(note) => note,
    };
    match walk(root, names, max_files) {
        Ok(mut listing) => {
            listing.notes.insert(0, note);
            Ok(listing)
        }
        // What made git refuse is what has to be fixed.
        Err(Error::TooManyFiles { max, note: None }) => Err(Error::TooManyFiles { max, note: Some(note) }),
        Err(error) => Err(error),
    }
}

/// Replaces the untracked files of folders that are left out by their names by an entry for each folder. Git lists what
/// an environment or a build left there, if nobody told it not to.
fn leave_out_folders(files: &mut Vec<DiscoveredFile>, names: &NameRules) {
    let nothing_kept = KeptFolders::default();
    let may_go =
        |file: &DiscoveredFile| !file.tracked && names.skipped_folder(&file.path, &nothing_kept).is_some();
    if !files.iter().any(may_go) {
        return;
    }
    // A folder with a tracked file is one that people work in, whatever it is called: all of it is kept.
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

/// Looks for `.git`, which is a file in worktrees and submodules. Whether that is a repository is for git to decide.
fn is_in_checkout(root: &Path) -> bool {
    root.ancestors().any(|folder| folder.join(".git").exists())
}

/// Drops `later` if it is the same file as the one before it: an unmerged file has an entry for each side.
fn merge_duplicate(later: &mut DiscoveredFile, kept: &mut DiscoveredFile) -> bool {
    if later.path != kept.path {
        return false;
    }
    kept.skip_reason = kept.skip_reason.or(later.skip_reason);
    kept.tracked |= later.tracked;
    true
}

/// One call for all: `-t --stage` marks what is not tracked by `?` and gives the mode of what is.
const ARGUMENTS: &[&str] = &["ls-files", "-z", "-t", "--stage", "--cached", "--others", "--exclude-standard"];

/// Mode of an entry that represents another repository.
const SUBMODULE: &[u8] = b"160000";

/// Lists what git lists in `root`, or returns a message for the user why git's answer is missing.
pub(super) fn ls_files(
    root: &Path,
    names: &NameRules,
    processes: &dyn Processes,
) -> Result<FileListing, String> {
    let finished = run_git(processes, root, ARGUMENTS, b"").map_err(|error| explain_missing(&error))?;
    if !finished.success {
        return Err(explain_refusal(&finished));
    }
    let mut files = Vec::new();
    for record in finished.stdout.split(|&byte| byte == 0) {
        if record.is_empty() {
            continue;
        }
        let entry = parse_record(record).ok_or_else(|| explain_unknown(record))?;
        if !names.is_excluded(&entry.path) {
            files.push(DiscoveredFile {
                skip_reason: entry.repository.or_else(|| names.skip_reason(&entry.path)),
                path: entry.path,
                tracked: entry.tracked,
            });
        }
    }
    // An ignored folder is empty to git. It is its answer, but hardly what was hoped for.
    let is_suspicious = finished.stdout.is_empty() && !root.join(".git").exists();
    let notes = is_suspicious.then(|| IGNORED_FOLDER.to_owned());
    Ok(FileListing {
        files,
        source: ListingSource::Git,
        notes: notes.into_iter().collect(),
        folders: Vec::new(),
    })
}

const IGNORED_FOLDER: &str = "git lists no file in this folder: the repository around it seems to ignore it; \
                              `git init` in the folder makes it a project of its own";

/// A record of git's list.
struct GitEntry {
    path: RelPath,
    /// The reason to leave it out, if it is a repository of its own.
    repository: Option<SkipReason>,
    tracked: bool,
}

/// Reads `? path` or `H mode object stage<TAB>path`.
fn parse_record(record: &[u8]) -> Option<GitEntry> {
    if let Some(path) = record.strip_prefix(b"? ") {
        // Of what it does not track, git lists a folder only where that is a repository.
        let folder = path.strip_suffix(b"/");
        return Some(GitEntry {
            path: RelPath::new(folder.unwrap_or(path)).ok()?,
            repository: folder.map(|_| SkipReason::NestedRepository),
            tracked: false,
        });
    }
    let tab = record.iter().position(|&byte| byte == b'\t')?;
    let mode = record[..tab].split(|&byte| byte == b' ').nth(1)?;
    Some(GitEntry {
        path: RelPath::new(&record[tab + 1..]).ok()?,
        repository: (mode == SUBMODULE).then_some(SkipReason::Submodule),
        tracked: true,
    })
}

fn explain_missing(error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::NotFound => {
            "install git, or put it on the PATH, so that its ignore rules count in full"
        }
        _ => "see whether git runs at all",
    };
    format!("the tree was walked, for git could not be started ({error}): {advice}")
}

fn explain_refusal(finished: &ProcessOutput) -> String {
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    // Warnings may come before it.
    let fatal = lines().find(|line| line.starts_with("fatal: "));
    let reason = fatal.or_else(|| lines().next()).unwrap_or("git gave no reason");
    // If git doubts who owns the repository, its message names the command that fixes it.
    let offered = lines().find(|line| line.starts_with("git config --global --add safe.directory"));
    let advice = offered.unwrap_or("git status");
    format!(
        "the tree was walked, for git refused to list it: {}; try `{}` in the project's folder",
        printable(reason),
        printable(advice)
    )
}

fn explain_unknown(record: &[u8]) -> String {
    let record = String::from_utf8_lossy(record);
    format!("the tree was walked, for git's list holds what this slop cannot read: `{}`", printable(&record))
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use expect_test::{Expect, expect};

    use super::super::list;
    use super::super::testing::{GitSandbox, lines};
    use std::ffi::OsStr;

    use super::super::testing::names;
    use super::*;
    use crate::sys::RealProcesses;

    /// Compares with a plain `git ls-files`, and then with what is expected.
    #[track_caller]
    fn check(sandbox: &GitSandbox, folder: &str, expected: &Expect) {
        let listing = sandbox.list(folder);
        assert_eq!((listing.source, &listing.notes[..]), (ListingSource::Git, &[][..]));

        let plain = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let plain = sandbox.try_git(folder, &plain).stdout;
        let mut plain: Vec<&[u8]> = plain
            .split(|&byte| byte == 0)
            .map(|path| path.strip_suffix(b"/").unwrap_or(path))
            .filter(|path| !path.is_empty())
            .collect();
        plain.sort_unstable();
        plain.dedup();
        let ours: Vec<&[u8]> = listing.files.iter().map(|found| found.path.as_bytes()).collect();
        assert_eq!(ours, plain);
        expected.assert_eq(&lines(&listing.files));
    }

    #[test]
    fn nested_ignore_files_and_their_exceptions_count() {
        let sandbox = GitSandbox::with_git();
        sandbox.write(".gitignore", "*.log\n/build/\n");
        sandbox.write("a/.gitignore", "!keep.log\n*.tmp\n");
        sandbox.write(".git/info/exclude", "private\n");
        sandbox.write_all(&[
            "x.log", "a/keep.log", "a/b/keep.log", "a/x.tmp", "build/x", "a/build/x", "private",
        ]);
        check(
            &sandbox,
            ".",
            &expect![[r"
                .gitignore
                a/.gitignore
                a/b/keep.log
                a/build/x
                a/keep.log
            "]],
        );
    }

    #[test]
    fn a_tracked_file_that_a_rule_ignores_is_in_and_so_are_hidden_ones() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["forced.log", "new.txt", ".hidden/a"]);
        sandbox.git(".", &["add", "forced.log"]);
        sandbox.write(".gitignore", "*.log\n");
        sandbox.write("other.log", "");
        check(
            &sandbox,
            ".",
            &expect![[r"
                .gitignore
                .hidden/a
                forced.log tracked
                new.txt
            "]],
        );
    }

    #[test]
    fn a_deleted_file_is_listed_while_git_tracks_it() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["gone", "here"]);
        sandbox.commit_all(".");
        std::fs::remove_file(sandbox.path("gone")).unwrap();
        check(
            &sandbox,
            ".",
            &expect![[r"
                gone tracked
                here tracked
            "]],
        );
    }

    #[test]
    fn an_unmerged_file_is_listed_once() {
        let sandbox = GitSandbox::with_git();
        sandbox.write("a", "1\n");
        sandbox.commit_all(".");
        sandbox.git(".", &["branch", "-m", "main"]);
        for (branch, text) in [("one", "2\n"), ("two", "3\n")] {
            sandbox.git(".", &["checkout", "-q", "-b", branch, "main"]);
            sandbox.write("a", text);
            sandbox.commit_all(".");
        }
        assert!(!sandbox.try_git(".", &["merge", "-q", "one"]).success);
        check(
            &sandbox,
            ".",
            &expect![[r"
                a tracked
            "]],
        );
    }

    #[test]
    fn submodules_and_untracked_repositories_are_listed_as_such() {
        let sandbox = GitSandbox::with_git();
        sandbox.write("lib/a", "x");
        sandbox.git("lib", &["init", "-q"]);
        sandbox.commit_all("lib");
        sandbox.git(".", &["submodule", "--quiet", "add", "./lib", "vendor/lib"]);
        sandbox.write_all(&["empty/a"]);
        sandbox.git("empty", &["init", "-q"]);
        check(
            &sandbox,
            ".",
            &expect![[r"
                .gitmodules tracked
                empty [nested_repository]
                lib [nested_repository]
                vendor/lib tracked [submodule]
            "]],
        );
        check(
            &sandbox,
            "vendor/lib",
            &expect![[r"
                a tracked
            "]],
        );
    }

    #[test]
    fn a_tracked_file_in_whose_place_a_repository_came_is_listed_once() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["a"]);
        sandbox.commit_all(".");
        std::fs::remove_file(sandbox.path("a")).unwrap();
        sandbox.write_all(&["a/b"]);
        sandbox.git("a", &["init", "-q"]);
        sandbox.commit_all("a");
        check(
            &sandbox,
            ".",
            &expect![[r"
                a tracked
            "]],
        );
    }

    #[test]
    fn a_linked_worktree_is_a_checkout() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["main/a"]);
        sandbox.git("main", &["init", "-q"]);
        sandbox.commit_all("main");
        sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
        sandbox.write_all(&["linked/b"]);
        check(
            &sandbox,
            "linked",
            &expect![[r"
                a tracked
                b
            "]],
        );
    }

    #[test]
    fn a_folder_of_a_checkout_is_listed_from_there() {
        let sandbox = GitSandbox::with_git();
        sandbox.write(".gitignore", "*.log\n");
        sandbox.write_all(&["top", "sub/a", "sub/deep/b", "sub/x.log"]);
        sandbox.git(".", &["add", "sub/a"]);
        check(
            &sandbox,
            "sub",
            &expect![[r"
                a tracked
                deep/b
            "]],
        );
        symlink(sandbox.path("sub"), sandbox.path("link")).unwrap();
        assert_eq!(sandbox.list("link").files, sandbox.list("sub").files);
    }

    #[test]
    fn odd_names_are_listed_as_they_are() {
        let sandbox = GitSandbox::with_git();
        sandbox.write(".gitignore", "");
        sandbox.write(b"new\nline\ttab", "");
        sandbox.write(b"not\xffutf8", "");
        sandbox.write([b'n'; 255], "");
        sandbox.write("? mark", "");
        sandbox.write("100644 0 0\tx", "");
        sandbox.write("\"quoted\" ü", "");
        sandbox.git(".", &["add", "? mark"]);
        symlink("nowhere", sandbox.path("link")).unwrap();
        let name = "n".repeat(255);
        let listing = sandbox.list(".");
        assert!(listing.files.iter().any(|found| found.path.as_bytes() == name.as_bytes()));
        std::fs::remove_file(sandbox.path(&name)).unwrap();
        check(
            &sandbox,
            ".",
            &expect![[r#"
                "quoted" ü
                .gitignore
                100644 0 0\u{9}x
                ? mark tracked
                link
                new\u{a}line\u{9}tab
                not\xffutf8
            "#]],
        );
    }

    #[test]
    fn a_thousand_folders_deep_is_not_too_deep() {
        let sandbox = GitSandbox::with_git();
        let deep = format!("{}a", "d/".repeat(1000));
        sandbox.write(&deep, "x");
        assert_eq!(sandbox.list(".").files[0].path.as_bytes(), deep.as_bytes());
    }

    #[test]
    fn what_is_apart_is_not_listed_though_git_lists_it() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&[".slop_cache/a", "out/b", "CVS/Entries", "sub/.hg/x", "outer"]);
        sandbox.write_all(&[".env", "k.pem", "allowed.pem", "history.toml", "a_history.toml"]);
        sandbox.git(".", &["add", "-A"]);
        let listing = sandbox.list(".");
        expect![[r"
            .env tracked [secret]
            a_history.toml tracked [history]
            allowed.pem tracked
            history.toml tracked [history]
            k.pem tracked [secret]
            outer tracked
        "]]
        .assert_eq(&lines(&listing.files));
    }

    #[test]
    fn untracked_files_in_a_folder_to_leave_out_are_one_entry_and_tracked_ones_keep_the_folder() {
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
        assert!(list(3).unwrap_err().to_string().contains("; the tree was walked, for git refused"));
    }

    #[test]
    fn an_empty_repository_is_an_empty_listing() {
        check(&GitSandbox::with_git(), ".", &expect![""]);
    }

    #[test]
    fn a_folder_that_the_repository_ignores_is_empty_and_says_why() {
        let sandbox = GitSandbox::with_git();
        sandbox.write(".gitignore", "unpacked/\n");
        sandbox.write_all(&["unpacked/a"]);
        let listing = sandbox.list("unpacked");
        assert_eq!((listing.source, listing.files.len()), (ListingSource::Git, 0));
        assert_eq!(listing.notes, [IGNORED_FOLDER]);
    }

    #[test]
    fn a_broken_repository_is_walked_and_the_note_says_why() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["a"]);
        sandbox.git(".", &["add", "-A"]);
        sandbox.write(".git/index", "this is no index, nor was it ever");
        let listing = sandbox.list(".");
        assert_eq!((listing.source, lines(&listing.files)), (ListingSource::Walk, "a\n".to_owned()));
        assert!(listing.notes[0].starts_with("the tree was walked, for git refused to list it: "));
        assert!(listing.notes[0].ends_with("; try `git status` in the project's folder"));
    }

    #[test]
    fn a_program_that_the_checkout_names_is_not_run() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["a"]);
        sandbox.git(".", &["config", "core.fsmonitor", "touch ran; false"]);
        sandbox.list(".");
        assert!(!sandbox.path("ran").exists());
    }

    /// A git that always answers the same; `None`: there is none.
    struct FakeGit(fn() -> Option<ProcessOutput>);

    impl Processes for FakeGit {
        fn run(
            &self,
            program: &str,
            _: &[&OsStr],
            _: &Path,
            without: &[&str],
            _: &[u8],
        ) -> io::Result<ProcessOutput> {
            assert_eq!(program, "git");
            assert!(without.contains(&"GIT_DIR"));
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
                "the tree was walked, for git could not be started (entity not found): install git, or put it on the PATH, so that its ignore rules count in full"
            ],
        );
    }

    #[test]
    fn doubts_of_the_owner_come_with_the_command_that_mends_them() {
        check_note(
            || {
                let stderr = "warning: x\nfatal: detected dubious ownership in repository at '/r'\nTo add, call:\n\n\
                            \tgit config --global --add safe.directory /r\n";
                Some(answer(false, b"", stderr.as_bytes()))
            },
            &expect![
                "the tree was walked, for git refused to list it: fatal: detected dubious ownership in repository at '/r'; try `git config --global --add safe.directory /r` in the project's folder"
            ],
        );
    }

    #[test]
    fn a_silent_refusal_is_told_of_too() {
        check_note(
            || Some(answer(false, b"", b"")),
            &expect![
                "the tree was walked, for git refused to list it: git gave no reason; try `git status` in the project's folder"
            ],
        );
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_no_answer() {
        check_note(
            || Some(answer(true, b"? b\0H 100644 \x1b[31m\0", b"")),
            &expect![[r"
                the tree was walked, for git's list holds what this slop cannot read: `H 100644 [31m`"]],
        );
        check_note(
            || Some(answer(true, b"? ../b\0", b"")),
            &expect![[r"
                the tree was walked, for git's list holds what this slop cannot read: `? ../b`"]],
        );
    }

    #[test]
    fn outside_of_a_checkout_git_is_not_asked() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["a"]);
        let asked = FakeGit(|| panic!("git was asked"));
        let listing = list(&sandbox.path("."), &names(), None, &asked).unwrap();
        assert_eq!(listing.source, ListingSource::Walk);
    }
}
