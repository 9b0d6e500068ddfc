//! Lists the files of the root and of the linked folders.

use std::io;
use std::path::Path;

use crate::discover;
use crate::discover::{FileListing, ListingSource, NameRules};
use crate::engine::error::Error;
use crate::engine::mounts::{Mount, MountedFiles};
use crate::model::{LinkedFolder, is_within, path_bytes, slashed_bytes};
use crate::sys::Processes;

/// A linked folder, and how its files were listed.
pub(in crate::engine) struct ListedMount {
    pub(super) linked: LinkedFolder,
    /// `None` if the folder does not exist.
    pub(super) source: Option<ListingSource>,
}

/// The data for listing the files of a project.
pub(super) struct Lister<'a> {
    pub(super) root: &'a Path,
    pub(super) names: &'a NameRules,
    pub(super) max_files: Option<u64>,
    pub(super) files: MountedFiles<'a>,
    pub(super) processes: &'a dyn Processes,
}

impl Lister<'_> {
    /// Lists all files, and returns how those of each linked folder were listed.
    pub(super) fn list(&self) -> Result<(FileListing, Vec<ListedMount>), Error> {
        let mut listing = discover::list(self.root, self.names, self.max_files, self.processes)?;
        let mut mounts = Vec::new();
        for mount in self.files.mounts() {
            let linked = &mount.linked;
            self.hide_below(mount, &mut listing);
            let found = if mount.is_in_place() {
                discover::list_linked(linked, self.names, self.processes)
            } else {
                Err(discover::Error::Root(io::ErrorKind::NotFound.into()))
            };
            // It is listed by path, so the result only counts if the path led to the same folder all the time.
            let source = match found {
                Ok(found) if mount.is_in_place() => {
                    listing.files.extend(found.files);
                    listing.notes.extend(found.notes);
                    listing.folders.extend(found.folders);
                    listing.is_lasting &= found.is_lasting;
                    Some(found.source)
                }
                Ok(_) | Err(discover::Error::Root(_)) => None,
                Err(error) => return Err(error.into()),
            };
            mounts.push(ListedMount { linked: linked.clone(), source });
        }
        if !mounts.is_empty() {
            self.hide_inner(&mut listing);
            listing.files.sort_by(|one, other| one.path.cmp(&other.path));
        }
        Ok((listing, mounts))
    }

    /// Removes from a listing what a linked folder has of another one inside it: the nested checkout as a whole.
    fn hide_inner(&self, listing: &mut FileListing) {
        let mounts = self.files.mounts();
        let paths_in = |outer: &Mount| -> Vec<Vec<u8>> {
            let inside = mounts.iter().filter(|inner| inner.linked.path != outer.linked.path);
            let inside = inside.filter_map(|inner| inner.linked.path.strip_prefix(&outer.linked.path).ok());
            let point = outer.linked.mount_point();
            inside.map(|inside| [point.as_bytes(), b"/", &slashed_bytes(inside)].concat()).collect()
        };
        let hidden: Vec<Vec<u8>> = mounts.iter().flat_map(paths_in).collect();
        if !hidden.is_empty() {
            listing.files.retain(|found| !hidden.iter().any(|path| is_within(found.path.as_bytes(), path)));
        }
    }

    /// Removes from a listing of the root the files of a linked folder inside it, which are listed under its name, and
    /// those that only seem to be inside it.
    fn hide_below(&self, mount: &Mount, listing: &mut FileListing) {
        let within = mount.linked.path.strip_prefix(self.root).ok();
        let within = within.map(path_bytes);
        let own = mount.linked.mount_point();
        listing.files.retain(|found| {
            let path = found.path.as_bytes();
            !is_within(path, own.as_bytes()) && !within.is_some_and(|folder| is_within(path, folder))
        });
    }
}
