//! What is told to systemd, where it started this process. Elsewhere nobody listens, and nothing is told.

use std::time::Duration;

use sd_notify::NotifyState;

/// Says that questions are answered from now on.
pub(super) fn notify_ready() {
    send_notification(&[NotifyState::Ready]);
}

/// Says that the end is near.
pub(super) fn notify_stopping() {
    send_notification(&[NotifyState::Stopping]);
}

/// Says that the loop turns.
pub(super) fn notify_watchdog() {
    send_notification(&[NotifyState::Watchdog]);
}

/// Returns how often it wants to hear that the loop turns; `None` where it does not.
pub(super) fn watchdog_interval() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|longest| longest / 2)
}

fn send_notification(states: &[NotifyState<'_>]) {
    // Without an ear there is nothing to tell.
    let _ = sd_notify::notify(states);
}
