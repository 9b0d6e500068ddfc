//! The inbox of reported events that were not handled yet: a set, so that a thousand writes to one file are one entry.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::model::{FolderIdentity, LinkedFolder, RelPath, bytes_as_path, is_within, lock, path_bytes};

/// The folder below the cache's in which cookies are created.
const COOKIES: &str = "cookies";

/// A linked folder, with the identity of its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WatchedMount {
    pub(super) linked: LinkedFolder,
    /// Its path in the project, such as `@lib`.
    pub(super) point: RelPath,
    /// `None` if the folder is gone or was replaced: then nothing in it is watched.
    pub(super) identity: Option<FolderIdentity>,
}

impl WatchedMount {
    /// Returns whether a path of the project is at or below the linked folder.
    pub(super) fn contains(&self, path: &[u8]) -> bool {
        is_within(path, self.point.as_bytes())
    }

    /// Returns a path relative to the linked folder; empty for the folder itself.
    pub(super) fn inside<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        path.get(self.point.as_bytes().len() + 1..).unwrap_or_default()
    }

    /// Converts a path in the linked folder to a path in the project.
    pub(super) fn mounted(&self, inside: &[u8]) -> Option<RelPath> {
        if inside.is_empty() {
            return Some(self.point.clone());
        }
        RelPath::new(&[self.point.as_bytes(), b"/", inside].concat()).ok()
    }
}

/// The paths of the project, its cache and the cookies, and the linked folders.
#[derive(Debug)]
pub(super) struct WatchPaths {
    pub(super) root: PathBuf,
    pub(super) cache: PathBuf,
    pub(super) cookies: PathBuf,
    epoch: u64,
    mounts: Mutex<Arc<[WatchedMount]>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathClass {
    Root,
    Project(RelPath),
    IgnoreFile(RelPath),
    /// A `.git`: a repository was created or removed.
    Repository,
    /// A linked folder itself.
    Mount,
    /// The cache's folder itself, or that of the cookies.
    CookieFolder,
    /// Within the folder of cookies; the number, if it is a cookie of this watcher.
    Cookie(Option<u64>),
    Unrelated,
}

impl WatchPaths {
    pub(super) fn new(root: PathBuf, cache_dir: &RelPath, epoch: u64) -> Self {
        let cache = root.join(cache_dir.as_path());
        Self { cookies: cache.join(COOKIES), cache, root, epoch, mounts: Mutex::new(Arc::default()) }
    }

    pub(super) fn mounts(&self) -> Arc<[WatchedMount]> {
        Arc::clone(&lock(&self.mounts))
    }

    pub(super) fn set_mounts(&self, mounts: Vec<WatchedMount>) {
        *lock(&self.mounts) = mounts.into();
    }

    pub(super) fn cookie(&self, number: u64) -> PathBuf {
        self.cookies.join(format!("{}-{number}", self.epoch))
    }

    /// Returns the file system's path of a folder or file of the project.
    pub(super) fn path(&self, path: &RelPath) -> PathBuf {
        let mounts = self.mounts();
        match mounts.iter().find(|mount| mount.contains(path.as_bytes())) {
            Some(mount) => mount.linked.path.join(bytes_as_path(mount.inside(path.as_bytes()))),
            None => self.root.join(path.as_path()),
        }
    }

    /// Classifies `path`.
    pub(super) fn classify(&self, path: &Path) -> PathClass {
        // Checked first, because the cache is in the project, and the daemon's own writes must not wake it.
        if path.starts_with(&self.cache) {
            return self.classify_in_cache(path);
        }
        let mounts = self.mounts();
        // Before the root, which may contain the linked folder: its files have no other names.
        let mounted = innermost(&mounts, path);
        let mounted = mounted.and_then(|mount| Some((mount, path.strip_prefix(&mount.linked.path).ok()?)));
        let below = match mounted {
            Some((_, below)) if below.as_os_str().is_empty() => return PathClass::Mount,
            Some((mount, below)) => mount.mounted(path_bytes(below)),
            None => match path.strip_prefix(&self.root) {
                Ok(below) if below.as_os_str().is_empty() => return PathClass::Root,
                Ok(below) => RelPath::new(path_bytes(below)).ok(),
                Err(_) => None,
            },
        };
        let Some(below) = below else { return PathClass::Unrelated };
        if below.file_name() == b".git" {
            return PathClass::Repository;
        }
        // Git's own files change with every command. The relevant ones are watched by name, as files outside of the
        // tree.
        if below.components().any(|part| part == b".git") {
            return PathClass::Unrelated;
        }
        if below.is_ignore_file() { PathClass::IgnoreFile(below) } else { PathClass::Project(below) }
    }

    fn classify_in_cache(&self, path: &Path) -> PathClass {
        let Ok(below) = path.strip_prefix(&self.cookies) else {
            return if path == self.cache { PathClass::CookieFolder } else { PathClass::Unrelated };
        };
        match below.to_str() {
            Some("") => PathClass::CookieFolder,
            Some(name) => PathClass::Cookie(self.cookie_number(name)),
            None => PathClass::Cookie(None),
        }
    }

    fn cookie_number(&self, name: &str) -> Option<u64> {
        let (epoch, number) = name.split_once('-')?;
        // A cookie of another or an earlier daemon proves nothing about this queue.
        (epoch.parse() == Ok(self.epoch)).then(|| number.parse().ok())?
    }
}

/// Returns the linked folder that contains a path, the innermost one if they are nested.
pub(super) fn innermost<'m>(mounts: &'m [WatchedMount], path: &Path) -> Option<&'m WatchedMount> {
    let around = mounts.iter().filter(|mount| path.starts_with(&mount.linked.path));
    around.max_by_key(|mount| mount.linked.path.components().count())
}

/// The maximum number of entries; beyond it, everything counts as changed.
pub(super) const MAX_ENTRIES: usize = 50_000;

/// What happened at an event's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathChange {
    /// Bytes were written, or a writer closed the file.
    Modified,
    /// Permissions, times or links changed.
    MetadataChanged,
    CreatedFile,
    CreatedFolder,
    Removed,
    Moved,
}

impl PathChange {
    fn changes_names(self) -> bool {
        match self {
            Self::Modified | Self::MetadataChanged => false,
            Self::CreatedFile | Self::CreatedFolder | Self::Removed | Self::Moved => true,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WatchEvent {
    Path(PathChange, PathBuf),
    /// A file system below the path was unmounted.
    Unmounted(PathBuf),
    /// Events were lost, for this reason.
    Lost(String),
    /// A watch was denied because there are too many.
    OutOfWatches,
}

/// The reported events that were not handled yet.
#[derive(Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a task that is to be done, or is not")]
pub(super) struct EventInbox {
    pub(super) files: BTreeSet<RelPath>,
    /// Paths at which a folder may have been created or removed; `true` if only a creation happened.
    pub(super) folder_checks: BTreeMap<RelPath, bool>,
    pub(super) relist: bool,
    pub(super) everything: bool,
    pub(super) relist_folders: bool,
    /// Whether the files outside of the tree have to be watched again.
    pub(super) rewatch_extras: bool,
    /// Whether requested cookies have to be created, or their folder may have been replaced.
    pub(super) remake_cookies: bool,
    pub(super) check_root: bool,
    /// Whether linked folders may have been created or removed, or the set of links has changed.
    pub(super) check_mounts: bool,
    pub(super) lost: Option<String>,
    pub(super) out_of_watches: bool,
    pub(super) newest_cookie: Option<u64>,
}

/// The relevant files outside of the tree, and the folders that are watched for them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ExtraFiles {
    pub(super) names: HashSet<PathBuf>,
    pub(super) folders: HashSet<PathBuf>,
}

impl EventInbox {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds an event, and returns whether it is relevant.
    pub(super) fn push(&mut self, event: WatchEvent, places: &WatchPaths, extras: &ExtraFiles) -> bool {
        match event {
            WatchEvent::Path(what, path) => self.push_path(what, &path, places, extras),
            WatchEvent::Unmounted(path) if path == places.root => {
                self.check_root = true;
                true
            }
            WatchEvent::Unmounted(path) => {
                let reason = format!("a file system was unmounted from {}", path.display());
                self.lost.get_or_insert(reason);
                true
            }
            WatchEvent::Lost(reason) => {
                self.lost.get_or_insert(reason);
                true
            }
            WatchEvent::OutOfWatches => {
                self.out_of_watches = true;
                true
            }
        }
    }

    fn push_path(&mut self, what: PathChange, path: &Path, places: &WatchPaths, extras: &ExtraFiles) -> bool {
        // A file that the listing depends on may also be in the tree, so its path is classified in any case.
        let is_extra = extras.names.contains(path);
        if is_extra {
            self.relist = true;
        }
        // The folder may have been replaced, or a missing one created.
        let is_other = what.changes_names() && extras.folders.contains(path)
            || is_extra && matches!(what, PathChange::CreatedFolder | PathChange::Moved);
        self.rewatch_extras |= is_other;
        self.push_classified(what, places.classify(path)) || is_extra || is_other
    }

    fn push_classified(&mut self, what: PathChange, place: PathClass) -> bool {
        let comes_or_goes = what.changes_names();
        match place {
            // Its deletion, which follows at once, carries no information.
            PathClass::Cookie(Some(number)) if what == PathChange::CreatedFile => {
                self.newest_cookie = self.newest_cookie.max(Some(number));
            }
            PathClass::CookieFolder if comes_or_goes => self.remake_cookies = true,
            PathClass::Root if comes_or_goes => self.check_root = true,
            PathClass::Mount if comes_or_goes => self.check_mounts = true,
            // A folder that becomes a repository of its own is no longer part of the project, and vice versa.
            PathClass::Repository if comes_or_goes => {
                self.relist_folders = true;
                self.relist = true;
            }
            PathClass::IgnoreFile(file) => {
                self.relist_folders = true;
                self.relist = true;
                self.insert(what, file);
            }
            PathClass::Project(file) => self.insert(what, file),
            PathClass::Cookie(_)
            | PathClass::CookieFolder
            | PathClass::Root
            | PathClass::Mount
            | PathClass::Repository
            | PathClass::Unrelated => {
                return false;
            }
        }
        true
    }

    fn insert(&mut self, what: PathChange, file: RelPath) {
        match what {
            PathChange::Modified => {}
            // A folder that could not be read may be readable now.
            PathChange::MetadataChanged => _ = self.folder_checks.entry(file.clone()).or_insert(true),
            PathChange::CreatedFile => self.relist = true,
            PathChange::CreatedFolder => {
                self.relist = true;
                self.folder_checks.entry(file.clone()).or_insert(true);
            }
            PathChange::Removed | PathChange::Moved => {
                self.relist = true;
                // Overrides a `true`: a folder that was created and then removed or moved has lost its watch, even if
                // its name exists again.
                self.folder_checks.insert(file.clone(), false);
            }
        }
        self.files.insert(file);
        // A burst such as a checkout of another branch must not grow the set without bound.
        if MAX_ENTRIES < self.files.len() {
            self.collapse();
        }
    }

    /// Drops single names: every folder is checked, and every file counts as changed.
    fn collapse(&mut self) {
        self.files.clear();
        self.folder_checks.clear();
        self.everything = true;
        self.relist_folders = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> WatchPaths {
        WatchPaths::new(PathBuf::from("/p"), &RelPath::new(b".slop_cache").unwrap(), 7)
    }

    fn push(inbox: &mut EventInbox, what: PathChange, path: &str) -> bool {
        inbox.push(WatchEvent::Path(what, PathBuf::from(path)), &places(), &ExtraFiles::default())
    }

    #[test]
    fn a_file_has_one_entry_however_often_it_is_written() {
        let mut inbox = EventInbox::default();
        for _ in 0..1000 {
            assert!(push(&mut inbox, PathChange::Modified, "/p/a"));
        }
        assert_eq!((inbox.files.len(), inbox.folder_checks.len(), inbox.relist), (1, 0, false));
    }

    #[test]
    fn beyond_its_bound_it_only_records_that_everything_changed() {
        let mut inbox = EventInbox::default();
        for number in 0..=MAX_ENTRIES {
            push(&mut inbox, PathChange::Removed, &format!("/p/{number}"));
        }
        assert!(
            inbox.everything
                && inbox.relist_folders
                && inbox.files.is_empty()
                && inbox.folder_checks.is_empty()
        );
        push(&mut inbox, PathChange::Modified, "/p/later");
        assert_eq!(inbox.files.len(), 1);
    }

    #[test]
    fn changes_of_the_cache_and_git_files_are_ignored() {
        let mut inbox = EventInbox::default();
        for path in [
            "/p/.slop_cache/index.db",
            "/p/.slop_cache/cookies/7-x",
            "/p/.slop_cache/cookies/8-1",
            "/p/.git/index.lock",
            "/p/sub/.git/HEAD",
            "/elsewhere",
        ] {
            assert!(!push(&mut inbox, PathChange::CreatedFile, path), "{path}");
        }
        // The deletion of a cookie is ignored, too.
        assert!(!push(&mut inbox, PathChange::Removed, "/p/.slop_cache/cookies/7-1"));
        assert!(inbox.is_empty());
    }

    #[test]
    fn only_the_creation_of_a_cookie_counts() {
        let mut inbox = EventInbox::default();
        assert!(push(&mut inbox, PathChange::CreatedFile, "/p/.slop_cache/cookies/7-12"));
        assert_eq!(inbox.newest_cookie, Some(12));
        assert!(inbox.files.is_empty() && !inbox.relist);
    }

    #[test]
    fn a_changed_ignore_file_causes_folders_to_be_listed_again() {
        for name in [".gitignore", "a/b/.ignore", "a/.slopignore"] {
            let mut inbox = EventInbox::default();
            push(&mut inbox, PathChange::Modified, &format!("/p/{name}"));
            assert!(inbox.relist_folders && inbox.relist && inbox.files.len() == 1, "{name}");
        }
    }

    #[test]
    fn a_changed_file_outside_of_the_tree_causes_files_to_be_listed_again() {
        let extras = ExtraFiles {
            names: HashSet::from([PathBuf::from("/p/.git/index")]),
            folders: HashSet::from([PathBuf::from("/p/.git")]),
        };
        let mut inbox = EventInbox::default();
        let event = WatchEvent::Path(PathChange::Moved, PathBuf::from("/p/.git/index"));
        assert!(inbox.push(event, &places(), &extras));
        assert!(inbox.relist && inbox.files.is_empty());
        let mut inbox = EventInbox::default();
        let event = WatchEvent::Path(PathChange::Moved, PathBuf::from("/p/.git/index.lock"));
        assert!(!inbox.push(event, &places(), &extras));
        assert!(inbox.is_empty());
    }
}
