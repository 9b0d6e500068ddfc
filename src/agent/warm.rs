//! Lets the first call with given instructions go alone.
//!
//! A provider can read a prompt's prefix from its cache only after the first response with it has begun. Four calls
//! at once would each pay for writing it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::llm;
use crate::llm::Model;
use crate::model::ContentHash;
use crate::model::ModelPrompt;

/// Tracks which prompt prefixes providers have in their caches.
#[derive(Debug, Default)]
pub(super) struct CachePrimer {
    /// By model and instructions: whether the first call has returned.
    known: Mutex<BTreeMap<PromptPrefix, bool>>,
}

/// A model and the hash of its instructions.
pub(super) type PromptPrefix = (String, ContentHash);

/// Whether a call may be made.
pub(super) enum PrimeState<'w> {
    /// It is the first; the others wait until the guard is dropped.
    First(PrimeGuard<'w>),
    /// The first call is in flight.
    Pending,
    /// It may be made.
    Primed,
}

/// Lets the other calls go when dropped, whatever the result of the first call.
pub(super) struct PrimeGuard<'w> {
    primer: &'w CachePrimer,
    prefix: PromptPrefix,
}

impl CachePrimer {
    /// Returns the prefix to be cached; `None` if nothing is marked for caching.
    pub(super) fn prefix(model: &Model, prompt: &ModelPrompt) -> Option<PromptPrefix> {
        let name = || model.full_name().to_string();
        let hash = || ContentHash::digest(prompt.instructions.as_bytes());
        llm::marks_cache(model, &prompt.instructions).then(|| (name(), hash()))
    }

    pub(super) fn enter(&self, beginning: &PromptPrefix) -> PrimeState<'_> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(beginning) {
            Some(true) => PrimeState::Primed,
            Some(false) => PrimeState::Pending,
            None => {
                known.insert(beginning.clone(), false);
                PrimeState::First(PrimeGuard { primer: self, prefix: beginning.clone() })
            }
        }
    }
}

impl Drop for PrimeGuard<'_> {
    fn drop(&mut self) {
        let mut known = self.primer.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(self.prefix.clone(), true);
    }
}
