//! Keeps the summaries of a project and those of a team's cache in step for as long as a process runs. Misses and
//! failures are remembered, also for the next process ([`TeamMemory`]).

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::claims::TeamClaims;
use super::options::Options;
use super::sharing::{PullReport, ShareFailure, pull_shared, push_shared};
use super::team_memory::TeamMemory;
use crate::engine::summaries::{SummaryTask, WantedSummary};
use crate::model::SummaryKey;
use crate::share::TeamCache;

/// Keeps the summaries of a project and those of a team's cache in step. All times are milliseconds since the epoch.
pub struct TeamSync {
    team: Arc<TeamCache>,
    /// The folder of the project's cache.
    folder: PathBuf,
    memory: TeamMemory,
}

impl TeamSync {
    pub fn new(team: Arc<TeamCache>, folder: PathBuf) -> Self {
        let memory = TeamMemory::new(&folder, &team);
        Self { team, folder, memory }
    }

    /// Fetches the wanted summaries, except those found missing recently. While the cache is paused, nothing is
    /// fetched.
    pub fn pull(&self, mut wanted: Vec<WantedSummary>, now_ms: i64) -> Result<PullReport, ShareFailure> {
        if self.is_paused(now_ms) {
            return Ok(PullReport::default());
        }
        self.memory.retain_unknown(&mut wanted, now_ms);
        if wanted.is_empty() {
            return Ok(PullReport::default());
        }
        let report = self.pull_again(&wanted, now_ms)?;
        if report.fetched < report.wanted {
            self.memory.remember_missing(&wanted, now_ms);
        }
        Ok(report)
    }

    /// Fetches the wanted summaries, including those found missing recently: another member may have stored them since.
    pub fn pull_again(&self, wanted: &[WantedSummary], now_ms: i64) -> Result<PullReport, ShareFailure> {
        let pulled = pull_shared(&self.folder, &self.team, wanted);
        self.memory.record_result(pulled.is_ok(), pulled.as_ref().ok().map(|report| &report.refused), now_ms);
        pulled
    }

    /// Claims tasks, and returns their ids; `None` if the cache does not support claims or is paused.
    pub fn claim(
        &self,
        tasks: &[SummaryTask],
        options: &Options,
        now_ms: i64,
    ) -> Result<Option<HashSet<SummaryKey>>, ShareFailure> {
        let Some(claims) = TeamClaims::new(&self.team, options).filter(|_| !self.is_paused(now_ms)) else {
            return Ok(None);
        };
        let claimed = claims.claim(tasks);
        self.memory.record_result(claimed.is_ok(), None, now_ms);
        Ok(Some(claimed?))
    }

    /// Stores the summaries paid for here since the last call, and releases claims. While the cache is paused, nothing
    /// is stored, and claims expire.
    pub fn store(
        &self,
        claimed: HashSet<SummaryKey>,
        options: &Options,
        now_ms: i64,
    ) -> Result<(), ShareFailure> {
        if self.team.own_key().is_none() || self.is_paused(now_ms) {
            return Ok(());
        }
        let stored = self.store_all(claimed, options);
        self.memory.record_result(stored.is_ok(), None, now_ms);
        stored
    }

    /// Returns whether the cache is paused because it failed.
    pub fn is_paused(&self, now_ms: i64) -> bool {
        0 < self.memory.pause_left(now_ms)
    }

    fn store_all(&self, claimed: HashSet<SummaryKey>, options: &Options) -> Result<(), ShareFailure> {
        push_shared(&self.folder, &self.team)?;
        if let Some(claims) = TeamClaims::new(&self.team, options) {
            claims.release(claimed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::sharing::tests::{TestKeys, shared, wanted};

    #[test]
    fn misses_are_not_requested_again_at_once_and_a_failing_cache_is_paused() {
        let (remote, local) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let keys = TestKeys::new();
        let folder = remote.path().join("mounted");
        // Each represents another process.
        let sync = || TeamSync::new(Arc::new(keys.cache(&folder)), local.path().to_owned());
        let at = |seconds: i64| 1_700_000_000_000 + seconds * 1000;
        // The folder is not there.
        for failure in 0..4 {
            assert_eq!(sync().pull(vec![wanted("a")], at(failure)).is_err(), failure < 3, "{failure}");
        }
        assert!(sync().is_paused(at(61)) && !sync().is_paused(at(62)));
        assert!(sync().pull(vec![wanted("a")], at(62)).is_err());
        assert!(sync().is_paused(at(361)) && !sync().is_paused(at(362)));
        assert!(!sync().is_paused(at(-600)), "the clock was ahead");
        std::fs::create_dir(&folder).unwrap();
        let fetched = |seconds| sync().pull(vec![wanted("a")], at(seconds)).unwrap().fetched;
        assert_eq!(fetched(362), 0);
        keys.cache(&folder).store(&[shared("a", "It runs jobs.")]).unwrap();
        assert_eq!(fetched(661), 0, "it is remembered that there is none");
        assert_eq!(fetched(662), 1);
    }
}
