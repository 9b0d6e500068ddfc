//! The session of `slop summarize`: what a run would send and cost, batches, and the team's cache.

use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::agent::ProviderKeys;
use super::sharing::share_fault;
use crate::agent;
use crate::agent::{
    AgentWorld, CollectedBatches, CostEstimate, LedgerReader, Options, ProjectPrompts, PullReport,
    RunOutcome, SummaryService, TeamMemory,
};
use crate::api::{ApiError, PAID_STORE_HINT};
use crate::config::LoadedConfig;
use crate::engine;
use crate::engine::summaries::{
    IneligibleReason, PromptPreview, SummaryPolicy, SummaryTasks, TaskSkipReason, WithheldReason,
};
use crate::engine::{Project, World};
use crate::llm::{EncodedRequest, Model, Provider, WireFormat};
use crate::model::{ModelName, error_chain, utc_day};
use crate::share::TeamCache;
use crate::sys::{RealCommands, RealDisk};

/// The most secrets of a withheld file that an error lists.
const MAX_LISTED_SECRETS: usize = 10;

/// An open project whose files are to be summarized.
pub struct SummarySession<'w> {
    pub(super) project: Project<'w>,
    pub(super) options: Options,
    pub(super) world: World<'w>,
    pub(super) folder: PathBuf,
    commands: RealCommands,
    pub(super) notes: Vec<String>,
}

/// What a run would send, and where, before anything is sent.
#[derive(Debug)]
pub struct SummaryRunPlan {
    pub tasks: SummaryTasks,
    /// The number of tasks in pending batches, which are not sent again.
    pub in_batches: u64,
    pub estimate: CostEstimate,
    /// The models with their hosts, in the order in which they are tried.
    pub hosts: Vec<(ModelName, String)>,
    /// The date of the built-in prices.
    pub prices_of: String,
}

impl<'w> SummarySession<'w> {
    pub fn open(
        root: &Path,
        loaded: &LoadedConfig,
        options: Options,
        world: World<'w>,
    ) -> Result<Self, ApiError> {
        let engine_options = loaded.engine_options(root);
        // Without a cache there is no ledger: no limit could be kept, and every answer would be lost.
        if !engine_options.cache_enabled {
            let message = "cache is disabled";
            return Err(ApiError::user("no_cache", message, "set `aggregation.cache_enabled = true`"));
        }
        let project = Project::open(root, engine_options, world)?;
        // Determined after the cache was opened: if that of the repository cannot be opened, a worktree has its own.
        let folder = project.agent_db_path().parent().unwrap_or(root).to_owned();
        let commands = RealCommands { project: root.to_owned() };
        Ok(Self { project, options, world, folder, commands, notes: Vec::new() })
    }

    /// Returns the runner of the commands that serve as models.
    pub const fn commands(&self) -> &RealCommands {
        &self.commands
    }

    /// Repairs the database of summaries if it is damaged. To be called before anything is written.
    pub fn repair(&mut self) -> Result<(), ApiError> {
        Ok(self.project.salvage_agent_db()?)
    }

    /// Returns how many summaries a pull would request from the team's cache.
    pub fn count_wanted(&mut self) -> Result<u64, ApiError> {
        Ok(self.project.wanted_summaries(&self.options.policy)?.len() as u64)
    }

    /// Fetches missing summaries from the team's cache, whatever its remembered state.
    pub fn pull(&mut self, team: &TeamCache) -> Result<PullReport, ApiError> {
        let (wanted, now_ms) =
            (self.project.wanted_summaries(&self.options.policy)?, self.world.clock.now_ms());
        let pulled = agent::pull_shared(&self.folder, team, &wanted);
        let memory = TeamMemory::new(&self.folder, team);
        let refused = pulled.as_ref().ok().map(|report| &report.refused);
        if !wanted.is_empty() {
            memory.record_result(pulled.is_ok(), refused, now_ms);
            memory.forget_missing();
        }
        pulled.map_err(share_fault)
    }

    /// Returns how many seconds the team's cache remains paused because it failed; 0 if it is not paused.
    pub fn team_pause_left(&self, team: &TeamCache) -> u64 {
        let left_ms = TeamMemory::new(&self.folder, team).pause_left(self.world.clock.now_ms());
        left_ms.cast_unsigned().div_ceil(1000)
    }

    /// Deletes the records of refused tasks that the plan retries.
    pub fn clear_refusals(&self, plan: &SummaryRunPlan) -> Result<(), ApiError> {
        Ok(agent::forget_refusals(&self.folder, &plan.tasks.retried_refusals)?)
    }

    /// Returns whether all models of the chain are called over `https`.
    pub fn is_all_secure(&self) -> bool {
        let is_secure = |model: &Model| model.provider.base_url.starts_with("https://");
        self.options.chain.iter().all(|model| model.provider.wire != WireFormat::Command && is_secure(model))
    }

    /// Returns what a run would send and what that would cost: in a batch if `at_once` is set, and including refused
    /// tasks if `retries` is set.
    pub fn plan(
        &mut self,
        prices_of: &str,
        at_once: bool,
        retries: bool,
    ) -> Result<SummaryRunPlan, ApiError> {
        let mut tasks =
            self.project.summary_tasks(&SummaryPolicy { retries, ..self.options.policy.clone() })?;
        let ledger = self.open_ledger()?;
        let pending = ledger.in_batches()?;
        let all = tasks.ready.len();
        // They are pending and their cost is reserved: sending them again would pay twice.
        tasks.ready.retain(|task| !pending.contains(&task.id));
        let in_batches = (all - tasks.ready.len()) as u64;
        let spent = ledger.spent(utc_day(self.world.clock.now_s()))?;
        let Options { chain, caps, policy, .. } = &self.options;
        // A batch is submitted to one provider, so the plan must not promise the fallbacks.
        let chain = if at_once { vec![agent::batch_model(chain)?] } else { chain.clone() };
        let estimate = agent::estimate_cost(&tasks, &chain, policy.answer_tokens, caps, &spent);
        let hosts = chain.iter().map(|model| (model.full_name(), host_of(&model.provider))).collect();
        Ok(SummaryRunPlan { tasks, in_batches, estimate, hosts, prices_of: prices_of.to_owned() })
    }

    /// Returns, by path, why no model is called for files that were named individually.
    pub fn unasked_reasons(&mut self) -> Result<Vec<(String, String)>, ApiError> {
        let skipped = self.project.skipped_files(&self.options.policy)?;
        let text = |skip| match skip {
            TaskSkipReason::Ineligible(reason) => not_asked_text(reason),
            TaskSkipReason::Refused(reason) => {
                format!("{reason}, according to an earlier run; `slop summarize --retry` checks again")
            }
        };
        Ok(skipped.into_iter().map(|(path, skip)| (path.to_string(), text(skip))).collect())
    }

    /// Fetches the results of batches that have finished. Interrupting it loses nothing.
    pub fn collect(
        &self,
        keys: &ProviderKeys,
        agent_world: AgentWorld<'_>,
    ) -> Result<CollectedBatches, ApiError> {
        // Most projects have no batch pending, and need no database opened for writing.
        if self.open_ledger()?.in_batches()?.is_empty() {
            return Ok(CollectedBatches::default());
        }
        Ok(self.open_summary_service(keys.clone(), agent_world)?.collect(&|| false))
    }

    pub fn ask_in_batches(
        &mut self,
        keys: ProviderKeys,
        agent_world: AgentWorld<'_>,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<RunOutcome, ApiError> {
        let service = self.open_summary_service(keys, agent_world)?;
        let tasks = self.project.summary_tasks(&self.options.policy)?;
        let preparer = self.project.preparer(&tasks, &self.options.policy);
        let questions = ProjectPrompts { preparer: &preparer, policy: &self.options.policy };
        let outcome = service.submit(tasks.ready, &questions, is_stopped);
        Ok(outcome?)
    }

    /// Returns what would be sent about a file or a folder, as the first model of the chain would get it.
    pub fn preview(&mut self, word: &str) -> Result<(Model, EncodedRequest), ApiError> {
        let Some(model) = self.options.chain.first().cloned() else {
            return Err(agent::Error::NoModels.into());
        };
        match self.project.preview(word, &self.options.policy)? {
            PromptPreview::Ineligible(reason) => {
                let message = format!("nothing would be sent about `{word}`: {}", not_asked_text(reason));
                Err(ApiError::user(
                    "not_asked",
                    message,
                    "no model is asked about it, so that there is nothing to show",
                ))
            }
            PromptPreview::Eligible { prepared: Err(withheld), secrets, .. } => {
                // Rules and lines only: the secret itself must not reach a terminal or a log.
                let places = secrets.iter().take(MAX_LISTED_SECRETS);
                let places = places.map(|found| format!("; line {}: {}", found.line, found.rule));
                let places = places.collect::<String>();
                let message = format!("`{word}` is withheld: {withheld}{places}");
                Err(ApiError::user("withheld", message, withheld_hint(&withheld)))
            }
            PromptPreview::Eligible { prepared: Ok(question), .. } => {
                let sending = agent::preview(&model, &question);
                Ok((model, sending))
            }
        }
    }

    pub fn take_notes(&mut self) -> Vec<String> {
        let mut notes = self.project.take_notes();
        notes.append(&mut self.notes);
        notes
    }

    pub(super) fn open_summary_service<'o>(
        &self,
        keys: ProviderKeys,
        agent_world: AgentWorld<'o>,
    ) -> Result<SummaryService<'o>, ApiError> {
        Ok(SummaryService::open(&self.folder, agent_world, self.options.clone(), keys)?)
    }

    fn open_ledger(&self) -> Result<LedgerReader, ApiError> {
        Ok(LedgerReader::open(&self.folder)?)
    }
}

fn not_asked_text(reason: IneligibleReason) -> String {
    match reason {
        IneligibleReason::LeftOut(reason) => reason.description().to_owned(),
        IneligibleReason::Excluded => "agent.exclude leaves it out".to_owned(),
        IneligibleReason::Hidden => "[[files]] keeps it out of documents".to_owned(),
        IneligibleReason::Data => "it contains data, or is generated".to_owned(),
        IneligibleReason::Small => "it is smaller than agent.least_bytes".to_owned(),
    }
}

const fn withheld_hint(withheld: &WithheldReason) -> &'static str {
    match withheld {
        WithheldReason::Secret { .. } => {
            "remove it from the file, or set `agent.secrets = \"redact\"` in your own settings file"
        }
        WithheldReason::Unscanned(_) => "it is never sent, whatever the settings",
        WithheldReason::Changed => "try again when the file is no longer changing",
    }
}

/// Returns the host of a provider, or the program that is run.
pub fn host_of(provider: &Provider) -> String {
    if provider.wire == WireFormat::Command {
        return format!("the program {}", provider.command.first().map_or("", String::as_str));
    }
    // The settings refuse addresses with a user name or password, so this shows no secret.
    let (_, rest) = provider.base_url.split_once("://").unwrap_or(("", &provider.base_url));
    rest.split('/').next().unwrap_or_default().to_owned()
}

/// Returns whether a usable key of the provider is set.
pub fn has_key(provider: &Provider, variable: &dyn Fn(&str) -> Option<SecretString>) -> bool {
    matches!(super::agent::provider_key(provider, variable), Ok(Some(_)))
}

pub(super) fn cache_folder(root: &Path, loaded: &LoadedConfig) -> PathBuf {
    engine::cache_folder(root, &loaded.engine_options(root), &RealDisk)
}

impl From<agent::Error> for ApiError {
    fn from(error: agent::Error) -> Self {
        let message = error_chain(&error);
        match error {
            agent::Error::NoModels => Self::user("no_model", message, "set agent.models"),
            agent::Error::NoPrice(_) => Self::user("no_price", message, "add its price"),
            agent::Error::NoBatches => {
                let hint = "summarize without a batch; `slop agent providers --json` shows which providers support batches";
                Self::user("no_batches", message, hint)
            }
            agent::Error::NoKey { .. } => Self::user("no_key", message, "set the key"),
            agent::Error::Store(store) if store.is_damage() => {
                Self::environment("paid_unusable", message, PAID_STORE_HINT)
            }
            agent::Error::Lock { .. } | agent::Error::Store(_) => {
                let hint =
                    "check the room on the disk and the permissions of the cache folder; nothing was sent";
                Self::environment("ledger_unusable", message, hint)
            }
        }
    }
}
