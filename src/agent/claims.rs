//! Questions that members of a team share: each is claimed before it is asked, and the others wait for the answer.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::core::REFUSED_FOR_MS;
use super::options::Options;
use crate::engine::summaries::{SummaryPolicy, SummaryTask};
use crate::model::{ModelName, Money, SummaryKey, Tier, TokenUsage, printable};
use crate::share;
use crate::share::{Fetched, SharedSummary, TeamCache};

/// The longest time for which a question is claimed.
const MAX_LIFETIME: Duration = Duration::from_mins(10);

/// How many questions are claimed at once, for each call that may be in flight: few, so that the members of a team share
/// the work, and a member that stops leaves little that the others wait for.
const CLAIMS_PER_CALL: usize = 2;

/// Characters of a refusal's reason that are shared.
const MAX_REASON_CHARS: usize = 200;

/// Claims tasks in a team's cache.
pub struct TeamClaims<'t> {
    team: &'t TeamCache,
    policy: &'t SummaryPolicy,
    lifetime: Duration,
    batch: usize,
}

/// What became of tasks that were to be claimed.
#[derive(Debug, Default)]
pub struct ClaimedTasks {
    /// The ids of those that are to be asked here.
    pub own: HashSet<SummaryKey>,
    /// Those that the model of another member has refused, with the reason.
    pub refused: Vec<(SummaryTask, String)>,
}

impl<'t> TeamClaims<'t> {
    /// Returns what claims tasks under these options; `None` if the cache has no claims.
    pub fn new(team: &'t TeamCache, options: &'t Options) -> Option<Self> {
        let batch = CLAIMS_PER_CALL * options.concurrency.max(1) as usize;
        let lifetime = (options.timeout * 2).min(MAX_LIFETIME);
        team.has_claims().then_some(Self { team, policy: &options.policy, lifetime, batch })
    }

    /// Returns for how long a task is claimed, unless it is released before.
    pub const fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Claims the first tasks that nobody else has claimed: none if others have claimed all. What another member's model
    /// has refused is not claimed, unless its refusal is one of `retried`.
    pub fn claim(
        &self,
        tasks: &[SummaryTask],
        retried: &[SummaryKey],
        now_ms: i64,
    ) -> Result<ClaimedTasks, share::Error> {
        let mut claimed = ClaimedTasks::default();
        for batch in tasks.chunks(self.batch) {
            let left = self.batch - claimed.own.len();
            let ids: Vec<SummaryKey> = batch.iter().map(|task| task.id).take(left).collect();
            let held = self.team.claim(&ids, self.lifetime)?;
            let own = batch.iter().zip(held).filter(|(_, is_own)| *is_own).map(|(task, _)| task);
            let own: Vec<&SummaryTask> = own.collect();
            // After the claim: what its last holder has stored before giving it up is found.
            let mut reasons = self.refusals(&own, retried, now_ms)?;
            self.team.release(&reasons.keys().copied().collect::<Vec<_>>())?;
            for task in own {
                match reasons.remove(&task.id) {
                    Some(reason) => claimed.refused.push((task.clone(), reason)),
                    None => {
                        claimed.own.insert(task.id);
                    }
                }
            }
            if claimed.own.len() == self.batch {
                break;
            }
        }
        Ok(claimed)
    }

    /// Gives up claims: what was answered is stored, and what was not may be asked by others.
    pub fn release(&self, ids: HashSet<SummaryKey>) -> Result<(), share::Error> {
        self.team.release(&ids.into_iter().collect::<Vec<_>>())
    }

    /// Tells the other members what the models refused. To be called before the claims are given up.
    pub fn share_refusals(&self, refused: &[(SummaryTask, String)], now_ms: i64) -> Result<(), share::Error> {
        let Some(model) = self.policy.models.first() else { return Ok(()) };
        let refusals = refused.iter().map(|(task, reason)| {
            refusal_entry(self.policy.refusal_key(&task.id), &model.name, reason, now_ms)
        });
        self.team.replace(&refusals.collect::<Vec<_>>())
    }

    /// Returns the reasons of the refusals that hold, by the ids of the tasks.
    fn refusals(
        &self,
        tasks: &[&SummaryTask],
        retried: &[SummaryKey],
        now_ms: i64,
    ) -> Result<HashMap<SummaryKey, String>, share::Error> {
        let keys = tasks.iter().map(|task| (self.policy.refusal_key(&task.id), task.id));
        let by_key: HashMap<SummaryKey, SummaryKey> =
            keys.filter(|(refusal, _)| !retried.contains(refusal)).collect();
        let mut found = HashMap::new();
        self.team.fetch::<share::Error>(
            &by_key.keys().copied().collect::<Vec<_>>(),
            &mut |key, fetched| {
                if let Fetched::Found(refusal, _) = fetched
                    && (0..REFUSED_FOR_MS).contains(&now_ms.saturating_sub(refusal.at_ms))
                {
                    found.insert(
                        by_key[key],
                        format!("{} (asked by another member of the team)", refusal.text),
                    );
                }
                Ok(())
            },
        )?;
        Ok(found)
    }
}

/// Returns the entry of a refusal. It has the form of a summary, under a key that is no summary's.
fn refusal_entry(key: SummaryKey, model: &ModelName, reason: &str, at_ms: i64) -> SharedSummary {
    let text = printable(&reason.chars().take(MAX_REASON_CHARS).collect::<String>());
    let (tier, tokens, cost) = (Tier::Orchestrator, TokenUsage::default(), Money::ZERO);
    SharedSummary { key, tier, model: model.clone(), text, tokens, cost, at_ms }
}
