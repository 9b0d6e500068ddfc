//! The system's events become settled sets of changes; says so when it lost track.
//!
//! Knows: inotify, folders, cookies. Does not know: which files count (it is told which folders to look at), what a
//! file is, who wants to know. An event is only ever a reason to look: what is true, the file system says.
//!
//! Start with [`Watcher::start`]; then read `keeper.rs`, the one thread that watches folders and tells.

mod backoff;
mod coverage;
mod file_systems;
mod inbox;
mod keeper;
mod places;
mod shared;
mod signal;
mod source;
#[cfg(test)]
mod tests;
mod verified;
mod watcher;

pub use signal::WatchCounts;
pub use signal::WatchMode;
pub use signal::WatchSignal;
pub use watcher::FolderLister;
pub use watcher::Options;
pub use watcher::SignalSink;
pub use watcher::Watcher;
