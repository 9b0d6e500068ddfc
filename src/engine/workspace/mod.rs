//! The files of a project as they lie on the disk: its listing, and what is kept of both between answers.

mod freshness;
mod listing;
mod state;
mod watch_folders;

pub use state::WorkspaceCache;
pub use state::WorkspaceCounts;
pub use watch_folders::WatchFolders;
pub use watch_folders::watch_folders;

pub(in crate::engine) use freshness::{is_racy, window_ns};
pub(in crate::engine) use listing::{ListingState, TrackedListing};
pub(in crate::engine) use state::{FileRows, TreeSnapshot};
