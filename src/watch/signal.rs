//! The signals and counters of the watcher, and the reasons for a lack of events.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::source::WatchError;
use crate::model::{LinkedFolder, RelPath};

/// Returns the folders to watch at and below a path in the root or in a linked folder, relative to it. It is called
/// with an empty path at the start, and with the path of each new folder later. The root and the linked folders
/// themselves are always watched.
pub type FolderLister = Arc<dyn Fn(Option<&LinkedFolder>, &[u8]) -> io::Result<Vec<RelPath>> + Send + Sync>;

/// Receives signals on the watcher's thread. It may block: changes are coalesced meanwhile.
pub type SignalSink = Box<dyn FnMut(WatchSignal) + Send>;

/// What the watcher reports, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchSignal {
    /// Files that may have changed, each once; a path may no longer exist, or be that of a folder in which files may
    /// have been added or removed.
    Touched {
        /// Their paths, sorted.
        paths: Vec<RelPath>,
        /// Whether names were added or removed, or an ignore rule may have changed, so that the files have to be listed
        /// again.
        relist: bool,
    },
    /// Too many files changed at once to report each: any file or name may have changed. Watching continues.
    AllTouched,
    /// Events were lost: everything may have changed. A new watch is being set up.
    Lost {
        /// What happened, in words.
        reason: String,
    },
    /// Watching from now on; earlier changes have to be found by a walk.
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
    /// The first watch is being set up.
    #[default]
    Starting,
    Watching,
    /// Events were lost, and a new watch is being set up.
    Lost,
    Verified,
    Gone,
}

/// The counters of the watcher since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WatchCounts {
    pub mode: WatchMode,
    pub folders: u64,
    /// The system's limit of watches for the user; `None` if unknown.
    pub limit: Option<u64>,
    /// The number of queues that were created.
    pub instances: u64,
    /// How often events were lost, by an overflow or otherwise.
    pub losses: u64,
    /// The number of handled events, except those of the cache's folder.
    pub events: u64,
    /// How long the last cookie took to come back.
    pub last_cookie: Option<Duration>,
}

/// Why there are no events.
#[derive(Debug)]
pub(super) enum WatchObstacle {
    /// More folders than the share of the limit that may be used.
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
            // Neither this file system nor this program will begin to report changes.
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
                format!("{folder} is on {name}, where changes may cause no events")
            }
            Self::Other(error) => format!("the folders could not be watched ({error})"),
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::LimitExceeded { .. } | Self::OutOfWatches { .. } => {
                "raise `sysctl fs.inotify.max_user_watches`, or ignore irrelevant folders"
            }
            Self::NoQueue(_) => {
                "raise `sysctl fs.inotify.max_user_instances`, or the limit of open files (`ulimit -n`)"
            }
            Self::UnusedEvents => "answers are checked against the files, which takes longer",
            Self::FileSystem { .. } => "work in a folder on a local file system, or accept slower answers",
            Self::Other(_) => "check that the project's folders and ignore files are readable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_used_events_is_not_retried() {
        let obstacle = WatchObstacle::from_open(io::ErrorKind::Unsupported.into());
        assert!(!obstacle.may_pass());
        assert!(obstacle.reason().contains("events of this system"));
        assert!(WatchObstacle::from_open(io::ErrorKind::QuotaExceeded.into()).may_pass());
    }
}
