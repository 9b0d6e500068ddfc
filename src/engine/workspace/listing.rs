//! Lists the project's files, and checks whether an earlier listing is still right.
//!
//! Listing the files again costs git's processes and a walk. Checking what a listing depends on costs less: the files
//! that hold rules, and the folders, whose stamps change with the names in them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;

use super::files::is_racy;
use super::root::Workspace;
use super::tracker::{ListedFolder, TrackedListing, TreeSnapshot};
use crate::discover;
use crate::discover::{FileListing, HeaderNeighbors, KeptFolders, ListingSource, NameRules, run_git};
use crate::engine::error::Error;
use crate::engine::options::Options;
use crate::engine::timings::AnswerStep;
use crate::model::{ContentHash, FileStamp, RelPath};
use crate::sys::{FileKind, Processes};

/// A change that is older than this should have been reported by an event.
pub(in crate::engine) const EVENT_DEADLINE_NS: i64 = 2_000_000_000;
/// How deep folders may lie in one another that hold no file of the project. Each step is a question to git.
const MOST_STEPS: usize = 8;

/// Whether a listing is still right, by everything that it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListingState {
    /// Nothing has changed.
    Unchanged,
    SameNames,
    /// It cannot be trusted any more. An event may have had to report that by now.
    Stale {
        should_be_reported: bool,
    },
}

impl Workspace<'_> {
    /// Lists the files, and does some other work meanwhile. A listing is kept for the next answers where events are to
    /// be had, and with it all that it depends on.
    pub(in crate::engine) fn list_files<R>(
        &self,
        began: Option<&TreeSnapshot>,
        skew_ns: i64,
        meanwhile: impl FnOnce() -> R,
    ) -> Result<(Arc<TrackedListing>, R), Error> {
        let kept_in = self.tracker.as_ref().zip(began).filter(|(_, began)| began.is_trusted);
        // Taken before git starts: a change during the listing may or may not be in it, so it must count as later.
        let began_ns = self.world.clock.now_ns().saturating_add(skew_ns);
        let (root, names, processes) = (&self.root, &*self.names, self.world.processes);
        let (max_files, steps) = (self.options.max_files, self.steps.clone());
        let (listing, done) = std::thread::scope(|scope| {
            let listing = scope.spawn(move || {
                let _timer = steps.time(AnswerStep::List);
                discover::list(root, names, max_files, processes)
            });
            let done = meanwhile();
            (listing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), done)
        });
        let listing = listing?;
        let neighbors = HeaderNeighbors::from_paths(listing.files.iter().map(|found| &found.path));
        let mut listed = TrackedListing {
            listing,
            neighbors,
            name_options: self.options.names.clone(),
            began_ns,
            rule_files: Vec::new(),
            ignore_files: Vec::new(),
            folders: Vec::new(),
            rechecked: Mutex::default(),
        };
        // Without events nothing would report that a kept listing is outdated, so what it depends on need not be
        // found out.
        let Some((tree, began)) = kept_in else { return Ok((Arc::new(listed), done)) };
        let is_complete = self.add_folders(&mut listed);
        listed.rule_files = self.rules(began.listed.as_deref().or(began.suspect.as_deref()));
        let listed = Arc::new(listed);
        if is_complete {
            tree.store_listing(&listed, began);
        } else {
            tree.drop_listing(began);
        }
        Ok((listed, done))
    }

    /// Returns the listing that is kept, if a new one would be the same.
    pub(in crate::engine) fn reusable_listing(&self, began: &TreeSnapshot) -> Option<Arc<TrackedListing>> {
        let tree = self.tracker.as_ref()?;
        if let Some(listed) = &began.listed {
            match self.check_listing(listed) {
                ListingState::Unchanged | ListingState::SameNames => return Some(Arc::clone(listed)),
                ListingState::Stale { should_be_reported } => {
                    if should_be_reported && began.is_complete {
                        tree.count_missed(1);
                    }
                }
            }
        }
        // An editor that saves by way of another name makes files come and go.
        let listed = began.suspect.as_ref()?;
        let is_explained = self.check_listing(listed) == ListingState::SameNames;
        is_explained.then(|| {
            tree.store_listing(listed, began);
            Arc::clone(listed)
        })
    }

    /// Returns whether a listing is what a new one would be.
    fn check_listing(&self, listed: &TrackedListing) -> ListingState {
        let now_ns = self.world.clock.now_ns();
        let gone = |stamps: [Option<FileStamp>; 2]| {
            let is_old = |stamp: &FileStamp| stamp.ctime_ns < now_ns.saturating_sub(EVENT_DEADLINE_NS);
            let should_be_reported = stamps[0] != stamps[1] && stamps[1].as_ref().is_some_and(is_old);
            ListingState::Stale { should_be_reported }
        };
        // The rules first: there are few of them, and a changed one makes thousands of stats of folders unnecessary.
        for (path, before) in &listed.rule_files {
            let now = rule_stamp(self, path);
            if now != *before || now.is_some_and(|now| is_racy(&now, listed.began_ns)) {
                return gone([*before, now]);
            }
        }
        for (path, before) in &listed.ignore_files {
            let now = self.world.files.stat(path).ok().map(|stat| stat.stamp);
            if now != Some(*before) || is_racy(before, listed.began_ns) {
                return gone([Some(*before), now]);
            }
        }
        let rechecked = listed.rechecked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut state = ListingState::Unchanged;
        for (at, folder) in listed.folders.iter().enumerate() {
            let (before, read_at_ns) = rechecked
                .get(&at)
                .map_or((folder.stamp, listed.began_ns), |(stamp, read)| (Some(*stamp), *read));
            let now = self.folder_stamp(folder.path.as_ref());
            if now == before && now.is_none_or(|now| !is_racy(&now, read_at_ns)) {
                continue;
            }
            // Taken by the machine's clock alone: were the file system's ahead of it, the folder would be looked into
            // once more.
            let read_at_ns = self.world.clock.now_ns();
            match (now, self.names_in(folder.path.as_ref())) {
                (Some(now), Some((names, _))) if Some(names) == folder.names => {
                    let mut rechecked = listed.rechecked.lock().unwrap_or_else(PoisonError::into_inner);
                    rechecked.insert(at, (now, read_at_ns));
                    state = ListingState::SameNames;
                }
                (_, _) => return gone([before, now]),
            }
        }
        state
    }

    fn rules(&self, before: Option<&TrackedListing>) -> Vec<(PathBuf, Option<FileStamp>)> {
        let stamped = |path: PathBuf| {
            let stamp = rule_stamp(self, &path);
            (path, stamp)
        };
        // Which files hold rules is written in those files.
        let same = before.filter(|before| {
            let is_same = |(path, stamp): &(PathBuf, Option<FileStamp>)| rule_stamp(self, path) == *stamp;
            !before.rule_files.is_empty() && before.has_rested() && before.rule_files.iter().all(is_same)
        });
        if let Some(before) = same {
            return before.rule_files.clone();
        }
        let files = discover::rule_files(&self.root, self.world.disk, self.world.processes);
        files.into_iter().map(stamped).collect()
    }

    /// Looks at the folders that may hold files of the project. Returns whether these are all.
    fn add_folders(&self, listed: &mut TrackedListing) -> bool {
        let mut known: FxHashSet<Vec<u8>> = FxHashSet::from_iter([Vec::new()]);
        for found in &listed.listing.files {
            let mut folder = found.path.parent();
            while known.insert(folder.to_vec()) {
                folder = folder.iter().rposition(|byte| *byte == b'/').map_or(&[], |slash| &folder[..slash]);
            }
        }
        known.extend(listed.listing.folders.iter().map(|folder| folder.as_bytes().to_vec()));
        let mut next: Vec<Vec<u8>> = known.iter().cloned().collect();
        for _ in 0..MOST_STEPS {
            let mut others = Vec::new();
            for folder in next {
                self.add_folder(&folder, listed, &known, &mut others);
            }
            // The walk itself reports which folders it entered.
            if listed.listing.source == ListingSource::Walk || others.is_empty() {
                return true;
            }
            let Some(ignored) = self.ignored(&others) else { return false };
            next = others.into_iter().filter(|folder| !ignored.contains(folder)).collect();
            known.extend(next.iter().cloned());
        }
        next.is_empty()
    }

    /// Takes in one folder, and finds the folders in it that are not known yet.
    fn add_folder(
        &self,
        folder: &[u8],
        listed: &mut TrackedListing,
        known: &FxHashSet<Vec<u8>>,
        others: &mut Vec<Vec<u8>>,
    ) {
        let path = RelPath::new(folder).ok();
        // Before the names are read: what comes afterwards gives another stamp.
        let stamp = self.folder_stamp(path.as_ref());
        let found = self.names_in(path.as_ref());
        for (name, kind) in found.iter().flat_map(|(_, entries)| entries) {
            let inside = if folder.is_empty() { name.clone() } else { [folder, b"/", name].concat() };
            let Ok(inside) = RelPath::new(&inside) else { continue };
            if inside.is_ignore_file() {
                let stamp = self.world.files.stat(&inside).ok().map(|stat| stat.stamp);
                listed.ignore_files.extend(stamp.map(|stamp| (inside, stamp)));
            } else if *kind == FileKind::Directory
                && !known.contains(inside.as_bytes())
                // It has no watch either. That the first file came into an empty one shows when something else changes.
                && !self.names.is_skipped_name(name)
                && !self.is_apart_folder(&inside)
                && !is_listed(&listed.listing, &inside)
            {
                others.push(inside.as_bytes().to_vec());
            }
        }
        // What came to a young folder may have come after the listing was made: then its names prove nothing.
        let has_rested = stamp.is_some_and(|stamp| !is_racy(&stamp, listed.began_ns));
        let names = found.map(|(names, _)| names).filter(|_| has_rested);
        listed.folders.push(ListedFolder { path, stamp, names });
    }

    fn is_apart_folder(&self, folder: &RelPath) -> bool {
        RelPath::new(&[folder.as_bytes(), b"/x"].concat()).is_ok_and(|inside| self.names.is_excluded(&inside))
    }

    /// Returns those of some folders that git ignores; `None` if git fails.
    fn ignored(&self, folders: &[Vec<u8>]) -> Option<FxHashSet<Vec<u8>>> {
        let input = folders.join(&0);
        let finished =
            run_git(self.world.processes, &self.root, &["check-ignore", "-z", "--stdin"], &input).ok()?;
        // It fails without a message if it ignores none of them.
        if !finished.success && !finished.stderr.is_empty() {
            return None;
        }
        let named = finished.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Some(named.map(<[u8]>::to_vec).collect())
    }

    fn folder_stamp(&self, folder: Option<&RelPath>) -> Option<FileStamp> {
        match folder {
            Some(folder) => self.world.files.stat(folder).ok().map(|stat| stat.stamp),
            None => self.world.disk.stamp(&self.root).ok().flatten(),
        }
    }

    #[expect(clippy::type_complexity, reason = "a name and its kind")]
    fn names_in(&self, folder: Option<&RelPath>) -> Option<(ContentHash, Vec<(Vec<u8>, FileKind)>)> {
        let mut entries = self.world.files.entries(folder.map_or(&[], RelPath::as_bytes)).ok()?;
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut text = Vec::new();
        for (name, kind) in &entries {
            text.extend_from_slice(name);
            // The kind is a part of it: a folder in the place of a file has the same name and other files in it.
            let kind: &[u8] = match kind {
                FileKind::Regular => b"\0r",
                FileKind::Directory => b"\0d",
                FileKind::Symlink => b"\0l",
                FileKind::Special => b"\0s",
            };
            text.extend_from_slice(kind);
        }
        Some((ContentHash::digest(&text), entries))
    }
}

fn is_listed(listing: &FileListing, path: &RelPath) -> bool {
    listing.files.binary_search_by(|found| found.path.cmp(path)).is_ok()
}

/// Returns the stamp of a file outside. That of a `.git` changes with each lock that git takes in it: whether it is
/// there counts, and whether it is another.
fn rule_stamp(project: &Workspace<'_>, path: &std::path::Path) -> Option<FileStamp> {
    let stamp = project.world.disk.stamp(path).ok().flatten()?;
    let is_repository = path.file_name().is_some_and(|name| name == ".git");
    Some(if is_repository { FileStamp { size: 0, mtime_ns: 0, ctime_ns: 0, ..stamp } } else { stamp })
}

/// Checks that a folder does not have more files than the options allow.
pub fn check_file_count(root: &Path, options: &Options, processes: &dyn Processes) -> Result<(), Error> {
    let names = NameRules::new(&options.names)?;
    discover::list(root, &names, options.max_files, processes)?;
    Ok(())
}

/// Tells which folders at and below one may hold files of the project; all of the project's, where it is empty.
pub type WatchFolders = Arc<dyn Fn(&[u8]) -> io::Result<Vec<RelPath>> + Send + Sync>;

/// Returns a function that lists the folders of the project in the folder `root`.
///
/// Asked for all, it lists the files too: git may track some in a folder that a rule ignores. Asked for a new folder it
/// goes by the rules alone, for that is asked a thousand times when a branch is switched.
pub fn watch_folders(
    root: &Path,
    options: &Options,
    processes: &'static (dyn Processes + Send),
) -> Result<WatchFolders, Error> {
    let names = NameRules::new(&options.names)?;
    let root = root.to_owned();
    // Remembered from the last listing of everything, because a request for one folder does not list files.
    let last = Mutex::new((ListingSource::Walk, KeptFolders::default()));
    Ok(Arc::new(move |below| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let listing = if below.is_empty() {
            // Whether the folder has too many files was decided before it was watched.
            let listing = discover::list(&root, &names, None, processes).map_err(io::Error::other)?;
            *last = (listing.source, KeptFolders::among(&listing.files, &names));
            listing
        } else {
            FileListing { files: Vec::new(), source: last.0, notes: Vec::new(), folders: Vec::new() }
        };
        discover::watchable_folders(&root, &names, &listing, &last.1, below).map_err(io::Error::other)
    }))
}
