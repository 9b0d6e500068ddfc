//! Opens files below a folder so that no link leads out of it.
//!
//! Knows: how each system opens and stats a file below an open folder. Does not know: what is read, or what a change
//! while reading means.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub(super) use platform::RootFolder;
