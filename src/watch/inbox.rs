//! What events have reported and nobody has taken yet: a set, so that a thousand writes to one file are one entry.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::model::{FolderIdentity, LinkedFolder, RelPath, bytes_as_path, is_within, lock, path_bytes};

/// Folder below the cache's in which cookies are made.
const COOKIES: &str = "cookies";

/// A linked folder, and which folder its path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WatchedMount {
    pub(super) linked: LinkedFolder,
    /// Its path in the project, such as `@lib`.
    pub(super) point: RelPath,
    /// `None` if the folder is gone, or another one has its name: then nothing in it is watched.
    pub(super) identity: Option<FolderIdentity>,
}

impl WatchedMount {
    /// Returns whether a path of the project is that of the linked folder, or of something in it.
    pub(super) fn contains(&self, path: &[u8]) -> bool {
        is_within(path, self.point.as_bytes())
    }

    /// Returns the path below the linked folder of something in it; empty for the folder itself.
    pub(super) fn inside<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        path.get(self.point.as_bytes().len() + 1..).unwrap_or_default()
    }

    /// Returns the path in the project of something in the linked folder.
    pub(super) fn mounted(&self, inside: &[u8]) -> Option<RelPath> {
        if inside.is_empty() {
            return Some(self.point.clone());
        }
        RelPath::new(&[self.point.as_bytes(), b"/", inside].concat()).ok()
    }
}

/// Where the project, its cache and the cookies lie, and the linked folders.
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
    /// A `.git`: a repository came or went.
    Repository,
    /// A linked folder itself.
    Mount,
    /// The cache's folder or that of the cookies itself.
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

    /// Returns a folder or file of the project as the system knows it.
    pub(super) fn path(&self, path: &RelPath) -> PathBuf {
        let mounts = self.mounts();
        match mounts.iter().find(|mount| mount.contains(path.as_bytes())) {
            Some(mount) => mount.linked.path.join(bytes_as_path(mount.inside(path.as_bytes()))),
            None => self.root.join(path.as_path()),
        }
    }

    /// Classifies what lies at `path`.
    pub(super) fn classify(&self, path: &Path) -> PathClass {
        // First, because the cache lies in the project: what the daemon writes there must not wake it.
        if path.starts_with(&self.cache) {
            return self.classify_in_cache(path);
        }
        let mounts = self.mounts();
        // Before the root, in which one may lie: its files have no other names.
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
        // Git's own files change with every command. Those that matter are watched by name, as files outside of the
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
        // A cookie of another daemon, or of one before this, proves nothing about this queue.
        (epoch.parse() == Ok(self.epoch)).then(|| number.parse().ok())?
    }
}

/// Returns the linked folder that a path is in, the innermost if one is in another.
pub(super) fn innermost<'m>(mounts: &'m [WatchedMount], path: &Path) -> Option<&'m WatchedMount> {
    let around = mounts.iter().filter(|mount| path.starts_with(&mount.linked.path));
    around.max_by_key(|mount| mount.linked.path.components().count())
}

/// The maximum number of entries; beyond it, everything is taken for changed.
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
    /// A file system was taken away from below the path.
    Unmounted(PathBuf),
    /// Events are missing; why.
    Lost(String),
    /// A watch could not be had, for there are too many.
    OutOfWatches,
}

/// What events have reported and nobody has taken yet.
#[derive(Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a task that is to be done, or is not")]
pub(super) struct EventInbox {
    pub(super) files: BTreeSet<RelPath>,
    /// Names at which a folder may have come or gone, and whether nothing worse than a creation happened there.
    pub(super) folder_checks: BTreeMap<RelPath, bool>,
    pub(super) relist: bool,
    pub(super) everything: bool,
    pub(super) relist_folders: bool,
    /// The files outside of the tree have to be watched again.
    pub(super) rewatch_extras: bool,
    /// Cookies that were asked for are still to be made, or their folder may be another one.
    pub(super) remake_cookies: bool,
    pub(super) check_root: bool,
    /// A linked folder may have come or gone, or others may be linked.
    pub(super) check_mounts: bool,
    pub(super) lost: Option<String>,
    pub(super) out_of_watches: bool,
    pub(super) newest_cookie: Option<u64>,
}

/// The files outside of the tree that matter, and the folders watched for their sake.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ExtraFiles {
    pub(super) names: HashSet<PathBuf>,
    pub(super) folders: HashSet<PathBuf>,
}

impl EventInbox {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Enters an event, and returns whether it was about anything that matters.
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
        // A file that the listing depends on may lie in the tree as well, so that its path is classified in any case.
        let is_extra = extras.names.contains(path);
        if is_extra {
            self.relist = true;
        }
        // The folder may be another one now, or one that was missing may have come.
        let is_other = what.changes_names() && extras.folders.contains(path)
            || is_extra && matches!(what, PathChange::CreatedFolder | PathChange::Moved);
        self.rewatch_extras |= is_other;
        self.push_classified(what, places.classify(path)) || is_extra || is_other
    }

    fn push_classified(&mut self, what: PathChange, place: PathClass) -> bool {
        let comes_or_goes = what.changes_names();
        match place {
            // Its deletion, which follows at once, says nothing more.
            PathClass::Cookie(Some(number)) if what == PathChange::CreatedFile => {
                self.newest_cookie = self.newest_cookie.max(Some(number));
            }
            PathClass::CookieFolder if comes_or_goes => self.remake_cookies = true,
            PathClass::Root if comes_or_goes => self.check_root = true,
            PathClass::Mount if comes_or_goes => self.check_mounts = true,
            // A folder that becomes a repository of its own is no longer a part of the project, and the other way
            // round.
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
                // Replaces a `true`: a folder that was created and then removed or moved has lost its watch, even if
                // one of its name is there again.
                self.folder_checks.insert(file.clone(), false);
            }
        }
        self.files.insert(file);
        // A burst such as a checkout of another branch must not grow the set without bound.
        if MAX_ENTRIES < self.files.len() {
            self.collapse();
        }
    }

    /// Gives up single names: every folder is looked at, and every file is taken for changed.
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
    fn a_file_is_entered_once_however_often_it_is_written() {
        let mut inbox = EventInbox::default();
        for _ in 0..1000 {
            assert!(push(&mut inbox, PathChange::Modified, "/p/a"));
        }
        assert_eq!((inbox.files.len(), inbox.folder_checks.len(), inbox.relist), (1, 0, false));
    }

    #[test]
    fn beyond_its_bound_it_holds_nothing_but_that_all_changed() {
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
    fn the_cache_and_what_git_keeps_are_no_changes() {
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
        // The end of the cookie's own life is none either.
        assert!(!push(&mut inbox, PathChange::Removed, "/p/.slop_cache/cookies/7-1"));
        assert!(inbox.is_empty());
    }

    #[test]
    fn a_cookie_is_known_by_its_creation_alone() {
        let mut inbox = EventInbox::default();
        assert!(push(&mut inbox, PathChange::CreatedFile, "/p/.slop_cache/cookies/7-12"));
        assert_eq!(inbox.newest_cookie, Some(12));
        assert!(inbox.files.is_empty() && !inbox.relist);
    }

    #[test]
    fn an_ignore_file_anywhere_has_folders_asked_for_anew() {
        for name in [".gitignore", "a/b/.ignore", "a/.slopignore"] {
            let mut inbox = EventInbox::default();
            push(&mut inbox, PathChange::Modified, &format!("/p/{name}"));
            assert!(inbox.relist_folders && inbox.relist && inbox.files.len() == 1, "{name}");
        }
    }

    #[test]
    fn a_file_outside_of_the_tree_has_files_listed_anew() {
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
