//! The service that runs summary tasks: one for each process and project.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::hash::Hasher;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;

use secrecy::SecretString;

use super::Error;
use super::Options;
use super::PromptSource;
use super::RunObserver;
use super::RunOutcome;
use super::StopReason;
use super::SubAgentState;
use super::SubAgentStatus;
use super::door::ProviderGate;
use super::run::SharedRun;
use super::till::ClaimStore;
use crate::engine::summaries::SummaryTask;
use crate::llm::Model;
use crate::store;
use crate::store::agent::AgentDbRecovery;
use crate::store::agent::SpendTotals;
use crate::sys::Clock;
use crate::sys::Commands;
use crate::sys::HttpTransport;

/// The I/O traits that the sub-agent needs.
#[derive(Clone, Copy)]
pub struct AgentWorld<'w> {
    /// HTTP requests.
    pub network: &'w dyn HttpTransport,
    /// Programs.
    pub commands: &'w dyn Commands,
    /// Time.
    pub clock: &'w dyn Clock,
}

impl AgentWorld<'_> {
    /// Returns the time of day in milliseconds since the epoch.
    pub(super) fn now_ms(&self) -> i64 {
        self.clock.now_ns() / 1_000_000
    }
}

/// Runs summary tasks. It remembers between runs which providers must rest, and holds a lock by which other processes
/// know that its claims are alive.
pub struct SummaryService<'w> {
    pub(super) world: AgentWorld<'w>,
    pub(super) options: Options,
    /// By the provider's name.
    pub(super) keys: BTreeMap<String, SecretString>,
    pub(super) claims: ClaimStore,
    gates: BTreeMap<String, ProviderGate>,
    recovery: Option<AgentDbRecovery>,
    in_flight: AtomicU32,
    waiting: AtomicU64,
    active_runs: AtomicU32,
    /// Why the last run ended early, and when that may be over.
    last_stop: Mutex<Option<(SubAgentState, Option<Duration>)>>,
}

impl fmt::Debug for SummaryService<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SummaryService").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<'w> SummaryService<'w> {
    /// Opens a service over the database in `folder`, the project's cache, without making a connection.
    pub fn open(
        folder: &Path,
        windows: AgentWorld<'w>,
        options: Options,
        keys: BTreeMap<String, SecretString>,
    ) -> Result<Self, Error> {
        check_chain(&options, &keys)?;
        let chance = RandomState::new().build_hasher().finish();
        let (till, recovery) = ClaimStore::open(folder, chance)?;
        let now = windows.clock.monotonic();
        let names = options.chain.iter().map(|model| model.provider.name.clone());
        let doors = names.map(|name| (name.clone(), ProviderGate::new(&name, &options, now))).collect();
        Ok(Self {
            world: windows,
            options,
            keys,
            claims: till,
            gates: doors,
            recovery,
            in_flight: AtomicU32::new(0),
            waiting: AtomicU64::new(0),
            active_runs: AtomicU32::new(0),
            last_stop: Mutex::new(None),
        })
    }

    /// Runs these tasks, in about this order, and returns when all that can be answered are, or the run must end.
    /// Tasks that are counted as `remaining` can be passed to another run, but only after a run that answered
    /// something.
    pub fn run(
        &self,
        errands: Vec<SummaryTask>,
        questions: &dyn PromptSource,
        report: &dyn RunObserver,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> RunOutcome {
        let threads = errands.len().min(self.options.concurrency.max(1) as usize);
        let run = SharedRun::new(self, questions, report, is_stopped, errands);
        if let Some(why) = self.unavailable_reason() {
            run.stop(why);
        }
        let at_work = InFlightGuard::new(&self.active_runs);
        std::thread::scope(|scope| {
            for number in 0..threads {
                let builder = std::thread::Builder::new().name(format!("agent-{number}"));
                // If the system cannot start one more thread, no further ones are tried.
                if builder.spawn_scoped(scope, || run.run_worker()).is_err() {
                    break;
                }
            }
        });
        drop(at_work);
        self.set_waiting(0);
        let mut outcome = run.into_outcome();
        self.forget_wrong_refusals(&mut outcome);
        if 0 < outcome.remaining {
            let said = self.gates.values().map(|door| (&door.provider, door.last_message()));
            let said =
                said.filter(|(_, words)| !words.is_empty()).map(|(name, words)| format!("{name}: {words}"));
            outcome.last_error = said.into_iter().next();
        }
        self.record_stop(outcome.stopped.as_ref());
        outcome
    }

    /// Returns the options that the service was opened with.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Returns how a damaged database was recovered, if it was.
    pub const fn recovery(&self) -> Option<&AgentDbRecovery> {
        self.recovery.as_ref()
    }

    /// Returns how much has been spent, today and in total.
    pub fn spent(&self) -> Result<SpendTotals, store::Error> {
        self.claims.spent(self.today())
    }

    /// Returns what the service is doing.
    pub fn status(&self) -> Result<SubAgentStatus, store::Error> {
        let now = self.world.clock.monotonic();
        let stopped = self.last_stop.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = match stopped {
            _ if self.active_runs.load(Ordering::Relaxed) != 0 => self.working_state(now),
            Some((SubAgentState::Paused { reason: why, .. }, Some(until))) if now < until => {
                SubAgentState::Paused { reason: why, retry_in: Some(until.saturating_sub(now)) }
            }
            Some((state @ SubAgentState::Stopped { .. }, _)) => state,
            Some(_) | None => SubAgentState::Idle,
        };
        Ok(SubAgentStatus {
            state,
            in_flight: self.in_flight.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
            spent: self.spent()?,
            caps: self.options.caps,
        })
    }

    pub(super) fn gate(&self, model: &Model) -> &ProviderGate {
        self.gates.get(&model.provider.name).expect("every provider of the chain has a gate")
    }

    /// Returns why no model can be called; `None` if one can.
    pub(super) fn unavailable_reason(&self) -> Option<StopReason> {
        let now = self.world.clock.monotonic();
        let mut first = None;
        for model in &self.options.chain {
            let why = self.gate(model).stop_reason(now, &model.name)?;
            first.get_or_insert(why);
        }
        first
    }

    /// Counts a call as in flight until the returned guard is dropped.
    pub(super) fn count_in_flight(&self) -> InFlightGuard<'_> {
        InFlightGuard::new(&self.in_flight)
    }

    /// Returns whether any call is in flight.
    pub(super) fn has_calls_in_flight(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) != 0
    }

    pub(super) fn set_waiting(&self, count: u64) {
        self.waiting.store(count, Ordering::Relaxed);
    }

    pub(super) fn today(&self) -> i64 {
        self.world.now_ms().div_euclid(24 * 60 * 60 * 1000)
    }

    /// Makes tasks available again that were refused before it was known that a model rejects everything.
    fn forget_wrong_refusals(&self, outcome: &mut RunOutcome) {
        let wronged: Vec<_> = self.gates.values().flat_map(ProviderGate::take_wrongly_refused).collect();
        if wronged.is_empty() {
            return;
        }
        if let Err(error) = self.claims.forget_refusals(&wronged) {
            outcome.stopped.get_or_insert(StopReason::Store(error));
            return;
        }
        let before = outcome.refused.len();
        outcome.refused.retain(|(errand, _)| !wronged.contains(&self.keys_of(errand).1));
        outcome.remaining += (before - outcome.refused.len()) as u64;
    }

    fn working_state(&self, now: Duration) -> SubAgentState {
        let rests = self.gates.values().map(|door| (door.closed_for(now), door));
        match rests.max_by_key(|(time, _)| *time) {
            Some((time, door)) if !time.is_zero() && self.in_flight.load(Ordering::Relaxed) == 0 => {
                SubAgentState::Paused {
                    reason: format!("{}: {}", door.provider, door.last_message()),
                    retry_in: Some(time),
                }
            }
            Some(_) | None => SubAgentState::Working,
        }
    }

    fn record_stop(&self, why: Option<&StopReason>) {
        let now = self.world.clock.monotonic();
        let state = why.map(|why| match why {
            StopReason::Unreachable { retry_in, .. } => (
                SubAgentState::Paused { reason: why.to_string(), retry_in: Some(*retry_in) },
                Some(now + *retry_in),
            ),
            StopReason::OverCap { .. } | StopReason::Account { .. } | StopReason::Store(_) => {
                (SubAgentState::Stopped { reason: why.to_string() }, None)
            }
            StopReason::Interrupted => (SubAgentState::Idle, None),
        });
        *self.last_stop.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// Counts a call or a run as in progress until it is dropped.
pub(super) struct InFlightGuard<'o>(&'o AtomicU32);

impl<'o> InFlightGuard<'o> {
    fn new(count: &'o AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
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

#[cfg(test)]
#[path = "office_tests.rs"]
mod tests;
