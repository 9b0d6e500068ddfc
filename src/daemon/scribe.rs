//! The sub-agent in the background: what has changed and rested is asked of a model, as far as the settings allow.
//!
//! Nothing waits for it, and nothing ends with it.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use secrecy::SecretString;

use super::event::DaemonEvent;
use super::standing::PlanBoundPrompts;
use super::standing::PlanWatch;
use super::standing::SummaryPlan;
use super::standing::load_plan;
use super::worker::WorkerContext;
use crate::agent;
use crate::agent::AgentWorld;
use crate::agent::CollectedBatches;
use crate::agent::ProjectPrompts;
use crate::agent::RunOutcome;
use crate::agent::StopReason;
use crate::agent::SubAgentStatus;
use crate::agent::SummaryService;
use crate::api::AgentStatus;
use crate::config::ConfigInputs;
use crate::engine::NoProgress;
use crate::engine::Project;
use crate::engine::World;
use crate::engine::summaries::SummaryTasks;
use crate::model::SummaryKey;
use crate::model::error_chain;
use crate::sys::Clock;
use crate::sys::HttpClient;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;
use crate::sys::disable_core_dumps;

/// So many questions are asked before it is looked again which matter most.
const TASKS_PER_ROUND: usize = 64;
/// How long there is nothing to do where nobody tells of a change.
const IDLE_PAUSE: Duration = Duration::from_mins(10);
/// After a mishap that may pass, at most.
const MAX_FAILURE_PAUSE: Duration = Duration::from_mins(1);
/// How often it is looked whether the settings are still the same, where nobody is asked.
const IDLE_SETTINGS_POLL: Duration = Duration::from_secs(5);
/// How often it is looked whether the settings are still the same.
pub(super) const SETTINGS_POLL: Duration = Duration::from_secs(1);
/// A look for errands is followed by a pause of so many times what it took, so that it takes little of a processor.
const PAUSE_FACTOR: u32 = 20;

/// How often the answers of batches are looked for.
const BATCH_POLL: Duration = Duration::from_mins(5);

/// Looks up the key that a variable of the environment holds.
pub type KeyLookup = fn(&str) -> Option<SecretString>;

/// What the scribe is at, for whoever asks.
pub(super) struct BackgroundSummarizer {
    status: Mutex<AgentStatus>,
    key_lookup: KeyLookup,
}

/// What one round came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RoundReport {
    /// Questions that were answered.
    pub(super) answered: u64,
    /// What they cost, in words.
    pub(super) cost: String,
    /// Questions that are not asked again soon, each with why.
    pub(super) unanswered: Vec<String>,
    /// Why the round ended early.
    pub(super) stopped: Option<String>,
}

impl BackgroundSummarizer {
    pub(super) fn new(key_lookup: KeyLookup) -> Self {
        Self { status: Mutex::new(AgentStatus::disabled()), key_lookup }
    }

    /// Returns what the scribe is at.
    pub(super) fn status(&self) -> AgentStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_status(&self, status: AgentStatus) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }
}

/// Has summaries written until the daemon ends; `pokes` tell that files or settings may have changed.
pub(super) fn run_summarizer(shop: &WorkerContext, scribe: &BackgroundSummarizer, pokes: &Receiver<()>) {
    let mut mishaps = 0;
    loop {
        let began = WallClock.monotonic();
        // What a panic leaves half done is made anew in the next round; the ledger is on the disk.
        let end = catch_unwind(AssertUnwindSafe(|| serve_settings(shop, scribe, pokes)))
            .unwrap_or(Some(ServeEnd::Failure));
        if MAX_FAILURE_PAUSE < WallClock.monotonic().saturating_sub(began) {
            mishaps = 0;
        }
        let goes_on = match end {
            None => false,
            Some(ServeEnd::SettingsChanged) => true,
            Some(ServeEnd::Disabled(inputs)) => {
                wait_for_wakeup(shop, pokes, IDLE_PAUSE, || settings_changed(shop, &inputs))
            }
            Some(ServeEnd::Failure) => {
                // A cache that somebody deleted is there again at once; a disk that is full may be so for long.
                let rest = SETTINGS_POLL.saturating_mul(1 << mishaps).min(MAX_FAILURE_PAUSE);
                mishaps = (mishaps + 1).min(6);
                wait_for_wakeup(shop, pokes, rest, || false)
            }
        };
        if !goes_on {
            return;
        }
    }
}

/// Why it is served no more by some settings.
enum ServeEnd {
    /// They have changed.
    SettingsChanged,
    /// By these, nobody is to be asked.
    Disabled(ConfigInputs),
    /// Something went wrong that may pass.
    Failure,
}

/// Serves by the settings as they are now, until that ends; `None` where the daemon ends.
fn serve_settings(
    shop: &WorkerContext,
    scribe: &BackgroundSummarizer,
    pokes: &Receiver<()>,
) -> Option<ServeEnd> {
    let Ok(inputs) = shop.sources.inputs(&shop.root) else { return Some(ServeEnd::Failure) };
    let plan = match load_plan(shop, &inputs, scribe.key_lookup) {
        Ok(Some(plan)) => plan,
        Ok(None) => {
            scribe.set_status(AgentStatus::disabled());
            return Some(ServeEnd::Disabled(inputs));
        }
        Err(fault) => {
            scribe.set_status(AgentStatus::stopped(fault.message.clone()));
            return Some(ServeEnd::Disabled(inputs));
        }
    };
    let SummaryPlan { options, keys, engine, cache } = plan.clone();
    if !keys.is_empty() {
        // Where the system does not let us, the keys are as safe as the environment that they came from.
        let _ = disable_core_dumps();
    }
    let Ok(files) = RealFiles::open(&shop.root) else { return Some(ServeEnd::Failure) };
    let world = World {
        clock: &WallClock,
        disk: &RealDisk,
        files: &files,
        processes: &RealProcesses,
        progress: &NoProgress,
    };
    let web = HttpClient::new(options.proxy.clone());
    let windows = AgentWorld { network: &web, commands: &RealProcesses, clock: &WallClock };
    let office = match SummaryService::open(&cache, windows, options, keys) {
        Ok(office) => office,
        Err(error) => {
            scribe.set_status(AgentStatus::stopped(error_chain(&error)));
            return Some(ServeEnd::Failure);
        }
    };
    if let Some(recovery) = office.recovery() {
        // The loop ends before this thread does.
        let _ = shop.events.send(DaemonEvent::LedgerRecovered(recovery.to_string()));
    }
    let Ok(mut project) = Project::open(&shop.root, engine, world) else { return Some(ServeEnd::Failure) };
    project.share_cache(Arc::clone(&shop.workspace));
    let standing = PlanWatch::new(shop, scribe.key_lookup, plan, inputs);
    let mut looked = None;
    loop {
        let Some(pending) = collect_batches(&office, &standing, &mut looked) else {
            return Some(ServeEnd::Failure);
        };
        let rest = run_round(&mut project, &office, scribe, &standing, &pending);
        match rest {
            NextRound::Restart if shop.is_stopping.load(Ordering::Relaxed) => return None,
            NextRound::Restart => return Some(ServeEnd::Failure),
            NextRound::After(rest)
                if !wait_for_wakeup(shop, pokes, rest.min(next_batch_poll(&pending)), || {
                    standing.is_superseded()
                }) =>
            {
                return None;
            }
            NextRound::After(_) if standing.is_superseded() => return Some(ServeEnd::SettingsChanged),
            NextRound::After(_) => {}
        }
    }
}

/// What is done after a round.
enum NextRound {
    /// Nothing, for so long; then the next round.
    After(Duration),
    /// Everything is opened anew.
    Restart,
}

/// Takes in what batches have brought, where it is time to look, and returns the questions that are still in some;
/// `None` where the books cannot be read.
fn collect_batches(
    office: &SummaryService<'_>,
    standing: &PlanWatch<'_>,
    looked: &mut Option<Duration>,
) -> Option<BTreeSet<SummaryKey>> {
    let now = WallClock.monotonic();
    if looked.is_none_or(|at| BATCH_POLL <= now.saturating_sub(at)) {
        *looked = Some(now);
        let CollectedBatches { answered, spent, stopped, .. } = office.collect(&|| standing.is_revoked());
        standing.report(&RunOutcome { answered, stopped, spent, ..RunOutcome::default() });
    }
    office.in_batches().ok()
}

/// Returns how long it may take until batches are looked at again.
fn next_batch_poll(pending: &BTreeSet<SummaryKey>) -> Duration {
    if pending.is_empty() { IDLE_PAUSE } else { BATCH_POLL }
}

/// Finds out what there is to ask, and asks the most important of it.
fn run_round(
    project: &mut Project<'_>,
    office: &SummaryService<'_>,
    scribe: &BackgroundSummarizer,
    standing: &PlanWatch<'_>,
    pending: &BTreeSet<SummaryKey>,
) -> NextRound {
    let began = WallClock.monotonic();
    let wish = &office.options().policy;
    let Ok(mut errands) = project.summary_tasks(wish) else { return NextRound::Restart };
    // Else they would take the places of those that can be asked.
    errands.ready.retain(|errand| !pending.contains(&errand.id));
    // What is to be told of the files is told by those who answer.
    project.take_notes();
    let look = WallClock.monotonic().saturating_sub(began);
    let pause = look.saturating_mul(PAUSE_FACTOR).max(SETTINGS_POLL);
    scribe.update_status(office, &errands);
    if errands.ready.is_empty() {
        return NextRound::After(errands.next_ready_in.unwrap_or(IDLE_PAUSE).clamp(pause, IDLE_PAUSE));
    }
    let preparer = project.preparer(&errands, wish);
    let worded =
        PlanBoundPrompts { prompts: ProjectPrompts { preparer: &preparer, policy: wish }, watch: standing };
    let batch = errands.ready.iter().take(TASKS_PER_ROUND).cloned().collect();
    let report = LiveStatus { scribe, service: office, tasks: &errands };
    let outcome = office.run(batch, &worded, &report, &|| standing.is_revoked());
    scribe.update_status(office, &errands);
    let rest = next_round_after(&outcome, pause);
    standing.report(&outcome);
    if standing.is_superseded() { NextRound::After(Duration::ZERO) } else { rest }
}

fn next_round_after(outcome: &RunOutcome, pause: Duration) -> NextRound {
    match &outcome.stopped {
        Some(StopReason::Store(_)) => NextRound::Restart,
        Some(StopReason::Unreachable { retry_in, .. }) => NextRound::After((*retry_in).max(pause)),
        Some(StopReason::OverCap { .. } | StopReason::Account { .. }) => NextRound::After(IDLE_PAUSE),
        Some(StopReason::Interrupted) => NextRound::After(Duration::ZERO),
        // What was answered may have made folders ready.
        None if 0 < outcome.answered + outcome.done => NextRound::After(Duration::ZERO),
        None if outcome.remaining + outcome.in_progress == 0 => NextRound::After(pause),
        None => NextRound::After(MAX_FAILURE_PAUSE),
    }
}

/// Waits until so long has passed or `is_over` says so; says whether the daemon goes on. A poke ends the wait, but not
/// before the machine had a second of rest.
fn wait_for_wakeup(
    shop: &WorkerContext,
    pokes: &Receiver<()>,
    rest: Duration,
    is_over: impl Fn() -> bool,
) -> bool {
    let end = WallClock.monotonic().saturating_add(rest);
    loop {
        let left = end.saturating_sub(WallClock.monotonic());
        match pokes.recv_timeout(left.min(IDLE_SETTINGS_POLL)) {
            Ok(()) => {
                let pause = pokes.recv_timeout(SETTINGS_POLL.min(left));
                pokes.try_iter().for_each(drop);
                return !matches!(pause, Err(RecvTimeoutError::Disconnected)) && is_running(shop);
            }
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) if left <= IDLE_SETTINGS_POLL || is_over() => {
                return is_running(shop);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn is_running(shop: &WorkerContext) -> bool {
    !shop.is_stopping.load(Ordering::Relaxed)
}

/// Says whether the settings are others than these. Where they cannot be read, these hold.
fn settings_changed(shop: &WorkerContext, inputs: &ConfigInputs) -> bool {
    shop.sources.inputs(&shop.root).is_ok_and(|now| now != *inputs)
}

impl PlanWatch<'_> {
    fn report(&self, outcome: &RunOutcome) {
        let refused = outcome.refused.iter().map(|(errand, why)| format!("{}: {why}", errand.location));
        let withheld = outcome.withheld.iter().map(|(errand, why)| format!("{}: {why}", errand.location));
        let stopped = outcome.stopped.as_ref().filter(|why| !matches!(why, StopReason::Interrupted));
        let written = RoundReport {
            answered: outcome.answered,
            cost: outcome.spent.to_string(),
            unanswered: refused.chain(withheld).collect(),
            stopped: stopped.map(ToString::to_string),
        };
        if written.answered == 0 && written.unanswered.is_empty() && written.stopped.is_none() {
            return;
        }
        // The loop ends before this thread does.
        let _ = self.context.events.send(DaemonEvent::SummariesWritten(written));
    }
}

/// Keeps the status up to date while questions are asked.
struct LiveStatus<'l, 'w> {
    scribe: &'l BackgroundSummarizer,
    service: &'l SummaryService<'w>,
    tasks: &'l SummaryTasks,
}

impl agent::RunObserver for LiveStatus<'_, '_> {
    fn notify(&self, _note: &agent::RunEvent<'_>) {
        self.scribe.update_status(self.service, self.tasks);
    }
}

impl BackgroundSummarizer {
    fn update_status(&self, office: &SummaryService<'_>, errands: &SummaryTasks) {
        let Ok(SubAgentStatus { state, in_flight, waiting, spent, caps }) = office.status() else { return };
        let why = match &state {
            agent::SubAgentState::Paused { reason: why, .. }
            | agent::SubAgentState::Stopped { reason: why } => Some(why.clone()),
            agent::SubAgentState::Off | agent::SubAgentState::Idle | agent::SubAgentState::Working => None,
        };
        self.set_status(AgentStatus {
            state: state.name().to_owned(),
            reason: why,
            models: office.options().chain.iter().map(|model| model.full_name().to_string()).collect(),
            in_flight,
            waiting: if in_flight == 0 { 0 } else { waiting },
            ready: errands.ready.len() as u64,
            done: errands.done,
            young: errands.too_recent,
            refused: errands.refused,
            not_asked: errands.ineligible,
            spent_today_usd: spent.day.into(),
            spent_total_usd: spent.total.into(),
            cap_day_usd: caps.day.into(),
            cap_total_usd: caps.total.into(),
        });
    }
}
