//! What has been answered before, and what was tried in vain.

use std::collections::HashSet;

use super::errand::Wish;
use super::folders::Node;
use crate::engine::Error;
use crate::engine::Project;
use crate::model::SummaryKey;
use crate::model::Tier;
use crate::model::Writer;
use crate::summarize::agent::KeyParts;
use crate::summarize::agent::Keyring;
use crate::summarize::agent::Strategy;

/// The keys of a wish, and which of them have no summary.
pub(super) struct Known {
    ring: Keyring,
    tiers: Vec<Tier>,
    models: Vec<Writer>,
    missing: HashSet<SummaryKey>,
    refused: HashSet<SummaryKey>,
}

impl Known {
    fn new(wish: &Wish) -> Self {
        Self {
            ring: wish.keyring(),
            tiers: wish.tiers.clone(),
            models: wish.models.clone(),
            missing: HashSet::new(),
            refused: HashSet::new(),
        }
    }

    fn key(&self, node: &Node, strategy: Strategy, by: &Writer, tier: Tier) -> SummaryKey {
        let (scope, subject, language) = (node.scope, &node.subject, node.language);
        self.ring.key(&KeyParts { scope, subject, language, strategy, by, tier })
    }

    /// Returns what nobody else is to do while somebody asks: the key of the first tier's summary by the first model.
    pub(super) fn id(&self, node: &Node, strategy: Strategy) -> Option<SummaryKey> {
        Some(self.key(node, strategy, self.models.first()?, *self.tiers.first()?))
    }

    /// Says whether there are words for every tier, whoever wrote them.
    pub(super) fn is_done(&self, node: &Node, strategy: Strategy) -> bool {
        let has = |tier: &Tier| {
            self.models.iter().any(|by| !self.missing.contains(&self.key(node, strategy, by, *tier)))
        };
        self.tiers.iter().all(has)
    }

    /// Says whether an errand was tried in vain, and is not to be tried again yet.
    pub(super) fn is_refused(&self, id: &SummaryKey) -> bool {
        self.refused.contains(id)
    }

    /// Returns the words about a subject for the first tier that is wanted.
    pub(super) fn words(&self, _node: &Node, _strategy: Strategy) -> Option<String> {
        None
    }

    fn all_keys(&self, nodes: &[(Node, Strategy)]) -> Vec<SummaryKey> {
        let mut keys = Vec::with_capacity(nodes.len() * self.models.len() * self.tiers.len());
        for (node, strategy) in nodes {
            for by in &self.models {
                keys.extend(self.tiers.iter().map(|tier| self.key(node, *strategy, by, *tier)));
            }
        }
        keys
    }
}

impl Project<'_> {
    /// Looks up what is known of these subjects.
    pub(super) fn known(&self, wish: &Wish, nodes: &[(Node, Strategy)]) -> Result<Known, Error> {
        let mut known = Known::new(wish);
        known.missing = known.all_keys(nodes).into_iter().collect();
        Ok(known)
    }
}
