//! A team's cache, as a process that goes on uses it: what it lacks is not asked for again at once, and a cache that fails is
//! left alone for some time, also by the next process ([`TeamMemory`]).

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::claims::{ClaimedTasks, TeamClaims};
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

    /// Fetches what is wanted and has not been found missing lately. While the cache is left alone, nothing is fetched.
    pub fn pull(&self, mut wanted: Vec<WantedSummary>, now_ms: i64) -> Result<PullReport, ShareFailure> {
        if self.rests(now_ms) {
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

    /// Fetches what is wanted, also if it was missing lately: another member may be answering it.
    pub fn pull_again(&self, wanted: &[WantedSummary], now_ms: i64) -> Result<PullReport, ShareFailure> {
        let pulled = pull_shared(&self.folder, &self.team, wanted);
        self.memory.count(pulled.is_ok(), pulled.as_ref().ok().map(|report| &report.refused), now_ms);
        pulled
    }

    /// Claims tasks; `None` if the cache has no claims, or is left alone.
    pub fn claim(
        &self,
        tasks: &[SummaryTask],
        options: &Options,
        now_ms: i64,
    ) -> Result<Option<ClaimedTasks>, ShareFailure> {
        let Some(claims) = TeamClaims::new(&self.team, options).filter(|_| !self.rests(now_ms)) else {
            return Ok(None);
        };
        let claimed = claims.claim(tasks, &[], now_ms);
        self.memory.count(claimed.is_ok(), None, now_ms);
        Ok(Some(claimed?))
    }

    /// Stores what was paid for here and what was refused since the last time, and gives up claims. While the cache is left
    /// alone, it waits, and claims end by themselves.
    pub fn store(
        &self,
        claimed: HashSet<SummaryKey>,
        refused: &[(SummaryTask, String)],
        options: &Options,
        now_ms: i64,
    ) -> Result<(), ShareFailure> {
        if self.team.own_key().is_none() || self.rests(now_ms) {
            return Ok(());
        }
        let stored = self.store_all(claimed, refused, options, now_ms);
        self.memory.count(stored.is_ok(), None, now_ms);
        stored
    }

    /// Returns whether the cache is left alone, because it failed.
    pub fn rests(&self, now_ms: i64) -> bool {
        0 < self.memory.rests_for(now_ms)
    }

    fn store_all(
        &self,
        claimed: HashSet<SummaryKey>,
        refused: &[(SummaryTask, String)],
        options: &Options,
        now_ms: i64,
    ) -> Result<(), ShareFailure> {
        push_shared(&self.folder, &self.team, false)?;
        if let Some(claims) = TeamClaims::new(&self.team, options) {
            claims.share_refusals(refused, now_ms)?;
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
    fn what_is_missing_is_not_asked_for_again_at_once_and_a_cache_that_fails_rests() {
        let (remote, local) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let keys = TestKeys::new();
        let folder = remote.path().join("mounted");
        // Each is another process.
        let sync = || TeamSync::new(Arc::new(keys.cache(&folder)), local.path().to_owned());
        let at = |seconds: i64| 1_700_000_000_000 + seconds * 1000;
        // The folder is not there.
        for failure in 0..4 {
            assert_eq!(sync().pull(vec![wanted("a")], at(failure)).is_err(), failure < 3, "{failure}");
        }
        assert!(sync().rests(at(61)) && !sync().rests(at(62)));
        assert!(sync().pull(vec![wanted("a")], at(62)).is_err());
        assert!(sync().rests(at(361)) && !sync().rests(at(362)));
        assert!(!sync().rests(at(-600)), "the clock was ahead");
        std::fs::create_dir(&folder).unwrap();
        let fetched = |seconds| sync().pull(vec![wanted("a")], at(seconds)).unwrap().fetched;
        assert_eq!(fetched(362), 0);
        keys.cache(&folder).store(&[shared("a", "It runs jobs.")]).unwrap();
        assert_eq!(fetched(661), 0, "it is remembered that there is none");
        assert_eq!(fetched(662), 1);
    }
}
