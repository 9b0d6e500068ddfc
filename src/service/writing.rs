//! Summarizing a project with a model: the plan, and the rounds in which tasks are run.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

use secrecy::SecretString;

use super::agent::{ProviderKeys, writer_keys};
use super::sharing::share_fault;
use crate::agent;
use crate::agent::{
    AgentWorld, ClaimedTasks, CollectedBatches, CostEstimate, LedgerReader, Options, ProjectPrompts,
    PullReport, RunObserver, RunOutcome, SpendTotals, StopReason, StoredSummary, SummaryService, TeamClaims,
    TeamMemory, UsageRow,
};
use crate::api::{ApiError, PAID_STORE_HINT};
use crate::config::LoadedConfig;
use crate::engine;
use crate::engine::summaries::{
    IneligibleReason, PromptPreview, SubjectKey, SubjectLocation, SummaryPolicy, SummaryTask, SummaryTasks,
    TaskSkipReason, WithheldReason,
};
use crate::engine::{Project, World};
use crate::llm::{EncodedRequest, Model, Provider, WireFormat};
use crate::model::{ModelName, SummaryKey, Tier, error_chain};
use crate::share::TeamCache;
use crate::sys::{RealCommands, RealDisk};

/// How often to check whether another process has finished its tasks.
const CLAIM_POLL: Duration = Duration::from_millis(200);

/// How often to look for answers to questions that other members of the team have claimed.
const TEAM_POLL: Duration = Duration::from_secs(2);

/// How often what was answered is stored in the team's cache while others are asked.
const STORE_PAUSE: Duration = Duration::from_secs(5);

/// The most secrets of a withheld file that an error lists.
const MAX_LISTED_SECRETS: usize = 10;

/// A project whose files a model summarizes.
pub struct SummarySession<'w> {
    project: Project<'w>,
    options: Options,
    world: World<'w>,
    folder: PathBuf,
    commands: RealCommands,
    /// Refusals that the user wants to be tried again, whoever has found them.
    retried: Vec<SummaryKey>,
    notes: Vec<String>,
}

/// How tasks are run.
#[derive(Clone, Copy)]
pub struct AskOptions<'a> {
    /// Whether to wait for other processes that run the same tasks.
    pub waits: bool,
    /// The team's cache, if tasks are to be shared with the other members of the team.
    pub team: Option<&'a TeamCache>,
}

/// How the members of a team share a run.
struct SharedWork<'t> {
    cache: &'t TeamCache,
    claims: TeamClaims<'t>,
    /// How long all tasks have been claimed by others.
    waited: Duration,
}

/// The tasks of one round.
struct RoundTasks {
    tasks: SummaryTasks,
    /// Those that are claimed in the team's cache.
    claimed: HashSet<SummaryKey>,
    /// Those that a model has refused when another member of the team asked.
    refused: Vec<(SummaryTask, String)>,
    /// How many tasks are left to others.
    left: u64,
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

/// The summaries that models wrote of one subject.
#[derive(Debug)]
pub struct SubjectSummaries {
    pub place: SubjectLocation,
    /// The summaries by tier, the newest first.
    pub summaries: Vec<ShownSummary>,
}

/// A summary, and where it is from.
#[derive(Debug)]
pub struct ShownSummary {
    pub summary: StoredSummary,
    /// The writer's name in `share.writers`, if it was fetched from the team's cache.
    pub fetched_from: Option<String>,
}

/// Which subjects' summaries are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectScope {
    /// That of the file or folder itself.
    Own,
    /// Those of everything in the folder as well.
    Below,
    /// Those of the project and of the folders in its root.
    Top,
}

/// The calls that were made, and their cost.
#[derive(Debug)]
pub struct UsageReport {
    /// The calls by day and model, the latest day first.
    pub rows: Vec<UsageRow>,
    /// What has been spent today and in total.
    pub spent: SpendTotals,
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
        // Asked for after the cache was opened: if that of a repository cannot be, a worktree has its own.
        let folder = project.agent_db_path().parent().unwrap_or(root).to_owned();
        let commands = RealCommands { project: root.to_owned() };
        let (retried, notes) = (Vec::new(), Vec::new());
        Ok(Self { project, options, world, folder, commands, retried, notes })
    }

    /// Returns what runs the commands that serve as models.
    pub const fn commands(&self) -> &RealCommands {
        &self.commands
    }

    /// Repairs the database of summaries if it is damaged. To be called before anything is written.
    pub fn repair(&mut self) -> Result<(), ApiError> {
        Ok(self.project.salvage_agent_db()?)
    }

    /// Returns how many summaries a pull would ask the team's cache for.
    pub fn count_wanted(&mut self) -> Result<u64, ApiError> {
        Ok(self.project.wanted_summaries(&self.options.policy)?.len() as u64)
    }

    /// Fetches the summaries that are missing from the team's cache, whatever is remembered of it.
    pub fn pull(&mut self, team: &TeamCache) -> Result<PullReport, ApiError> {
        let (wanted, now_ms) = (self.project.wanted_summaries(&self.options.policy)?, self.now_ms());
        let pulled = agent::pull_shared(&self.folder, team, &wanted);
        let memory = TeamMemory::new(&self.folder, team);
        let refused = pulled.as_ref().ok().map(|report| &report.refused);
        if !wanted.is_empty() {
            memory.count(pulled.is_ok(), refused, now_ms);
            memory.forget_missing();
        }
        pulled.map_err(share_fault)
    }

    /// Returns for how many seconds the team's cache is left alone, because it failed: 0 if it is not.
    pub fn team_rests_for(&self, team: &TeamCache) -> u64 {
        let left_ms = TeamMemory::new(&self.folder, team).rests_for(self.now_ms());
        left_ms.cast_unsigned().div_ceil(1000)
    }

    /// Deletes the records of refused tasks that the plan retries.
    pub fn clear_refusals(&mut self, plan: &SummaryRunPlan) -> Result<(), ApiError> {
        self.retried.clone_from(&plan.tasks.retried_refusals);
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
        // Their answers are on the way and their cost is reserved: asking again would pay for them twice.
        tasks.ready.retain(|task| !pending.contains(&task.id));
        let in_batches = (all - tasks.ready.len()) as u64;
        let spent = ledger.spent(self.today())?;
        let Options { chain, caps, policy, .. } = &self.options;
        // A batch is submitted to one provider, so the plan must not promise the fallbacks.
        let chain = if at_once { vec![agent::batch_model(chain)?] } else { chain.clone() };
        let estimate = agent::estimate_cost(&tasks, &chain, policy.answer_tokens, caps, &spent);
        let hosts = chain.iter().map(|model| (model.full_name(), host_of(&model.provider))).collect();
        Ok(SummaryRunPlan { tasks, in_batches, estimate, hosts, prices_of: prices_of.to_owned() })
    }

    /// Returns why no model is asked about files that were named individually, by path.
    pub fn unasked_reasons(&mut self) -> Result<Vec<(String, String)>, ApiError> {
        let skipped = self.project.skipped_files(&self.options.policy)?;
        let text = |skip| match skip {
            TaskSkipReason::Ineligible(reason) => not_asked_text(reason),
            TaskSkipReason::Refused(reason) => format!("{reason}, as was found before; --retry looks again"),
        };
        Ok(skipped.into_iter().map(|(path, skip)| (path.to_string(), text(skip))).collect())
    }

    /// Runs tasks until none is left that can be run now: files first, then the folders that contain them. Where a team
    /// shares the work, what is answered is stored meanwhile.
    pub fn ask(
        &mut self,
        keys: ProviderKeys,
        agent_world: AgentWorld<'_>,
        options: AskOptions<'_>,
        report: &dyn RunObserver,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<RunOutcome, ApiError> {
        // With claims, each round stores its answers.
        let stored = options.team.filter(|cache| cache.own_key().is_some() && !cache.has_claims());
        let folder = self.folder.clone();
        let (ended, end) = mpsc::channel();
        thread::scope(|scope| {
            if let Some(cache) = stored {
                let thread = thread::Builder::new().name("slop-share".to_owned());
                // Without it, all is stored at the end of the run.
                let _ = thread.spawn_scoped(scope, move || store_meanwhile(&folder, cache, &end));
            }
            let outcome = self.ask_rounds(keys, agent_world, options, report, is_stopped);
            drop::<mpsc::Sender<()>>(ended);
            outcome
        })
    }

    fn ask_rounds(
        &mut self,
        keys: ProviderKeys,
        agent_world: AgentWorld<'_>,
        AskOptions { waits, team }: AskOptions<'_>,
        report: &dyn RunObserver,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<RunOutcome, ApiError> {
        let service = self.open_summary_service(keys, agent_world)?;
        let (mut all, mut settled) = (RunOutcome::default(), BTreeSet::new());
        let options = self.options.clone();
        let mut team = team.and_then(|cache| {
            let claims = TeamClaims::new(cache, &options)?;
            Some(SharedWork { cache, claims, waited: Duration::ZERO })
        });
        loop {
            // Listed anew in each round: a folder becomes ready when all that lies in it is done.
            let tasks = self.project.summary_tasks(&self.options.policy)?;
            let ready = tasks.ready.len() as u64;
            if ready == 0 {
                // What the last round left to other members of the team was answered by them.
                all.remaining = 0;
                return Ok(all);
            }
            let Some(round) = self.next_tasks(&mut team, tasks, &service, is_stopped) else {
                if is_stopped() {
                    (all.remaining, all.stopped) = (ready, Some(StopReason::Interrupted));
                    return Ok(all);
                }
                continue;
            };
            let RoundTasks { tasks, claimed, refused, left } = round;
            let preparer = self.project.preparer(&tasks, &self.options.policy);
            let questions = ProjectPrompts { preparer: &preparer, policy: &self.options.policy };
            let is_answered = tasks.ready.is_empty();
            let mut outcome = service.run(tasks.ready, &questions, report, is_stopped);
            outcome.remaining += left;
            self.release_tasks(&mut team, claimed, &outcome.refused);
            outcome.refused.extend(refused);
            // A folder waits for its files, and not for those that have no words.
            let unanswerable = outcome.refused.iter().map(|(task, _)| task.id);
            let unanswerable = unanswerable.chain(outcome.withheld.iter().map(|(task, _)| task.id));
            let before = settled.len();
            settled.extend(unanswerable);
            let is_settled = before < settled.len();
            // Of claimed tasks, all may have been answered by others just before.
            let has_progress = is_settled || 0 < outcome.answered + outcome.done || is_answered;
            let is_taken = 0 < outcome.in_progress;
            merge_outcome(&mut all, outcome);
            // A reached limit or a refused key would stop the next round as well.
            if all.stopped.is_some() {
                return Ok(all);
            }
            // Without progress the next round would list the same tasks again, unless another process finishes those
            // it has claimed.
            match (has_progress, is_taken && waits) {
                (true, _) => {}
                (false, true) => self.world.clock.sleep(CLAIM_POLL),
                (false, false) => return Ok(all),
            }
        }
    }

    /// Returns the tasks of the next round: all, or those that could be claimed where a team shares the work. `None` after a
    /// pause if others have claimed all.
    fn next_tasks(
        &mut self,
        team: &mut Option<SharedWork<'_>>,
        tasks: SummaryTasks,
        service: &SummaryService<'_>,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<RoundTasks> {
        if let Some(work) = team {
            match self.claim_tasks(work, &tasks, service) {
                Ok(Some(round)) => {
                    work.waited = Duration::ZERO;
                    return Some(round);
                }
                Ok(None) if work.waited < work.claims.lifetime() => {
                    work.waited += self.wait(TEAM_POLL, is_stopped);
                    return None;
                }
                // Longer than a claim lasts, one after another has had it and not answered.
                Ok(None) => {}
                Err(failure) => self.notes.push(format!("questions are not shared: {}", failure.message)),
            }
            *team = None;
        }
        Some(RoundTasks { tasks, claimed: HashSet::new(), refused: Vec::new(), left: 0 })
    }

    /// Claims tasks, and fetches what the team's cache has by now. `None` if others have claimed all.
    fn claim_tasks(
        &mut self,
        work: &SharedWork<'_>,
        tasks: &SummaryTasks,
        service: &SummaryService<'_>,
    ) -> Result<Option<RoundTasks>, ApiError> {
        let claimed = work.claims.claim(&tasks.ready, &self.retried, self.now_ms());
        let ClaimedTasks { own, refused } = claimed.map_err(|error| share_fault(error.into()))?;
        // After the claim: what another has stored before giving up its own is found.
        let wanted = self.project.wanted_summaries(&self.options.policy)?;
        agent::pull_shared(&self.folder, work.cache, &wanted).map_err(share_fault)?;
        if own.is_empty() && refused.is_empty() {
            return Ok(None);
        }
        service.record_refusals(&refused).map_err(|error| share_fault(error.into()))?;
        let mut tasks = self.project.summary_tasks(&self.options.policy)?;
        let all = tasks.ready.len();
        tasks.ready.retain(|task| own.contains(&task.id));
        let left = (all - tasks.ready.len()) as u64;
        Ok(Some(RoundTasks { tasks, claimed: own, refused, left }))
    }

    /// Stores what was answered, and what was refused, and gives up claims.
    fn release_tasks(
        &mut self,
        team: &mut Option<SharedWork<'_>>,
        claimed: HashSet<SummaryKey>,
        refused: &[(SummaryTask, String)],
    ) {
        let Some(work) = team.as_ref().filter(|_| !claimed.is_empty()) else { return };
        // In this order: who gets one of the claims then finds the answer.
        let stored = agent::push_shared(&self.folder, work.cache, false);
        let released = stored.and_then(|_| {
            work.claims.share_refusals(refused, self.now_ms())?;
            Ok(work.claims.release(claimed)?)
        });
        if let Err(failure) = released {
            self.notes.push(format!("questions are no longer shared: {}", error_chain(&failure)));
            *team = None;
        }
    }

    /// Waits for so long, or until the run is stopped. Returns the time.
    fn wait(&self, time: Duration, is_stopped: &(dyn Fn() -> bool + Sync)) -> Duration {
        let mut waited = Duration::ZERO;
        while waited < time && !is_stopped() {
            self.world.clock.sleep(CLAIM_POLL);
            waited += CLAIM_POLL;
        }
        waited
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

    fn open_summary_service<'o>(
        &self,
        keys: ProviderKeys,
        agent_world: AgentWorld<'o>,
    ) -> Result<SummaryService<'o>, ApiError> {
        Ok(SummaryService::open(&self.folder, agent_world, self.options.clone(), keys)?)
    }

    fn open_ledger(&self) -> Result<LedgerReader, ApiError> {
        Ok(LedgerReader::open(&self.folder)?)
    }

    fn today(&self) -> i64 {
        today(self.world.clock.now_s())
    }

    fn now_ms(&self) -> i64 {
        self.world.clock.now_s().saturating_mul(1000)
    }
}

/// Stores what was answered, again and again until `end`. After a failure, it waits for the end of the run, which reports it.
fn store_meanwhile(folder: &Path, cache: &TeamCache, end: &mpsc::Receiver<()>) {
    while end.recv_timeout(STORE_PAUSE) == Err(RecvTimeoutError::Timeout) {
        if agent::push_shared(folder, cache, false).is_err() {
            return;
        }
    }
}

/// Returns the summaries that models wrote of the subjects that a path or pattern selects; subjects without any are
/// left out.
pub fn written_summaries(
    root: &Path,
    loaded: &LoadedConfig,
    (named, extent): (&str, SubjectScope),
    tiers: &[Tier],
    world: World<'_>,
) -> Result<Vec<SubjectSummaries>, ApiError> {
    let mut project = Project::open(root, loaded.engine_options(root), world)?;
    let picks = if named == "." { Vec::new() } else { vec![named.to_owned()] };
    let mut subjects =
        project.summary_subjects(&super::agent::summary_policy(loaded, Vec::new(), tiers.to_vec(), picks))?;
    retain_scope(&mut subjects, named.trim_end_matches('/'), extent);
    // Read without the claims: summaries can be shown while a run or the daemon writes others.
    let ledger = LedgerReader::open(&cache_folder(root, loaded))?.believing(&writer_keys(loaded));
    let mut shown = Vec::new();
    for (place, node) in subjects {
        let mut summaries = Vec::new();
        for tier in tiers {
            for summary in ledger.summaries(&node, *tier)? {
                let writer = ledger.writer_of(&summary.key)?;
                let known = loaded.settings.share.writers.iter();
                let name =
                    |writer| known.clone().find(|known| known.key == writer).map(|known| known.name.clone());
                summaries.push(ShownSummary { fetched_from: writer.and_then(name), summary });
            }
        }
        if !summaries.is_empty() {
            shown.push(SubjectSummaries { place, summaries });
        }
    }
    Ok(shown)
}

/// Keeps the subjects within the scope. A pattern is no subject itself, so everything that it selects stays.
fn retain_scope(subjects: &mut Vec<(SubjectLocation, SubjectKey)>, word: &str, extent: SubjectScope) {
    let is_own = |place: &SubjectLocation| match place {
        SubjectLocation::Root => word == ".",
        SubjectLocation::Folder(path) | SubjectLocation::File(path) => path.as_bytes() == word.as_bytes(),
    };
    let is_top = |place: &SubjectLocation| match place {
        SubjectLocation::Root => true,
        SubjectLocation::Folder(path) => path.parent().is_empty(),
        SubjectLocation::File(_) => false,
    };
    match extent {
        SubjectScope::Top => subjects.retain(|(place, _)| is_top(place)),
        SubjectScope::Own if subjects.iter().any(|(place, _)| is_own(place)) => {
            subjects.retain(|(place, _)| is_own(place));
        }
        SubjectScope::Own | SubjectScope::Below => {}
    }
}

/// Returns the calls until `now_s`, in seconds since the epoch, and their cost.
pub fn usage(root: &Path, loaded: &LoadedConfig, now_s: i64) -> Result<UsageReport, ApiError> {
    let ledger = LedgerReader::open(&cache_folder(root, loaded))?;
    Ok(UsageReport { rows: ledger.usage()?, spent: ledger.spent(today(now_s))? })
}

fn not_asked_text(reason: IneligibleReason) -> String {
    match reason {
        IneligibleReason::LeftOut(reason) => reason.description().to_owned(),
        IneligibleReason::Excluded => "agent.exclude leaves it out".to_owned(),
        IneligibleReason::Hidden => "[[files]] keeps it out of documents".to_owned(),
        IneligibleReason::Data => "it holds data, or a program wrote it".to_owned(),
        IneligibleReason::Small => "it is smaller than agent.least_bytes".to_owned(),
    }
}

const fn withheld_hint(withheld: &WithheldReason) -> &'static str {
    match withheld {
        WithheldReason::Secret { .. } => {
            "take it out of the file, or set `agent.secrets = \"redact\"` in your own settings file"
        }
        WithheldReason::Unscanned(_) => "it stays on this machine, whatever the settings say",
        WithheldReason::Changed => "try again when the file rests",
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

/// Returns the date of a day that is counted from 1970-01-01, as year, month and day.
pub fn day_of(day: i64) -> String {
    let moment = day.checked_mul(24 * 60 * 60).and_then(|second| jiff::Timestamp::from_second(second).ok());
    moment.map_or("-".to_owned(), |moment| moment.to_zoned(jiff::tz::TimeZone::UTC).date().to_string())
}

pub(super) fn cache_folder(root: &Path, loaded: &LoadedConfig) -> PathBuf {
    engine::cache_folder(root, &loaded.engine_options(root), &RealDisk)
}

fn today(now_s: i64) -> i64 {
    // Days are those of UTC: the daily limit must not start over when a machine changes its time zone.
    now_s.div_euclid(24 * 60 * 60)
}

fn merge_outcome(all: &mut RunOutcome, outcome: RunOutcome) {
    all.answered += outcome.answered;
    all.done += outcome.done;
    // These counts are of the last round: it has looked at all tasks of other processes, and all that are left, again.
    all.in_progress = outcome.in_progress;
    all.in_batch = outcome.in_batch;
    all.remaining = outcome.remaining;
    all.refused.extend(outcome.refused);
    all.withheld.extend(outcome.withheld);
    all.last_error = outcome.last_error;
    all.stopped = outcome.stopped;
    all.calls += outcome.calls;
    all.implausible += outcome.implausible;
    all.spent = all.spent + outcome.spent;
}

impl From<agent::Error> for ApiError {
    fn from(error: agent::Error) -> Self {
        let message = error_chain(&error);
        match error {
            agent::Error::NoModels => Self::user("no_model", message, "set agent.models"),
            agent::Error::NoPrice(_) => Self::user("no_price", message, "add its price"),
            agent::Error::NoBatches => {
                let hint = "leave out --batch; `slop agent providers --json` says who takes batches";
                Self::user("no_batches", message, hint)
            }
            agent::Error::NoKey { .. } => Self::user("no_key", message, "set the key"),
            agent::Error::Store(store) if store.is_damage() => {
                Self::environment("paid_unusable", message, PAID_STORE_HINT)
            }
            // The code stays `no_books` although no type has this name: programs match on codes.
            agent::Error::Lock { .. } | agent::Error::Store(_) => {
                let hint =
                    "check the room on the disk and the permissions of the cache folder; nothing was sent";
                Self::environment("no_books", message, hint)
            }
        }
    }
}
