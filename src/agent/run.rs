//! What the threads of one run share.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::End;
use super::Note;
use super::Office;
use super::Outcome;
use super::Questions;
use super::Report;
use super::Why;
use super::course::Course;
use super::warm::Warm;
use crate::engine::agent::Errand;
use crate::engine::agent::Withheld;
use crate::model::Money;

/// Waits are made of pieces of this length, so that the end of a run is noticed.
const PIECE: Duration = Duration::from_millis(50);

/// One run of an office.
pub(super) struct Run<'r> {
    pub(super) office: &'r Office<'r>,
    pub(super) questions: &'r dyn Questions,
    pub(super) report: &'r dyn Report,
    pub(super) is_stopped: &'r (dyn Fn() -> bool + Sync),
    pub(super) warm: Warm,
    queue: Mutex<VecDeque<Errand>>,
    outcome: Mutex<Outcome>,
    /// Whether no more is to be begun with.
    has_ended: AtomicBool,
}

impl<'r> Run<'r> {
    pub(super) fn new(
        office: &'r Office<'r>,
        questions: &'r dyn Questions,
        report: &'r dyn Report,
        is_stopped: &'r (dyn Fn() -> bool + Sync),
        errands: Vec<Errand>,
    ) -> Self {
        Self {
            office,
            questions,
            report,
            is_stopped,
            warm: Warm::default(),
            queue: Mutex::new(errands.into()),
            outcome: Mutex::default(),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Works until nothing is left, or the run is to end. What each thread does.
    pub(super) fn work(&self) {
        while !self.is_over() {
            let Some(errand) = self.next() else { return };
            self.report.note(&Note::Began(&errand));
            let end = match Course::new(self, &errand).run() {
                Ok(end) => end,
                Err(why) => {
                    self.stop(why);
                    End::Left
                }
            };
            self.report.note(&Note::Ended(&errand, &end));
            self.count(errand, end);
        }
    }

    /// Returns what came of it, with all that nobody began with.
    pub(super) fn into_outcome(self) -> Outcome {
        let is_interrupted = (self.is_stopped)();
        let rest = self.queue.into_inner().unwrap_or_else(PoisonError::into_inner).len();
        let mut outcome = self.outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.left += rest as u64;
        if is_interrupted && outcome.stopped.is_none() && outcome.left != 0 {
            outcome.stopped = Some(Why::Interrupted);
        }
        outcome
    }

    /// Says whether nothing more is to be begun with.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed) || (self.is_stopped)()
    }

    /// Waits. `false` where the run has ended meanwhile.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let clock = self.office.windows.clock;
        let until = clock.monotonic() + time;
        while !self.is_over() {
            let left = until.saturating_sub(clock.monotonic());
            if left.is_zero() {
                return true;
            }
            clock.sleep(left.min(PIECE));
        }
        false
    }

    /// Counts a call, and whether what was told of it cannot be.
    pub(super) fn spent(&self, cost: Money, is_absurd: bool) {
        let mut outcome = self.outcome();
        outcome.calls += 1;
        outcome.absurd += u64::from(is_absurd);
        outcome.spent = outcome.spent + cost;
        drop(outcome);
        self.report.note(&Note::Spent(cost));
    }

    pub(super) fn waiting(&self) -> u64 {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    fn next(&self) -> Option<Errand> {
        let next = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        self.office.note_waiting(self.waiting());
        next
    }

    /// Lets no thread begin with another question. The first reason is the one that counts.
    pub(super) fn stop(&self, why: Why) {
        let mut outcome = self.outcome();
        if outcome.stopped.is_none() {
            outcome.stopped = Some(why);
        }
        // Behind the reason: whoever sees it gives up with a reason of its own.
        self.has_ended.store(true, Ordering::Relaxed);
    }

    fn count(&self, errand: Errand, end: End) {
        let mut outcome = self.outcome();
        match end {
            End::Answered => outcome.answered += 1,
            End::Done => outcome.done += 1,
            End::Taken => outcome.taken += 1,
            End::InBatch => outcome.in_batch += 1,
            End::Left | End::Withheld(Withheld::Changed) => outcome.left += 1,
            End::Refused(why) => outcome.refused.push((errand, why)),
            End::Withheld(withheld) => outcome.withheld.push((errand, withheld)),
        }
    }

    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
