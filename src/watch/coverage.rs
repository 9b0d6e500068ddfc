//! The set of watched folders: all wanted ones, or none.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::inbox::{ExtraFiles, WatchPaths, WatchedMount, innermost};
use super::signal::{FolderLister, WatchObstacle};
use super::source::{EventSource, WatchQueue, is_folder, is_folder_or_link, without_events};
use crate::model::{RelPath, is_within};
use crate::sys::file_identity;

/// What watching folders depends on: the event source and the list of folders.
pub(super) struct WatchEnvironment {
    pub(super) source: Arc<dyn EventSource>,
    pub(super) folders: FolderLister,
    pub(super) limit: Option<u64>,
    pub(super) limit_percent: u64,
}

pub(super) struct FolderCoverage {
    watches: Box<dyn WatchQueue>,
    watched: BTreeSet<RelPath>,
    /// Linked folders that cannot be watched, by name, with the reason: all of their files are compared for each
    /// answer.
    unwatched_links: BTreeMap<String, String>,
    /// The checked devices, with the name of the file system if it does not report every change.
    devices: HashMap<u64, Option<&'static str>>,
}

impl FolderCoverage {
    pub(super) fn new(watches: Box<dyn WatchQueue>) -> Self {
        Self { watches, watched: BTreeSet::new(), unwatched_links: BTreeMap::new(), devices: HashMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        // The root is watched as well, but has no path in the set.
        self.watched.len() + 1
    }

    pub(super) fn contains(&self, folder: &RelPath) -> bool {
        self.watched.contains(folder)
    }

    pub(super) const fn unwatched_links(&self) -> &BTreeMap<String, String> {
        &self.unwatched_links
    }

    /// Watches the root, and the wanted folders below it and in the linked folders.
    pub(super) fn cover_root(
        &mut self,
        world: &WatchEnvironment,
        places: &WatchPaths,
    ) -> Result<(), WatchObstacle> {
        self.check_file_system(world, &places.root)?;
        self.watch(world, vec![places.root.clone()], false)?;
        self.cover(world, places, b"").map(|_| ())
    }

    /// Watches the folder `below` and the wanted folders below it, and no others there; an empty path is the root with
    /// all linked folders. Returns the newly watched folders.
    pub(super) fn cover(
        &mut self,
        world: &WatchEnvironment,
        places: &WatchPaths,
        below: &[u8],
    ) -> Result<Vec<RelPath>, WatchObstacle> {
        let mounts = places.mounts();
        if below.is_empty() {
            let mut new = self.cover_part(world, places, None, below)?;
            for mount in mounts.iter() {
                new.extend(self.cover_mount(world, places, mount, mount.point.as_bytes()));
            }
            return Ok(new);
        }
        match mounts.iter().find(|mount| mount.contains(below)) {
            Some(mount) => Ok(self.cover_mount(world, places, mount, below)),
            None => self.cover_part(world, places, None, below),
        }
    }

    /// Watches the wanted folders in a linked folder, or none of them if that fails: the rest of the project is watched
    /// anyway.
    fn cover_mount(
        &mut self,
        world: &WatchEnvironment,
        places: &WatchPaths,
        mount: &WatchedMount,
        below: &[u8],
    ) -> Vec<RelPath> {
        let name = &mount.linked.name;
        if mount.identity.is_none() || self.unwatched_links.contains_key(name) {
            return Vec::new();
        }
        match self.cover_part(world, places, Some(mount), below) {
            Ok(new) => new,
            Err(obstacle) => {
                self.drop_unwanted(places, mount.point.as_bytes(), &BTreeSet::new());
                self.unwatched_links.insert(name.clone(), obstacle.reason());
                Vec::new()
            }
        }
    }

    /// Watches the wanted folders in the root or in one linked folder.
    ///
    /// A folder may be created between the listing and its parent's watch, and no event reports it. So the listing is
    /// repeated until nothing was added below newly watched folders. Additions below other folders have pending events,
    /// which handle them: if they were watched here, files created in them meanwhile would be missed.
    fn cover_part(
        &mut self,
        world: &WatchEnvironment,
        places: &WatchPaths,
        mount: Option<&WatchedMount>,
        below: &[u8],
    ) -> Result<Vec<RelPath>, WatchObstacle> {
        let ask = || wanted_folders(world, places, mount, below).map_err(WatchObstacle::Other);
        let wanted = ask()?;
        // Dropped first, so that the limit is checked against the future number of watches.
        self.drop_unwanted(places, below, &wanted);
        let mut last = self.watch_new(world, places, wanted, None)?;
        let mut all_new = Vec::new();
        while !last.is_empty() {
            let new = self.watch_new(world, places, ask()?, Some(&last))?;
            all_new.extend(std::mem::replace(&mut last, new));
        }
        Ok(all_new)
    }

    /// Forgets a removed folder, and those below it.
    ///
    /// Most of their watches were removed with them. But if a parent folder had been replaced by a link when they were
    /// watched, these paths led to other folders, whose events would continue to be reported under these paths.
    pub(super) fn forget(&mut self, places: &WatchPaths, folder: &RelPath) {
        let gone = self.below(&[], folder.as_bytes());
        for folder in &gone {
            self.watched.remove(folder);
        }
        if !gone.is_empty() {
            self.watches.unwatch(gone.iter().map(|folder| places.path(folder)).collect());
        }
    }

    /// Watches the folder of cookies, which may have been replaced.
    pub(super) fn watch_cookies(
        &mut self,
        world: &WatchEnvironment,
        places: &WatchPaths,
    ) -> Result<(), WatchObstacle> {
        self.watches.unwatch(vec![places.cookies.clone()]);
        self.watch(world, vec![places.cookies.clone()], false).map(|_| ())
    }

    /// Watches the folders of files outside of the tree, and no longer those of `old`.
    pub(super) fn watch_extras(
        &mut self,
        world: &WatchEnvironment,
        places: &WatchPaths,
        wanted: &[PathBuf],
        old: &ExtraFiles,
    ) -> Result<ExtraFiles, WatchObstacle> {
        let mut own: HashSet<PathBuf> = self.watched.iter().map(|folder| places.path(folder)).collect();
        own.extend([places.root.clone(), places.cookies.clone()]);
        let mut watched = old.folders.clone();
        loop {
            // Not only the unwanted ones, because a folder may have been replaced.
            self.watches.unwatch(watched.difference(&own).cloned().collect());
            let now = extra_folders(wanted);
            self.watch(world, now.folders.difference(&own).cloned().collect(), true)?;
            // A folder on the path may have been created before its parent was watched.
            if now == extra_folders(wanted) {
                return Ok(now);
            }
            watched = now.folders;
        }
    }

    /// Drops the unwanted watches at and below a folder.
    fn drop_unwanted(&mut self, places: &WatchPaths, below: &[u8], wanted: &BTreeSet<RelPath>) {
        let mut dropped = Vec::new();
        for folder in self.below(&places.mounts(), below) {
            if !wanted.contains(&folder) {
                self.watched.remove(&folder);
                dropped.push(places.path(&folder));
            }
        }
        if !dropped.is_empty() {
            self.watches.unwatch(dropped);
        }
    }

    fn watch_new(
        &mut self,
        world: &WatchEnvironment,
        places: &WatchPaths,
        wanted: BTreeSet<RelPath>,
        parents: Option<&BTreeSet<RelPath>>,
    ) -> Result<BTreeSet<RelPath>, WatchObstacle> {
        let is_first = parents.is_none();
        let mut new: BTreeSet<RelPath> = BTreeSet::new();
        for folder in wanted {
            let up = RelPath::new(folder.parent()).ok();
            // Only below watched folders, because a link in place of a folder would lead elsewhere.
            let parents = parents.unwrap_or(&self.watched);
            let is_reached = match up {
                Some(up) => parents.contains(&up) || new.contains(&up),
                None => is_first,
            };
            let path = places.path(&folder);
            if !self.watched.contains(&folder) && is_reached && is_folder(&path) {
                self.check_file_system(world, &path)?;
                new.insert(folder);
            }
        }
        let watched: HashSet<PathBuf> =
            self.watch(world, new.iter().map(|folder| places.path(folder)).collect(), false)?;
        new.retain(|folder| watched.contains(&places.path(folder)));
        self.watched.extend(new.iter().cloned());
        Ok(new)
    }

    fn watch(
        &mut self,
        world: &WatchEnvironment,
        folders: Vec<PathBuf>,
        follow: bool,
    ) -> Result<HashSet<PathBuf>, WatchObstacle> {
        let count = u64::try_from(self.len() + folders.len()).unwrap_or(u64::MAX);
        // The limit is the user's, so editors and other daemons need a share of it.
        let limit = world.limit.filter(|limit| limit.saturating_mul(world.limit_percent) / 100 < count);
        if let Some(limit) = limit {
            return Err(WatchObstacle::LimitExceeded { folders: count, limit, percent: world.limit_percent });
        }
        let watched = self.watches.watch(folders, follow);
        let watched = watched.map_err(|error| WatchObstacle::from_watch(error, count, world.limit))?;
        Ok(watched.into_iter().collect())
    }

    /// Returns an error for a folder on a file system that does not report every change, such as a mount below the
    /// root.
    fn check_file_system(&mut self, world: &WatchEnvironment, folder: &Path) -> Result<(), WatchObstacle> {
        let Ok((device, _)) = file_identity(folder) else { return Ok(()) };
        let look = || world.source.file_system(folder).ok().and_then(without_events);
        match *self.devices.entry(device).or_insert_with(look) {
            Some(name) => Err(WatchObstacle::FileSystem { name, folder: folder.display().to_string() }),
            None => Ok(()),
        }
    }

    /// Returns the watched folders at and below a folder; linked folders are not below the root.
    fn below(&self, mounts: &[WatchedMount], folder: &[u8]) -> Vec<RelPath> {
        let Ok(first) = RelPath::new(folder) else {
            let is_mounted = |path: &RelPath| mounts.iter().any(|mount| mount.contains(path.as_bytes()));
            return self.watched.iter().filter(|path| !is_mounted(path)).cloned().collect();
        };
        // `a.b` sorts between `a` and `a/b`, so the search ends with the prefix.
        let near = self.watched.range(first..).take_while(|path| path.as_bytes().starts_with(folder));
        near.filter(|path| is_within(path.as_bytes(), folder)).cloned().collect()
    }
}

/// Returns the wanted folders at and below a path in the root or in a linked folder.
fn wanted_folders(
    world: &WatchEnvironment,
    places: &WatchPaths,
    mount: Option<&WatchedMount>,
    below: &[u8],
) -> std::io::Result<BTreeSet<RelPath>> {
    let mounts = places.mounts();
    // A folder has one watch, so a linked folder within the root or another linked folder is excluded there.
    let is_own = |folder: &RelPath| {
        let owner = innermost(&mounts, &places.path(folder)).map(|owner| &owner.point);
        owner == mount.map(|mount| &mount.point)
    };
    let inside = mount.map_or(below, |mount| mount.inside(below));
    let found = (world.folders)(mount.map(|mount| &mount.linked), inside)?.into_iter();
    let Some(mount) = mount else { return Ok(found.filter(is_own).collect()) };
    let own = inside.is_empty().then(|| mount.point.clone());
    let mounted = found.filter_map(|folder| mount.mounted(folder.as_bytes()));
    Ok(own.into_iter().chain(mounted).filter(is_own).collect())
}

/// Returns the folders that contain these files, or the nearest existing parent of each.
fn extra_folders(wanted: &[PathBuf]) -> ExtraFiles {
    let mut extras = ExtraFiles::default();
    // Events in a link's own folder show that its target changes; those in the target's folder, that the content
    // changes.
    let targets = wanted.iter().filter_map(|file| dunce::canonicalize(file).ok());
    for file in wanted.iter().cloned().chain(targets.collect::<Vec<_>>()) {
        let mut name = file.as_path();
        extras.names.insert(file.clone());
        while let Some(folder) = name.parent() {
            if is_folder_or_link(folder) {
                extras.names.insert(name.to_owned());
                extras.folders.insert(folder.to_owned());
                break;
            }
            name = folder;
        }
    }
    extras
}
