//! What the summarizer asks by: a plan that is made of the settings, and how far it still holds when they are others.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use secrecy::SecretString;

use super::worker::WorkerContext;
use crate::agent;
use crate::agent::{ProjectPrompts, PromptSource, SoftFailure};
use crate::api::ApiError;
use crate::config::{ConfigInputs, load};
use crate::engine::summaries::{PreparedPrompt, SummaryTask, WithheldReason};
use crate::model::{ModelName, SummaryKey, Tier};
use crate::service::{AgentOverrides, ProviderKeys, agent_keys, agent_options, settings_error};
use crate::sys::{Clock, WallClock};

/// Looks up the key that a variable of the environment holds.
pub type KeyLookup = fn(&str) -> Option<SecretString>;

/// How often it is checked whether the settings are still the same.
pub(super) const SETTINGS_POLL: Duration = Duration::from_secs(1);

/// Whom to ask, by which settings.
#[derive(Clone)]
pub(super) struct SummaryPlan {
    pub(super) options: agent::Options,
    pub(super) keys: ProviderKeys,
    pub(super) engine: crate::engine::Options,
    pub(super) cache: PathBuf,
}

impl SummaryPlan {
    /// Returns how far this plan is still valid under the current settings.
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
    context: &WorkerContext,
    inputs: &ConfigInputs,
    key: KeyLookup,
) -> Result<Option<SummaryPlan>, ApiError> {
    let loaded = load(inputs).map_err(|error| settings_error(&error))?;
    let engine = loaded.engine_options(&context.root);
    if !loaded.settings.agent.is_background || !engine.cache_enabled {
        return Ok(None);
    }
    let options = agent_options(&loaded, AgentOverrides::default())?;
    let keys = agent_keys(&options.chain, &key)?;
    let cache = context.root.join(engine.cache_dir.as_path());
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
    /// Fully.
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
        let check =
            SettingsCheck { checked_at: WallClock.monotonic(), inputs, validity: PlanValidity::Valid };
        Self { context, key_lookup, plan, last_check: Mutex::new(check) }
    }

    /// Returns whether to drop requests in flight: the daemon is about to end, or the settings forbid them.
    pub(super) fn is_revoked(&self) -> bool {
        self.context.is_stopping.load(Ordering::Relaxed) || self.check_settings() == PlanValidity::Revoked
    }

    /// Returns whether to start no more requests under this plan.
    pub(super) fn is_superseded(&self) -> bool {
        self.context.is_stopping.load(Ordering::Relaxed) || self.check_settings() != PlanValidity::Valid
    }

    fn check_settings(&self) -> PlanValidity {
        let now = WallClock.monotonic();
        let mut check = self.last_check.lock().unwrap_or_else(PoisonError::into_inner);
        if check.validity == PlanValidity::Revoked || now.saturating_sub(check.checked_at) < SETTINGS_POLL {
            return check.validity;
        }
        check.checked_at = now;
        // Where the settings cannot be read, these hold.
        if let Ok(inputs) = self.context.sources.inputs(&self.context.root)
            && inputs != check.inputs
        {
            check.validity = self.plan.validity_under(load_plan(self.context, &inputs, self.key_lookup));
            check.inputs = inputs;
        }
        check.validity
    }
}

/// Questions that nobody begins with any more once the settings are others.
pub(super) struct PlanBoundPrompts<'q> {
    pub(super) prompts: ProjectPrompts<'q>,
    pub(super) watch: &'q PlanWatch<'q>,
}

impl PromptSource for PlanBoundPrompts<'_> {
    fn keys(&self, task: &SummaryTask, by: &ModelName) -> Vec<(Tier, SummaryKey)> {
        self.prompts.keys(task, by)
    }

    fn prepare(&self, task: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason> {
        if self.watch.is_superseded() {
            Err(WithheldReason::Changed)
        } else {
            self.prompts.prepare(task, shrink)
        }
    }

    fn check(&self, task: &SummaryTask, answer: &str) -> Result<Vec<(Tier, String)>, SoftFailure> {
        self.prompts.check(task, answer)
    }
}
