//! A listing of the project's files, and all that it depends on.

use std::path::PathBuf;
use std::sync::Mutex;

use rustc_hash::FxHashMap;

use super::files::is_racy;
use crate::discover;
use crate::discover::{FileListing, HeaderNeighbors};
use crate::engine::fingerprint::Fingerprint;
use crate::model::{ContentHash, FileStamp, RelPath};

/// A listing, and what it depends on.
pub(in crate::engine) struct TrackedListing {
    pub(in crate::engine) listing: FileListing,
    pub(in crate::engine) neighbors: HeaderNeighbors,
    /// Of the settings by which files count, or are left out: another session may have others.
    pub(in crate::engine) name_options: discover::Options,
    /// When it was begun, in the file system's time. What has changed since may or may not be in it.
    pub(in crate::engine) began_ns: i64,
    /// The files outside of the project; `None` if there was nothing of that name.
    pub(in crate::engine) rule_files: Vec<(PathBuf, Option<FileStamp>)>,
    pub(in crate::engine) ignore_files: Vec<(RelPath, FileStamp)>,
    pub(in crate::engine) folders: Vec<ListedFolder>,
    /// Folders that were looked into again, by their place, for their stamps had changed and their names had not.
    pub(in crate::engine) rechecked: Mutex<FxHashMap<usize, (FileStamp, i64)>>,
}

impl TrackedListing {
    /// Returns the files outside of the project on which the listing depends.
    pub(in crate::engine) fn external_paths(&self) -> Vec<PathBuf> {
        self.rule_files.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Returns a hash of the stamps of all files that git's history depends on; what git reports of commits does not
    /// change without one of them. `None` if they are too young to be trusted, or not known.
    pub(in crate::engine) fn history_key(&self) -> Option<ContentHash> {
        let is_known = !self.rule_files.is_empty() && self.has_rested();
        is_known.then(|| hash_stamps(&self.rule_files))
    }

    /// Returns whether the rule files had rested, so that their stamps can be trusted.
    pub(in crate::engine) fn has_rested(&self) -> bool {
        self.rule_files.iter().all(|(_, stamp)| stamp.is_none_or(|stamp| !is_racy(&stamp, self.began_ns)))
    }
}

/// A folder that may hold files of the project.
pub(in crate::engine) struct ListedFolder {
    /// `None` for the root.
    pub(in crate::engine) path: Option<RelPath>,
    pub(in crate::engine) stamp: Option<FileStamp>,
    /// A hash of what lies in it; `None` if that is not sure to be what was listed.
    pub(in crate::engine) names: Option<ContentHash>,
}

/// Returns a hash of files and their stamps.
fn hash_stamps(files: &[(PathBuf, Option<FileStamp>)]) -> ContentHash {
    let mut hash = Fingerprint::default();
    for (path, stamp) in files {
        hash.bytes(path.as_os_str().as_encoded_bytes());
        hash.number(u64::from(stamp.is_some()));
        if let Some(FileStamp { dev, ino, size, mtime_ns, ctime_ns }) = stamp {
            hash.number(*dev).number(*ino).number(*size);
            hash.bytes(&mtime_ns.to_le_bytes()).bytes(&ctime_ns.to_le_bytes());
        }
    }
    hash.finish()
}
