//! Questions that members of a team share: each is claimed before it is asked, and the others wait for the answer.

use std::collections::HashSet;
use std::time::Duration;

use super::options::Options;
use crate::engine::summaries::SummaryTask;
use crate::model::SummaryKey;
use crate::share;
use crate::share::TeamCache;

/// The longest time for which a question is claimed.
const MAX_LIFETIME: Duration = Duration::from_mins(10);

/// How many questions are claimed at once, for each call that may be in flight: few, so that the members of a team share
/// the work, and a member that stops leaves little that the others wait for.
const CLAIMS_PER_CALL: usize = 2;

/// Claims tasks in a team's cache.
pub struct TeamClaims<'t> {
    team: &'t TeamCache,
    lifetime: Duration,
    batch: usize,
}

impl<'t> TeamClaims<'t> {
    /// Returns what claims tasks under these options; `None` if the cache has no claims.
    pub fn new(team: &'t TeamCache, options: &Options) -> Option<Self> {
        let batch = CLAIMS_PER_CALL * options.concurrency.max(1) as usize;
        let lifetime = (options.timeout * 2).min(MAX_LIFETIME);
        team.has_claims().then_some(Self { team, lifetime, batch })
    }

    /// Returns for how long a task is claimed, unless it is released before.
    pub const fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Claims the first tasks that nobody else has claimed, and returns their ids; none if others have claimed all.
    pub fn claim(&self, tasks: &[SummaryTask]) -> Result<HashSet<SummaryKey>, share::Error> {
        let mut own = HashSet::new();
        for batch in tasks.chunks(self.batch) {
            let ids: Vec<SummaryKey> =
                batch.iter().map(|task| task.id).take(self.batch - own.len()).collect();
            let claimed = self.team.claim(&ids, self.lifetime)?;
            own.extend(ids.into_iter().zip(claimed).filter(|(_, is_own)| *is_own).map(|(id, _)| id));
            if own.len() == self.batch {
                break;
            }
        }
        Ok(own)
    }

    /// Gives up claims: what was answered is stored, and what was not may be asked by others.
    pub fn release(&self, ids: HashSet<SummaryKey>) -> Result<(), share::Error> {
        self.team.release(&ids.into_iter().collect::<Vec<_>>())
    }
}
