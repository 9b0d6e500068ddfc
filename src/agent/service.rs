//! The service that runs summary tasks: one for each process and project.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use secrecy::SecretString;

use super::call::AgentWorld;
use super::core::AgentCore;
use super::gate::ProviderGate;
use super::ledger::{ClaimStore, InFlightGuard};
use super::options::{Error, Options};
use super::outcome::{RunObserver, RunOutcome, StopReason, SubAgentState, SubAgentStatus};
use super::prompts::PromptSource;
use super::request_run::run_worker;
use super::run::SharedRun;
use crate::engine::summaries::SummaryTask;
use crate::model::lock;
use crate::store;
use crate::store::agent::{AgentDbRecovery, SpendTotals};

/// Runs summary tasks. It remembers between runs which providers must rest, and holds a lock by which other processes
/// know that its claims are alive.
pub struct SummaryService<'w> {
    pub(super) core: AgentCore<'w>,
    recovery: Option<AgentDbRecovery>,
    active_runs: AtomicU32,
    /// Why the last run ended early, and when that may be over.
    last_stop: Mutex<Option<(SubAgentState, Option<Duration>)>>,
}

impl fmt::Debug for SummaryService<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SummaryService").field("options", &self.core.options).finish_non_exhaustive()
    }
}

impl<'w> SummaryService<'w> {
    /// Opens a service that uses the database in `folder`, the project's cache. Connects to no provider.
    pub fn open(
        folder: &Path,
        world: AgentWorld<'w>,
        options: Options,
        keys: BTreeMap<String, SecretString>,
    ) -> Result<Self, Error> {
        check_chain(&options, &keys)?;
        let seed = RandomState::new().build_hasher().finish();
        let (claims, recovery) = ClaimStore::open(folder, seed)?;
        claims.db().trust_writers(&options.writers);
        if options.fills_outbox {
            claims.db().fill_outbox();
        }
        let core = AgentCore::new(world, options, keys, claims);
        Ok(Self { core, recovery, active_runs: AtomicU32::new(0), last_stop: Mutex::new(None) })
    }

    /// Runs these tasks, in about this order, and returns when all that can be answered are, or the run must end.
    /// Tasks that are counted as `remaining` can be passed to another run, but only after a run that answered
    /// something.
    pub fn run(
        &self,
        tasks: Vec<SummaryTask>,
        prompts: &dyn PromptSource,
        observer: &dyn RunObserver,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> RunOutcome {
        let threads = tasks.len().min(self.core.options.concurrency.max(1) as usize);
        let run = SharedRun::new(&self.core, prompts, observer, is_stopped, tasks);
        // Checked before any thread starts, so that a run that cannot succeed claims nothing.
        if let Some(reason) = self.core.unavailable_reason() {
            run.stop(reason);
        }
        let active = InFlightGuard::new(&self.active_runs);
        std::thread::scope(|scope| {
            for number in 0..threads {
                let builder = std::thread::Builder::new().name(format!("agent-{number}"));
                // If the system cannot start one more thread, no further ones are tried.
                if builder.spawn_scoped(scope, || run_worker(&run)).is_err() {
                    break;
                }
            }
        });
        drop(active);
        // A run that was stopped leaves tasks in its queue, which no thread will take anymore.
        self.core.waiting.store(0, Ordering::Relaxed);
        let mut outcome = run.into_outcome();
        self.forget_wrong_refusals(&mut outcome);
        if 0 < outcome.remaining {
            let messages = self.core.gates.values().map(|gate| (&gate.provider, gate.last_message()));
            let mut messages = messages.filter(|(_, message)| !message.is_empty());
            outcome.last_error = messages.next().map(|(name, message)| format!("{name}: {message}"));
        }
        self.record_stop(outcome.stopped.as_ref());
        outcome
    }

    /// Returns the options that the service was opened with.
    pub const fn options(&self) -> &Options {
        &self.core.options
    }

    /// Returns how a damaged database was recovered, if it was.
    pub const fn recovery(&self) -> Option<&AgentDbRecovery> {
        self.recovery.as_ref()
    }

    /// Returns how much has been spent, today and in total.
    pub fn spent(&self) -> Result<SpendTotals, store::Error> {
        self.core.spent()
    }

    pub fn status(&self) -> Result<SubAgentStatus, store::Error> {
        let now = self.core.world.clock.monotonic();
        let stopped = lock(&self.last_stop).clone();
        let state = match stopped {
            _ if self.active_runs.load(Ordering::Relaxed) != 0 => self.working_state(now),
            Some((SubAgentState::Paused { reason, .. }, Some(until))) if now < until => {
                SubAgentState::Paused { reason, retry_in: Some(until.saturating_sub(now)) }
            }
            // Nobody knows when the reason is removed, so it is shown until the next run.
            Some((state @ SubAgentState::Stopped { .. }, _)) => state,
            Some(_) | None => SubAgentState::Idle,
        };
        Ok(SubAgentStatus {
            state,
            in_flight: self.core.in_flight.load(Ordering::Relaxed),
            waiting: self.core.waiting.load(Ordering::Relaxed),
            spent: self.spent()?,
            caps: self.core.options.caps,
        })
    }

    /// Makes tasks available again that were refused before it was known that a model rejects everything.
    fn forget_wrong_refusals(&self, outcome: &mut RunOutcome) {
        let wronged: Vec<_> = self.core.gates.values().flat_map(ProviderGate::take_wrongly_refused).collect();
        if wronged.is_empty() {
            return;
        }
        if let Err(error) = self.core.claims.db().delete_refusals_of(&wronged) {
            outcome.stopped.get_or_insert(StopReason::Store(error));
            return;
        }
        let before = outcome.refused.len();
        outcome.refused.retain(|(task, _)| !wronged.contains(&self.core.task_keys(task.id).refusal));
        outcome.remaining += (before - outcome.refused.len()) as u64;
    }

    fn working_state(&self, now: Duration) -> SubAgentState {
        let rests = self.core.gates.values().map(|gate| (gate.closed_for(now), gate));
        match rests.max_by_key(|(time, _)| *time) {
            // While a call to another provider is in flight, the run works, even if this one rests.
            Some((time, gate)) if !time.is_zero() && self.core.in_flight.load(Ordering::Relaxed) == 0 => {
                SubAgentState::Paused {
                    reason: format!("{}: {}", gate.provider, gate.last_message()),
                    retry_in: Some(time),
                }
            }
            Some(_) | None => SubAgentState::Working,
        }
    }

    fn record_stop(&self, reason: Option<&StopReason>) {
        let now = self.core.world.clock.monotonic();
        let state = reason.map(|reason| match reason {
            StopReason::Unreachable { retry_in, .. } => (
                SubAgentState::Paused { reason: reason.to_string(), retry_in: Some(*retry_in) },
                Some(now + *retry_in),
            ),
            StopReason::OverCap { .. } | StopReason::Account { .. } | StopReason::Store(_) => {
                (SubAgentState::Stopped { reason: reason.to_string() }, None)
            }
            StopReason::Interrupted => (SubAgentState::Idle, None),
        });
        *lock(&self.last_stop) = state;
    }
}

/// Checks that every model of the chain may be called.
fn check_chain(options: &Options, keys: &BTreeMap<String, SecretString>) -> Result<(), Error> {
    if options.chain.is_empty() {
        return Err(Error::NoModels);
    }
    for model in &options.chain {
        let provider = &model.provider;
        if !provider.is_free && model.price.is_none() {
            return Err(Error::NoPrice(model.full_name()));
        }
        if provider.needs_key && !keys.contains_key(&provider.name) {
            let variables = provider.key_variables.clone();
            return Err(Error::NoKey { provider: provider.name.clone(), variables });
        }
    }
    Ok(())
}
