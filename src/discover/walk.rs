//! The walk over a tree that git does not list: the only file of this room that reads folders.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};

use super::listing::{DiscoveredFile, Error, FileListing, ListingSource, NameRules};
use crate::model::{IGNORE_FILES, RelPath, SkipReason, lock, path_bytes};
use crate::sys::{device_id, file_identity};

/// The largest ignore file that is read: a larger one is a mistake or malicious.
const IGNORE_FILE_MAX_BYTES: u64 = 4 << 20;

/// The most notes about unreadable files and folders.
const NOTES_MAX: usize = 20;

/// Lists the files below `root` that are neither ignored nor hidden. More than `max_files` are an error.
pub(super) fn walk(root: &Path, names: &NameRules, max_files: Option<u64>) -> Result<FileListing, Error> {
    // The filter below is not called for the root, whose ignore file is opened all the same.
    if let Some(name) = untrusted_ignore_file(root) {
        return Err(Error::IgnoreFile { name });
    }
    let (notes, left_out) = (WalkNotes::default(), LeftOutFolders::default());
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    // Folders count, too, because a tree of only folders takes as long.
    let check_limit = |found: usize| match max_files {
        Some(max) if max < found as u64 => Err(Error::TooManyFiles { max, note: None }),
        Some(_) | None => Ok(()),
    };
    for entry in listing_builder(root, names, &notes, &left_out).build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                match unreadable_folder(root, &error) {
                    Some(path) => {
                        let skip_reason = Some(SkipReason::Unreadable);
                        files.push(DiscoveredFile { path, skip_reason, tracked: false });
                    }
                    None => notes.add(explain_error(root, &error)),
                }
                continue;
            }
        };
        if let Some(error) = entry.error() {
            notes.add(explain_error(root, error));
        }
        if let Some(found) = to_discovered(root, names, &entry) {
            files.push(found);
        } else {
            folders.extend(relative_path(root, entry.path()));
        }
        check_limit(files.len().max(folders.len()))?;
    }
    files.extend(left_out.into_entries());
    check_limit(files.len())?;
    let (source, notes) = (ListingSource::Walk, notes.into_lines());
    Ok(FileListing { files, source, notes, folders, is_lasting: true })
}

/// A walk that only uses the ignore files in the tree, not those above the root or the user's own, so that the files
/// are the same on every machine.
pub(super) fn rule_builder(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder.parents(false).git_global(false).git_exclude(false).require_git(false).follow_links(false);
    builder
}

fn listing_builder(
    root: &Path,
    names: &NameRules,
    notes: &WalkNotes,
    left_out: &LeftOutFolders,
) -> WalkBuilder {
    let mut builder = rule_builder(root);
    // Hidden entries are left out by the filter, because the library would not report the folders among them.
    builder.add_custom_ignore_filename(IGNORE_FILES[2]).hidden(false);
    let exceptions = IgnoreExceptions::new(root);
    let device = device_of(root);
    let (root, names, notes, left_out) = (root.to_owned(), names.clone(), notes.clone(), left_out.clone());
    builder.filter_entry(move |entry| {
        let Some(path) = relative_path(&root, entry.path()) else {
            return true;
        };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_hidden = || path.file_name().starts_with(b".") && !exceptions.include(entry.path(), is_folder);
        if !is_folder {
            return !names.is_excluded(&path) && !is_hidden();
        }
        if names.is_folder_excluded(&path) {
            return false;
        }
        let reason = if names.is_skipped_name(path.file_name()) {
            Some(SkipReason::SkippedFolder)
        } else if is_other_device(entry, device) {
            Some(SkipReason::OtherFileSystem)
        } else {
            is_hidden().then_some(SkipReason::HiddenFolder)
        };
        if let Some(reason) = reason {
            left_out.add(path, reason);
            return false;
        }
        match untrusted_ignore_file(entry.path()) {
            None => true,
            Some(name) => {
                notes.add(format!(
                    "the folder {path} was left out, because its {name} is not a regular file of a reasonable size"
                ));
                false
            }
        }
    });
    builder
}

/// Returns the name of an ignore file in a folder that must not be opened: opening a FIFO blocks forever, and reading a
/// device never ends. The walk's library opens anything with the name.
pub(super) fn untrusted_ignore_file(folder: &Path) -> Option<&'static str> {
    // `metadata` follows links, as opening does. A file that is replaced between this check and the library's `open` is
    // not detected: the check protects from the content of a tree, not from a process that races it.
    IGNORE_FILES.into_iter().find(|name| match folder.join(name).metadata() {
        Ok(metadata) => !metadata.is_file() || IGNORE_FILE_MAX_BYTES < metadata.len(),
        Err(_) => false,
    })
}

/// Returns the device of the file system that contains a folder.
pub(super) fn device_of(folder: &Path) -> Option<u64> {
    device_id(folder).ok()
}

/// Returns whether another file system is mounted in a folder. If that cannot be determined, the walk reports the
/// error.
pub(super) fn is_other_device(entry: &DirEntry, device: Option<u64>) -> bool {
    file_identity(entry.path()).is_ok_and(|(found, _)| Some(found) != device)
}

/// The rules of ignore files that include what would otherwise be left out, such as `!.github`.
struct IgnoreExceptions {
    root: PathBuf,
    /// The rules of each folder, read when a hidden entry at or below it is found.
    rules: Mutex<HashMap<PathBuf, Arc<Vec<Gitignore>>>>,
}

impl IgnoreExceptions {
    fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), rules: Mutex::default() }
    }

    /// Returns whether a rule includes an entry, given that no stronger rule ignores it.
    fn include(&self, path: &Path, is_folder: bool) -> bool {
        let mut folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        folders.any(|folder| {
            self.rules_in(folder).iter().any(|rules| rules.matched(path, is_folder).is_whitelist())
        })
    }

    fn rules_in(&self, folder: &Path) -> Arc<Vec<Gitignore>> {
        let mut known = lock(&self.rules);
        if let Some(rules) = known.get(folder) {
            return Arc::clone(rules);
        }
        // The walk has entered the folder, so its ignore files may be opened. The walk reports errors in them.
        let read = |name: &str| {
            let mut builder = GitignoreBuilder::new(folder);
            let _ = builder.add(folder.join(name));
            builder.build().ok().filter(|rules| 0 < rules.num_whitelists())
        };
        let rules = Arc::new(IGNORE_FILES.into_iter().filter_map(read).collect());
        known.insert(folder.to_owned(), Arc::clone(&rules));
        rules
    }
}

/// Folders that are left out as a whole, shared with the walk's filter.
#[derive(Debug, Clone, Default)]
struct LeftOutFolders(Arc<Mutex<Vec<(RelPath, SkipReason)>>>);

impl LeftOutFolders {
    fn add(&self, folder: RelPath, reason: SkipReason) {
        lock(&self.0).push((folder, reason));
    }

    fn into_entries(self) -> impl Iterator<Item = DiscoveredFile> {
        let found = std::mem::take(&mut *lock(&self.0));
        found.into_iter().map(|(path, reason)| DiscoveredFile {
            path,
            skip_reason: Some(reason),
            tracked: false,
        })
    }
}

fn to_discovered(root: &Path, names: &NameRules, entry: &DirEntry) -> Option<DiscoveredFile> {
    let path = relative_path(root, entry.path())?;
    let kind = entry.file_type()?;
    if kind.is_dir() {
        return None;
    }
    let by_kind = if kind.is_file() {
        None
    } else if kind.is_symlink() {
        Some(SkipReason::Symlink)
    } else {
        Some(SkipReason::Special)
    };
    // The name is checked first: a link named `.env` is left out as a secret, whatever its target.
    Some(DiscoveredFile { skip_reason: names.skip_reason(&path).or(by_kind), path, tracked: false })
}

/// Returns the path below the root; `None` for the root itself.
pub(super) fn relative_path(root: &Path, path: &Path) -> Option<RelPath> {
    let below = path.strip_prefix(root).ok()?;
    RelPath::new(path_bytes(below)).ok()
}

/// Returns the folder that could not be read; `None` for other errors, and if it was deleted during the walk.
fn unreadable_folder(root: &Path, error: &ignore::Error) -> Option<RelPath> {
    match error {
        ignore::Error::WithDepth { err, .. } => unreadable_folder(root, err),
        ignore::Error::WithPath { path, err } => {
            let cause = err.io_error().filter(|cause| cause.kind() != ErrorKind::NotFound);
            cause.and_then(|_| relative_path(root, path))
        }
        _ => None,
    }
}

/// Describes an error in one line, with the path relative to the root.
fn explain_error(root: &Path, error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithDepth { err, .. } => explain_error(root, err),
        ignore::Error::WithPath { path, err } => match relative_path(root, path) {
            Some(path) => format!("{path}: {}", explain_error(root, err)),
            None => explain_error(root, err),
        },
        ignore::Error::WithLineNumber { line, err } => format!("line {line}: {}", explain_error(root, err)),
        ignore::Error::Partial(errors) => match errors.first() {
            Some(first) => explain_error(root, first),
            None => "an ignore file could not be read".to_owned(),
        },
        other => other.to_string(),
    }
}

/// Lines for the user, shared with the walk's filter.
#[derive(Debug, Clone, Default)]
struct WalkNotes(Arc<Mutex<Vec<String>>>);

impl WalkNotes {
    fn add(&self, line: String) {
        lock(&self.0).push(line);
    }

    fn into_lines(self) -> Vec<String> {
        let mut lines = std::mem::take(&mut *lock(&self.0));
        // Sorted, because folders are visited in arbitrary order, and the notes should be deterministic.
        lines.sort_unstable();
        if NOTES_MAX < lines.len() {
            let more = lines.len() - NOTES_MAX;
            lines.truncate(NOTES_MAX);
            lines.push(format!("and {more} more"));
        }
        lines
    }
}

/// Returns whether git's own rules apply.
pub(super) fn uses_git_rules(source: ListingSource) -> bool {
    match source {
        ListingSource::Git => true,
        ListingSource::Walk => false,
    }
}

#[cfg(test)]
mod walk_tests {
    use std::os::unix::fs::symlink;

    use expect_test::{Expect, expect};

    use super::super::testing::{GitSandbox, lines};
    use super::*;

    #[track_caller]
    fn check(sandbox: &GitSandbox, folder: &str, files: &Expect, notes: &Expect) {
        let listing = sandbox.list(folder);
        assert_eq!(listing.source, ListingSource::Walk);
        files.assert_eq(&lines(&listing.files));
        notes.assert_eq(&listing.notes.join("\n"));
    }

    #[test]
    fn ignore_files_apply_without_a_repository_and_hidden_files_are_omitted() {
        let sandbox = GitSandbox::new();
        sandbox.write(".gitignore", "*.log\n/build/\n");
        sandbox.write("a/.ignore", "!keep.log\n");
        sandbox.write("a/b/.slopignore", "*.txt\n!*.tmp\n");
        sandbox.write("a/b/.gitignore", "*.tmp\n");
        sandbox.write_all(&[
            "x.log", "a/keep.log", "a/b/c.txt", "a/b/c.tmp", "build/x", "a/build/x", ".hidden", ".d/a",
        ]);
        check(
            &sandbox,
            ".",
            &expect![[r"
                .d [hidden_folder]
                a/b/c.tmp
                a/build/x
                a/keep.log
            "]],
            &expect![""],
        );
    }

    #[test]
    fn folders_that_are_left_out_are_listed_once() {
        let sandbox = GitSandbox::new();
        sandbox.write(".gitignore", "!.wanted\n!/.deep/\n.quiet/\n");
        sandbox.write("a/.slopignore", "!.near/\n");
        sandbox.write_all(&[
            "a/node_modules/x/y", ".venv/z", ".config/b", ".wanted/c/.no/d", ".quiet/e", "f/.deep/x",
        ]);
        sandbox.write_all(&["a/.near/g", "a/h/.near/i", "node_modules.txt", "b/vendored"]);
        check(
            &sandbox,
            ".",
            &expect![[r"
                .config [hidden_folder]
                .venv [skipped_folder]
                .wanted/c/.no [hidden_folder]
                a/.near/g
                a/h/.near/i
                a/node_modules [skipped_folder]
                b/vendored
                f/.deep [hidden_folder]
                node_modules.txt
            "]],
            &expect![""],
        );
    }

    #[test]
    fn rules_above_the_root_do_not_apply() {
        let sandbox = GitSandbox::new();
        sandbox.write(".gitignore", "*\n");
        sandbox.write_all(&["sub/a"]);
        check(
            &sandbox,
            "sub",
            &expect![[r"
                a
            "]],
            &expect![""],
        );
    }

    #[test]
    fn excluded_folders_are_not_entered_even_if_an_ignore_file_includes_them() {
        let sandbox = GitSandbox::new();
        sandbox.write(".ignore", "!.*\n");
        sandbox.write_all(&[
            ".slop_cache/a", "out/b", "x/CVS/Entries", "x/CVS/CVS/a", ".hg/c", "sub/.git/HEAD", "w/.git",
        ]);
        sandbox.write_all(&["sub/a", ".env", "k.pem", "allowed.pem", "my_history.toml", "out.txt"]);
        check(
            &sandbox,
            ".",
            &expect![[r"
                .env [secret]
                .ignore
                allowed.pem
                k.pem [secret]
                my_history.toml [history]
                out.txt
                sub/a
            "]],
            &expect![""],
        );
    }

    #[test]
    fn links_and_special_files_are_listed_and_not_followed() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["folder/a"]);
        sandbox.fifo("pipe");
        symlink("folder", sandbox.path("to_folder")).unwrap();
        symlink("..", sandbox.path("folder/loop")).unwrap();
        symlink("nowhere", sandbox.path("broken")).unwrap();
        check(
            &sandbox,
            ".",
            &expect![[r"
                broken [symlink]
                folder/a
                folder/loop [symlink]
                pipe [special]
                to_folder [symlink]
            "]],
            &expect![""],
        );
    }

    #[test]
    fn an_ignore_file_that_never_ends_is_not_opened() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["a", "trap/b", "device/c"]);
        sandbox.fifo("trap/.gitignore");
        symlink("/dev/zero", sandbox.path("device/.slopignore")).unwrap();
        check(
            &sandbox,
            ".",
            &expect![[r"
                a
            "]],
            &expect![[r"
                the folder device was left out, because its .slopignore is not a regular file of a reasonable size
                the folder trap was left out, because its .gitignore is not a regular file of a reasonable size"]],
        );
        sandbox.fifo(".ignore");
        assert!(matches!(sandbox.try_list("."), Err(Error::IgnoreFile { name: ".ignore" })));
    }

    #[test]
    fn an_invalid_rule_is_reported_and_the_others_apply() {
        let sandbox = GitSandbox::new();
        sandbox.write("sub/.gitignore", "{a\n*.log\n");
        sandbox.write_all(&["sub/x.log", "sub/a"]);
        check(
            &sandbox,
            ".",
            &expect![[r"
                sub/a
            "]],
            &expect![
                "sub/.gitignore: line 1: error parsing glob '{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"
            ],
        );
    }

    #[test]
    fn unusual_names_and_deep_folders_are_walked() {
        let sandbox = GitSandbox::new();
        sandbox.write(b"new\nline", "");
        sandbox.write(b"not\xffutf8", "");
        sandbox.write([b'n'; 255], "");
        let deep = format!("{}a", "d/".repeat(1000));
        sandbox.write(&deep, "x");
        let listing = sandbox.list(".");
        let names: Vec<&[u8]> = listing.files.iter().map(|found| found.path.as_bytes()).collect();
        assert_eq!(names, [deep.as_bytes(), b"new\nline", &[b'n'; 255], b"not\xffutf8"]);
        assert!(listing.notes.is_empty());
    }

    #[test]
    fn a_root_that_is_not_a_folder_is_an_error() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["a"]);
        assert!(matches!(sandbox.try_list("a"), Err(Error::Root(_))));
        assert!(matches!(sandbox.try_list("nowhere"), Err(Error::Root(_))));
    }

    #[test]
    fn an_empty_folder_is_an_empty_listing() {
        check(&GitSandbox::new(), ".", &expect![""], &expect![""]);
    }

    #[test]
    fn the_number_of_notes_is_limited() {
        let notes = WalkNotes::default();
        (0..50).for_each(|number| notes.add(number.to_string()));
        let lines = notes.into_lines();
        assert_eq!((lines.len(), lines[NOTES_MAX].as_str()), (21, "and 30 more"));
    }
}
