//! What the threads of one run share.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::PromptSource;
use super::RunEvent;
use super::RunObserver;
use super::RunOutcome;
use super::StopReason;
use super::SummaryService;
use super::TaskOutcome;
use super::course::RequestRun;
use super::warm::CachePrimer;
use crate::engine::summaries::SummaryTask;
use crate::engine::summaries::WithheldReason;
use crate::model::Money;

/// Waits are cut into pieces of this length, so that the end of a run is noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// One run of a service.
pub(super) struct SharedRun<'r> {
    pub(super) service: &'r SummaryService<'r>,
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
        service: &'r SummaryService<'r>,
        prompts: &'r dyn PromptSource,
        observer: &'r dyn RunObserver,
        is_stopped: &'r (dyn Fn() -> bool + Sync),
        errands: Vec<SummaryTask>,
    ) -> Self {
        Self {
            service,
            prompts,
            observer,
            is_stopped,
            primer: CachePrimer::default(),
            queue: Mutex::new(errands.into()),
            outcome: Mutex::default(),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Runs tasks until none is left or the run ends. Each thread executes this.
    pub(super) fn run_worker(&self) {
        while !self.is_over() {
            let Some(errand) = self.next_task() else { return };
            self.observer.notify(&RunEvent::Started(&errand));
            let end = match RequestRun::new(self, &errand).run() {
                Ok(end) => end,
                Err(why) => {
                    self.stop(why);
                    TaskOutcome::Unanswered
                }
            };
            self.observer.notify(&RunEvent::Finished(&errand, &end));
            self.record_outcome(errand, end);
        }
    }

    /// Returns the result, including the tasks that were never started.
    pub(super) fn into_outcome(self) -> RunOutcome {
        let is_interrupted = (self.is_stopped)();
        let rest = self.queue.into_inner().unwrap_or_else(PoisonError::into_inner).len();
        let mut outcome = self.outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.remaining += rest as u64;
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
        let clock = self.service.world.clock;
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
    pub(super) fn record_call(&self, cost: Money, is_absurd: bool) {
        let mut outcome = self.lock_outcome();
        outcome.calls += 1;
        outcome.implausible += u64::from(is_absurd);
        outcome.spent = outcome.spent + cost;
        drop(outcome);
        self.observer.notify(&RunEvent::Spent(cost));
    }

    pub(super) fn queue_length(&self) -> u64 {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    fn next_task(&self) -> Option<SummaryTask> {
        let next = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        self.service.set_waiting(self.queue_length());
        next
    }

    /// Prevents further tasks from being started. The first reason counts.
    pub(super) fn stop(&self, why: StopReason) {
        let mut outcome = self.lock_outcome();
        if outcome.stopped.is_none() {
            outcome.stopped = Some(why);
        }
        // Set after the reason: threads that see the flag give up with a reason of their own.
        self.has_ended.store(true, Ordering::Relaxed);
    }

    fn record_outcome(&self, errand: SummaryTask, end: TaskOutcome) {
        let mut outcome = self.lock_outcome();
        match end {
            TaskOutcome::Answered => outcome.answered += 1,
            TaskOutcome::Done => outcome.done += 1,
            TaskOutcome::InProgress => outcome.in_progress += 1,
            TaskOutcome::InBatch => outcome.in_batch += 1,
            TaskOutcome::Unanswered | TaskOutcome::Withheld(WithheldReason::Changed) => {
                outcome.remaining += 1
            }
            TaskOutcome::Refused(why) => outcome.refused.push((errand, why)),
            TaskOutcome::Withheld(withheld) => outcome.withheld.push((errand, withheld)),
        }
    }

    fn lock_outcome(&self) -> MutexGuard<'_, RunOutcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
