//! What the watcher reports, what it counts, and why it may have no events to report.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::source::WatchError;
use crate::model::{LinkedFolder, RelPath};

/// Returns the folders to watch at and below a path in the root or in a linked folder, relative to that: called with an
/// empty path at the start, and with the path of each new folder later. The root and the linked folders themselves are
/// always watched.
pub type FolderLister = Arc<dyn Fn(Option<&LinkedFolder>, &[u8]) -> io::Result<Vec<RelPath>> + Send + Sync>;

/// Receives signals on the watcher's thread. It may block: changes are coalesced meanwhile.
pub type SignalSink = Box<dyn FnMut(WatchSignal) + Send>;

/// What the watcher reports, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchSignal {
    /// Files that may have changed, each once; a path may be nothing's any more, or that of a folder in which files may
    /// have come and gone.
    Touched {
        /// Where they lie, by path.
        paths: Vec<RelPath>,
        /// Whether names came or went, or an ignore rule may have changed, so that the files have to be listed again.
        relist: bool,
    },
    /// More changed at once than is reported file by file: any file or name may have changed. Watching continues.
    AllTouched,
    /// Lost track: everything may have changed. A new watch is being made.
    Lost {
        /// What happened, in words.
        reason: String,
    },
    /// Watching, from this moment on; changes before it are to be looked for by a walk.
    Watching {
        folders: usize,
    },
    Verified {
        reason: String,
        hint: &'static str,
    },
    /// The cookie of this number came back: every change made before it was created has been reported.
    CookiePassed(u64),
    /// The root was removed, renamed or replaced. No signal follows.
    RootGone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WatchMode {
    /// The first watch is being made.
    #[default]
    Starting,
    Watching,
    /// Track was lost, and a new watch is being made.
    Lost,
    Verified,
    Gone,
}

/// What the watcher counted since it was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WatchCounts {
    pub mode: WatchMode,
    pub folders: u64,
    /// The most watches that the system grants the user; `None` if it does not say.
    pub limit: Option<u64>,
    /// Instances of the system's queue that were made.
    pub instances: u64,
    /// How often track was lost, be it by an overflow or otherwise.
    pub losses: u64,
    /// How often more had changed than is reported file by file.
    pub floods: u64,
    /// Events that were handled; those of the cache's folder are not among them.
    pub events: u64,
    /// How long the last cookie took to come back.
    pub last_cookie: Option<Duration>,
}

/// Why there are no events.
#[derive(Debug)]
pub(super) enum WatchObstacle {
    /// More folders than the share of the limit that may be taken.
    LimitExceeded {
        folders: u64,
        limit: u64,
        percent: u64,
    },
    OutOfWatches {
        folders: u64,
        limit: Option<u64>,
    },
    NoQueue(io::Error),
    /// A system whose events are not used.
    UnusedEvents,
    /// A file system that does not report every change.
    FileSystem {
        name: &'static str,
        folder: String,
    },
    /// The folders could not be listed or watched.
    Other(io::Error),
}

impl WatchObstacle {
    pub(super) fn from_open(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Unsupported => Self::UnusedEvents,
            _ => Self::NoQueue(error),
        }
    }

    pub(super) fn from_watch(error: WatchError, folders: u64, limit: Option<u64>) -> Self {
        match error {
            WatchError::OutOfWatches => Self::OutOfWatches { folders, limit },
            WatchError::Io(error) => Self::Other(error),
        }
    }

    /// Returns whether a retry may help.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            // Neither a mounted file system nor this program begins to report changes.
            Self::FileSystem { .. } | Self::UnusedEvents => false,
            // Limits are raised, other programs end, and folders become readable.
            Self::LimitExceeded { .. } | Self::OutOfWatches { .. } | Self::NoQueue(_) | Self::Other(_) => {
                true
            }
        }
    }

    pub(super) fn into_signal(self) -> WatchSignal {
        WatchSignal::Verified { reason: self.reason(), hint: self.hint() }
    }

    pub(super) fn reason(&self) -> String {
        match self {
            Self::LimitExceeded { folders, limit, percent } => format!(
                "the tree has {folders} folders, more than {percent} % of the {limit} watches that the system \
                 grants a user"
            ),
            Self::OutOfWatches { folders, limit } => {
                let limit = limit.map_or_else(|| "its limit".to_owned(), |limit| format!("{limit} in all"));
                format!("the system granted too few watches for {folders} folders ({limit})")
            }
            Self::NoQueue(error) => format!("the system granted no queue of events ({error})"),
            Self::UnusedEvents => "slop does not use the file events of this system yet".to_owned(),
            Self::FileSystem { name, folder } => {
                format!("{folder} lies on {name}, where a change may come without an event")
            }
            Self::Other(error) => format!("the folders could not be watched ({error})"),
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::LimitExceeded { .. } | Self::OutOfWatches { .. } => {
                "raise `sysctl fs.inotify.max_user_watches`, or ignore folders that do not count"
            }
            Self::NoQueue(_) => {
                "raise `sysctl fs.inotify.max_user_instances`, or the limit of open files (`ulimit -n`)"
            }
            Self::UnusedEvents => "answers are checked against the files, which takes longer",
            Self::FileSystem { .. } => "work in a folder on a local file system, or live with slower answers",
            Self::Other(_) => "see whether the project's folders and ignore files can be read",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_whose_events_are_not_used_is_not_asked_again() {
        let obstacle = WatchObstacle::from_open(io::ErrorKind::Unsupported.into());
        assert!(!obstacle.may_pass());
        assert!(obstacle.reason().contains("events of this system"));
        assert!(WatchObstacle::from_open(io::ErrorKind::QuotaExceeded.into()).may_pass());
    }
}
