//! The folders that are worth a watch.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use super::error::Error;
use super::options::Options;
use crate::discover;
use crate::discover::Listing;
use crate::discover::Names;
use crate::discover::Source;
use crate::model::RelPath;
use crate::sys::Processes;

/// Tells which folders at and below one may hold files of the project; all of the project's, where it is empty.
pub type Folders = Arc<dyn Fn(&[u8]) -> io::Result<Vec<RelPath>> + Send + Sync>;

/// Returns what tells the folders of the project in the folder `root`.
///
/// Asked for all, it lists the files too: git may track some in a folder that a rule ignores. Asked for a new folder it
/// goes by the rules alone, for that is asked a thousand times when a branch is switched.
pub fn folders(
    root: &Path,
    options: &Options,
    processes: &'static (dyn Processes + Send),
) -> Result<Folders, Error> {
    let names = Names::new(&options.names)?;
    let root = root.to_owned();
    let lister = Mutex::new(Source::Walk);
    Ok(Arc::new(move |below| {
        let mut source = lister.lock().unwrap_or_else(PoisonError::into_inner);
        let listing = if below.is_empty() {
            let listing = discover::list(&root, &names, processes).map_err(io::Error::other)?;
            *source = listing.source;
            listing
        } else {
            Listing { files: Vec::new(), source: *source, notes: Vec::new(), folders: Vec::new() }
        };
        discover::folders(&root, &names, &listing, below).map_err(io::Error::other)
    }))
}
