//! Decides whether a failing provider is left alone for a while, and how often it may be retried.
//!
//! Pure: the time since a fixed moment is passed in.

use std::time::Duration;

/// After this many consecutive failures the breaker opens.
const MAX_FAILURES: u32 = 5;
/// The first rest; it doubles each time.
const FIRST_REST: Duration = Duration::from_secs(30);
/// The longest rest.
const MAX_REST: Duration = Duration::from_mins(15);

/// A circuit breaker: opens after repeated failures, and then admits a single probe before other calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CircuitBreaker {
    /// Failures since the last success.
    failures: u32,
    /// How often it opened since the last success.
    rests: u32,
    /// Until when calls are rejected, because of failures or a requested delay.
    until: Option<Duration>,
    /// Whether the next call must be a probe, and whether the probe is in flight.
    probe: ProbeState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ProbeState {
    #[default]
    Unneeded,
    Due,
    Sent,
}

/// Whether a call may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// It may.
    Open,
    /// Not before this time has passed.
    Closed(Duration),
    /// Not before the probe in flight has returned.
    Probing,
}

impl CircuitBreaker {
    /// Returns whether a call may be made now, without recording one.
    pub fn state(&self, now: Duration) -> BreakerState {
        match self.until.filter(|until| now < *until) {
            Some(until) => BreakerState::Closed(until.saturating_sub(now)),
            None if self.probe == ProbeState::Sent => BreakerState::Probing,
            None => BreakerState::Open,
        }
    }

    /// Requests permission for a call now. If granted, exactly one of [`CircuitBreaker::record_success`],
    /// [`CircuitBreaker::record_failure`] and [`CircuitBreaker::release_probe`] must follow.
    pub fn try_enter(&mut self, now: Duration) -> BreakerState {
        let gate = self.state(now);
        if gate == BreakerState::Open && self.probe == ProbeState::Due {
            self.probe = ProbeState::Sent;
        }
        gate
    }

    /// Records a response of any kind: the provider is alive.
    pub fn record_success(&mut self) {
        // A requested delay remains in force, even if other calls still succeed.
        *self = Self { until: self.until.filter(|_| self.probe == ProbeState::Unneeded), ..Self::default() };
    }

    /// Records that there was no response, or one that reports an outage.
    pub fn record_failure(&mut self, now: Duration) {
        // Calls that were in flight when it opened are no further evidence.
        if self.probe == ProbeState::Due && self.until.is_some_and(|until| now < until) {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if self.probe == ProbeState::Unneeded && self.failures < MAX_FAILURES {
            return;
        }
        let rest = FIRST_REST.saturating_mul(1 << self.rests.min(8)).min(MAX_REST);
        self.rests = self.rests.saturating_add(1);
        self.probe = ProbeState::Due;
        self.until = self.until.max(Some(now + rest));
    }

    /// Records that the result of the call is unknown.
    pub fn release_probe(&mut self) {
        if self.probe == ProbeState::Sent {
            self.probe = ProbeState::Due;
        }
    }

    /// Rejects calls for a requested time.
    pub fn pause(&mut self, now: Duration, time: Duration) {
        // A requested delay is not a failure: the provider is alive, and the breaker does not count it.
        self.until = self.until.max(Some(now + time.min(MAX_REST)));
        self.release_probe();
    }
}

/// Retries that are always allowed, so that a single task has all its tries.
const MIN_RETRIES: u32 = 3;
/// Beyond that, one in this many calls may be a retry.
const RETRY_SHARE: u32 = 5;
/// The window over which calls are counted.
const WINDOW: Duration = Duration::from_hours(1);

/// Limits retries to a fifth of the first calls. Each caller alone gives up soon enough, but many callers with four
/// tries each would keep a recovering server down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RetryBudget {
    since: Duration,
    firsts: u32,
    retries: u32,
}

impl RetryBudget {
    /// Counts the first call of a task.
    pub fn count_first(&mut self, now: Duration) {
        self.decay(now);
        self.firsts = self.firsts.saturating_add(1);
    }

    /// Requests permission for a retry, and counts it if granted.
    pub fn try_retry(&mut self, now: Duration) -> bool {
        self.decay(now);
        let allowed = MIN_RETRIES.max(self.firsts / RETRY_SHARE);
        if allowed <= self.retries {
            return false;
        }
        self.retries += 1;
        true
    }

    /// Halves the counts after each window, so that a long calm does not pay for a storm.
    fn decay(&mut self, now: Duration) {
        if WINDOW <= now.saturating_sub(self.since) {
            *self = Self { since: now, firsts: self.firsts / 2, retries: self.retries / 2 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    fn closed_at(now: Duration) -> CircuitBreaker {
        let mut breaker = CircuitBreaker::default();
        for _ in 0..MAX_FAILURES {
            assert_eq!(breaker.try_enter(now), BreakerState::Open);
            breaker.record_failure(now);
        }
        breaker
    }

    #[test]
    fn four_failures_do_not_open_the_breaker_and_a_success_resets_them() {
        let mut breaker = CircuitBreaker::default();
        for _ in 0..100 {
            for _ in 0..4 {
                breaker.record_failure(seconds(0));
            }
            assert_eq!(breaker.try_enter(seconds(0)), BreakerState::Open);
            breaker.record_success();
        }
    }

    #[test]
    fn after_five_failures_a_single_probe_is_sent() {
        let mut breaker = closed_at(seconds(100));
        assert_eq!(breaker.try_enter(seconds(100)), BreakerState::Closed(seconds(30)));
        assert_eq!(breaker.try_enter(seconds(129)), BreakerState::Closed(seconds(1)));
        assert_eq!(breaker.try_enter(seconds(130)), BreakerState::Open);
        for _ in 0..10 {
            assert_eq!(breaker.try_enter(seconds(131)), BreakerState::Probing);
        }
        breaker.record_success();
        assert_eq!(breaker.try_enter(seconds(131)), BreakerState::Open);
        assert_eq!(breaker.try_enter(seconds(131)), BreakerState::Open);
    }

    #[test]
    fn rests_double_up_to_a_quarter_of_an_hour() {
        let (mut breaker, mut now, mut rests) = (closed_at(seconds(0)), seconds(0), Vec::new());
        for _ in 0..8 {
            let BreakerState::Closed(rest) = breaker.try_enter(now) else { panic!("it is closed") };
            rests.push(rest.as_secs());
            now += rest;
            assert_eq!(breaker.try_enter(now), BreakerState::Open);
            breaker.record_failure(now);
        }
        assert_eq!(rests, [30, 60, 120, 240, 480, 900, 900, 900]);
    }

    #[test]
    fn failures_of_calls_in_flight_do_not_lengthen_the_rest() {
        let mut breaker = closed_at(seconds(0));
        for _ in 0..30 {
            breaker.record_failure(seconds(1));
        }
        assert_eq!(breaker.try_enter(seconds(1)), BreakerState::Closed(seconds(29)));
    }

    #[test]
    fn an_abandoned_probe_admits_the_next_call() {
        let mut breaker = closed_at(seconds(0));
        assert_eq!(breaker.try_enter(seconds(30)), BreakerState::Open);
        breaker.release_probe();
        assert_eq!(breaker.try_enter(seconds(30)), BreakerState::Open);
        assert_eq!(breaker.try_enter(seconds(30)), BreakerState::Probing);
    }

    #[test]
    fn a_requested_pause_is_kept_whatever_happens_meanwhile() {
        let mut breaker = CircuitBreaker::default();
        breaker.pause(seconds(10), seconds(60));
        breaker.record_success();
        breaker.pause(seconds(11), seconds(1));
        assert_eq!(breaker.try_enter(seconds(69)), BreakerState::Closed(seconds(1)));
        assert_eq!(breaker.try_enter(seconds(70)), BreakerState::Open);
        breaker.pause(seconds(70), seconds(1_000_000));
        assert_eq!(breaker.try_enter(seconds(70)), BreakerState::Closed(seconds(900)));
    }

    #[test]
    fn a_single_task_has_all_its_tries() {
        let mut budget = RetryBudget::default();
        budget.count_first(Duration::ZERO);
        assert_eq!([(); 5].map(|()| budget.try_retry(Duration::ZERO)), [true, true, true, false, false]);
    }

    #[test]
    fn a_fifth_of_many_calls_may_be_retries() {
        let (mut budget, mut retries) = (RetryBudget::default(), 0);
        for second in 0..1_000 {
            let now = Duration::from_secs(second);
            budget.count_first(now);
            retries += (0..3).filter(|_| budget.try_retry(now)).count();
        }
        assert_eq!(retries, 200);
    }
}
