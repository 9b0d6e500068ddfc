//! Lists the files of a checkout with git.

use std::io;
use std::path::Path;

use super::git_command::run_git;
use super::listing::{DiscoveredFile, FileListing, ListingSource, NameRules};
use crate::model::{RelPath, SkipReason, printable};
use crate::sys::{ProcessOutput, Processes};

/// A single call: `-t --stage` marks untracked files with `?`, and shows the mode of tracked ones.
const ARGUMENTS: &[&str] = &["ls-files", "-z", "-t", "--stage", "--cached", "--others", "--exclude-standard"];

/// The mode of an entry that represents another repository.
const SUBMODULE: &[u8] = b"160000";

/// Why git's answer is missing.
pub(super) struct MissingAnswer {
    /// A note for the user.
    pub(super) note: String,
    /// Whether git would fail in the same way again as long as nothing changes.
    pub(super) is_lasting: bool,
}

/// Lists what git lists in `root`.
pub(super) fn ls_files(
    root: &Path,
    names: &NameRules,
    processes: &dyn Processes,
) -> Result<FileListing, MissingAnswer> {
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
        if entry.is_sparse && !root.join(entry.path.as_path()).exists() {
            continue;
        }
        if !names.is_excluded(&entry.path) {
            files.push(DiscoveredFile {
                skip_reason: entry.repository.or_else(|| names.skip_reason(&entry.path)),
                path: entry.path,
                tracked: entry.tracked,
            });
        }
    }
    // An ignored folder is empty for git, which is unlikely to be intended.
    let is_suspicious = finished.stdout.is_empty() && !root.join(".git").exists();
    let notes = is_suspicious.then(|| IGNORED_FOLDER.to_owned());
    Ok(FileListing {
        files,
        source: ListingSource::Git,
        notes: notes.into_iter().collect(),
        folders: Vec::new(),
        is_lasting: true,
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
    /// Whether git was told not to check it out.
    is_sparse: bool,
}

/// Parses `? path` or `H mode object stage<TAB>path`.
fn parse_record(record: &[u8]) -> Option<GitEntry> {
    if let Some(path) = record.strip_prefix(b"? ") {
        // Among untracked entries, git lists a folder only if it is a repository.
        let folder = path.strip_suffix(b"/");
        return Some(GitEntry {
            path: RelPath::new(folder.unwrap_or(path)).ok()?,
            repository: folder.map(|_| SkipReason::NestedRepository),
            tracked: false,
            is_sparse: false,
        });
    }
    let tab = record.iter().position(|&byte| byte == b'\t')?;
    let mode = record[..tab].split(|&byte| byte == b' ').nth(1)?;
    Some(GitEntry {
        path: RelPath::new(&record[tab + 1..]).ok()?,
        repository: (mode == SUBMODULE).then_some(SkipReason::Submodule),
        tracked: true,
        is_sparse: record.starts_with(b"S "),
    })
}

fn explain_missing(error: &io::Error) -> MissingAnswer {
    let (what, advice) = match error.kind() {
        io::ErrorKind::NotFound => (
            "could not be started",
            "install git, or put it on the PATH, so that its ignore rules count in full",
        ),
        io::ErrorKind::TimedOut => (
            "did not answer",
            "check whether one of the files that it reads, such as an ignore file, is a FIFO or a device",
        ),
        _ => ("could not be started", "check whether git runs at all"),
    };
    let note = format!("the tree was walked, because git {what} ({error}): {advice}");
    MissingAnswer { note, is_lasting: error.kind() == io::ErrorKind::NotFound }
}

fn explain_refusal(finished: &ProcessOutput) -> MissingAnswer {
    let stderr = String::from_utf8_lossy(&finished.stderr);
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    // Warnings may precede the error.
    let fatal = lines().find(|line| line.starts_with("fatal: "));
    let reason = fatal.or_else(|| lines().next()).unwrap_or("git gave no reason");
    // If git doubts who owns the repository, its message names the command that fixes it.
    let offered = lines().find(|line| line.starts_with("git config --global --add safe.directory"));
    let advice = offered.unwrap_or("git status");
    let note = format!(
        "the tree was walked, because git refused to list it: {}; try `{}` in the project's folder",
        printable(reason),
        printable(advice)
    );
    // If git refuses, it reports the reason; if it was killed, it does not.
    MissingAnswer { note, is_lasting: !finished.stderr.is_empty() }
}

fn explain_unknown(record: &[u8]) -> MissingAnswer {
    let record = String::from_utf8_lossy(record);
    let note = format!("the tree was walked, because git's list cannot be parsed: `{}`", printable(&record));
    MissingAnswer { note, is_lasting: true }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use expect_test::{Expect, expect};

    use super::super::testing::{GitSandbox, lines};
    use super::*;

    /// Compares the listing with a plain `git ls-files`, and then with the expectation.
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
    fn tracked_files_are_listed_even_if_ignored_or_hidden() {
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
    fn a_tracked_file_replaced_by_a_repository_is_listed_once() {
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
    fn unusual_names_are_listed_unchanged() {
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
    fn excluded_folders_are_not_listed_although_git_lists_them() {
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
    fn an_empty_repository_is_an_empty_listing() {
        check(&GitSandbox::with_git(), ".", &expect![""]);
    }

    #[test]
    fn an_ignored_folder_is_empty_with_a_note() {
        let sandbox = GitSandbox::with_git();
        sandbox.write(".gitignore", "unpacked/\n");
        sandbox.write_all(&["unpacked/a"]);
        let listing = sandbox.list("unpacked");
        assert_eq!((listing.source, listing.files.len()), (ListingSource::Git, 0));
        assert_eq!(listing.notes, [IGNORED_FOLDER]);
    }
}
