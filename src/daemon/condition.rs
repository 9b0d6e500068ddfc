//! How a daemon is, for whoever asks.

use std::time::Duration;

use super::steady::EventLoop;
use super::steady::TrustMode;
use crate::api::AuditStatus;
use crate::api::DaemonMode;
use crate::api::DaemonStatus;
use crate::api::PROTOCOL;
use crate::api::ParanoidStatus;
use crate::api::StoreStatus;
use crate::api::VERSION;
use crate::sys::Disk;
use crate::sys::ProcessUsage;
use crate::sys::RealDisk;

const MINUTE: Duration = Duration::from_mins(1);

/// What does not change while a daemon runs.
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

/// What a daemon counts of itself.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Metrics {
    /// Questions that were asked.
    pub(super) queries: u64,
    /// Questions that workers are at, or that wait for one.
    pub(super) in_progress: u64,
    pub(super) last_audit: Option<AuditStatus>,
    turn_start: Duration,
    /// The longest turn of this minute and of the one before, and when this one began.
    longest_turns: [Duration; 2],
    minute_start: Duration,
}

impl Metrics {
    /// Takes in that the loop has something to do.
    pub(super) const fn begin_turn(&mut self, now: Duration) {
        self.turn_start = now;
    }

    /// Takes in that it has done it.
    pub(super) fn end_turn(&mut self, now: Duration) {
        if MINUTE <= now.saturating_sub(self.minute_start) {
            self.longest_turns = [Duration::ZERO, self.longest_turns[0]];
            self.minute_start = now;
        }
        self.longest_turns[0] = self.longest_turns[0].max(now.saturating_sub(self.turn_start));
    }

    /// Returns the longest time of late for which the loop did not listen, in milliseconds.
    fn lag_ms(&self) -> u64 {
        let longest = self.longest_turns[0].max(self.longest_turns[1]);
        u64::try_from(longest.as_millis()).unwrap_or(u64::MAX)
    }
}

impl EventLoop<'_> {
    /// Returns how the daemon is.
    pub(super) fn status(&self) -> DaemonStatus {
        let (seen, tree, usage) = (self.watcher.counts(), self.workspace.counts(), ProcessUsage::current());
        let now_ms = self.clock.now_ns() / 1_000_000;
        let (mode, reason) = match &self.mode {
            TrustMode::Starting => (DaemonMode::Starting, None),
            TrustMode::Events => (DaemonMode::Events, None),
            TrustMode::Verified(why) => (DaemonMode::Verified, Some(why.clone())),
        };
        let constants = &self.constants;
        DaemonStatus {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            pid: std::process::id(),
            root: self.instance.places.root.display().to_string(),
            project: constants.project.clone(),
            started_at_ms: constants.started_at_ms,
            uptime_ms: u64::try_from(now_ms - constants.started_at_ms).unwrap_or(0),
            mode,
            reason,
            epoch: self.position.epoch,
            sequence: self.position.sequence,
            clock: self.position.to_string(),
            pending: self.pending(),
            queue_waiting: self.barrier.len() as u64
                + self.metrics.in_progress.saturating_sub(constants.workers.into()),
            workers: constants.workers,
            answers: self.metrics.queries,
            overflows: seen.losses,
            rescans: seen.instances.saturating_sub(1),
            events: seen.events,
            watches: seen.folders,
            watch_limit: seen.limit,
            missed: tree.missed,
            paranoid: ParanoidStatus {
                on: constants.is_paranoid,
                answers: if constants.is_paranoid { self.metrics.queries } else { 0 },
                mistakes: tree.mistakes,
            },
            last_audit: self.metrics.last_audit,
            lag_ms: self.metrics.lag_ms(),
            store: self.store_status(),
            agent: self.summarizer.status(),
            rss_bytes: Some(usage.rss_bytes),
            fds: Some(usage.fds),
            listen: constants.listen.clone(),
            settings: self.fingerprint.lock().map(|known| known.clone()).unwrap_or_default(),
        }
    }

    fn store_status(&self) -> StoreStatus {
        let size = |name: &str| RealDisk.size(&self.instance.places.cache.join(name)).unwrap_or(0);
        let bytes = size("index.db");
        StoreStatus { bytes, wal_bytes: size("index.db-wal"), ok: 0 < bytes }
    }
}
