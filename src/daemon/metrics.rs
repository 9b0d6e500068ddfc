//! What a daemon measures of itself, for status queries.

use std::time::Duration;

use crate::api::AuditStatus;

const MINUTE: Duration = Duration::from_mins(1);

/// The properties of a daemon that do not change while it runs.
#[derive(Debug, Clone)]
pub(super) struct DaemonInfo {
    pub(super) project: String,
    pub(super) started_at_ms: i64,
    pub(super) workers: u32,
    pub(super) is_paranoid: bool,
    pub(super) is_detached: bool,
    /// The address that is listened on too.
    pub(super) listen: Option<String>,
}

/// Counters and timings of a daemon.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Metrics {
    /// Queries received.
    pub(super) queries: u64,
    /// Queries that workers are answering, or that wait for one.
    pub(super) in_progress: u64,
    pub(super) last_audit: Option<AuditStatus>,
    turn_start: Duration,
    /// The longest turn of this minute and of the one before, and when this one began.
    longest_turns: [Duration; 2],
    minute_start: Duration,
}

impl Metrics {
    /// Records the beginning of a turn of the loop.
    pub(super) const fn begin_turn(&mut self, now: Duration) {
        self.turn_start = now;
    }

    /// Records the end of a turn of the loop.
    pub(super) fn end_turn(&mut self, now: Duration) {
        if MINUTE <= now.saturating_sub(self.minute_start) {
            self.longest_turns = [Duration::ZERO, self.longest_turns[0]];
            self.minute_start = now;
        }
        self.longest_turns[0] = self.longest_turns[0].max(now.saturating_sub(self.turn_start));
    }

    /// Returns the longest recent turn of the loop, in milliseconds.
    pub(super) fn lag_ms(&self) -> u64 {
        let longest = self.longest_turns[0].max(self.longest_turns[1]);
        u64::try_from(longest.as_millis()).unwrap_or(u64::MAX)
    }
}
