//! Lists the folders of a project to watch for changes.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ignore::WalkBuilder;

use super::listing::{Error, FileListing, KeptFolders, ListingSource, NameRules};
use super::walk::{
    device_of, is_other_device, relative_path, rule_builder, untrusted_ignore_file, uses_git_rules,
};
use crate::model::{IGNORE_FILES, RelPath, bytes_as_path, is_within, lock};

/// Returns the folders at and below `below`, except the root itself, that contain or may get relevant files, by path:
/// those that no rule ignores, and those of the files in `listing`, which git may track despite a rule. An empty
/// `below` is the root. `kept` are the folders that would be left out, but in which git tracks files.
///
/// A repository within a checkout is one entry for git: it is included, but its content is not. Links are not followed.
pub fn watchable_folders(
    root: &Path,
    names: &NameRules,
    listing: &FileListing,
    kept: &KeptFolders,
    below: &[u8],
) -> Result<Vec<RelPath>, Error> {
    let root = dunce::canonicalize(root).map_err(Error::Root)?;
    let mut found = BTreeSet::new();
    // Files are sorted by path, so those of a folder are adjacent.
    let first = listing.files.partition_point(|file| file.path.as_bytes() < below);
    let near = listing.files[first..].iter().take_while(|file| file.path.as_bytes().starts_with(below));
    // `starts_with` also admits `src2` for `src`; `is_within` removes it.
    let of_files = near.flat_map(|file| file.path.ancestors()).filter(|folder| is_within(folder, below));
    found.extend(of_files.filter_map(|folder| RelPath::new(folder).ok()));
    let walked = folders(&root, names, listing.source, kept, below)?;
    found.extend(walked.into_iter().filter(|folder| is_within(folder.as_bytes(), below)));
    Ok(found.into_iter().collect())
}

/// Returns whether a walk to the content of `below` has to enter `folder`.
pub(super) fn leads_to(folder: &[u8], below: &[u8]) -> bool {
    is_within(folder, below) || is_within(below, folder)
}

/// Returns the folders at and below `below` that no rule ignores, including those that are not entered.
pub(super) fn folders(
    root: &Path,
    names: &NameRules,
    source: ListingSource,
    kept: &KeptFolders,
    below: &[u8],
) -> Result<Vec<RelPath>, Error> {
    if let Some(name) = untrusted_ignore_file(root) {
        return Err(Error::IgnoreFile { name });
    }
    let untrusted: Arc<Mutex<Vec<(RelPath, &'static str)>>> = Arc::default();
    let walked = folder_builder(root, names, source, kept, below, Arc::clone(&untrusted)).build();
    let mut folders: Vec<RelPath> =
        // An unreadable folder cannot be watched either, so its error is dropped.
        walked.flatten().filter_map(|entry| relative_path(root, entry.path())).collect();
    for (path, name) in std::mem::take(&mut *lock(&untrusted)) {
        if uses_git_rules(source) {
            // Git does not open such a file, and lists the files next to it.
            return Err(Error::IgnoreFile { name });
        }
        folders.push(path);
    }
    Ok(folders)
}

/// Returns a walk over the folders that lead to `below` or are in it. It does not enter folders whose ignore file must
/// not be opened, and adds them to `untrusted`.
fn folder_builder(
    root: &Path,
    names: &NameRules,
    source: ListingSource,
    kept: &KeptFolders,
    below: &[u8],
    untrusted: Arc<Mutex<Vec<(RelPath, &'static str)>>>,
) -> WalkBuilder {
    let mut builder = rule_builder(root);
    if uses_git_rules(source) {
        // The user's own excludes are not read: a repository may disable them, and a folder that is skipped by mistake
        // is worse than one that is watched needlessly.
        builder.hidden(false).ignore(false).parents(true).git_exclude(true).require_git(true);
    } else {
        builder.add_custom_ignore_filename(IGNORE_FILES[2]);
    }
    let (root, names, kept, below) = (root.to_owned(), names.clone(), kept.clone(), below.to_vec());
    let device = device_of(&root);
    builder.filter_entry(move |entry| {
        let Some(path) = relative_path(&root, entry.path()) else { return true };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if !is_folder || names.is_folder_excluded(&path) || !leads_to(path.as_bytes(), &below) {
            return false;
        }
        if names.is_skipped_name(path.file_name()) && !kept.contains(&path) {
            return false;
        }
        let is_elsewhere = match source {
            ListingSource::Git => is_in_other_repository(&root, &path),
            ListingSource::Walk => is_other_device(entry, device),
        };
        if is_elsewhere {
            return false;
        }
        let name = untrusted_ignore_file(entry.path());
        // Watched all the same, because the ignore file may be fixed.
        lock(&untrusted).extend(name.map(|name| (path, name)));
        name.is_none()
    });
    builder
}

/// Returns whether a folder is inside a nested repository.
fn is_in_other_repository(root: &Path, path: &RelPath) -> bool {
    let up = bytes_as_path(path.parent());
    !path.parent().is_empty() && root.join(up).join(".git").exists()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::testing::{GitSandbox, names};
    use super::*;

    #[track_caller]
    fn check(sandbox: &GitSandbox, folder: &str, below: &str, expected: &[&str]) {
        let listing = sandbox.list(folder);
        let kept = KeptFolders::among(&listing.files, &names());
        let found =
            watchable_folders(&sandbox.path(folder), &names(), &listing, &kept, below.as_bytes()).unwrap();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn ignored_folders_are_skipped_and_empty_and_hidden_ones_are_not() {
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
    fn the_folders_of_a_file_that_git_tracks_despite_a_rule_are_included() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["out2/deep/kept", "out2/other/not"]);
        sandbox.git(".", &["add", "out2/deep/kept"]);
        sandbox.write(".gitignore", "out2/\n");
        check(&sandbox, ".", "", &["out2", "out2/deep"]);
        check(&sandbox, ".", "out2/deep", &["out2/deep"]);
    }

    #[test]
    fn excluded_folders_and_nested_repositories_are_skipped() {
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
    fn folders_left_out_by_name_are_skipped_unless_git_tracks_files_in_them() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&[
            "node_modules/a/b",
            "src/node_modules/c",
            "vendored/lib/d",
            "vendored/lib/vendored/e",
        ]);
        check(&sandbox, ".", "", &["src"]);
        check(&sandbox, ".", "vendored/lib", &[]);
        sandbox.git(".", &["init", "-q"]);
        check(&sandbox, ".", "", &["src"]);
        sandbox.git(".", &["add", "vendored/lib/d"]);
        check(&sandbox, ".", "", &["src", "vendored", "vendored/lib"]);
        check(&sandbox, ".", "vendored/lib", &["vendored/lib"]);
    }

    #[test]
    fn in_a_checkout_only_gits_ignore_files_apply() {
        let sandbox = GitSandbox::with_git();
        sandbox.write(".slopignore", "a/\n");
        sandbox.write(".ignore", "b/\n");
        sandbox.write(".git/info/exclude", "c/\n");
        sandbox.write_all(&["a/x", "b/x", "c/x"]);
        check(&sandbox, ".", "", &["a", "b"]);
    }

    #[test]
    fn rules_above_the_root_apply_within_the_repository() {
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
        let (listing, kept) = (sandbox.list("."), KeptFolders::default());
        let found = watchable_folders(&sandbox.path("."), &names(), &listing, &kept, b"").unwrap();
        assert_eq!(found.len(), 1000);
    }

    #[test]
    fn an_endless_ignore_file_is_not_opened_and_its_folder_is_watched() {
        let sandbox = GitSandbox::with_git();
        sandbox.write_all(&["a/b"]);
        let listing = sandbox.list(".");
        sandbox.fifo("a/.gitignore");
        let kept = KeptFolders::default();
        let found = watchable_folders(&sandbox.path("."), &names(), &listing, &kept, b"");
        assert!(matches!(found, Err(Error::IgnoreFile { name: ".gitignore" })));
    }
}
