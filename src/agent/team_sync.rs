//! A team's cache, as a process that goes on uses it: what it lacks is not asked for again at once, and a cache that fails is
//! left alone for some time.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::sharing::{PullReport, ShareFailure, pull_shared, push_shared};
use crate::engine::summaries::WantedSummary;
use crate::model::SummaryKey;
use crate::share::TeamCache;

/// For how long it is remembered that the cache has no summary of a key.
const MISS_MEMORY: Duration = Duration::from_mins(5);
/// After so many failures in a row, the cache is left alone.
const FAILURES_BEFORE_REST: u32 = 3;
/// For how long: after the first of these failures, and after the others.
const RESTS: [Duration; 2] = [Duration::from_mins(1), Duration::from_mins(5)];

/// Keeps the summaries of a project and those of a team's cache in step. All times are those of a monotonic clock.
pub struct TeamSync {
    team: Arc<TeamCache>,
    /// The folder of the project's cache.
    folder: PathBuf,
    /// What the cache lacks, until when that is remembered.
    missing_until: HashMap<SummaryKey, Duration>,
    failures: u32,
    rests_until: Duration,
}

impl TeamSync {
    pub fn new(team: Arc<TeamCache>, folder: PathBuf) -> Self {
        Self { team, folder, missing_until: HashMap::new(), failures: 0, rests_until: Duration::ZERO }
    }

    /// Fetches what is wanted and has not been found missing lately. While the cache is left alone, nothing is fetched.
    pub fn pull(
        &mut self,
        mut wanted: Vec<WantedSummary>,
        now: Duration,
    ) -> Result<PullReport, ShareFailure> {
        self.missing_until.retain(|_, until| now < *until);
        wanted.retain(|wanted| !self.missing_until.contains_key(&wanted.key));
        if wanted.is_empty() || self.rests(now) {
            return Ok(PullReport::default());
        }
        let pulled = pull_shared(&self.folder, &self.team, &wanted);
        self.count(pulled.is_ok(), now);
        if pulled.is_ok() {
            // What was fetched is not wanted again.
            self.missing_until.extend(wanted.iter().map(|wanted| (wanted.key, now + MISS_MEMORY)));
        }
        pulled
    }

    /// Stores what was paid for here since the last time. While the cache is left alone, it waits.
    pub fn push(&mut self, now: Duration) -> Result<(), ShareFailure> {
        if self.team.own_key().is_none() || self.rests(now) {
            return Ok(());
        }
        let pushed = push_shared(&self.folder, &self.team, false);
        self.count(pushed.is_ok(), now);
        pushed.map(drop)
    }

    /// Returns whether the cache is left alone, because it failed.
    pub fn rests(&self, now: Duration) -> bool {
        now < self.rests_until
    }

    fn count(&mut self, is_ok: bool, now: Duration) {
        if is_ok {
            self.failures = 0;
            return;
        }
        self.failures += 1;
        if let Some(rests) = self.failures.checked_sub(FAILURES_BEFORE_REST) {
            self.rests_until = now + RESTS[usize::from(0 < rests)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::sharing::tests::{shared, wanted};
    use crate::share::{EngineOptions, ShareUrl, SigningKey, TeamKey, Writer, generate_key};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_is_missing_is_not_asked_for_again_at_once_and_a_cache_that_fails_rests() {
        let (remote, local) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (key, secret) = (generate_key().unwrap(), generate_key().unwrap());
        let signer = || SigningKey::parse(&secret).unwrap();
        let writer = Writer { name: "ci".to_owned(), key: signer().writer_key() };
        let cache = |folder: PathBuf| {
            let options = EngineOptions { timeout: Duration::from_secs(20), lifetime: None, claims: true };
            let team = TeamKey::parse(&key).unwrap();
            TeamCache::new(
                &ShareUrl::Folder(folder),
                options,
                team,
                Some(signer()),
                std::slice::from_ref(&writer),
            )
        };
        let folder = remote.path().join("mounted");
        let mut sync = TeamSync::new(Arc::new(cache(folder.clone())), local.path().to_owned());
        // The folder is not there.
        for failure in 0..4 {
            let now = SECOND * failure;
            assert_eq!(sync.pull(vec![wanted("a")], now).is_err(), failure < 3, "{failure}");
        }
        assert!(sync.rests(SECOND * 61) && !sync.rests(SECOND * 62));
        assert!(sync.pull(vec![wanted("a")], SECOND * 62).is_err());
        assert!(sync.rests(SECOND * 361) && !sync.rests(SECOND * 362));
        std::fs::create_dir(&folder).unwrap();
        let mut fetched = |seconds: u32| sync.pull(vec![wanted("a")], SECOND * seconds).unwrap().fetched;
        assert_eq!(fetched(362), 0);
        cache(folder).store(&[shared("a", "It runs jobs.")]).unwrap();
        assert_eq!(fetched(661), 0, "it is remembered that there is none");
        assert_eq!(fetched(662), 1);
        sync.push(SECOND * 663).unwrap();
    }
}
