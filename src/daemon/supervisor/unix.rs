//! Notifications to systemd, if it started this process; otherwise they do nothing.

use std::time::Duration;

use sd_notify::NotifyState;

pub(in crate::daemon) fn report_ready() {
    notify(NotifyState::Ready);
}

pub(in crate::daemon) fn report_stopping() {
    notify(NotifyState::Stopping);
}

/// Reports that the event loop is running.
pub(in crate::daemon) fn report_alive() {
    notify(NotifyState::Watchdog);
}

fn notify(state: NotifyState<'_>) {
    let _ = sd_notify::notify(&[state]);
}

/// Returns how often systemd expects that report; `None` if it does not.
pub(in crate::daemon) fn watchdog_interval() -> Option<Duration> {
    // Half of the limit, as sd_watchdog_enabled(3) recommends.
    sd_notify::watchdog_enabled().map(|longest| longest / 2)
}
