//! What the watcher tells, and what it counts.

use std::time::Duration;

use crate::model::RelPath;

/// What the watcher tells, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchSignal {
    /// Files that may have changed, each once; a path may be a folder's, or nothing's any more.
    Touched {
        /// Where they lie, by path.
        paths: Vec<RelPath>,
        /// Whether names came or went, or an ignore rule may have changed, so that the files are to be listed anew.
        relist: bool,
    },
    /// More changed at once than is told file by file: any file may have, and names too. The watch goes on.
    AllTouched,
    /// Lost track: everything may have changed. A new watch is being made.
    Lost {
        /// What happened, in words.
        reason: String,
    },
    /// Watching, from this moment on; changes before it are to be looked for by a walk.
    Watching {
        /// How many folders are watched.
        folders: usize,
    },
    /// No events are to be had.
    Verified {
        /// Why, with numbers.
        reason: String,
        /// What may be done about it.
        hint: &'static str,
    },
    /// The cookie of this number came back: all that was done before it was made has been told.
    CookiePassed(u64),
    /// The root was removed, renamed or replaced. Nothing is told after it.
    RootGone,
}

/// Whether events are to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WatchMode {
    /// The first watch is being made.
    #[default]
    Starting,
    /// Every folder is watched.
    Watching,
    /// Track was lost, and a new watch is being made.
    Lost,
    /// There are no events.
    Verified,
    /// The root is gone.
    Gone,
}

/// What the watcher counted since it was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WatchCounts {
    /// What it is doing.
    pub mode: WatchMode,
    /// Folders of the tree that are watched now.
    pub folders: u64,
    /// The most watches that the system grants the user; `None` where it does not say.
    pub limit: Option<u64>,
    /// Instances of the system's queue that were made.
    pub instances: u64,
    /// How often track was lost, be it by an overflow or otherwise.
    pub losses: u64,
    /// How often more had changed than is told file by file.
    pub floods: u64,
    /// Events that were handled; those of the cache's folder are not among them.
    pub events: u64,
    /// How long the last cookie took to come back.
    pub last_cookie: Option<Duration>,
}
