//! Claims on tasks in a team's cache: a member claims a task before calling a model for it, and the others wait for the
//! summary.

use std::collections::HashSet;
use std::time::Duration;

use super::options::Options;
use crate::engine::summaries::SummaryTask;
use crate::model::SummaryKey;
use crate::share;
use crate::share::TeamCache;

/// The longest lifetime of a claim.
const MAX_LIFETIME: Duration = Duration::from_mins(10);

/// How many tasks are claimed at once for each call that may be in flight. It is small, so that the members of a team
/// share the work, and so that little is blocked when a member stops.
const CLAIMS_PER_CALL: usize = 2;

/// Claims tasks in a team's cache.
pub struct TeamClaims<'t> {
    team: &'t TeamCache,
    lifetime: Duration,
    batch: usize,
}

impl<'t> TeamClaims<'t> {
    /// Returns the claims for a service with these options; `None` if the cache does not support claims.
    pub fn new(team: &'t TeamCache, options: &Options) -> Option<Self> {
        let batch = CLAIMS_PER_CALL * options.concurrency.max(1) as usize;
        let lifetime = (options.timeout * 2).min(MAX_LIFETIME);
        team.has_claims().then_some(Self { team, lifetime, batch })
    }

    /// Returns how long a claim lasts unless it is released earlier.
    pub const fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Claims the first tasks that no other member has claimed, and returns their ids; empty if all are claimed.
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

    /// Releases claims: answered tasks are stored by now, and the others are available to other members again.
    pub fn release(&self, ids: HashSet<SummaryKey>) -> Result<(), share::Error> {
        self.team.release(&ids.into_iter().collect::<Vec<_>>())
    }
}
