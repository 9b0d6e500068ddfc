//! What the threads of one run share.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::core::AgentCore;
use super::outcome::{RunEvent, RunObserver, RunOutcome, StopReason, TaskOutcome};
use super::prompts::PromptSource;
use crate::engine::summaries::SummaryTask;
use crate::llm;
use crate::llm::Model;
use crate::model::{ContentHash, ModelPrompt, Money, lock};

/// Waits are cut into pieces of this length, so that the end of a run is noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(super) struct SharedRun<'r> {
    pub(super) core: &'r AgentCore<'r>,
    pub(super) prompts: &'r dyn PromptSource,
    pub(super) observer: &'r dyn RunObserver,
    pub(super) is_stopped: &'r (dyn Fn() -> bool + Sync),
    pub(super) primer: CachePrimer,
    queue: Mutex<VecDeque<SummaryTask>>,
    outcome: Mutex<RunOutcome>,
    /// Whether no more tasks are to be started.
    has_ended: AtomicBool,
}

impl<'r> SharedRun<'r> {
    pub(super) fn new(
        core: &'r AgentCore<'r>,
        prompts: &'r dyn PromptSource,
        observer: &'r dyn RunObserver,
        is_stopped: &'r (dyn Fn() -> bool + Sync),
        tasks: Vec<SummaryTask>,
    ) -> Self {
        Self {
            core,
            prompts,
            observer,
            is_stopped,
            primer: CachePrimer::default(),
            queue: Mutex::new(tasks.into()),
            outcome: Mutex::default(),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Returns the result, including the tasks that were never started.
    pub(super) fn into_outcome(self) -> RunOutcome {
        let is_interrupted = (self.is_stopped)();
        let rest = self.queue.into_inner().unwrap_or_else(PoisonError::into_inner).len();
        let mut outcome = self.outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.remaining += rest as u64;
        // An interrupted run that left nothing undone counts as complete.
        if is_interrupted && outcome.stopped.is_none() && outcome.remaining != 0 {
            outcome.stopped = Some(StopReason::Interrupted);
        }
        outcome
    }

    /// Returns whether no more tasks are to be started.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed) || (self.is_stopped)()
    }

    /// Waits; returns `false` if the run has ended meanwhile.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let clock = self.core.world.clock;
        let until = clock.monotonic() + time;
        while !self.is_over() {
            let left = until.saturating_sub(clock.monotonic());
            if left.is_zero() {
                return true;
            }
            clock.sleep(left.min(POLL_INTERVAL));
        }
        false
    }

    /// Counts a call, and whether its reported usage is implausible.
    pub(super) fn record_call(&self, cost: Money, is_implausible: bool) {
        let mut outcome = lock(&self.outcome);
        outcome.calls += 1;
        outcome.implausible += u64::from(is_implausible);
        outcome.spent = outcome.spent + cost;
        // Released first: an observer may be slow, and the other threads need the outcome.
        drop(outcome);
        self.observer.notify(&RunEvent::Spent(cost));
    }

    pub(super) fn queue_length(&self) -> u64 {
        lock(&self.queue).len() as u64
    }

    pub(super) fn next_task(&self) -> Option<SummaryTask> {
        let next = lock(&self.queue).pop_front();
        // `queue_length` locks the queue again, so the statement above must have released it.
        self.core.waiting.store(self.queue_length(), Ordering::Relaxed);
        next
    }

    /// Prevents further tasks from being started. The first reason counts.
    pub(super) fn stop(&self, reason: StopReason) {
        let mut outcome = lock(&self.outcome);
        if outcome.stopped.is_none() {
            outcome.stopped = Some(reason);
        }
        // Set after the reason: threads that see the flag give up with a reason of their own.
        self.has_ended.store(true, Ordering::Relaxed);
    }

    pub(super) fn record_outcome(&self, task: SummaryTask, end: TaskOutcome) {
        lock(&self.outcome).record(task, end);
    }
}

/// Tracks which prompt prefixes providers have in their caches.
#[derive(Debug, Default)]
pub(super) struct CachePrimer {
    /// By model and instructions: whether the first call has returned.
    known: Mutex<BTreeMap<PromptPrefix, bool>>,
}

/// A model and the hash of its instructions.
pub(super) type PromptPrefix = (String, ContentHash);

pub(super) enum PrimeState<'w> {
    /// It is the first; the others wait until the guard is dropped.
    First(PrimeGuard<'w>),
    /// The first call is in flight.
    Pending,
    Primed,
}

/// Lets the other calls go when dropped, whatever the result of the first call.
pub(super) struct PrimeGuard<'w> {
    primer: &'w CachePrimer,
    prefix: PromptPrefix,
}

impl CachePrimer {
    /// Returns the prefix to be cached; `None` if nothing is marked for caching.
    pub(super) fn prefix(model: &Model, prompt: &ModelPrompt) -> Option<PromptPrefix> {
        let name = || model.full_name().to_string();
        let hash = || ContentHash::digest(prompt.instructions.as_bytes());
        llm::marks_cache(model, &prompt.instructions).then(|| (name(), hash()))
    }

    pub(super) fn enter(&self, prefix: &PromptPrefix) -> PrimeState<'_> {
        let mut known = lock(&self.known);
        match known.get(prefix) {
            Some(true) => PrimeState::Primed,
            Some(false) => PrimeState::Pending,
            None => {
                known.insert(prefix.clone(), false);
                PrimeState::First(PrimeGuard { primer: self, prefix: prefix.clone() })
            }
        }
    }
}

impl Drop for PrimeGuard<'_> {
    fn drop(&mut self) {
        let mut known = lock(&self.primer.known);
        known.insert(self.prefix.clone(), true);
    }
}
