//! What the scribe asks by: a plan that is made of the settings, and how far it still holds when they are others.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::scribe::KeyLookup;
use super::scribe::SETTINGS_POLL;
use super::worker::WorkerContext;
use crate::agent;
use crate::agent::ProjectPrompts;
use crate::agent::PromptSource;
use crate::agent::SoftFailure;
use crate::api::ApiError;
use crate::config::ConfigInputs;
use crate::config::load;
use crate::engine::summaries::PreparedPrompt;
use crate::engine::summaries::SummaryTask;
use crate::engine::summaries::WithheldReason;
use crate::model::ModelName;
use crate::model::SummaryKey;
use crate::model::Tier;
use crate::service::AgentOverrides;
use crate::service::ProviderKeys;
use crate::service::agent_keys;
use crate::service::agent_options;
use crate::service::settings_error;
use crate::sys::Clock;
use crate::sys::WallClock;

/// Whom to ask, by which settings.
#[derive(Clone)]
pub(super) struct SummaryPlan {
    pub(super) options: agent::Options,
    pub(super) keys: ProviderKeys,
    pub(super) engine: crate::engine::Options,
    pub(super) cache: PathBuf,
}

impl SummaryPlan {
    /// Says how far this still holds beside what the settings say now.
    fn validity_under(&self, now: Result<Option<Self>, ApiError>) -> PlanValidity {
        let now = match now {
            Ok(Some(now)) => now,
            Ok(None) => return PlanValidity::Revoked,
            Err(_) => return PlanValidity::FinishOnly,
        };
        let excluded = &self.options.policy.exclude;
        if now.options.chain != self.options.chain
            || now.options.policy.exclude.iter().any(|pattern| !excluded.contains(pattern))
        {
            return PlanValidity::Revoked;
        }
        let is_same = now.options == self.options
            && now.keys.keys().eq(self.keys.keys())
            && now.engine == self.engine
            && now.cache == self.cache;
        if is_same { PlanValidity::Valid } else { PlanValidity::FinishOnly }
    }
}

/// Reads the settings; no plan where nobody is to be asked.
pub(super) fn load_plan(
    shop: &WorkerContext,
    inputs: &ConfigInputs,
    key: KeyLookup,
) -> Result<Option<SummaryPlan>, ApiError> {
    let loaded = load(inputs).map_err(|error| settings_error(&error))?;
    let engine = loaded.engine_options(&shop.root);
    if !loaded.settings.agent.is_background || !engine.cache_enabled {
        return Ok(None);
    }
    let options = agent_options(&loaded, AgentOverrides::default())?;
    let keys = agent_keys(&options.chain, &key)?;
    let cache = shop.root.join(engine.cache_dir.as_path());
    Ok(Some(SummaryPlan { options, keys, engine, cache }))
}

/// What must not change while questions are asked by it.
pub(super) struct PlanWatch<'s> {
    pub(super) context: &'s WorkerContext,
    key_lookup: KeyLookup,
    plan: SummaryPlan,
    last_check: Mutex<SettingsCheck>,
}

/// What the last look at the settings found.
struct SettingsCheck {
    checked_at: Duration,
    inputs: ConfigInputs,
    validity: PlanValidity,
}

/// How far a plan still holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlanValidity {
    /// As it stands.
    Valid,
    /// No longer, but what was begun by it may be ended: it is paid for.
    FinishOnly,
    /// Not at all: what is under way is not wanted, or not allowed.
    Revoked,
}

impl<'s> PlanWatch<'s> {
    pub(super) fn new(
        context: &'s WorkerContext,
        key_lookup: KeyLookup,
        plan: SummaryPlan,
        inputs: ConfigInputs,
    ) -> Self {
        let looked =
            SettingsCheck { checked_at: WallClock.monotonic(), inputs, validity: PlanValidity::Valid };
        Self { context, key_lookup, plan, last_check: Mutex::new(looked) }
    }

    /// Says whether to drop what is under way: the daemon is about to end, or the settings want it.
    pub(super) fn is_revoked(&self) -> bool {
        self.context.is_stopping.load(Ordering::Relaxed) || self.check_settings() == PlanValidity::Revoked
    }

    /// Says whether to begin nothing more by this plan.
    pub(super) fn is_superseded(&self) -> bool {
        self.context.is_stopping.load(Ordering::Relaxed) || self.check_settings() != PlanValidity::Valid
    }

    fn check_settings(&self) -> PlanValidity {
        let now = WallClock.monotonic();
        let mut looked = self.last_check.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.validity == PlanValidity::Revoked || now.saturating_sub(looked.checked_at) < SETTINGS_POLL {
            return looked.validity;
        }
        looked.checked_at = now;
        // Where the settings cannot be read, these hold.
        if let Ok(inputs) = self.context.sources.inputs(&self.context.root)
            && inputs != looked.inputs
        {
            looked.validity = self.plan.validity_under(load_plan(self.context, &inputs, self.key_lookup));
            looked.inputs = inputs;
        }
        looked.validity
    }
}

/// Questions that nobody begins with any more once the settings are others.
pub(super) struct PlanBoundPrompts<'q> {
    pub(super) prompts: ProjectPrompts<'q>,
    pub(super) watch: &'q PlanWatch<'q>,
}

impl PromptSource for PlanBoundPrompts<'_> {
    fn keys(&self, errand: &SummaryTask, by: &ModelName) -> Vec<(Tier, SummaryKey)> {
        self.prompts.keys(errand, by)
    }

    fn prepare(&self, errand: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason> {
        if self.watch.is_superseded() {
            Err(WithheldReason::Changed)
        } else {
            self.prompts.prepare(errand, shrink)
        }
    }

    fn check(&self, errand: &SummaryTask, answer: &str) -> Result<Vec<(Tier, String)>, SoftFailure> {
        self.prompts.check(errand, answer)
    }

    fn paths(&self, errand: &SummaryTask) -> Vec<Vec<u8>> {
        self.prompts.paths(errand)
    }
}
