//! The face of the room: a thread that watches, and what may be asked of it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use super::keeper::Keeper;
use super::places::Places;
use super::shared::Shared;
use super::signal::Counts;
use super::signal::Mode;
use super::signal::Signal;
use super::source::Inotify;
use super::source::Source;
use super::source::identity;
use super::source::make_cookie;
use crate::model::RelPath;

/// What is watched.
#[derive(Debug, Clone)]
pub struct Options {
    /// The project's folder.
    pub root: PathBuf,
    /// The cache's folder in it: cookies are made there, and nothing in it is a change.
    pub cache_dir: RelPath,
    /// Tells this watcher's cookies from those of another one.
    pub epoch: u64,
    /// The part of the watches granted to the user that the tree may take, in percent.
    pub watch_limit_percent: u64,
}

/// Tells which folders are to be watched, that one included where it is to be: asked with nothing at the start, and for
/// each new folder. The root is always watched.
pub type Folders = Arc<dyn Fn(&[u8]) -> io::Result<Vec<RelPath>> + Send + Sync>;

/// Takes what is told, on the watcher's thread. It may wait: meanwhile changes become one.
pub type Sink = Box<dyn FnMut(Signal) + Send>;

/// A watch over a project. It ends when this is dropped.
#[derive(Debug)]
pub struct Watcher {
    shared: Arc<Shared>,
    root: Option<(u64, u64)>,
}

impl Watcher {
    /// Starts to watch. What goes wrong is told as a signal.
    pub fn start(options: Options, folders: Folders, sink: Sink) -> Self {
        Self::start_with(options, folders, sink, Arc::new(Inotify))
    }

    pub(super) fn start_with(
        options: Options,
        folders: Folders,
        sink: Sink,
        source: Arc<dyn Source>,
    ) -> Self {
        // Events bear the path under which a folder is watched, and that is to be the real one.
        let root = options.root.canonicalize().unwrap_or(options.root);
        let root_identity = identity(&root).ok();
        let places = Places::new(root, &options.cache_dir, options.epoch);
        let shared = Arc::new(Shared::new(places));
        let keeper = Keeper::new(
            Arc::clone(&shared),
            source,
            folders,
            sink,
            root_identity,
            options.watch_limit_percent,
        );
        let spawned = thread::Builder::new().name("slop-watch".to_owned()).spawn(move || keeper.run());
        if spawned.is_err() {
            // Without its thread nothing is ever told, and no cookie comes back.
            shared.lock().counts.mode = Mode::Verified;
        }
        Self { shared, root: root_identity }
    }

    /// Makes a cookie, and returns its number: when [`Signal::Passed`] tells it, all that was done before has been
    /// told. An error of kind `Unsupported` where there are no events.
    pub fn mark(&self) -> io::Result<u64> {
        let (number, is_watched) = {
            let mut state = self.shared.lock();
            let number = state.next_cookie().ok_or(io::ErrorKind::Unsupported)?;
            (number, state.cookies_watched)
        };
        if is_watched && make_cookie(&self.shared.places.cookie(number)).is_ok() {
            return Ok(number);
        }
        // The folder has to be made, and watched, which takes longer than the caller has.
        self.shared.ask(|state| state.inbox.cookies = true);
        Ok(number)
    }

    /// Asks for the folders anew, as a changed ignore file in the tree does by itself. Tells of nothing but what came
    /// to be watched.
    pub fn refolder(&self) {
        self.shared.ask(|state| state.inbox.refolder = true);
    }

    /// Watches these files outside of the watched folders too, and no longer those of before; a change of one has
    /// the files listed anew.
    pub fn extra(&self, files: Vec<PathBuf>) {
        self.shared.ask(|state| {
            // Whoever tells the same files after each listing must not have them listed for it again.
            if state.wanted != files {
                state.wanted = files;
                state.inbox.extras = true;
            }
        });
    }

    /// Says whether the root is the folder it was, and tells of it as a signal where it is not.
    pub fn check_root(&self) -> bool {
        let is_same = self.root.is_some() && identity(&self.shared.places.root).ok() == self.root;
        if !is_same {
            self.shared.ask(|state| state.inbox.root = true);
        }
        is_same
    }

    /// Returns what was counted.
    pub fn counts(&self) -> Counts {
        self.shared.lock().counts
    }

    /// Ends the watch; what is being told is told to its end.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.ask(|state| state.stop = true);
    }
}
