//! How a daemon is, for whoever asks.

use std::time::Duration;

use super::steady::Mode;
use super::steady::Steady;
use crate::api::AuditStatus;
use crate::api::DaemonMode;
use crate::api::DaemonStatus;
use crate::api::PROTOCOL;
use crate::api::ParanoidStatus;
use crate::api::StoreStatus;
use crate::api::VERSION;
use crate::sys::Disk;
use crate::sys::RealDisk;
use crate::sys::Usage;

const MINUTE: Duration = Duration::from_mins(1);

/// What does not change while a daemon runs.
#[derive(Debug, Clone)]
pub(super) struct Constants {
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
pub(super) struct Counted {
    /// Questions that were asked.
    pub(super) asked: u64,
    /// Questions that workers are at, or that wait for one.
    pub(super) working: u64,
    pub(super) last_audit: Option<AuditStatus>,
    turn_began: Duration,
    /// The longest turn of this minute and of the one before, and when this one began.
    longest: [Duration; 2],
    minute: Duration,
}

impl Counted {
    /// Takes in that the loop has something to do.
    pub(super) const fn began_turn(&mut self, now: Duration) {
        self.turn_began = now;
    }

    /// Takes in that it has done it.
    pub(super) fn ends_turn(&mut self, now: Duration) {
        if MINUTE <= now.saturating_sub(self.minute) {
            self.longest = [Duration::ZERO, self.longest[0]];
            self.minute = now;
        }
        self.longest[0] = self.longest[0].max(now.saturating_sub(self.turn_began));
    }

    /// Returns the longest time of late for which the loop did not listen, in milliseconds.
    fn lag_ms(&self) -> u64 {
        let longest = self.longest[0].max(self.longest[1]);
        u64::try_from(longest.as_millis()).unwrap_or(u64::MAX)
    }
}

impl Steady<'_> {
    /// Returns how the daemon is.
    pub(super) fn status(&self) -> DaemonStatus {
        let (seen, tree, usage) = (self.watcher.counts(), self.tree.counts(), Usage::now());
        let now_ms = self.clock.now_ns() / 1_000_000;
        let (mode, reason) = match &self.mode {
            Mode::Starting => (DaemonMode::Starting, None),
            Mode::Events => (DaemonMode::Events, None),
            Mode::Verified(why) => (DaemonMode::Verified, Some(why.clone())),
        };
        let constants = &self.constants;
        DaemonStatus {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            pid: std::process::id(),
            root: self.owner.places.root.display().to_string(),
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
                + self.counted.working.saturating_sub(constants.workers.into()),
            workers: constants.workers,
            answers: self.counted.asked,
            overflows: seen.losses,
            rescans: seen.instances.saturating_sub(1),
            events: seen.events,
            watches: seen.folders,
            watch_limit: seen.limit,
            missed: tree.missed,
            paranoid: ParanoidStatus {
                on: constants.is_paranoid,
                answers: if constants.is_paranoid { self.counted.asked } else { 0 },
                mistakes: tree.mistakes,
            },
            last_audit: self.counted.last_audit,
            lag_ms: self.counted.lag_ms(),
            store: self.store_status(),
            agent: self.scribe.status(),
            rss_bytes: Some(usage.rss_bytes),
            fds: Some(usage.fds),
            listen: constants.listen.clone(),
            settings: self.fingerprint.lock().map(|known| known.clone()).unwrap_or_default(),
        }
    }

    fn store_status(&self) -> StoreStatus {
        let size = |name: &str| RealDisk.size(&self.owner.places.cache.join(name)).unwrap_or(0);
        let bytes = size("index.db");
        StoreStatus { bytes, wal_bytes: size("index.db-wal"), ok: 0 < bytes }
    }
}
