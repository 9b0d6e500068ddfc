//! The plan by which the summarizer works, made from the settings, and whether it is still valid after they change.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use secrecy::SecretString;

use super::worker::WorkerContext;
use crate::agent;
use crate::agent::{ProjectPrompts, PromptSource, SoftFailure};
use crate::api::ApiError;
use crate::config::{ConfigInputs, ShareSettings, load};
use crate::engine::cache_folder;
use crate::engine::summaries::{PreparedPrompt, SummaryTask, WithheldReason};
use crate::model::{ModelName, SummaryKey, Tier, lock};
use crate::service::{
    AgentOverrides, ProviderKeys, TeamCache, agent_keys, agent_options, settings_error, team_cache,
};
use crate::sys::{Clock, RealDisk, WallClock};

/// Looks up the key that a variable of the environment holds.
pub type KeyLookup = fn(&str) -> Option<SecretString>;

/// How often to check whether the settings have changed.
pub(super) const SETTINGS_POLL: Duration = Duration::from_secs(1);

/// Which models to call, with which settings.
#[derive(Clone)]
pub(super) struct SummaryPlan {
    /// Whether models are called; otherwise, summaries are only fetched from the team's cache.
    pub(super) asks: bool,
    pub(super) options: agent::Options,
    pub(super) sharing: ShareSettings,
    pub(super) team: Option<Arc<TeamCache>>,
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
            // Unreadable settings neither forbid what was allowed before nor allow anything new.
            Err(_) => return PlanValidity::FinishOnly,
        };
        // Requests in flight are revoked if a file was excluded meanwhile or a model is no longer configured.
        let excluded = &self.options.policy.exclude;
        if now.options.chain != self.options.chain
            || now.options.policy.exclude.iter().any(|pattern| !excluded.contains(pattern))
        {
            return PlanValidity::Revoked;
        }
        let is_same = now.asks == self.asks
            && now.options == self.options
            && now.sharing == self.sharing
            && now.keys.keys().eq(self.keys.keys())
            && now.engine == self.engine
            && now.cache == self.cache;
        if is_same { PlanValidity::Valid } else { PlanValidity::FinishOnly }
    }
}

/// Reads the settings; `None` if they disable background summaries and name no team's cache to fetch from.
pub(super) fn load_plan(
    context: &WorkerContext,
    inputs: &ConfigInputs,
    key: KeyLookup,
) -> Result<Option<SummaryPlan>, ApiError> {
    let loaded = load(inputs).map_err(|error| settings_error(&error))?;
    let engine = loaded.engine_options(&context.root);
    let asks = loaded.settings.agent.is_background;
    let sharing = loaded.settings.share.clone();
    if !engine.cache_enabled || !asks && !sharing.is_on() {
        return Ok(None);
    }
    let options = agent_options(&loaded, AgentOverrides::default());
    let options = options.map_err(|fault| if asks { fault } else { nothing_fetched(fault) })?;
    let keys = if asks { agent_keys(&options.chain, &key)? } else { ProviderKeys::new() };
    let team = team_cache(&loaded, &key)?.map(Arc::new);
    let cache = cache_folder(&context.root, &engine, &RealDisk);
    Ok(Some(SummaryPlan { asks, options, sharing, team, keys, engine, cache }))
}

/// Returns why a daemon that calls no models cannot fetch summaries either: their keys depend on the models that would
/// be called.
fn nothing_fetched(fault: ApiError) -> ApiError {
    let message = format!("nothing is fetched from the team's cache, because {}", fault.message);
    ApiError { message, ..fault }
}

/// Watches whether a plan is still valid while it is carried out.
pub(super) struct PlanWatch<'s> {
    pub(super) context: &'s WorkerContext,
    key_lookup: KeyLookup,
    plan: SummaryPlan,
    last_check: Mutex<SettingsCheck>,
}

/// The result of the last check of the settings.
struct SettingsCheck {
    checked_at: Duration,
    inputs: ConfigInputs,
    validity: PlanValidity,
}

/// How far a plan is still valid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlanValidity {
    Valid,
    /// No new requests, but those in flight may finish: they are paid for.
    FinishOnly,
    /// Not at all: requests in flight are unwanted or forbidden.
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

    /// Returns the options of the plan.
    pub(super) const fn options(&self) -> &agent::Options {
        &self.plan.options
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
        let mut check = lock(&self.last_check);
        // Revocation is final, because requests have been dropped by then; new settings get a new plan.
        if check.validity == PlanValidity::Revoked || now.saturating_sub(check.checked_at) < SETTINGS_POLL {
            return check.validity;
        }
        check.checked_at = now;
        // If the settings cannot be read, these remain in force.
        if let Ok(inputs) = self.context.sources.inputs(&self.context.root)
            && inputs != check.inputs
        {
            check.validity = self.plan.validity_under(load_plan(self.context, &inputs, self.key_lookup));
            check.inputs = inputs;
        }
        check.validity
    }
}

/// Prompts that are withheld as soon as their plan is superseded.
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
