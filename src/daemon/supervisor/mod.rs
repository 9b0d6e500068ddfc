//! What started the daemon, and wants to hear from it: systemd, or on Windows nothing.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub(super) use platform::{report_alive, report_ready, report_stopping, watchdog_interval};
