//! Runs summary tasks in rounds, alone or shared with the other members of a team.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

use super::agent::ProviderKeys;
use super::sharing::share_fault;
use super::writing::SummarySession;
use crate::agent;
use crate::agent::{
    AgentWorld, ProjectPrompts, RunObserver, RunOutcome, StopReason, SummaryService, TeamClaims,
};
use crate::api::ApiError;
use crate::engine::summaries::SummaryTasks;
use crate::model::{SummaryKey, error_chain};
use crate::share::TeamCache;

/// How often to check whether another process has finished its tasks.
const CLAIM_POLL: Duration = Duration::from_millis(200);

/// How often to check for the summaries of tasks that other members of the team have claimed.
pub const TEAM_POLL: Duration = Duration::from_secs(2);

/// How often new summaries are stored in the team's cache during a run.
const STORE_PAUSE: Duration = Duration::from_secs(5);

/// How tasks are run.
#[derive(Clone, Copy)]
pub struct AskOptions<'a> {
    /// Reports the progress.
    pub observer: &'a dyn RunObserver,
    /// Returns whether to end the run.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
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
    /// The tasks that are claimed in the team's cache.
    claimed: HashSet<SummaryKey>,
    /// How many tasks are left to other members of the team.
    left: u64,
}

impl SummarySession<'_> {
    /// Runs tasks until none is left that can run now: files first, then the folders that contain them. If a team
    /// shares the work, new summaries are stored in its cache meanwhile.
    pub fn ask(
        &mut self,
        keys: ProviderKeys,
        agent_world: AgentWorld<'_>,
        options: AskOptions<'_>,
    ) -> Result<RunOutcome, ApiError> {
        // With claims, each round stores its answers.
        let stored = options.team.filter(|cache| cache.own_key().is_some() && !cache.has_claims());
        let folder = self.folder.clone();
        let (ended, end) = mpsc::channel();
        thread::scope(|scope| {
            if let Some(cache) = stored {
                let thread = thread::Builder::new().name("slop-share".to_owned());
                // Otherwise, everything is stored at the end of the run.
                let _ = thread.spawn_scoped(scope, move || store_meanwhile(&folder, cache, &end));
            }
            let outcome = self.ask_rounds(keys, agent_world, options);
            drop::<mpsc::Sender<()>>(ended);
            outcome
        })
    }

    fn ask_rounds(
        &mut self,
        keys: ProviderKeys,
        agent_world: AgentWorld<'_>,
        options: AskOptions<'_>,
    ) -> Result<RunOutcome, ApiError> {
        let service = self.open_summary_service(keys, agent_world)?;
        let (mut all, mut settled) = (RunOutcome::default(), BTreeSet::new());
        let is_stopped = options.is_stopped;
        let mut team = options.team.and_then(|cache| {
            let claims = TeamClaims::new(cache, &self.options)?;
            Some(SharedWork { cache, claims, waited: Duration::ZERO })
        });
        loop {
            // Listed again in each round, because a folder becomes ready when everything in it is done.
            let tasks = self.project.summary_tasks(&self.options.policy)?;
            let ready = tasks.ready.len() as u64;
            if ready == 0 {
                // Other members of the team have answered what the last round left to them.
                all.remaining = 0;
                return Ok(all);
            }
            let Some(round) = self.next_tasks(&mut team, tasks, is_stopped) else {
                if is_stopped() {
                    (all.remaining, all.stopped) = (ready, Some(StopReason::Interrupted));
                    return Ok(all);
                }
                continue;
            };
            let is_answered = round.tasks.ready.is_empty();
            let outcome = self.run_round(&service, &mut team, round, options);
            // Others may have answered all claimed tasks just before.
            let has_progress =
                settle(&mut settled, &outcome) || 0 < outcome.answered + outcome.done || is_answered;
            let is_taken = 0 < outcome.in_progress;
            merge_outcome(&mut all, outcome);
            // A reached limit or a refused key would stop the next round as well.
            if all.stopped.is_some() {
                return Ok(all);
            }
            // Without progress the next round would list the same tasks again, unless another process finishes those
            // it has claimed.
            match (has_progress, is_taken && options.waits) {
                (true, _) => {}
                (false, true) => self.world.clock.sleep(CLAIM_POLL),
                (false, false) => return Ok(all),
            }
        }
    }

    /// Runs the tasks of one round, and releases their claims.
    fn run_round(
        &mut self,
        service: &SummaryService<'_>,
        team: &mut Option<SharedWork<'_>>,
        RoundTasks { tasks, claimed, left }: RoundTasks,
        options: AskOptions<'_>,
    ) -> RunOutcome {
        let preparer = self.project.preparer(&tasks, &self.options.policy);
        let prompts = ProjectPrompts { preparer: &preparer, policy: &self.options.policy };
        let mut outcome = service.run(tasks.ready, &prompts, options.observer, options.is_stopped);
        outcome.remaining += left;
        self.release_tasks(team, claimed);
        outcome
    }

    /// Returns the tasks of the next round: all of them or, if a team shares the work, those that could be claimed.
    /// Returns `None`, after a pause, if others have claimed all.
    fn next_tasks(
        &mut self,
        team: &mut Option<SharedWork<'_>>,
        tasks: SummaryTasks,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<RoundTasks> {
        if let Some(work) = team {
            match self.claim_tasks(work, &tasks) {
                Ok(Some(round)) => {
                    work.waited = Duration::ZERO;
                    return Some(round);
                }
                Ok(None) if work.waited < work.claims.lifetime() => {
                    work.waited += self.wait(TEAM_POLL, is_stopped);
                    return None;
                }
                // This is longer than a claim lasts: several members have claimed the tasks in turn without answering.
                Ok(None) => {}
                Err(failure) => {
                    self.notes.push(format!("the work is not shared with the team: {}", failure.message));
                }
            }
            *team = None;
        }
        Some(RoundTasks { tasks, claimed: HashSet::new(), left: 0 })
    }

    /// Claims tasks, and fetches the summaries that the team's cache has by now. `None` if others have claimed all.
    fn claim_tasks(
        &mut self,
        work: &SharedWork<'_>,
        tasks: &SummaryTasks,
    ) -> Result<Option<RoundTasks>, ApiError> {
        let own = work.claims.claim(&tasks.ready).map_err(|error| share_fault(error.into()))?;
        // Fetched after the claim, because members store their summaries before they release a claim.
        let wanted = self.project.wanted_summaries(&self.options.policy)?;
        agent::pull_shared(&self.folder, work.cache, &wanted).map_err(share_fault)?;
        if own.is_empty() {
            return Ok(None);
        }
        let mut tasks = self.project.summary_tasks(&self.options.policy)?;
        let all = tasks.ready.len();
        tasks.ready.retain(|task| own.contains(&task.id));
        let left = (all - tasks.ready.len()) as u64;
        Ok(Some(RoundTasks { tasks, claimed: own, left }))
    }

    /// Stores new summaries, and releases claims.
    fn release_tasks(&mut self, team: &mut Option<SharedWork<'_>>, claimed: HashSet<SummaryKey>) {
        let Some(work) = team.as_ref().filter(|_| !claimed.is_empty()) else { return };
        // In this order, so that the next holder of a claim finds the summary.
        let stored = agent::push_shared(&self.folder, work.cache);
        let released = stored.and_then(|_| Ok(work.claims.release(claimed)?));
        if let Err(failure) = released {
            self.notes.push(format!("the work is no longer shared with the team: {}", error_chain(&failure)));
            *team = None;
        }
    }

    /// Waits for this time, or until the run is stopped. Returns the time.
    fn wait(&self, time: Duration, is_stopped: &(dyn Fn() -> bool + Sync)) -> Duration {
        let mut waited = Duration::ZERO;
        while waited < time && !is_stopped() {
            self.world.clock.sleep(CLAIM_POLL);
            waited += CLAIM_POLL;
        }
        waited
    }
}

/// Stores new summaries periodically until `end`. After a failure, it only waits for the end of the run, which reports
/// the failure.
fn store_meanwhile(folder: &Path, cache: &TeamCache, end: &mpsc::Receiver<()>) {
    while end.recv_timeout(STORE_PAUSE) == Err(RecvTimeoutError::Timeout) {
        if agent::push_shared(folder, cache).is_err() {
            return;
        }
    }
}

/// Adds the tasks that will have no summary, so that folders do not wait for them. Returns whether any is new.
fn settle(settled: &mut BTreeSet<SummaryKey>, outcome: &RunOutcome) -> bool {
    let before = settled.len();
    settled.extend(outcome.refused.iter().map(|(task, _)| task.id));
    settled.extend(outcome.withheld.iter().map(|(task, _)| task.id));
    before < settled.len()
}

fn merge_outcome(all: &mut RunOutcome, outcome: RunOutcome) {
    all.answered += outcome.answered;
    all.done += outcome.done;
    // These counts are those of the last round, which counted all tasks of other processes and all remaining ones
    // again.
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
