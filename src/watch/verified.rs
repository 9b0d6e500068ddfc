//! Why there are no events, in words with numbers, and what may be done about it.

use std::io;

use super::signal::WatchSignal;
use super::source::WatchError;

/// Why there are no events.
#[derive(Debug)]
pub(super) enum WatchObstacle {
    /// More folders than the share of the limit that may be taken.
    LimitExceeded { folders: u64, limit: u64, percent: u64 },
    /// The system granted no more watches.
    OutOfWatches { folders: u64, limit: Option<u64> },
    /// No queue could be made.
    NoQueue(io::Error),
    /// A file system that does not tell of every change.
    FileSystem { name: &'static str, folder: String },
    /// The folders could not be told, or not be watched.
    Other(io::Error),
}

impl WatchObstacle {
    pub(super) fn from_watch(error: WatchError, folders: u64, limit: Option<u64>) -> Self {
        match error {
            WatchError::OutOfWatches => Self::OutOfWatches { folders, limit },
            WatchError::Io(error) => Self::Other(error),
        }
    }

    /// Says whether another try may help.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::LimitExceeded { .. } | Self::OutOfWatches { .. } | Self::NoQueue(_) | Self::Other(_) => {
                true
            }
            Self::FileSystem { .. } => false,
        }
    }

    pub(super) fn into_signal(self) -> WatchSignal {
        WatchSignal::Verified { reason: self.reason(), hint: self.hint() }
    }

    fn reason(&self) -> String {
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
            Self::FileSystem { .. } => "work in a folder on a local file system, or live with slower answers",
            Self::Other(_) => "see whether the project's folders and ignore files can be read",
        }
    }
}
