//! The background summarizer: models summarize contents that changed and settled, as far as the settings allow.
//!
//! Nothing waits for it, and its failures stop nothing else.

use std::collections::{BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::event::{DaemonEvent, RoundReport};
use super::plan::{KeyLookup, PlanBoundPrompts, PlanWatch, SETTINGS_POLL, SummaryPlan, load_plan};
use super::team_round::{ClaimResult, TASKS_PER_ROUND, claim_tasks, fetch_missing, store_in_team};
use super::worker::WorkerContext;
use crate::agent;
use crate::agent::{
    AgentWorld, CollectedBatches, ProjectPrompts, RunOutcome, StopReason, SubAgentStatus, SummaryService,
    TeamSync,
};
use crate::api::AgentStatus;
use crate::config::ConfigInputs;
use crate::engine::summaries::SummaryTasks;
use crate::engine::{NoProgress, Project, World};
use crate::model::{SummaryKey, error_chain, lock};
use crate::service::TEAM_POLL;
use crate::sys::{Clock, HttpClient, RealCommands, RealFiles, WallClock, disable_core_dumps};

/// How long to pause between rounds if no change is reported.
const IDLE_PAUSE: Duration = Duration::from_mins(10);
/// The longest pause after a transient failure.
const MAX_FAILURE_PAUSE: Duration = Duration::from_mins(1);
/// How often to check whether the settings have changed while no model is called.
const IDLE_SETTINGS_POLL: Duration = Duration::from_secs(5);
/// The pause after listing the tasks, as a multiple of its duration, which limits the processor time.
const PAUSE_FACTOR: u32 = 20;

/// How often batches are polled.
const BATCH_POLL: Duration = Duration::from_mins(5);

/// The state of the background summarizer, for status queries.
pub(super) struct BackgroundSummarizer {
    status: Mutex<AgentStatus>,
    key_lookup: KeyLookup,
}

impl BackgroundSummarizer {
    pub(super) fn new(key_lookup: KeyLookup) -> Self {
        Self { status: Mutex::new(AgentStatus::disabled()), key_lookup }
    }

    pub(super) fn status(&self) -> AgentStatus {
        lock(&self.status).clone()
    }

    fn set_status(&self, status: AgentStatus) {
        *lock(&self.status) = status;
    }
}

/// Writes summaries until the daemon ends; `wakeups` report that files or settings may have changed.
pub(super) fn run_summarizer(
    context: &WorkerContext,
    summarizer: &BackgroundSummarizer,
    wakeups: &Receiver<()>,
) {
    let mut failures = 0;
    loop {
        let began = WallClock.monotonic();
        // The next round starts from scratch, whatever a panic left half done; the ledger is on the disk.
        let end = catch_unwind(AssertUnwindSafe(|| serve_settings(context, summarizer, wakeups)))
            .unwrap_or(Some(ServeEnd::Failure));
        if MAX_FAILURE_PAUSE < WallClock.monotonic().saturating_sub(began) {
            failures = 0;
        }
        let goes_on = match end {
            None => false,
            Some(ServeEnd::SettingsChanged) => true,
            Some(ServeEnd::Disabled(inputs)) => {
                wait_for_wakeup(context, wakeups, IDLE_PAUSE, || settings_changed(context, &inputs))
            }
            Some(ServeEnd::Failure) => {
                // A deleted cache is created again at once, but a full disk may stay full for long.
                let pause = SETTINGS_POLL.saturating_mul(1 << failures).min(MAX_FAILURE_PAUSE);
                // The pause is capped, and further doublings would overflow the shift.
                failures = (failures + 1).min(6);
                wait_for_wakeup(context, wakeups, pause, || false)
            }
        };
        if !goes_on {
            return;
        }
    }
}

/// Why the summarizer stopped working with some settings.
enum ServeEnd {
    SettingsChanged,
    /// These settings disable background summaries.
    Disabled(Box<ConfigInputs>),
    Failure,
}

/// Works with the current settings until they change or fail; `None` if the daemon ends.
fn serve_settings(
    context: &WorkerContext,
    summarizer: &BackgroundSummarizer,
    wakeups: &Receiver<()>,
) -> Option<ServeEnd> {
    let Ok(inputs) = context.sources.inputs(&context.root) else { return Some(ServeEnd::Failure) };
    let plan = match load_plan(context, &inputs, summarizer.key_lookup) {
        Ok(Some(plan)) => plan,
        Ok(None) => {
            summarizer.set_status(AgentStatus::disabled());
            return Some(ServeEnd::Disabled(Box::new(inputs)));
        }
        Err(fault) => {
            summarizer.set_status(AgentStatus::stopped(fault.message.clone()));
            return Some(ServeEnd::Disabled(Box::new(inputs)));
        }
    };
    let SummaryPlan { asks, options, team, keys, engine, cache, .. } = plan.clone();
    let team = team.map(|team| TeamSync::new(team, cache.clone()));
    if !keys.is_empty() {
        // If the system does not allow that, the keys are as safe as the environment from which they came.
        let _ = disable_core_dumps();
    }
    let Ok(files) = RealFiles::open(&context.root) else { return Some(ServeEnd::Failure) };
    let world = World::real(&files, &NoProgress);
    if !asks {
        summarizer.set_status(AgentStatus::disabled());
        let Ok(mut project) = Project::open(&context.root, engine, world) else {
            return Some(ServeEnd::Failure);
        };
        project.share_cache(Arc::clone(&context.workspace));
        let watch = PlanWatch::new(context, summarizer.key_lookup, plan, inputs);
        return serve_fetching(wakeups, &mut project, team.as_ref()?, &watch);
    }
    let web = HttpClient::new(options.proxy.clone());
    let commands = RealCommands { project: context.root.clone() };
    let agent_world = AgentWorld { network: &web, commands: &commands, clock: &WallClock };
    let service = match SummaryService::open(&cache, agent_world, options, keys) {
        Ok(service) => service,
        Err(error) => {
            summarizer.set_status(AgentStatus::stopped(error_chain(&error)));
            return Some(ServeEnd::Failure);
        }
    };
    if let Some(recovery) = service.recovery() {
        // The loop ends before this thread does.
        let _ = context.events.send(DaemonEvent::LedgerRecovered(recovery.to_string()));
    }
    let Ok(mut project) = Project::open(&context.root, engine, world) else { return Some(ServeEnd::Failure) };
    project.share_cache(Arc::clone(&context.workspace));
    let watch = PlanWatch::new(context, summarizer.key_lookup, plan, inputs);
    let team = team.as_ref();
    SummaryRounds { summarizer, project: &mut project, service: &service, team, watch: &watch }.serve(wakeups)
}

/// Fetches missing summaries after each change, until the settings change or the daemon ends (`None`).
fn serve_fetching(
    wakeups: &Receiver<()>,
    project: &mut Project<'_>,
    team: &TeamSync,
    watch: &PlanWatch<'_>,
) -> Option<ServeEnd> {
    loop {
        let began = WallClock.monotonic();
        fetch_missing(project, team, watch);
        let took = WallClock.monotonic().saturating_sub(began);
        let pause = took.saturating_mul(PAUSE_FACTOR).max(SETTINGS_POLL);
        if !wait_for_wakeup(watch.context, wakeups, IDLE_PAUSE.max(pause), || watch.is_superseded()) {
            return None;
        }
        if watch.is_superseded() {
            return Some(ServeEnd::SettingsChanged);
        }
    }
}

/// The rounds in which models are called, under one plan.
struct SummaryRounds<'r, 'w> {
    summarizer: &'r BackgroundSummarizer,
    project: &'r mut Project<'w>,
    service: &'r SummaryService<'w>,
    team: Option<&'r TeamSync>,
    watch: &'r PlanWatch<'r>,
}

enum NextRound {
    /// The next round begins after this pause.
    After(Duration),
    /// Everything is opened again.
    Restart,
}

/// Collects the results of batches, if it is time to poll them, and returns the summaries that batches are still
/// pending for; `None` if the ledger cannot be read.
fn collect_batches(
    service: &SummaryService<'_>,
    watch: &PlanWatch<'_>,
    last_poll: &mut Option<Duration>,
) -> Option<BTreeSet<SummaryKey>> {
    let now = WallClock.monotonic();
    if last_poll.is_none_or(|at| BATCH_POLL <= now.saturating_sub(at)) {
        *last_poll = Some(now);
        let CollectedBatches { answered, spent, stopped, .. } = service.collect(&|| watch.is_revoked());
        watch.report(&RunOutcome { answered, stopped, spent, ..RunOutcome::default() });
    }
    service.in_batches().ok()
}

/// Returns how long to wait until batches are polled again.
fn next_batch_poll(pending: &BTreeSet<SummaryKey>) -> Duration {
    if pending.is_empty() { IDLE_PAUSE } else { BATCH_POLL }
}

impl SummaryRounds<'_, '_> {
    /// Runs rounds until the settings change or the daemon ends (`None`).
    fn serve(mut self, wakeups: &Receiver<()>) -> Option<ServeEnd> {
        let Self { service, team, watch, .. } = self;
        let mut last_poll = None;
        loop {
            let Some(pending) = collect_batches(service, watch, &mut last_poll) else {
                return Some(ServeEnd::Failure);
            };
            if let Some(team) = team {
                fetch_missing(self.project, team, watch);
                // Stores what could not be stored after an earlier round.
                store_in_team(team, HashSet::new(), watch);
            }
            match self.run_round(&pending) {
                NextRound::Restart if !is_running(watch.context) => return None,
                NextRound::Restart => return Some(ServeEnd::Failure),
                NextRound::After(pause) => {
                    let pause = pause.min(next_batch_poll(&pending));
                    if !wait_for_wakeup(watch.context, wakeups, pause, || watch.is_superseded()) {
                        return None;
                    }
                    if watch.is_superseded() {
                        return Some(ServeEnd::SettingsChanged);
                    }
                }
            }
        }
    }

    /// Lists the contents without a summary, and calls models for the most important ones.
    fn run_round(&mut self, pending: &BTreeSet<SummaryKey>) -> NextRound {
        let Self { summarizer, project, service, team, watch } = self;
        let began = WallClock.monotonic();
        let policy = &service.options().policy;
        let Ok(mut tasks) = project.summary_tasks(policy) else { return NextRound::Restart };
        // Otherwise they would displace tasks that can run.
        tasks.ready.retain(|task| !pending.contains(&task.id));
        // Notes about the files are reported by the workers that answer queries.
        project.take_notes();
        let listing_took = WallClock.monotonic().saturating_sub(began);
        let pause = listing_took.saturating_mul(PAUSE_FACTOR).max(SETTINGS_POLL);
        summarizer.update_status(service, &tasks);
        if tasks.ready.is_empty() {
            return NextRound::After(tasks.next_ready_in.unwrap_or(IDLE_PAUSE).clamp(pause, IDLE_PAUSE));
        }
        let shared = team.map(|team| claim_tasks(project, team, &tasks.ready, watch));
        let (batch, claims) = match shared {
            Some(ClaimResult::Own(batch, claims)) => (batch, Some(claims)),
            // What they write is fetched in a later round.
            Some(ClaimResult::Others) => return NextRound::After(TEAM_POLL.max(pause)),
            Some(ClaimResult::Settled) => return NextRound::After(Duration::ZERO),
            Some(ClaimResult::NoClaims) | None => {
                (tasks.ready.iter().take(TASKS_PER_ROUND).cloned().collect(), None)
            }
        };
        let preparer = project.preparer(&tasks, policy);
        let prompts = PlanBoundPrompts { prompts: ProjectPrompts { preparer: &preparer, policy }, watch };
        let report = LiveStatus { summarizer, service, tasks: &tasks };
        let outcome = service.run(batch, &prompts, &report, &|| watch.is_revoked());
        summarizer.update_status(service, &tasks);
        if let Some(team) = team {
            store_in_team(team, claims.unwrap_or_default(), watch);
        }
        let next = next_round_after(&outcome, pause);
        watch.report(&outcome);
        if watch.is_superseded() { NextRound::After(Duration::ZERO) } else { next }
    }
}

fn next_round_after(outcome: &RunOutcome, pause: Duration) -> NextRound {
    match &outcome.stopped {
        Some(StopReason::Store(_)) => NextRound::Restart,
        Some(StopReason::Unreachable { retry_in, .. }) => NextRound::After((*retry_in).max(pause)),
        // Only the next day or the user can help, and changed settings end the pause early.
        Some(StopReason::OverCap { .. } | StopReason::Account { .. }) => NextRound::After(IDLE_PAUSE),
        Some(StopReason::Interrupted) => NextRound::After(Duration::ZERO),
        // What was answered may have made folders ready.
        None if 0 < outcome.answered + outcome.done => NextRound::After(Duration::ZERO),
        None if outcome.remaining + outcome.in_progress == 0 => NextRound::After(pause),
        None => NextRound::After(MAX_FAILURE_PAUSE),
    }
}

/// Waits for `pause`, or until `is_over`; returns whether the daemon keeps running. A wakeup ends the wait, but not
/// within the first second.
fn wait_for_wakeup(
    context: &WorkerContext,
    wakeups: &Receiver<()>,
    pause: Duration,
    is_over: impl Fn() -> bool,
) -> bool {
    let end = WallClock.monotonic().saturating_add(pause);
    loop {
        let left = end.saturating_sub(WallClock.monotonic());
        match wakeups.recv_timeout(left.min(IDLE_SETTINGS_POLL)) {
            Ok(()) => {
                let next = wakeups.recv_timeout(SETTINGS_POLL.min(left));
                // They are about the same burst of changes, all of which the next round sees.
                wakeups.try_iter().for_each(drop);
                return !matches!(next, Err(RecvTimeoutError::Disconnected)) && is_running(context);
            }
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) if left <= IDLE_SETTINGS_POLL || is_over() => {
                return is_running(context);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn is_running(context: &WorkerContext) -> bool {
    !context.is_stopping.load(Ordering::Relaxed)
}

/// Returns whether the settings differ from these. Settings that cannot be read count as unchanged.
fn settings_changed(context: &WorkerContext, inputs: &ConfigInputs) -> bool {
    context.sources.inputs(&context.root).is_ok_and(|now| now != *inputs)
}

impl PlanWatch<'_> {
    fn report(&self, outcome: &RunOutcome) {
        let refused = outcome.refused.iter().map(|(task, reason)| format!("{}: {reason}", task.location));
        let withheld = outcome.withheld.iter().map(|(task, reason)| format!("{}: {reason}", task.location));
        let stopped = outcome.stopped.as_ref().filter(|reason| !matches!(reason, StopReason::Interrupted));
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

/// Updates the status while requests run.
struct LiveStatus<'l, 'w> {
    summarizer: &'l BackgroundSummarizer,
    service: &'l SummaryService<'w>,
    tasks: &'l SummaryTasks,
}

impl agent::RunObserver for LiveStatus<'_, '_> {
    fn notify(&self, _note: &agent::RunEvent<'_>) {
        self.summarizer.update_status(self.service, self.tasks);
    }
}

impl BackgroundSummarizer {
    fn update_status(&self, service: &SummaryService<'_>, tasks: &SummaryTasks) {
        let Ok(SubAgentStatus { state, in_flight, waiting, spent, caps }) = service.status() else { return };
        let reason = match &state {
            agent::SubAgentState::Paused { reason, .. } | agent::SubAgentState::Stopped { reason } => {
                Some(reason.clone())
            }
            agent::SubAgentState::Idle | agent::SubAgentState::Working => None,
        };
        self.set_status(AgentStatus {
            state: state.name().to_owned(),
            reason,
            models: service.options().chain.iter().map(|model| model.full_name().to_string()).collect(),
            in_flight,
            waiting: if in_flight == 0 { 0 } else { waiting },
            ready: tasks.ready.len() as u64,
            done: tasks.done,
            young: tasks.too_recent,
            refused: tasks.refused,
            not_asked: tasks.ineligible,
            spent_today_usd: spent.day.into(),
            spent_total_usd: spent.total.into(),
            cap_day_usd: caps.day.into(),
            cap_total_usd: caps.total.into(),
        });
    }
}
