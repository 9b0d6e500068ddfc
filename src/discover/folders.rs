//! The folders in which files that count may come to be: what a watch has to look at.
//!
//! One folder too many costs a watch, one too few a change that nobody notices. Where the walk cannot be sure, it
//! takes the folder.

use std::collections::BTreeSet;
use std::path::Path;

use super::Error;
use super::FileListing;
use super::ListingSource;
use super::NameRules;
use super::walk;
use crate::model::RelPath;

/// Returns the folders at and below `below`, the root's own name excepted, in which files that count may lie or come
/// to lie, by path: those that no rule ignores, and those of the files that `listing` has, which git may track against
/// a rule. An empty `below` is the root.
///
/// A repository within a checkout is one entry to git: it is among them, what lies in it is not. Links are not
/// followed.
pub fn watchable_folders(
    root: &Path,
    names: &NameRules,
    listing: &FileListing,
    below: &[u8],
) -> Result<Vec<RelPath>, Error> {
    let root = root.canonicalize().map_err(Error::Root)?;
    let mut found = BTreeSet::new();
    // Files are listed by path: those of a folder stand together.
    let first = listing.files.partition_point(|file| file.path.as_bytes() < below);
    let near = listing.files[first..].iter().take_while(|file| file.path.as_bytes().starts_with(below));
    let of_files = near.flat_map(|file| ancestors(&file.path)).filter(|folder| is_within(folder, below));
    found.extend(of_files.filter_map(|folder| RelPath::new(folder).ok()));
    let walked = walk::folders(&root, names, listing.source, below)?;
    found.extend(walked.into_iter().filter(|folder| is_within(folder.as_bytes(), below)));
    Ok(found.into_iter().collect())
}

/// Returns the folders above a file, the nearest first.
fn ancestors(file: &RelPath) -> impl Iterator<Item = &[u8]> {
    let bytes = file.as_bytes();
    bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &bytes[..at])
}

/// Says whether a path is a folder or lies below it.
pub(super) fn is_within(path: &[u8], folder: &[u8]) -> bool {
    match path.strip_prefix(folder) {
        Some(rest) => folder.is_empty() || matches!(rest.first(), None | Some(b'/')),
        None => false,
    }
}

/// Says whether a walk that looks for what is in `below` has to enter `folder`.
pub(super) fn leads_to(folder: &[u8], below: &[u8]) -> bool {
    is_within(folder, below) || is_within(below, folder)
}

/// Says whether git's own rules apply.
pub(super) fn uses_git_rules(source: ListingSource) -> bool {
    match source {
        ListingSource::Git => true,
        ListingSource::Walk => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::testing::GitSandbox;
    use super::super::testing::names;
    use super::*;

    #[track_caller]
    fn check(sandbox: &GitSandbox, folder: &str, below: &str, expected: &[&str]) {
        let listing = sandbox.list(folder);
        let found = watchable_folders(&sandbox.path(folder), &names(), &listing, below.as_bytes()).unwrap();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn ignored_folders_are_passed_over_and_empty_and_hidden_ones_are_not() {
        let sandbox = GitSandbox::with_git();
        sandbox.write(".gitignore", "target/\n/build\n");
        sandbox.write("a/.gitignore", "!target/\nlogs\n");
        sandbox.write_all(&["target/x/a", "build/a", "a/target/b", "a/logs/c", ".hidden/d", "a/build/e"]);
        std::fs::create_dir_all(sandbox.path("empty/inner")).unwrap();
        let all = [".hidden", "a", "a/build", "a/target", "empty", "empty/inner"];
        check(&sandbox, ".", "", &all);
        check(&sandbox, ".", "a", &["a", "a/build", "a/target"]);
        check(&sandbox, ".", "empty/inner", &["empty/inner"]);
        check(&sandbox, ".", "target/x", &[]);
        check(&sandbox, ".", "gone", &[]);
    }

    #[test]
    fn the_folders_of_a_file_that_git_tracks_against_a_rule_are_among_them() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["out2/deep/kept", "out2/other/not"]);
        sandbox.git(".", &["add", "out2/deep/kept"]);
        sandbox.write(".gitignore", "out2/\n");
        check(&sandbox, ".", "", &["out2", "out2/deep"]);
        check(&sandbox, ".", "out2/deep", &["out2/deep"]);
    }

    #[test]
    fn what_is_apart_and_what_lies_in_another_repository_is_passed_over() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&[".slop_cache/a/b", "out/a/b", "lib/src/a", "src/CVS/a"]);
        sandbox.git("lib", &["init", "-q"]);
        check(&sandbox, ".", "", &["lib", "src"]);
        check(&sandbox, ".", ".git", &[]);
        check(&sandbox, ".", ".slop_cache/a", &[]);
        check(&sandbox, ".", "lib/src", &[]);
    }

    #[test]
    fn links_are_not_followed() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["a/b/c"]);
        symlink("..", sandbox.path("a/loop")).unwrap();
        symlink("/", sandbox.path("everything")).unwrap();
        check(&sandbox, ".", "", &["a", "a/b"]);
        check(&sandbox, ".", "a/loop", &[]);
    }

    #[test]
    fn outside_of_git_the_walks_rules_apply() {
        let sandbox = GitSandbox::new();
        sandbox.write(".slopignore", "no/\n");
        sandbox.write(".ignore", "/neither\n");
        sandbox.write_all(&["no/a", "neither/b", ".hidden/c", "yes/d", "lib/.git/HEAD", "lib/src/e"]);
        check(&sandbox, ".", "", &["lib", "lib/src", "yes"]);
        check(&sandbox, ".", "no", &[]);
        check(&sandbox, ".", "lib/src", &["lib/src"]);
    }

    #[test]
    fn in_a_checkout_ignore_files_of_others_than_git_do_not_count() {
        let sandbox = GitSandbox::with_git();
        sandbox.write(".slopignore", "a/\n");
        sandbox.write(".ignore", "b/\n");
        sandbox.write(".git/info/exclude", "c/\n");
        sandbox.write_all(&["a/x", "b/x", "c/x"]);
        check(&sandbox, ".", "", &["a", "b"]);
    }

    #[test]
    fn rules_above_the_root_count_where_the_repository_has_them() {
        let sandbox = GitSandbox::with_git();
        sandbox.write(".gitignore", "sub/no/\n");
        sandbox.write_all(&["sub/no/a", "sub/yes/b", "beside/c"]);
        check(&sandbox, "sub", "", &["yes"]);
        check(&sandbox, "sub", "no", &[]);
    }

    #[test]
    fn a_thousand_levels_are_walked() {
        let sandbox = GitSandbox::with_git();
        let deep = "d/".repeat(1000);
        sandbox.write(format!("{deep}a"), "x");
        let found = watchable_folders(&sandbox.path("."), &names(), &sandbox.list("."), b"").unwrap();
        assert_eq!(found.len(), 1000);
    }

    #[test]
    fn an_ignore_file_that_never_ends_is_not_opened_and_hides_nothing_silently() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["a/b"]);
        let listing = sandbox.list(".");
        sandbox.fifo("a/.gitignore");
        let found = watchable_folders(&sandbox.path("."), &names(), &listing, b"");
        assert!(matches!(found, Err(Error::IgnoreFile { name: ".gitignore" })));
    }
}
