//! The metrics of a daemon, and its status for clients.

use std::time::Duration;

use super::event_loop::{EventLoop, TrustMode};
use crate::api::{AuditStatus, DaemonMode, DaemonStatus, PROTOCOL, ParanoidStatus, StoreStatus, VERSION};
use crate::model::lock;
use crate::sys::{Disk, ProcessUsage, RealDisk};

const MINUTE: Duration = Duration::from_mins(1);

/// The properties of a daemon that do not change while it runs.
#[derive(Debug, Clone)]
pub(super) struct DaemonInfo {
    pub(super) project: String,
    pub(super) started_at_ms: i64,
    pub(super) workers: u32,
    pub(super) is_paranoid: bool,
    pub(super) is_detached: bool,
    pub(super) listen: Option<String>,
}

/// Counters and timings of a daemon.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Metrics {
    pub(super) queries: u64,
    /// Queries that workers are answering, or that wait for a worker.
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

    pub(super) fn end_turn(&mut self, now: Duration) {
        // Two minutes are kept, so that a status right after the full minute still shows a long turn.
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

impl EventLoop<'_> {
    pub(super) fn status(&self) -> DaemonStatus {
        let (seen, workspace, usage) =
            (self.watcher.counts(), self.workspace.counts(), ProcessUsage::current());
        let now_ms = self.clock.now_ms();
        let (mode, reason) = match &self.mode {
            TrustMode::Starting => (DaemonMode::Starting, None),
            TrustMode::Events => (DaemonMode::Events, None),
            TrustMode::Verified(reason) => (DaemonMode::Verified, Some(reason.clone())),
        };
        let constants = &self.constants;
        DaemonStatus {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            pid: std::process::id(),
            root: self.instance.paths.root.display().to_string(),
            project: constants.project.clone(),
            started_at_ms: constants.started_at_ms,
            uptime_ms: u64::try_from(now_ms - constants.started_at_ms).unwrap_or(0),
            mode,
            reason,
            epoch: self.position.epoch,
            sequence: self.position.sequence,
            clock: self.position.to_string(),
            pending: self.pending(),
            // At most as many queries as there are workers are being answered; the others wait for one.
            queue_waiting: self.barrier.len() as u64
                + self.metrics.in_progress.saturating_sub(constants.workers.into()),
            workers: constants.workers,
            answers: self.metrics.queries,
            overflows: seen.losses,
            rescans: seen.instances.saturating_sub(1),
            events: seen.events,
            watches: seen.folders,
            watch_limit: seen.limit,
            unwatched_links: self.watcher.unwatched_links(),
            missed: workspace.missed,
            paranoid: ParanoidStatus {
                on: constants.is_paranoid,
                answers: if constants.is_paranoid { self.metrics.queries } else { 0 },
                mistakes: workspace.mistakes,
            },
            last_audit: self.metrics.last_audit,
            lag_ms: self.metrics.lag_ms(),
            store: self.store_status(),
            agent: self.summarizer.status(),
            rss_bytes: Some(usage.rss_bytes),
            fds: Some(usage.fds),
            listen: constants.listen.clone(),
            settings_problems: self.last_settings.problems(),
            settings: lock(&self.fingerprint).clone(),
        }
    }

    fn store_status(&self) -> StoreStatus {
        let size = |name: &str| RealDisk.size(&self.instance.paths.cache.join(name)).unwrap_or(0);
        let bytes = size("index.db");
        StoreStatus { bytes, wal_bytes: size("index.db-wal"), ok: 0 < bytes }
    }
}
