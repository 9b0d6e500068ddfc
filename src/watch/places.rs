//! The places that the watcher tells apart.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;

use crate::model::RelPath;

/// Folder below the cache's in which cookies are made.
const COOKIES: &str = "cookies";

/// Where the project, its cache and the cookies lie.
#[derive(Debug)]
pub(super) struct WatchPaths {
    pub(super) root: PathBuf,
    pub(super) cache: PathBuf,
    pub(super) cookies: PathBuf,
    epoch: u64,
}

/// What an event's path is to the watcher.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathClass {
    Root,
    /// A file or folder of the project.
    Project(RelPath),
    /// An ignore file.
    IgnoreFile(RelPath),
    /// A `.git`: a repository came or went.
    Repository,
    /// The cache's folder or that of the cookies itself.
    CookieFolder,
    /// Within the folder of cookies; the number, if it is a cookie of this watcher.
    Cookie(Option<u64>),
    /// Anything else.
    Unrelated,
}

impl WatchPaths {
    pub(super) fn new(root: PathBuf, cache_dir: &RelPath, epoch: u64) -> Self {
        let cache = root.join(cache_dir.as_path());
        Self { cookies: cache.join(COOKIES), cache, root, epoch }
    }

    /// Returns the path of a cookie.
    pub(super) fn cookie(&self, number: u64) -> PathBuf {
        self.cookies.join(format!("{}-{number}", self.epoch))
    }

    /// Returns a folder or file of the project as the system knows it.
    pub(super) fn path(&self, path: &RelPath) -> PathBuf {
        self.root.join(path.as_path())
    }

    /// Says what lies at `path`.
    pub(super) fn classify(&self, path: &Path) -> PathClass {
        if path.starts_with(&self.cache) {
            return self.classify_in_cache(path);
        }
        let Ok(below) = path.strip_prefix(&self.root) else { return PathClass::Unrelated };
        if below.as_os_str().is_empty() {
            return PathClass::Root;
        }
        let Ok(below) = RelPath::new(below.as_os_str().as_bytes()) else { return PathClass::Unrelated };
        if below.file_name() == b".git" {
            return PathClass::Repository;
        }
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
        (epoch.parse() == Ok(self.epoch)).then(|| number.parse().ok())?
    }
}
