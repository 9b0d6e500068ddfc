//! What events have said and nobody has taken yet: a set, so that a thousand writes to one file are one entry.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::HashSet;
use std::path::Path;
use std::path::PathBuf;

use super::places::Place;
use super::places::Places;
use crate::model::RelPath;

/// Beyond so many entries, all is taken for changed.
pub(super) const ENTRIES_MAX: usize = 50_000;

/// What happened at an event's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Bytes were written, or a writer closed the file.
    Written,
    /// Permissions, times or links changed.
    Attributes,
    CreatedFile,
    CreatedFolder,
    Removed,
    /// Moved away, or here.
    Moved,
}

impl What {
    fn comes_or_goes(self) -> bool {
        match self {
            Self::Written | Self::Attributes => false,
            Self::CreatedFile | Self::CreatedFolder | Self::Removed | Self::Moved => true,
        }
    }
}

/// An event of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    At(What, PathBuf),
    /// A file system was taken away from below the path.
    Unmounted(PathBuf),
    /// Events are missing; why.
    Lost(String),
    /// A watch could not be had, for there are too many.
    Full,
}

/// What events have said and nobody has taken yet.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a task that is to be done, or is not")]
pub(super) struct Inbox {
    /// Files that may have changed.
    pub(super) files: BTreeSet<RelPath>,
    /// Names at which a folder may have come or gone, and whether nothing worse than a creation happened there.
    pub(super) looks: BTreeMap<RelPath, bool>,
    pub(super) relist: bool,
    /// More changed than is told one by one.
    pub(super) all: bool,
    /// All folders are to be asked for anew.
    pub(super) refolder: bool,
    /// The files outside of the tree are to be watched anew.
    pub(super) extras: bool,
    /// Cookies that were asked for are still to be made, or their folder may be another one.
    pub(super) cookies: bool,
    /// The root may be gone.
    pub(super) root: bool,
    pub(super) lost: Option<String>,
    pub(super) full: bool,
    /// The newest cookie that came back.
    pub(super) passed: Option<u64>,
}

/// The files outside of the tree that matter, and the folders watched for their sake.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Extras {
    pub(super) names: HashSet<PathBuf>,
    pub(super) folders: HashSet<PathBuf>,
}

impl Inbox {
    pub(super) fn is_empty(&self) -> bool {
        let has_flag = self.relist || self.all || self.refolder || self.extras || self.cookies || self.root;
        let has_entry = !self.files.is_empty() || !self.looks.is_empty() || self.passed.is_some();
        !has_flag && !has_entry && !self.full && self.lost.is_none()
    }

    /// Enters an event, and says whether it was about anything that matters.
    pub(super) fn push(&mut self, event: Event, places: &Places, extras: &Extras) -> bool {
        match event {
            Event::At(what, path) => self.push_at(what, &path, places, extras),
            Event::Unmounted(path) if path == places.root => {
                self.root = true;
                true
            }
            Event::Unmounted(path) => {
                let why = format!("a file system was unmounted from {}", path.display());
                self.lost.get_or_insert(why);
                true
            }
            Event::Lost(why) => {
                self.lost.get_or_insert(why);
                true
            }
            Event::Full => {
                self.full = true;
                true
            }
        }
    }

    fn push_at(&mut self, what: What, path: &Path, places: &Places, extras: &Extras) -> bool {
        let is_extra = extras.names.contains(path);
        if is_extra {
            self.relist = true;
        }
        // The folder may be another one now, or one that was missing may have come.
        let is_other = what.comes_or_goes() && extras.folders.contains(path)
            || is_extra && matches!(what, What::CreatedFolder | What::Moved);
        self.extras |= is_other;
        self.push_place(what, places.place(path)) || is_extra || is_other
    }

    fn push_place(&mut self, what: What, place: Place) -> bool {
        let comes_or_goes = what.comes_or_goes();
        match place {
            Place::Cookie(Some(number)) if what == What::CreatedFile => {
                self.passed = self.passed.max(Some(number));
            }
            Place::CookieFolder if comes_or_goes => self.cookies = true,
            Place::Root if comes_or_goes => self.root = true,
            Place::Repository if comes_or_goes => {
                self.refolder = true;
                self.relist = true;
            }
            Place::Rules(file) => {
                self.refolder = true;
                self.relist = true;
                self.enter(what, file);
            }
            Place::Inside(file) => self.enter(what, file),
            Place::Cookie(_) | Place::CookieFolder | Place::Root | Place::Repository | Place::Elsewhere => {
                return false;
            }
        }
        true
    }

    fn enter(&mut self, what: What, file: RelPath) {
        match what {
            What::Written => {}
            // A folder that could not be read may be readable now.
            What::Attributes => _ = self.looks.entry(file.clone()).or_insert(true),
            What::CreatedFile => self.relist = true,
            What::CreatedFolder => {
                self.relist = true;
                self.looks.entry(file.clone()).or_insert(true);
            }
            What::Removed | What::Moved => {
                self.relist = true;
                self.looks.insert(file.clone(), false);
            }
        }
        self.files.insert(file);
        if ENTRIES_MAX < self.files.len() {
            self.flood();
        }
    }

    /// Gives up single names: every folder is looked at, and every file is taken for changed.
    fn flood(&mut self) {
        self.files.clear();
        self.looks.clear();
        self.all = true;
        self.refolder = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places::new(PathBuf::from("/p"), &RelPath::new(b".slop_cache").unwrap(), 7)
    }

    fn push(inbox: &mut Inbox, what: What, path: &str) -> bool {
        inbox.push(Event::At(what, PathBuf::from(path)), &places(), &Extras::default())
    }

    #[test]
    fn a_file_is_entered_once_however_often_it_is_written() {
        let mut inbox = Inbox::default();
        for _ in 0..1000 {
            assert!(push(&mut inbox, What::Written, "/p/a"));
        }
        assert_eq!((inbox.files.len(), inbox.looks.len(), inbox.relist), (1, 0, false));
    }

    #[test]
    fn beyond_its_bound_it_holds_nothing_but_that_all_changed() {
        let mut inbox = Inbox::default();
        for number in 0..=ENTRIES_MAX {
            push(&mut inbox, What::Removed, &format!("/p/{number}"));
        }
        assert!(inbox.all && inbox.refolder && inbox.files.is_empty() && inbox.looks.is_empty());
        push(&mut inbox, What::Written, "/p/later");
        assert_eq!(inbox.files.len(), 1);
    }

    #[test]
    fn the_cache_and_what_git_keeps_are_no_changes() {
        let mut inbox = Inbox::default();
        for path in [
            "/p/.slop_cache/index.db",
            "/p/.slop_cache/cookies/7-x",
            "/p/.slop_cache/cookies/8-1",
            "/p/.git/index.lock",
            "/p/sub/.git/HEAD",
            "/elsewhere",
        ] {
            assert!(!push(&mut inbox, What::CreatedFile, path), "{path}");
        }
        // The end of the cookie's own life is none either.
        assert!(!push(&mut inbox, What::Removed, "/p/.slop_cache/cookies/7-1"));
        assert!(inbox.is_empty());
    }

    #[test]
    fn a_cookie_is_known_by_its_creation_alone() {
        let mut inbox = Inbox::default();
        assert!(push(&mut inbox, What::CreatedFile, "/p/.slop_cache/cookies/7-12"));
        assert_eq!(inbox.passed, Some(12));
        assert!(inbox.files.is_empty() && !inbox.relist);
    }

    #[test]
    fn an_ignore_file_anywhere_has_folders_asked_for_anew() {
        for name in [".gitignore", "a/b/.ignore", "a/.slopignore"] {
            let mut inbox = Inbox::default();
            push(&mut inbox, What::Written, &format!("/p/{name}"));
            assert!(inbox.refolder && inbox.relist && inbox.files.len() == 1, "{name}");
        }
    }

    #[test]
    fn a_file_outside_of_the_tree_has_files_listed_anew() {
        let extras = Extras {
            names: HashSet::from([PathBuf::from("/p/.git/index")]),
            folders: HashSet::from([PathBuf::from("/p/.git")]),
        };
        let mut inbox = Inbox::default();
        let event = Event::At(What::Moved, PathBuf::from("/p/.git/index"));
        assert!(inbox.push(event, &places(), &extras));
        assert!(inbox.relist && inbox.files.is_empty());
        let mut inbox = Inbox::default();
        let event = Event::At(What::Moved, PathBuf::from("/p/.git/index.lock"));
        assert!(!inbox.push(event, &places(), &extras));
        assert!(inbox.is_empty());
    }
}
