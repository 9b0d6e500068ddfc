//! A folder of the machine, and files opened below it so that no link leads out of it.
//!
//! Knows: how each system opens and stats a file below an open folder. Does not know: what is read, and what a change
//! during the reading means.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub(super) use platform::RootFolder;
