//! The folders that are worth a watch.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::discover;
use crate::discover::FileListing;
use crate::discover::ListingSource;
use crate::discover::NameRules;
use crate::engine::error::Error;
use crate::engine::options::Options;
use crate::model::RelPath;
use crate::sys::Processes;

/// Tells which folders at and below one may hold files of the project; all of the project's, where it is empty.
pub type WatchFolders = Arc<dyn Fn(&[u8]) -> io::Result<Vec<RelPath>> + Send + Sync>;

/// Returns what tells the folders of the project in the folder `root`.
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
    let lister = Mutex::new(ListingSource::Walk);
    Ok(Arc::new(move |below| {
        let mut source = lister.lock().unwrap_or_else(PoisonError::into_inner);
        let listing = if below.is_empty() {
            let listing = discover::list(&root, &names, processes).map_err(io::Error::other)?;
            *source = listing.source;
            listing
        } else {
            FileListing { files: Vec::new(), source: *source, notes: Vec::new(), folders: Vec::new() }
        };
        discover::watchable_folders(&root, &names, &listing, below).map_err(io::Error::other)
    }))
}
