//! The supervisor that started the daemon and expects notifications: systemd, or none on Windows.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub(super) use platform::{report_alive, report_ready, report_stopping, watchdog_interval};
