//! Lets the first call with some instructions go alone.
//!
//! A provider can read a prompt's beginning from its cache only when the first answer with it has begun. Four calls at
//! once would each pay for writing it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::llm;
use crate::llm::Model;
use crate::model::ContentHash;
use crate::model::Prompt;

/// Which beginnings of prompts providers have in their caches.
#[derive(Debug, Default)]
pub(super) struct Warm {
    /// By model and instructions: whether the first call has come back.
    known: Mutex<BTreeMap<Beginning, bool>>,
}

/// A model and instructions.
pub(super) type Beginning = (String, ContentHash);

/// Whether a call may be made.
pub(super) enum Place<'w> {
    /// It is the first; the others wait until this is dropped.
    First(Warming<'w>),
    /// The first is on its way.
    Behind,
    /// It may.
    Free,
}

/// Lets the others go when it is dropped, whatever came of the first call.
pub(super) struct Warming<'w> {
    warm: &'w Warm,
    beginning: Beginning,
}

impl Warm {
    /// Returns what is to be in the cache; `None` where nothing is marked to be kept.
    pub(super) fn beginning(model: &Model, prompt: &Prompt) -> Option<Beginning> {
        let name = || model.full_name().to_string();
        let hash = || ContentHash::of(prompt.instructions.as_bytes());
        llm::marks_cache(model, &prompt.instructions).then(|| (name(), hash()))
    }

    pub(super) fn enter(&self, beginning: &Beginning) -> Place<'_> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(beginning) {
            Some(true) => Place::Free,
            Some(false) => Place::Behind,
            None => {
                known.insert(beginning.clone(), false);
                Place::First(Warming { warm: self, beginning: beginning.clone() })
            }
        }
    }
}

impl Drop for Warming<'_> {
    fn drop(&mut self) {
        let mut known = self.warm.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(self.beginning.clone(), true);
    }
}
