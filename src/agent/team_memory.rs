//! What is remembered about a team's cache between processes, so that summaries it lacks are not requested again at
//! once, and a cache that fails is not used for some time.
//!
//! This only saves time: without a usable database, nothing is remembered.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use crate::engine::summaries::WantedSummary;
use crate::model::{ContentHash, SummaryKey};
use crate::share::{EntryDefect, TeamCache};
use crate::store::agent::{AGENT_DATABASE, AgentDb, TeamState};

/// How many milliseconds a miss is remembered.
const MISS_MEMORY_MS: i64 = 5 * 60 * 1000;
/// The number of failures in a row after which the cache is paused.
const FAILURES_BEFORE_REST: u32 = 3;
/// How many milliseconds the cache is paused: after that failure, and after each further one.
const RESTS_MS: [i64; 2] = [60 * 1000, 5 * 60 * 1000];

/// Misses and failures of a team's cache. All times are milliseconds since the epoch.
pub struct TeamMemory {
    file: PathBuf,
    cache: ContentHash,
}

impl TeamMemory {
    /// Returns the memory in `folder`, the project's cache.
    pub fn new(folder: &Path, team: &TeamCache) -> Self {
        Self { file: folder.join(AGENT_DATABASE), cache: team.id() }
    }

    /// Returns how long the cache remains paused after failures; 0 if it is not paused.
    pub fn pause_left(&self, now_ms: i64) -> i64 {
        let left = self.state().rests_until_ms.saturating_sub(now_ms).max(0);
        // Longer than any pause: the clock was set back.
        if RESTS_MS[1] < left { 0 } else { left }
    }

    /// Records the result of using the cache; `refused` counts the entries that a pull refused.
    pub fn record_result(&self, is_ok: bool, refused: Option<&BTreeMap<EntryDefect, u64>>, now_ms: i64) {
        let before = self.state();
        let failures = if is_ok { 0 } else { before.failures.saturating_add(1) };
        let rests = failures.checked_sub(FAILURES_BEFORE_REST);
        let rests_until_ms = rests.map_or(0, |more| now_ms + RESTS_MS[usize::from(0 < more)]);
        let refused = refused.map_or(before.refused.clone(), refused_json);
        let after = TeamState { failures, rests_until_ms, refused };
        if after != before
            && let Ok(opened) = AgentDb::open(&self.file)
        {
            let mut db = opened.db;
            let _ = db.set_team_state(&self.cache, &after);
        }
    }

    /// Returns how many entries the last pull refused by reason, as JSON; empty if unknown.
    pub fn refused(&self) -> String {
        self.state().refused
    }

    /// Removes the summaries that were found missing recently.
    pub(super) fn retain_unknown(&self, wanted: &mut Vec<WantedSummary>, now_ms: i64) {
        let keys = wanted.iter().map(|wanted| wanted.key).collect();
        let latest_ms = now_ms.saturating_add(MISS_MEMORY_MS);
        if let Ok(Some(db)) = AgentDb::open_reader(&self.file)
            && let Ok(unknown) = db.unknown_to_team(&self.cache, keys, now_ms, latest_ms)
        {
            let unknown: HashSet<SummaryKey> = unknown.into_iter().collect();
            wanted.retain(|wanted| unknown.contains(&wanted.key));
        }
    }

    /// Remembers what a pull did not find.
    pub(super) fn remember_missing(&self, wanted: &[WantedSummary], now_ms: i64) {
        let keys: Vec<SummaryKey> = wanted.iter().map(|wanted| wanted.key).collect();
        if let Ok(opened) = AgentDb::open(&self.file) {
            let mut db = opened.db;
            // Written before the misses, which belong to this cache.
            let state = db.team_state(&self.cache).unwrap_or_default();
            let _ = db.set_team_state(&self.cache, &state);
            let _ = db.record_team_misses(&keys, now_ms, now_ms.saturating_add(MISS_MEMORY_MS));
        }
    }

    /// Forgets which summaries were missing.
    pub fn forget_missing(&self) {
        if let Ok(Some(_)) = AgentDb::open_reader(&self.file)
            && let Ok(opened) = AgentDb::open(&self.file)
        {
            let mut db = opened.db;
            let _ = db.forget_team_misses();
        }
    }

    fn state(&self) -> TeamState {
        let read = || AgentDb::open_reader(&self.file).ok().flatten()?.team_state(&self.cache).ok();
        read().unwrap_or_default()
    }
}

fn refused_json(refused: &BTreeMap<EntryDefect, u64>) -> String {
    let reasons: BTreeMap<String, u64> =
        refused.iter().map(|(defect, count)| (defect.to_string(), *count)).collect();
    serde_json::to_string(&reasons).expect("a map of texts and numbers has a form in JSON")
}
