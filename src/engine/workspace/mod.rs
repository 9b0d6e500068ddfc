//! The files of a project as they lie on the disk: its listing, and what is kept of both between answers.

mod files;
mod freshness;
mod listing;
mod root;
mod run_log;
mod tracked_listing;
mod tracker;
mod watch_folders;

pub use watch_folders::watch_folders;

pub(in crate::engine) use files::{HashedText, KnownFile, KnownState, with_byte_order_mark};
pub(in crate::engine) use freshness::{is_racy, window_ns};
pub(in crate::engine) use listing::TOLD_BY_NS;
pub(in crate::engine) use root::Workspace;
pub(in crate::engine) use tracked_listing::TrackedListing;
pub(in crate::engine) use tracker::{FileRows, TrackerCounts, TreeSnapshot, TreeTracker};
