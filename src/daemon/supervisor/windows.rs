//! Does nothing: the task scheduler, which may start a daemon, expects no notifications.

use std::time::Duration;

pub(in crate::daemon) const fn report_ready() {}

pub(in crate::daemon) const fn report_stopping() {}

pub(in crate::daemon) const fn report_alive() {}

pub(in crate::daemon) const fn watchdog_interval() -> Option<Duration> {
    None
}
