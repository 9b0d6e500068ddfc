//! Decides for all threads whether a provider may be called now, and at what rate.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use super::call::CallResult;
use super::options::Options;
use super::outcome::StopReason;
use crate::llm::{
    BreakerState, CallFailure, CircuitBreaker, FailureClass, GiveUpReason, RateDecision, RateLimiter,
    RateLimits, RetryBudget,
};
use crate::model::{SummaryKey, lock};
use crate::sys::Clock;

/// How long an outage may last for a task to wait for its end: the first rest, but not the second.
const OUTAGE_PATIENCE: Duration = Duration::from_secs(45);
/// How long a delay requested by the provider may be for a task to wait for its end.
const REQUESTED_PATIENCE: Duration = Duration::from_mins(2);
/// How long a provider is disabled after it required payment, another key or other settings.
const DISABLED_FOR: Duration = Duration::from_hours(1);
/// After this many equal rejections in a row a model is assumed to reject everything: its name or its address is
/// wrong.
const MAX_REJECTIONS: u32 = 3;

#[derive(Debug)]
pub(super) struct ProviderGate {
    pub(super) provider: String,
    state: Mutex<GateState>,
}

#[derive(Debug)]
struct GateState {
    breaker: CircuitBreaker,
    rates: RateLimiter,
    retries: RetryBudget,
    /// Until when it is disabled, and why.
    disabled: Option<(Duration, FailureClass)>,
    /// Its last message that was not an answer.
    last_message: String,
    /// Whether it asked for a delay, as opposed to failing.
    asked_to_wait: bool,
    /// The requests that its models rejected since they last answered, by the model's name.
    rejections: BTreeMap<String, RejectionStreak>,
}

/// Consecutive requests that one model rejected.
#[derive(Debug, Default)]
struct RejectionStreak {
    count: u32,
    message: String,
    /// The tasks that were refused because of it.
    refused: Vec<SummaryKey>,
    /// Until when the model is not called, because it rejects everything.
    disabled_until: Option<Duration>,
}

impl RejectionStreak {
    fn is_off(&self, now: Duration) -> bool {
        self.disabled_until.is_some_and(|until| now < until)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GateDecision {
    /// It may, and counts as in flight until its [`CallPermit`] is dropped.
    Admitted,
    /// Not before this time has passed.
    Wait(Duration),
    /// Not in this run: another model should be called.
    Denied(GiveUpReason),
}

impl ProviderGate {
    pub(super) fn new(provider: &str, options: &Options, now: Duration) -> Self {
        let rates =
            RateLimiter::new(now, options.concurrency, options.requests_a_minute, options.tokens_a_minute);
        let state = GateState {
            breaker: CircuitBreaker::default(),
            rates,
            retries: RetryBudget::default(),
            disabled: None,
            last_message: String::new(),
            asked_to_wait: false,
            rejections: BTreeMap::new(),
        };
        Self { provider: provider.to_owned(), state: Mutex::new(state) }
    }

    /// Requests permission for a call to a model with about this many tokens.
    pub(super) fn try_enter(&self, now: Duration, model: &str, tokens: u64) -> GateDecision {
        /// How soon to check again whether another call has returned.
        const GLANCE: Duration = Duration::from_millis(20);
        let mut state = lock(&self.state);
        if let Some(failure) = state.denial(now, model) {
            return GateDecision::Denied(failure);
        }
        // The breaker comes first: a provider that must rest is not charged against its rates.
        match state.breaker.state(now) {
            BreakerState::Open => {}
            BreakerState::Closed(time) => return GateDecision::Wait(time),
            BreakerState::Probing => return GateDecision::Wait(GLANCE),
        }
        match state.rates.try_acquire(now, tokens) {
            RateDecision::Admitted => {}
            RateDecision::Wait(time) => return GateDecision::Wait(time),
            RateDecision::Full => return GateDecision::Wait(GLANCE),
        }
        // Only an admitted call counts as the single probe of an open breaker.
        state.breaker.try_enter(now);
        GateDecision::Admitted
    }

    /// Returns the permission for a call that was not made, or whose outcome is unknown.
    fn release_unsent(&self, now: Duration) {
        let mut state = lock(&self.state);
        state.rates.release(now, &RateLimits::default());
        state.breaker.release_probe();
    }

    fn record_result(&self, now: Duration, model: &str, result: &CallResult) {
        let mut state = lock(&self.state);
        state.track_rejections(now, model, result);
        state.rates.release(now, &result.rate_limits());
        match result {
            CallResult::Answered { .. } => {
                state.breaker.record_success();
                state.rates.record_success();
            }
            CallResult::Failed(failure) => state.apply_failure(now, failure),
            CallResult::Lost { message, .. } => {
                state.last_message.clone_from(message);
                state.asked_to_wait = false;
                state.breaker.record_failure(now);
            }
            CallResult::Stopped => state.breaker.release_probe(),
        }
    }

    pub(super) fn count_first(&self, now: Duration) {
        lock(&self.state).retries.count_first(now);
    }

    /// Returns whether a task may be retried, and counts the retry.
    pub(super) fn try_retry(&self, now: Duration, after: Duration) -> bool {
        // In this order: a task that does not wait that long must not use up the retries of others.
        after <= REQUESTED_PATIENCE && lock(&self.state).retries.try_retry(now)
    }

    /// Records that a task is refused because this model rejected it. Returns `false` if the model rejects
    /// everything: then the task is not at fault.
    pub(super) fn record_refusal(&self, now: Duration, model: &str, question: SummaryKey) -> bool {
        let mut state = lock(&self.state);
        let Some(streak) = state.rejections.get_mut(model) else { return true };
        if !streak.is_off(now) {
            streak.refused.push(question);
            return true;
        }
        false
    }

    /// Removes and returns the tasks that were refused before it was known that the model rejects everything.
    pub(super) fn take_wrongly_refused(&self) -> Vec<SummaryKey> {
        let mut state = lock(&self.state);
        let off = state.rejections.values_mut().filter(|streak| streak.disabled_until.is_some());
        off.flat_map(|streak| std::mem::take(&mut streak.refused)).collect()
    }

    /// Returns why a model of this provider cannot be called in this run.
    pub(super) fn stop_reason(&self, now: Duration, model: &str) -> Option<StopReason> {
        let state = lock(&self.state);
        let provider = self.provider.clone();
        if let Some(streak) = state.rejections.get(model).filter(|streak| streak.is_off(now)) {
            return Some(StopReason::Account {
                provider,
                class: FailureClass::Request,
                message: streak.message.clone(),
            });
        }
        let message = state.last_message.clone();
        match state.denial(now, model)? {
            GiveUpReason::Account => {
                let class = state.disabled.map_or(FailureClass::Auth, |(_, class)| class);
                Some(StopReason::Account { provider, class, message })
            }
            GiveUpReason::Outage | GiveUpReason::Useless | GiveUpReason::Declined => {
                Some(StopReason::Unreachable { provider, message, retry_in: state.closed_for(now) })
            }
        }
    }

    /// Returns its last message that was not an answer.
    pub(super) fn last_message(&self) -> String {
        lock(&self.state).last_message.clone()
    }

    /// Returns how long the provider must rest.
    pub(super) fn closed_for(&self, now: Duration) -> Duration {
        lock(&self.state).closed_for(now)
    }
}

/// Permission to make one call. It is returned on drop, even in a panic: otherwise the slot would be lost.
pub(super) struct CallPermit<'d> {
    pub(super) gate: &'d ProviderGate,
    pub(super) model: &'d str,
    pub(super) clock: &'d dyn Clock,
    pub(super) is_returned: bool,
}

impl CallPermit<'_> {
    pub(super) fn complete(mut self, result: &CallResult) {
        self.gate.record_result(self.clock.monotonic(), self.model, result);
        self.is_returned = true;
    }
}

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        if !self.is_returned {
            self.gate.release_unsent(self.clock.monotonic());
        }
    }
}

impl GateState {
    /// Returns why waiting is pointless, if it is.
    fn denial(&self, now: Duration, model: &str) -> Option<GiveUpReason> {
        let is_wrong = self.rejections.get(model).is_some_and(|streak| streak.is_off(now));
        if is_wrong || self.disabled.is_some_and(|(until, _)| now < until) {
            return Some(GiveUpReason::Account);
        }
        // A delay that the provider requested is more reliable than our own guess, so tasks wait longer for it.
        let patience = if self.asked_to_wait { REQUESTED_PATIENCE } else { OUTAGE_PATIENCE };
        (patience < self.closed_for(now)).then_some(GiveUpReason::Outage)
    }

    fn closed_for(&self, now: Duration) -> Duration {
        match self.breaker.state(now) {
            BreakerState::Closed(time) => time,
            BreakerState::Open | BreakerState::Probing => Duration::ZERO,
        }
    }

    /// Tracks what a model rejects. Any sign that it reads requests resets the streak.
    fn track_rejections(&mut self, now: Duration, model: &str, result: &CallResult) {
        let message = match result {
            CallResult::Answered { .. } => None,
            CallResult::Failed(failure) => match failure.class {
                FailureClass::Request => Some(&failure.message),
                FailureClass::TooLong | FailureClass::Soft(_) => None,
                // These do not show whether the model accepts the request.
                FailureClass::Rate
                | FailureClass::Overload
                | FailureClass::Money
                | FailureClass::Auth
                | FailureClass::Settings
                | FailureClass::Garbled => return,
            },
            CallResult::Lost { .. } | CallResult::Stopped => return,
        };
        let Some(message) = message else {
            self.rejections.remove(model);
            return;
        };
        let streak = self.rejections.entry(model.to_owned()).or_default();
        // Different messages are about different requests. Only a model that gives the same message for each rejects
        // everything.
        if !is_same_message(&streak.message, message) {
            *streak = RejectionStreak { message: message.clone(), ..RejectionStreak::default() };
        }
        streak.count += 1;
        if MAX_REJECTIONS <= streak.count {
            streak.disabled_until = Some(now + DISABLED_FOR);
        }
    }

    fn apply_failure(&mut self, now: Duration, failure: &CallFailure) {
        self.last_message.clone_from(&failure.message);
        match failure.class {
            // A rate limit is not an outage: the provider is alive, so the breaker stays as it is.
            FailureClass::Rate => {
                self.rates.record_rate_limit(now);
                self.breaker.release_probe();
            }
            FailureClass::Overload | FailureClass::Garbled => self.breaker.record_failure(now),
            // Retrying cannot help before a user has acted. Not forever, because a daemon outlives the repair.
            FailureClass::Money | FailureClass::Auth | FailureClass::Settings => {
                // The provider has answered, so the breaker must not wait for a probe: `disabled` alone keeps further
                // calls away.
                self.disabled = Some((now + DISABLED_FOR, failure.class));
                self.breaker.record_success();
            }
            // The provider has answered: the fault is in the request, not in its load.
            FailureClass::TooLong | FailureClass::Request | FailureClass::Soft(_) => {
                self.breaker.record_success();
            }
        }
        self.asked_to_wait = failure.retry_after.is_some();
        // Last, because `record_success` clears the delay of a breaker that was being probed.
        if let Some(time) = failure.retry_after {
            self.breaker.pause(now, time);
        }
    }
}

/// Returns whether two messages are equal except for the numbers in them, such as request ids.
fn is_same_message(one: &str, other: &str) -> bool {
    let letters = |text: &'_ str| text.split(|c: char| c.is_ascii_digit()).collect::<String>();
    letters(one) == letters(other)
}
