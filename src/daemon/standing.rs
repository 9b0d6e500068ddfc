//! What the scribe asks by: a plan that is made of the settings, and how far it still holds when they are others.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::scribe::KeyOf;
use super::scribe::SETTINGS_LOOK;
use super::worker::Shop;
use crate::agent;
use crate::agent::Questions;
use crate::agent::Soft;
use crate::agent::Worded;
use crate::api::Fault;
use crate::config::Inputs;
use crate::config::load;
use crate::engine::agent::Errand;
use crate::engine::agent::Prepared;
use crate::engine::agent::Withheld;
use crate::model::ModelName;
use crate::model::SummaryKey;
use crate::model::Tier;
use crate::service::AgentChoice;
use crate::service::Keys;
use crate::service::agent_keys;
use crate::service::agent_options;
use crate::service::fault_of_settings;
use crate::sys::Clock;
use crate::sys::WallClock;

/// Whom to ask, by which settings.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) options: agent::Options,
    pub(super) keys: Keys,
    pub(super) engine: crate::engine::Options,
    pub(super) cache: PathBuf,
}

impl Plan {
    /// Says how far this still holds beside what the settings say now.
    fn holds(&self, now: Result<Option<Self>, Fault>) -> Holds {
        let now = match now {
            Ok(Some(now)) => now,
            Ok(None) => return Holds::NoMore,
            Err(_) => return Holds::ForTheRest,
        };
        let excluded = &self.options.wish.exclude;
        if now.options.chain != self.options.chain
            || now.options.wish.exclude.iter().any(|pattern| !excluded.contains(pattern))
        {
            return Holds::NoMore;
        }
        let is_same = now.options == self.options
            && now.keys.keys().eq(self.keys.keys())
            && now.engine == self.engine
            && now.cache == self.cache;
        if is_same { Holds::Wholly } else { Holds::ForTheRest }
    }
}

/// Reads the settings; no plan where nobody is to be asked.
pub(super) fn plan(shop: &Shop, inputs: &Inputs, key: KeyOf) -> Result<Option<Plan>, Fault> {
    let loaded = load(inputs).map_err(|error| fault_of_settings(&error))?;
    let engine = loaded.engine_options(&shop.root);
    if !loaded.settings.agent.is_background || !engine.cache_enabled {
        return Ok(None);
    }
    let options = agent_options(&loaded, AgentChoice::default())?;
    let keys = agent_keys(&options.chain, &key)?;
    let cache = shop.root.join(engine.cache_dir.as_path());
    Ok(Some(Plan { options, keys, engine, cache }))
}

/// What must not change while questions are asked by it.
pub(super) struct Standing<'s> {
    pub(super) shop: &'s Shop,
    key: KeyOf,
    plan: Plan,
    looked: Mutex<Looked>,
}

/// What the last look at the settings found.
struct Looked {
    at: Duration,
    inputs: Inputs,
    holds: Holds,
}

/// How far a plan still holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// As it stands.
    Wholly,
    /// No longer, but what was begun by it may be ended: it is paid for.
    ForTheRest,
    /// Not at all: what is under way is not wanted, or not allowed.
    NoMore,
}

impl<'s> Standing<'s> {
    pub(super) fn new(shop: &'s Shop, key: KeyOf, plan: Plan, inputs: Inputs) -> Self {
        let looked = Looked { at: WallClock.monotonic(), inputs, holds: Holds::Wholly };
        Self { shop, key, plan, looked: Mutex::new(looked) }
    }

    /// Says whether to drop what is under way: the daemon is about to end, or the settings want it.
    pub(super) fn has_fallen(&self) -> bool {
        self.shop.is_stopping.load(Ordering::Relaxed) || self.look() == Holds::NoMore
    }

    /// Says whether to begin nothing more by this plan.
    pub(super) fn is_past(&self) -> bool {
        self.shop.is_stopping.load(Ordering::Relaxed) || self.look() != Holds::Wholly
    }

    fn look(&self) -> Holds {
        let now = WallClock.monotonic();
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.holds == Holds::NoMore || now.saturating_sub(looked.at) < SETTINGS_LOOK {
            return looked.holds;
        }
        looked.at = now;
        // Where the settings cannot be read, these hold.
        if let Ok(inputs) = self.shop.sources.inputs(&self.shop.root)
            && inputs != looked.inputs
        {
            looked.holds = self.plan.holds(plan(self.shop, &inputs, self.key));
            looked.inputs = inputs;
        }
        looked.holds
    }
}

/// Questions that nobody begins with any more once the settings are others.
pub(super) struct WhileItHolds<'q> {
    pub(super) worded: Worded<'q>,
    pub(super) standing: &'q Standing<'q>,
}

impl Questions for WhileItHolds<'_> {
    fn keys(&self, errand: &Errand, by: &ModelName) -> Vec<(Tier, SummaryKey)> {
        self.worded.keys(errand, by)
    }

    fn prepare(&self, errand: &Errand, shrink: u8) -> Result<Prepared, Withheld> {
        if self.standing.is_past() { Err(Withheld::Changed) } else { self.worded.prepare(errand, shrink) }
    }

    fn check(&self, errand: &Errand, answer: &str) -> Result<Vec<(Tier, String)>, Soft> {
        self.worded.check(errand, answer)
    }

    fn paths(&self, errand: &Errand) -> Vec<Vec<u8>> {
        self.worded.paths(errand)
    }
}
