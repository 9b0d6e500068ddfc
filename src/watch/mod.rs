//! Turns the system's events into settled sets of changes, and reports when events were lost.
//!
//! Knows: inotify (on other systems no events are used, and each answer is checked against the files), folders,
//! cookies. Does not know: which files are relevant (the caller lists the folders), their meaning, who uses the
//! signals. An event is only a reason to check: the file system is the source of truth.
//!
//! Start with [`Watcher::start`]; then read `watch_thread.rs`, the one thread that watches folders and sends signals.

#![cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no events come from the system"))]

mod coverage;
mod inbox;
#[cfg(target_os = "linux")]
mod inotify;
#[cfg(not(target_os = "linux"))]
mod no_events;
mod shared;
mod signal;
mod source;
#[cfg(test)]
mod tests;
mod watch_thread;
mod watcher;

#[cfg(target_os = "linux")]
use inotify::InotifySource as SystemEvents;
#[cfg(not(target_os = "linux"))]
use no_events::NoEvents as SystemEvents;
pub use signal::WatchSignal;
#[cfg(test)]
pub use signal::{FolderLister, SignalSink, WatchMode};
pub use watcher::{Options, Watcher};
