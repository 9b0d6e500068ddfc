//! Which subjects have summaries, and which were tried without success.

use std::collections::{HashMap, HashSet};

use super::folders::SubjectKey;
use super::task::SummaryPolicy;
use crate::engine::error::Error;
use crate::engine::workspace::Workspace;
use crate::model::{SummaryKey, SummaryModel, Tier};
use crate::store::agent::{AGENT_DATABASE, AgentDb, RefusalRow};
use crate::summarize::prompt::{KeyParts, PromptStrategy, SummaryKeyBuilder};

const NANOS_A_MILLISECOND: i64 = 1_000_000;

/// The keys of a policy, and which of them have no summary.
pub(in crate::engine) struct KnownSummaries {
    ring: SummaryKeyBuilder,
    policy: SummaryPolicy,
    missing: HashSet<SummaryKey>,
    /// Each with why.
    refused: HashMap<SummaryKey, String>,
    /// Those of the refused that no time will change.
    withheld: HashSet<SummaryKey>,
    /// `None` if nothing has been paid for yet.
    paid: Option<AgentDb>,
}

impl KnownSummaries {
    fn new(policy: &SummaryPolicy) -> Self {
        Self {
            ring: policy.keyring(),
            policy: policy.clone(),
            missing: HashSet::new(),
            refused: HashMap::new(),
            withheld: HashSet::new(),
            paid: None,
        }
    }

    fn key(&self, node: &SubjectKey, strategy: PromptStrategy, by: &SummaryModel, tier: Tier) -> SummaryKey {
        let (scope, subject, language) = (node.scope, &node.subject, node.language);
        self.ring.key(&KeyParts { scope, subject, language, strategy, by, tier })
    }

    /// Returns the id under which a task is claimed: the key of the first tier's summary by the first model.
    pub(in crate::engine) fn task_id(
        &self,
        node: &SubjectKey,
        strategy: PromptStrategy,
    ) -> Option<SummaryKey> {
        Some(self.key(node, strategy, self.policy.models.first()?, *self.policy.tiers.first()?))
    }

    /// Returns whether there is a summary for every tier, by any model.
    pub(in crate::engine) fn is_done(&self, node: &SubjectKey, strategy: PromptStrategy) -> bool {
        let has = |tier: &Tier| {
            self.policy.models.iter().any(|by| !self.missing.contains(&self.key(node, strategy, by, *tier)))
        };
        self.policy.tiers.iter().all(has)
    }

    /// Returns whether a task was tried without success, and is not to be tried again yet.
    pub(in crate::engine) fn is_refused(&self, id: &SummaryKey) -> bool {
        self.refused.contains_key(&self.policy.refusal_key(id))
    }

    /// Returns why a task is not to be tried again yet.
    pub(in crate::engine) fn refusal(&self, id: &SummaryKey) -> Option<&str> {
        self.refused.get(&self.policy.refusal_key(id)).map(String::as_str)
    }

    /// Returns whether a subject is never to be sent: it may hold a secret, or a model declined to read it.
    pub(in crate::engine) fn is_withheld(&self, node: &SubjectKey, strategy: PromptStrategy) -> bool {
        self.task_id(node, strategy).is_some_and(|id| self.withheld.contains(&self.policy.refusal_key(&id)))
    }

    /// Returns the summary of a subject for the first tier that is wanted, by the first model that has written one.
    pub(in crate::engine) fn summary_text(
        &self,
        node: &SubjectKey,
        strategy: PromptStrategy,
    ) -> Option<String> {
        let (paid, tier) = (self.paid.as_ref()?, *self.policy.tiers.first()?);
        let mut found = self.policy.models.iter().filter_map(|by| {
            let summary = paid.summary(&self.key(node, strategy, by, tier)).ok()??;
            Some(summary.text)
        });
        found.next()
    }

    fn all_keys(&self, nodes: &[(SubjectKey, PromptStrategy)]) -> Vec<SummaryKey> {
        let mut keys = Vec::with_capacity(nodes.len() * self.policy.models.len() * self.policy.tiers.len());
        for (node, strategy) in nodes {
            for by in &self.policy.models {
                keys.extend(self.policy.tiers.iter().map(|tier| self.key(node, *strategy, by, *tier)));
            }
        }
        keys
    }
}

/// Looks up what is known of these subjects. A database that cannot be read is an error, and not an empty one: all that
/// it holds would be paid for again.
pub(in crate::engine) fn known_summaries(
    workspace: &Workspace<'_>,
    policy: &SummaryPolicy,
    nodes: &[(SubjectKey, PromptStrategy)],
) -> Result<KnownSummaries, Error> {
    let mut known = KnownSummaries::new(policy);
    let keys = known.all_keys(nodes);
    let opened = AgentDb::open_reader(&workspace.cache_folder().join(AGENT_DATABASE)).map_err(Error::Paid)?;
    let Some(paid) = opened else {
        known.missing = keys.into_iter().collect();
        return Ok(known);
    };
    known.missing = paid.missing_keys(&keys).map_err(Error::Paid)?.into_iter().collect();
    let now_ms = workspace.world.clock.now_ns() / NANOS_A_MILLISECOND;
    let holds = |refused: &RefusalRow| refused.until_ms.is_none_or(|until| now_ms < until);
    for refused in paid.refusals().map_err(Error::Paid)?.into_iter().filter(holds) {
        if refused.until_ms.is_none() {
            known.withheld.insert(refused.task_key);
        }
        known.refused.insert(refused.task_key, refused.reason);
    }
    known.paid = Some(paid);
    Ok(known)
}
