//! The public API of the room: a handle of the watching thread.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::{io, thread};

use super::SystemEvents;
use super::inbox::{WatchPaths, WatchedMount};
use super::shared::SharedWatch;
use super::signal::{FolderLister, SignalSink, WatchCounts, WatchMode};
use super::source::{EventSource, make_cookie};
use super::watch_thread::{WatchThread, find_mount};
use crate::model::{LinkedFolder, RelPath};
use crate::sys::file_identity;

#[derive(Debug, Clone)]
pub struct Options {
    pub root: PathBuf,
    /// The cache's folder in the project: cookies are created there, and changes in it are ignored.
    pub cache_dir: RelPath,
    /// Distinguishes this watcher's cookies from those of others.
    pub epoch: u64,
    /// The percentage of the user's watches that the tree may use.
    pub watch_limit_percent: u64,
    /// The folders that are linked to the project.
    pub linked: Vec<LinkedFolder>,
}

/// A watch over a project, which ends on drop.
#[derive(Debug)]
pub struct Watcher {
    shared: Arc<SharedWatch>,
    root: Option<(u64, u64)>,
}

impl Watcher {
    /// Starts to watch. Failures are reported as signals.
    pub fn start(options: Options, folders: FolderLister, sink: SignalSink) -> Self {
        Self::start_with(options, folders, sink, Arc::new(SystemEvents))
    }

    pub(super) fn start_with(
        options: Options,
        folders: FolderLister,
        sink: SignalSink,
        source: Arc<dyn EventSource>,
    ) -> Self {
        // Events contain the path under which a folder is watched, which has to be the real one.
        let root = dunce::canonicalize(&options.root).unwrap_or(options.root);
        let root_identity = file_identity(&root).ok();
        let places = WatchPaths::new(root, &options.cache_dir, options.epoch);
        let shared = Arc::new(SharedWatch::new(places));
        shared.lock().wanted_links = options.linked;
        let watch_thread = WatchThread::new(
            Arc::clone(&shared),
            source,
            folders,
            sink,
            root_identity,
            options.watch_limit_percent,
        );
        let spawned = thread::Builder::new().name("slop-watch".to_owned()).spawn(move || watch_thread.run());
        if spawned.is_err() {
            // Without the thread, nothing is ever reported, and no cookie comes back.
            shared.lock().counts.mode = WatchMode::Verified;
        }
        Self { shared, root: root_identity }
    }

    /// Creates a cookie, and returns its number: once [`WatchSignal::CookiePassed`](super::WatchSignal::CookiePassed)
    /// has it, every earlier change has been reported. An error of kind `Unsupported` if there are no events.
    pub fn request_cookie(&self) -> io::Result<u64> {
        let (number, is_watched) = {
            let mut state = self.shared.lock();
            let number = state.next_cookie().ok_or(io::ErrorKind::Unsupported)?;
            (number, state.cookies_watched)
        };
        if is_watched && make_cookie(&self.shared.places.cookie(number)).is_ok() {
            return Ok(number);
        }
        // The folder has to be created and watched, which takes too long for the caller.
        self.shared.update(|state| state.inbox.remake_cookies = true);
        Ok(number)
    }

    /// Lists the folders again, as a changed ignore file in the tree does automatically. Reports only newly watched
    /// folders.
    pub fn relist_folders(&self) {
        self.shared.update(|state| state.inbox.relist_folders = true);
    }

    /// Replaces the watched files outside of the watched folders; a change of one causes a new listing.
    pub fn set_extra_files(&self, files: Vec<PathBuf>) {
        self.shared.update(|state| {
            // Passing the same files after each listing must not trigger another listing.
            if state.wanted_extras != files {
                state.wanted_extras = files;
                state.inbox.rewatch_extras = true;
            }
        });
    }

    /// Replaces the linked folders.
    pub fn set_links(&self, linked: Vec<LinkedFolder>) {
        self.shared.update(|state| {
            if state.wanted_links != linked {
                state.wanted_links = linked;
                state.inbox.check_mounts = true;
            }
        });
    }

    /// Watches linked folders that were created, and stops watching removed ones. Only events within the project do
    /// this automatically.
    pub fn check_links(&self) {
        let is_same = |mount: &WatchedMount| find_mount(&mount.linked) == *mount;
        if !self.shared.places.mounts().iter().all(is_same) {
            self.shared.update(|state| state.inbox.check_mounts = true);
        }
    }

    /// Returns the linked folders that cannot be watched, by name, with the reason.
    pub fn unwatched_links(&self) -> BTreeMap<String, String> {
        self.shared.lock().unwatched_links.clone()
    }

    /// Returns whether the root is still the same folder, and sends a signal if it is not.
    pub fn check_root(&self) -> bool {
        let is_same = self.root.is_some() && file_identity(&self.shared.places.root).ok() == self.root;
        if !is_same {
            self.shared.update(|state| state.inbox.check_root = true);
        }
        is_same
    }

    pub fn counts(&self) -> WatchCounts {
        self.shared.lock().counts
    }

    /// Ends the watch; a signal that is being delivered is delivered completely.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.update(|state| state.is_stopping = true);
    }
}
