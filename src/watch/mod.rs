//! Turns the system's events into settled sets of changes, and reports when events were lost.
//!
//! Knows: inotify, folders, cookies. Does not know: which files count (the caller lists the folders), what a file is,
//! who wants to know. An event is only ever a reason to look: the file system decides what is true.
//!
//! Start with [`Watcher::start`]; then read `watch_thread.rs`, the one thread that watches folders and sends signals.

mod coverage;
mod inbox;
mod shared;
mod signal;
mod source;
#[cfg(test)]
mod tests;
mod watch_thread;
mod watcher;

pub use signal::WatchSignal;
#[cfg(test)]
pub use signal::{FolderLister, SignalSink, WatchMode};
pub use watcher::{Options, Watcher};
