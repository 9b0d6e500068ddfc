//! The walk over a tree that git does not know: the one place of this room where folders are read.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use ignore::DirEntry;
use ignore::WalkBuilder;

use super::DiscoveredFile;
use super::Error;
use super::FileListing;
use super::ListingSource;
use super::NameRules;
use super::folders::leads_to;
use super::folders::uses_git_rules;
use crate::model::IGNORE_FILES;
use crate::model::RelPath;
use crate::model::SkipReason;

/// An ignore file larger than this is somebody's trap or mistake; it would be read whole.
const IGNORE_FILE_MAX_BYTES: u64 = 4 << 20;

/// A tree of which nothing can be read is told of in so many lines, and no more.
const NOTES_MAX: usize = 20;

/// Lists the files below `root` that no ignore file names and whose names do not begin with a dot.
pub(super) fn walk(root: &Path, names: &NameRules) -> Result<FileListing, Error> {
    if let Some(name) = untrusted_ignore_file(root) {
        return Err(Error::IgnoreFile { name });
    }
    let notes = WalkNotes::default();
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in listing_builder(root, names, &notes).build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                notes.add(explain_error(root, &error));
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
    }
    Ok(FileListing { files, source: ListingSource::Walk, notes: notes.into_lines(), folders })
}

/// Returns the folders at and below `below` that no rule ignores, those not entered at its border included.
pub(super) fn folders(
    root: &Path,
    names: &NameRules,
    source: ListingSource,
    below: &[u8],
) -> Result<Vec<RelPath>, Error> {
    if let Some(name) = untrusted_ignore_file(root) {
        return Err(Error::IgnoreFile { name });
    }
    let border: Arc<Mutex<Vec<(RelPath, &'static str)>>> = Arc::default();
    let mut builder = rule_builder(root);
    if uses_git_rules(source) {
        // The user's own excludes are not asked: a repository may turn them off, and a folder that is passed over
        // by mistake is worse than one that is watched for nothing.
        builder.hidden(false).ignore(false).parents(true).git_exclude(true).require_git(true);
    } else {
        builder.add_custom_ignore_filename(IGNORE_FILES[2]);
    }
    let (found, owned, names, below) = (Arc::clone(&border), root.to_owned(), names.clone(), below.to_vec());
    builder.filter_entry(move |entry| {
        let Some(path) = relative_path(&owned, entry.path()) else { return true };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if !is_folder || names.is_folder_excluded(&path) || !leads_to(path.as_bytes(), &below) {
            return false;
        }
        if uses_git_rules(source) && is_in_other_repository(&owned, &path) {
            return false;
        }
        let untrusted = untrusted_ignore_file(entry.path());
        // Watched all the same: the ignore file may be mended.
        found.lock().unwrap_or_else(PoisonError::into_inner).extend(untrusted.map(|name| (path, name)));
        untrusted.is_none()
    });
    let folders = builder.build().flatten().filter_map(|entry| relative_path(root, entry.path()));
    let mut folders: Vec<RelPath> = folders.collect();
    for (path, name) in std::mem::take(&mut *border.lock().unwrap_or_else(PoisonError::into_inner)) {
        if uses_git_rules(source) {
            // Git opens no such file, and lists what lies beside it.
            return Err(Error::IgnoreFile { name });
        }
        folders.push(path);
    }
    Ok(folders)
}

/// Says whether the folder above one is a repository of its own.
fn is_in_other_repository(root: &Path, path: &RelPath) -> bool {
    let up = Path::new(OsStr::from_bytes(path.parent()));
    !path.parent().is_empty() && root.join(up).join(".git").exists()
}

/// A walk by the ignore files in the tree alone: nothing above the root and nothing of the user's own counts, so that
/// the files are the same on every machine.
fn rule_builder(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder.parents(false).git_global(false).git_exclude(false).require_git(false).follow_links(false);
    builder
}

fn listing_builder(root: &Path, names: &NameRules, notes: &WalkNotes) -> WalkBuilder {
    let mut builder = rule_builder(root);
    builder.add_custom_ignore_filename(IGNORE_FILES[2]);
    let (root, names, notes) = (root.to_owned(), names.clone(), notes.clone());
    builder.filter_entry(move |entry| {
        let Some(path) = relative_path(&root, entry.path()) else {
            return true;
        };
        if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
            return !names.is_excluded(&path);
        }
        if names.is_folder_excluded(&path) {
            return false;
        }
        match untrusted_ignore_file(entry.path()) {
            None => true,
            Some(name) => {
                notes.add(format!(
                    "the folder {path} was left out, for its {name} is no regular file of a sane size"
                ));
                false
            }
        }
    });
    builder
}

/// Returns the ignore file of a folder that must not be opened: opening a FIFO waits for ever, and a device never
/// ends. The walk's library opens whatever bears the name.
fn untrusted_ignore_file(folder: &Path) -> Option<&'static str> {
    IGNORE_FILES.into_iter().find(|name| match folder.join(name).metadata() {
        Ok(metadata) => !metadata.is_file() || IGNORE_FILE_MAX_BYTES < metadata.len(),
        Err(_) => false,
    })
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
    Some(DiscoveredFile { skip_reason: names.skip_reason(&path).or(by_kind), path, tracked: false })
}

/// Returns the path below the root; none for the root itself.
fn relative_path(root: &Path, path: &Path) -> Option<RelPath> {
    let below = path.strip_prefix(root).ok()?;
    RelPath::new(below.as_os_str().as_bytes()).ok()
}

/// Says in one line what went wrong, with the path as seen from the root.
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    fn into_lines(self) -> Vec<String> {
        let mut lines = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        // Folders come in no order, and the same tree is to say the same.
        lines.sort_unstable();
        if NOTES_MAX < lines.len() {
            let more = lines.len() - NOTES_MAX;
            lines.truncate(NOTES_MAX);
            lines.push(format!("and {more} more of the kind"));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use expect_test::Expect;
    use expect_test::expect;

    use super::super::testing::GitSandbox;
    use super::super::testing::lines;
    use super::*;

    #[track_caller]
    fn check(sandbox: &GitSandbox, folder: &str, files: &Expect, notes: &Expect) {
        let listing = sandbox.list(folder);
        assert_eq!(listing.source, ListingSource::Walk);
        files.assert_eq(&lines(&listing.files));
        notes.assert_eq(&listing.notes.join("\n"));
    }

    #[test]
    fn ignore_files_count_without_a_repository_and_hidden_files_do_not() {
        let sandbox = GitSandbox::new();
        sandbox.write(".gitignore", "*.log\n/build/\n");
        sandbox.write("a/.ignore", "!keep.log\n");
        sandbox.write("a/b/.slopignore", "*.txt\n!*.tmp\n");
        sandbox.write("a/b/.gitignore", "*.tmp\n");
        sandbox.write_all(&[
            "x.log",
            "a/keep.log",
            "a/b/c.txt",
            "a/b/c.tmp",
            "build/x",
            "a/build/x",
            ".hidden",
            ".d/a",
        ]);
        check(
            &sandbox,
            ".",
            &expect![[r"
                a/b/c.tmp
                a/build/x
                a/keep.log
            "]],
            &expect![""],
        );
    }

    #[test]
    fn rules_above_the_root_do_not_count() {
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
    fn what_is_apart_is_not_entered_even_where_an_ignore_file_wants_it() {
        let sandbox = GitSandbox::new();
        sandbox.write(".ignore", "!.*\n");
        sandbox.write_all(&[
            ".slop_cache/a",
            "out/b",
            "x/CVS/Entries",
            "x/CVS/CVS/a",
            ".hg/c",
            "sub/.git/HEAD",
            "w/.git",
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
                the folder device was left out, for its .slopignore is no regular file of a sane size
                the folder trap was left out, for its .gitignore is no regular file of a sane size"]],
        );
        sandbox.fifo(".ignore");
        assert!(matches!(sandbox.try_list("."), Err(Error::IgnoreFile { name: ".ignore" })));
    }

    #[test]
    fn a_rule_that_is_none_is_told_of_and_the_others_count() {
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
    fn odd_names_and_deep_folders_are_walked() {
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
    fn a_root_that_is_no_folder_is_an_error() {
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
    fn many_notes_become_few() {
        let notes = WalkNotes::default();
        (0..50).for_each(|number| notes.add(number.to_string()));
        let lines = notes.into_lines();
        assert_eq!((lines.len(), lines[NOTES_MAX].as_str()), (21, "and 30 more of the kind"));
    }
}
