//! Lists the project's files, and checks whether an earlier listing is still valid.
//!
//! Listing the files again costs git's processes and a walk. It is cheaper to check what a listing depends on: the
//! files that contain rules, and the folders, whose stamps change with the names in them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashSet;

use super::files::is_racy;
use super::lister::{ListedMount, Lister};
use super::root::Workspace;
use super::tracker::{FileRows, ListedFolder, TrackedListing, TreeSnapshot};
use crate::discover;
use crate::discover::{
    DiscoveredFile, FileListing, HeaderNeighbors, KeptFolders, ListingSource, NameRules, run_git,
};
use crate::engine::error::Error;
use crate::engine::mounts::Mount;
use crate::engine::options::Options;
use crate::engine::timings::AnswerStep;
use crate::model::{
    ContentHash, FileStamp, LinkedFolder, RelPath, SkipReason, in_parallel, is_within, lock, parent_folder,
    split_resource,
};
use crate::sys::{FileKind, Files, Processes, RealFiles};

/// The event of a change should arrive within this time.
pub(in crate::engine) const EVENT_DEADLINE_NS: i64 = 2_000_000_000;
/// The maximum depth of nested folders without files of the project. Each level takes a query of git.
const MAX_STEPS: usize = 8;

/// Whether a listing is still valid, judging by everything that it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListingState {
    /// Nothing has changed.
    Unchanged,
    SameNames,
    /// It can no longer be trusted. An event may have been due already.
    Stale {
        should_be_reported: bool,
    },
}

impl Workspace<'_> {
    /// Lists the files, and runs some other work concurrently. If there are events, the listing is cached with
    /// everything that it depends on. The files of linked folders that do not exist now are taken from `rows`; without
    /// rows they are not listed, and nothing is cached.
    pub(in crate::engine) fn list_files<R>(
        &self,
        rows: Option<&FileRows>,
        began: Option<&TreeSnapshot>,
        skew_ns: i64,
        meanwhile: impl FnOnce() -> R,
    ) -> Result<(Arc<TrackedListing>, R), Error> {
        let kept_in = self.tracker.as_ref().zip(began).filter(|(_, began)| began.is_trusted);
        // Taken before git starts: a change during the listing may or may not be in it, so it must count as later.
        let began_ns = self.world.clock.now_ns().saturating_add(skew_ns);
        let mounted_files = Lister {
            root: &self.root,
            names: &self.names,
            max_files: self.options.max_files,
            files: self.files.clone(),
            processes: self.world.processes,
        };
        let steps = self.steps.clone();
        let list = move || {
            let _timer = steps.time(AnswerStep::List);
            mounted_files.list()
        };
        let (listed, done) = in_parallel(list, meanwhile);
        let (mut listing, mounts) = listed?;
        let is_whole = rows.is_some() || mounts.iter().all(|mount| mount.source.is_some());
        if let Some(rows) = rows {
            add_gone_files(&mounts, rows, &mut listing);
        }
        let neighbors = HeaderNeighbors::from_paths(listing.files.iter().map(|found| &found.path));
        let mut listed = TrackedListing {
            listing,
            mounts,
            neighbors: Arc::new(neighbors),
            name_options: self.options.names.clone(),
            began_ns,
            rule_files: Vec::new(),
            ignore_files: Vec::new(),
            folders: Vec::new(),
            rechecked: Mutex::default(),
        };
        // Without events, nothing would report that a cached listing is outdated, so its dependencies are not needed.
        let is_kept = is_whole && listed.listing.is_lasting;
        let Some((tree, began)) = kept_in.filter(|_| is_kept) else { return Ok((Arc::new(listed), done)) };
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

    /// Lists the files of the root and of the linked folders, and returns how each linked folder was listed.
    pub(in crate::engine) fn list_anew(&self) -> Result<(FileListing, Vec<ListedMount>), Error> {
        let (root, names) = (&self.root, &*self.names);
        let (max_files, processes) = (self.options.max_files, self.world.processes);
        Lister { root, names, max_files, files: self.files.clone(), processes }.list()
    }

    /// Returns the cached listing, if a new one would be equal.
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
        // An editor that saves through a temporary file makes files come and go.
        let listed = began.suspect.as_ref()?;
        let is_explained = self.check_listing(listed) == ListingState::SameNames;
        is_explained.then(|| {
            tree.store_listing(listed, began);
            Arc::clone(listed)
        })
    }

    /// Returns whether a listing equals a new one.
    fn check_listing(&self, listed: &TrackedListing) -> ListingState {
        let now_ns = self.world.clock.now_ns();
        let gone = |path: Option<&RelPath>, stamps: [Option<FileStamp>; 2]| {
            let is_old = |stamp: &FileStamp| stamp.ctime_ns < now_ns.saturating_sub(EVENT_DEADLINE_NS);
            // Some linked folders cannot be watched.
            let has_events = path.is_none_or(|path| self.files.mount_of(path.as_bytes()).is_none());
            let is_changed = stamps[0] != stamps[1] && stamps[1].as_ref().is_some_and(is_old);
            ListingState::Stale { should_be_reported: has_events && is_changed }
        };
        let is_same = |(mount, now): (&ListedMount, &Mount)| {
            mount.linked == now.linked && mount.source.is_some() == now.is_in_place()
        };
        let mounts = self.files.mounts();
        if listed.mounts.len() != mounts.len() || !listed.mounts.iter().zip(mounts).all(is_same) {
            return gone(None, [None, None]);
        }
        // Rules are checked first: there are few of them, and a changed one makes thousands of stats of folders
        // unnecessary.
        for (path, before) in &listed.rule_files {
            let now = rule_stamp(self, path);
            if now != *before || now.is_some_and(|now| is_racy(&now, listed.began_ns)) {
                return gone(None, [*before, now]);
            }
        }
        for (path, before) in &listed.ignore_files {
            let now = self.files.stat(path).ok().map(|stat| stat.stamp);
            if now != Some(*before) || is_racy(before, listed.began_ns) {
                return gone(Some(path), [Some(*before), now]);
            }
        }
        let rechecked = lock(&listed.rechecked).clone();
        let mut state = ListingState::Unchanged;
        for (at, folder) in listed.folders.iter().enumerate() {
            let (before, read_at_ns) = rechecked
                .get(&at)
                .map_or((folder.stamp, listed.began_ns), |(stamp, read)| (Some(*stamp), *read));
            let now = self.folder_stamp(folder.path.as_ref());
            if now == before && now.is_none_or(|now| !is_racy(&now, read_at_ns)) {
                // The event of the change for which the folder was read may only have arrived since.
                let is_recent = now_ns.saturating_sub(EVENT_DEADLINE_NS) < read_at_ns;
                if before != folder.stamp && is_recent {
                    state = ListingState::SameNames;
                }
                continue;
            }
            // By the machine's clock alone: if the file system's is ahead of it, the folder is just read once more.
            let read_at_ns = self.world.clock.now_ns();
            match (now, self.names_in(folder.path.as_ref())) {
                (Some(now), Some((names, _))) if Some(names) == folder.names => {
                    let mut rechecked = lock(&listed.rechecked);
                    rechecked.insert(at, (now, read_at_ns));
                    state = ListingState::SameNames;
                }
                (_, _) => return gone(folder.path.as_ref(), [before, now]),
            }
        }
        state
    }

    fn rules(&self, before: Option<&TrackedListing>) -> Vec<(PathBuf, Option<FileStamp>)> {
        let stamped = |path: PathBuf| {
            let stamp = rule_stamp(self, &path);
            (path, stamp)
        };
        let is_same_mounts = |before: &TrackedListing| {
            before.mounts.iter().map(|mount| (&mount.linked, mount.source.is_some())).eq(self
                .files
                .mounts()
                .iter()
                .map(|mount| (&mount.linked, mount.is_open())))
        };
        // The files that contain rules are named in those files.
        let same = before.filter(|before| {
            let is_same = |(path, stamp): &(PathBuf, Option<FileStamp>)| rule_stamp(self, path) == *stamp;
            is_same_mounts(before)
                && !before.rule_files.is_empty()
                && before.has_rested()
                && before.rule_files.iter().all(is_same)
        });
        if let Some(before) = same {
            return before.rule_files.clone();
        }
        let linked = self.files.mounts().iter().filter(|mount| mount.is_open());
        let folders = std::iter::once(&self.root).chain(linked.map(|mount| &mount.linked.path));
        let files = folders
            .flat_map(|folder| discover::rule_files(folder, self.world.disk, self.world.processes))
            .collect::<BTreeSet<_>>();
        files.into_iter().map(stamped).collect()
    }

    /// Adds the folders that may contain files of the project. Returns whether these are all.
    fn add_folders(&self, listed: &mut TrackedListing) -> bool {
        let mut known: FxHashSet<Vec<u8>> = FxHashSet::from_iter([Vec::new()]);
        for found in &listed.listing.files {
            let mut folder = found.path.parent();
            while known.insert(folder.to_vec()) {
                folder = parent_folder(folder);
            }
        }
        known.extend(listed.listing.folders.iter().map(|folder| folder.as_bytes().to_vec()));
        let linked = listed.mounts.iter().filter(|mount| mount.source.is_some());
        known.extend(linked.map(|mount| mount.linked.mount_point().as_bytes().to_vec()));
        let mut next: Vec<Vec<u8>> = known.iter().cloned().collect();
        for _ in 0..MAX_STEPS {
            let mut others = Vec::new();
            for folder in next {
                self.add_folder(&folder, listed, &known, &mut others);
            }
            // The walk itself reports which folders it entered.
            others.retain(|folder| self.source_of(folder, listed) == ListingSource::Git);
            if others.is_empty() {
                return true;
            }
            let Some(ignored) = self.ignored(&others) else { return false };
            next = others.into_iter().filter(|folder| !ignored.contains(folder)).collect();
            known.extend(next.iter().cloned());
        }
        next.is_empty()
    }

    /// Adds one folder, and finds new folders in it.
    fn add_folder(
        &self,
        folder: &[u8],
        listed: &mut TrackedListing,
        known: &FxHashSet<Vec<u8>>,
        others: &mut Vec<Vec<u8>>,
    ) {
        let path = RelPath::new(folder).ok();
        // Before the names are read: later changes give another stamp.
        let stamp = self.folder_stamp(path.as_ref());
        let found = self.names_in(path.as_ref());
        for (name, kind) in found.iter().flat_map(|(_, entries)| entries) {
            let inside = if folder.is_empty() { name.clone() } else { [folder, b"/", name].concat() };
            let Ok(inside) = RelPath::new(&inside) else { continue };
            if inside.is_ignore_file() {
                let stamp = self.files.stat(&inside).ok().map(|stat| stat.stamp);
                listed.ignore_files.extend(stamp.map(|stamp| (inside, stamp)));
            } else if *kind == FileKind::Directory
                && !known.contains(inside.as_bytes())
                // It has no watch either. The first file in an empty folder is noticed when something else changes.
                && !self.names.is_skipped_name(name)
                && !self.is_apart_folder(&inside)
                && !is_listed(&listed.listing, &inside)
            {
                others.push(inside.as_bytes().to_vec());
            }
        }
        // Something may have been added to a recently changed folder after the listing was made: its names then prove
        // nothing.
        let has_rested = stamp.is_some_and(|stamp| !is_racy(&stamp, listed.began_ns));
        let names = found.map(|(names, _)| names).filter(|_| has_rested);
        listed.folders.push(ListedFolder { path, stamp, names });
    }

    fn is_apart_folder(&self, folder: &RelPath) -> bool {
        RelPath::new(&[folder.as_bytes(), b"/x"].concat()).is_ok_and(|inside| self.names.is_excluded(&inside))
    }

    /// Returns which of some folders git ignores; `None` if git fails.
    fn ignored(&self, folders: &[Vec<u8>]) -> Option<FxHashSet<Vec<u8>>> {
        // Each linked folder has its own rules.
        #[expect(
            clippy::type_complexity,
            reason = "git's input and the folders in it, by the folder to run git in"
        )]
        let mut by_mount: BTreeMap<Option<&Path>, (Vec<u8>, Vec<&[u8]>)> = BTreeMap::new();
        for folder in folders {
            let mounted = self.files.mount_of(folder);
            let key = mounted.map(|(mount, _)| mount.linked.path.as_path());
            let inside = mounted.map_or(folder.as_slice(), |(_, inside)| inside);
            let prefix = || folder[..folder.len() - inside.len()].to_vec();
            by_mount.entry(key).or_insert_with(|| (prefix(), Vec::new())).1.push(inside);
        }
        let mut ignored = FxHashSet::default();
        for (root, (prefix, folders)) in by_mount {
            let (root, input) = (root.unwrap_or(&self.root), folders.join(&0));
            let finished =
                run_git(self.world.processes, root, &["check-ignore", "-z", "--stdin"], &input).ok()?;
            // It fails without a message if none of them is ignored.
            if !finished.success && !finished.stderr.is_empty() {
                return None;
            }
            let named = finished.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            ignored.extend(named.map(|name| [&prefix, name].concat()));
        }
        Some(ignored)
    }

    /// Returns how the files of a folder were listed.
    fn source_of(&self, folder: &[u8], listed: &TrackedListing) -> ListingSource {
        let Some((mount, _)) = self.files.mount_of(folder) else { return listed.listing.source };
        let found = listed.mounts.iter().find(|found| found.linked == mount.linked);
        found.and_then(|found| found.source).unwrap_or(ListingSource::Walk)
    }

    fn folder_stamp(&self, folder: Option<&RelPath>) -> Option<FileStamp> {
        match folder {
            Some(folder) => self.files.stat(folder).ok().map(|stat| stat.stamp),
            None => self.world.disk.stamp(&self.root).ok().flatten(),
        }
    }

    #[expect(clippy::type_complexity, reason = "a name and its kind")]
    fn names_in(&self, folder: Option<&RelPath>) -> Option<(ContentHash, Vec<(Vec<u8>, FileKind)>)> {
        let mut entries = self.files.entries(folder.map_or(&[], RelPath::as_bytes)).ok()?;
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut text = Vec::new();
        for (name, kind) in &entries {
            text.extend_from_slice(name);
            // The kind is included: a folder in place of a file has the same name and other files in it.
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

/// Adds the known files of linked folders that do not exist now.
fn add_gone_files(mounts: &[ListedMount], rows: &FileRows, listing: &mut FileListing) {
    let gone = Some(SkipReason::ResourceGone);
    for mount in mounts.iter().filter(|mount| mount.source.is_none()) {
        let folder = mount.linked.mount_point();
        let known = rows.keys().filter(|path| is_within(path.as_bytes(), folder.as_bytes()));
        let known = known.map(|path| DiscoveredFile { path: path.clone(), skip_reason: gone, tracked: true });
        let before = listing.files.len();
        listing.files.extend(known);
        if listing.files.len() == before {
            listing.files.push(DiscoveredFile { path: folder, skip_reason: gone, tracked: true });
        }
    }
    listing.files.sort_by(|one, other| one.path.cmp(&other.path));
}

fn is_listed(listing: &FileListing, path: &RelPath) -> bool {
    listing.files.binary_search_by(|found| found.path.cmp(path)).is_ok()
}

/// Returns the stamp of a file outside of the project. That of a `.git` folder changes with each lock that git takes in
/// it: it only matters whether the folder exists, and whether it is another one.
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

/// The contents of a folder, summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkedSize {
    pub files: u64,
    pub bytes: u64,
}

/// Lists a folder that may be linked to a project, and adds up the sizes of the files that would be read.
pub fn measure_linked(
    linked: &LinkedFolder,
    options: &Options,
    processes: &dyn Processes,
) -> Result<LinkedSize, Error> {
    let names = NameRules::new(&options.names)?;
    let files = RealFiles::open_exact(&linked.path, linked.identity).map_err(discover::Error::Root)?;
    let listing = discover::list_linked(linked, &names, processes)?;
    let mut size = LinkedSize { files: 0, bytes: 0 };
    for found in listing.files.iter().filter(|found| found.skip_reason.is_none()) {
        let inside = split_resource(found.path.as_bytes()).and_then(|(_, inside)| RelPath::new(inside).ok());
        size.files += 1;
        let stat = inside.and_then(|inside| files.stat(&inside).ok());
        size.bytes += stat.map_or(0, |stat| stat.stamp.size);
    }
    Ok(size)
}

/// Returns the checkouts inside a folder that may be linked to a project, by their paths in it.
pub fn checkouts_within(
    linked: &LinkedFolder,
    options: &Options,
    processes: &dyn Processes,
) -> Result<Vec<RelPath>, Error> {
    let listing = discover::list_folder(linked, &NameRules::new(&options.names)?, processes)?;
    let is_checkout = |found: &DiscoveredFile| {
        matches!(found.skip_reason, Some(SkipReason::Submodule | SkipReason::NestedRepository))
    };
    Ok(listing.files.into_iter().filter(is_checkout).map(|found| found.path).collect())
}

/// Returns which folders at and below a path may contain files of the project, in the root or in a linked folder, and
/// relative to that; all of them, if the path is empty.
pub type WatchFolders = Arc<dyn Fn(Option<&LinkedFolder>, &[u8]) -> io::Result<Vec<RelPath>> + Send + Sync>;

/// Returns a function that lists the folders of the project in the folder `root`, and those of linked folders.
///
/// For the whole project, it lists the files too: git may track some in a folder that a rule ignores. For a new folder,
/// it only applies the rules, because it is called a thousand times when a branch is switched.
pub fn watch_folders(
    root: &Path,
    options: &Options,
    processes: &'static (dyn Processes + Send),
) -> Result<WatchFolders, Error> {
    let names = NameRules::new(&options.names)?;
    let root = root.to_owned();
    // Kept from the last complete listing, because a request for one folder does not list files.
    let last: Mutex<BTreeMap<PathBuf, (ListingSource, KeptFolders)>> = Mutex::default();
    Ok(Arc::new(move |linked: Option<&LinkedFolder>, below: &[u8]| {
        let folder = linked.map_or(&root, |linked| &linked.path);
        let mut last = lock(&last);
        let listing = if below.is_empty() {
            // The number of files was checked before the folder was watched.
            let listing = match linked {
                Some(linked) => discover::list_folder(linked, &names, processes),
                None => discover::list(&root, &names, None, processes),
            };
            let listing = listing.map_err(io::Error::other)?;
            last.insert(folder.clone(), (listing.source, KeptFolders::among(&listing.files, &names)));
            listing
        } else {
            let source = last.get(folder).map_or(ListingSource::Walk, |(source, _)| *source);
            FileListing {
                files: Vec::new(),
                source,
                notes: Vec::new(),
                folders: Vec::new(),
                is_lasting: true,
            }
        };
        let kept = last.get(folder).map(|(_, kept)| kept.clone()).unwrap_or_default();
        discover::watchable_folders(folder, &names, &listing, &kept, below).map_err(io::Error::other)
    }))
}
