//! Decides whether a provider may be called: a circuit breaker, a budget of retries, and rate limits.
//!
//! Pure: the time since a fixed moment is passed in.

use std::collections::VecDeque;
use std::time::Duration;

use super::call::{LimitWindow, RateLimits};

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
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

const MINUTE: Duration = Duration::from_mins(1);
/// After this many answers without a complaint one more concurrent call is allowed.
const ANSWERS_TO_GROW: u32 = 20;

/// Limits the calls to a provider: how many are in flight, and how many calls and tokens a minute there may be. It
/// slows down when the provider complains, follows the limits that the provider reports, and recovers slowly.
#[derive(Debug, Clone, PartialEq)]
pub struct RateLimiter {
    calls: TokenBucket,
    tokens: TokenBucket,
    /// When the calls of the last minute were made: a bucket alone would let its capacity pass in addition to a
    /// minute's worth.
    recent: VecDeque<Duration>,
    in_flight: u32,
    /// How many may be in flight.
    width: u32,
    /// How many may ever be in flight.
    max_width: u32,
    /// Answers since the width changed.
    answers: u32,
    /// Until when nothing is sent, because the provider reported an exhausted limit.
    held_until: Duration,
    /// When it last slowed down: calls that were in flight then complain about the same excess.
    narrowed_at: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateDecision {
    /// It may, and counts as made. [`RateLimiter::release`] must follow.
    Admitted,
    /// Not before this time has passed.
    Wait(Duration),
    /// Not before another call has ended.
    Full,
}

impl RateLimiter {
    /// Starts with full buckets.
    pub fn new(now: Duration, concurrency: u32, calls_a_minute: u32, tokens_a_minute: u32) -> Self {
        Self {
            calls: TokenBucket::new(now, calls_a_minute),
            tokens: TokenBucket::new(now, tokens_a_minute),
            recent: VecDeque::new(),
            in_flight: 0,
            width: concurrency.max(1),
            max_width: concurrency.max(1),
            answers: 0,
            held_until: Duration::ZERO,
            narrowed_at: None,
        }
    }

    /// Requests permission for a call with about this many tokens.
    pub fn try_acquire(&mut self, now: Duration, tokens: u64) -> RateDecision {
        if self.width <= self.in_flight {
            return RateDecision::Full;
        }
        let held = self.held_until.saturating_sub(now);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let tokens = tokens as f64;
        // All limits are checked before any is consumed: a call that waits for one must not use up another.
        let wait = held.max(self.calls.wait(now, 1.0)).max(self.tokens.wait(now, tokens));
        let wait = wait.max(self.minute_wait(now));
        if !wait.is_zero() {
            return RateDecision::Wait(wait);
        }
        self.calls.consume(1.0);
        self.tokens.consume(tokens);
        self.recent.push_back(now);
        self.in_flight += 1;
        RateDecision::Admitted
    }

    /// Returns how long until one more call fits the last minute.
    fn minute_wait(&mut self, now: Duration) -> Duration {
        while self.recent.front().is_some_and(|at| *at + MINUTE <= now) {
            self.recent.pop_front();
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let most = (self.calls.rate as usize).max(1);
        let first_to_go = self.recent.len().checked_sub(most).and_then(|index| self.recent.get(index));
        first_to_go.map_or(Duration::ZERO, |at| (*at + MINUTE).saturating_sub(now))
    }

    /// Records the end of a call and the limits that the provider reported.
    pub fn release(&mut self, now: Duration, pace: &RateLimits) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(window) = pace.requests {
            self.calls.apply_window(window);
            self.hold_until_reset(now, window, u64::from(self.in_flight));
        }
        if let Some(window) = pace.tokens {
            self.tokens.apply_window(window);
            self.hold_until_reset(now, window, 0);
        }
    }

    /// Records a success: after some of these one more concurrent call is allowed.
    pub fn record_success(&mut self) {
        // Additive increase and multiplicative decrease, as in TCP.
        self.answers += 1;
        if ANSWERS_TO_GROW <= self.answers {
            self.answers = 0;
            self.width = (self.width + 1).min(self.max_width);
            self.calls.widen();
            self.tokens.widen();
        }
    }

    /// Records a rate-limit response: halves the concurrency and the rates.
    pub fn record_rate_limit(&mut self, now: Duration) {
        self.answers = 0;
        // Calls that were in flight together complain together, about one excess.
        if self.narrowed_at.is_some_and(|at| now.saturating_sub(at) < Duration::from_secs(10)) {
            return;
        }
        self.narrowed_at = Some(now);
        self.width = (self.width / 2).max(1);
        self.calls.narrow();
        self.tokens.narrow();
    }

    /// Waits for a window to reset that has nothing left beyond what calls in flight use.
    fn hold_until_reset(&mut self, now: Duration, window: LimitWindow, in_flight: u64) {
        if window.remaining <= in_flight {
            self.held_until = self.held_until.max(now + window.resets_in.min(15 * MINUTE));
        }
    }
}

/// A token bucket that fills evenly by a rate per minute.
#[derive(Debug, Clone, PartialEq)]
struct TokenBucket {
    /// Its level; negative after a call that took more than the capacity.
    level: f64,
    /// The current rate per minute.
    rate: f64,
    /// The highest rate per minute.
    max: f64,
    /// When it was last filled.
    at: Duration,
}

impl TokenBucket {
    fn new(now: Duration, a_minute: u32) -> Self {
        let max = f64::from(a_minute.max(1));
        Self { level: Self::capacity(max), rate: max, max, at: now }
    }

    /// Returns the capacity: what arrives in ten seconds, but at least one. To many providers, a minute's worth at
    /// once would look like several minutes' worth.
    fn capacity(rate: f64) -> f64 {
        (rate / 6.0).max(1.0)
    }

    /// Fills it up to now and returns how long it takes until it holds this much. What exceeds the capacity waits
    /// until it is full.
    fn wait(&mut self, now: Duration, amount: f64) -> Duration {
        let passed = now.saturating_sub(self.at);
        self.at = self.at.max(now);
        let room = Self::capacity(self.rate);
        self.level = (self.level + self.rate * passed.as_secs_f64() / 60.0).min(room);
        let missing = amount.min(room) - self.level;
        // A billionth is rounding error.
        if missing <= 1e-9 {
            Duration::ZERO
        } else {
            // Bounded, because the conversion panics on what a duration cannot hold; callers ask again after the
            // wait.
            Duration::from_secs_f64((missing * 60.0 / self.rate).min(900.0))
        }
    }

    fn consume(&mut self, amount: f64) {
        self.level -= amount;
    }

    /// Lowers the rate to the provider's limit.
    fn apply_window(&mut self, window: LimitWindow) {
        #[expect(clippy::cast_precision_loss, reason = "a limit of this size is none")]
        let limit = window.limit.map(|limit| limit as f64);
        // A limit per day is not a limit per minute.
        if let Some(limit) = limit.filter(|limit| 1.0 <= *limit && window.resets_in <= 2 * MINUTE) {
            self.rate = self.rate.min(limit);
        }
    }

    fn narrow(&mut self) {
        // Not to zero: only answers raise the rate again, and without calls there are none.
        self.rate = (self.rate / 2.0).max((self.max / 64.0).max(1.0).min(self.max));
        // What has accumulated was allowed by the rate that was too high.
        self.level = self.level.min(0.0);
    }

    fn widen(&mut self) {
        self.rate = (self.rate + self.max / 20.0).min(self.max);
    }
}

#[cfg(test)]
mod breaker_tests {
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

#[cfg(test)]
mod rate_tests {
    use super::*;

    /// Makes calls as soon as they are admitted, one after the other, and returns the times.
    fn calls(rates: &mut RateLimiter, count: usize, tokens: u64) -> Vec<Duration> {
        let mut now = Duration::ZERO;
        (0..count)
            .map(|_| {
                loop {
                    match rates.try_acquire(now, tokens) {
                        RateDecision::Admitted => {
                            rates.release(now, &RateLimits::default());
                            break now;
                        }
                        RateDecision::Wait(time) => now += time,
                        RateDecision::Full => panic!("nothing is under way"),
                    }
                }
            })
            .collect()
    }

    fn most_in_a_minute(times: &[Duration]) -> usize {
        let within =
            |start: Duration| times.iter().filter(|at| start <= **at && **at < start + MINUTE).count();
        times.iter().map(|start| within(*start)).max().unwrap_or(0)
    }

    #[test]
    fn calls_a_minute_do_not_exceed_the_limit() {
        for a_minute in [1, 30, 60] {
            let times = calls(&mut RateLimiter::new(Duration::ZERO, 4, a_minute, 1_000_000), 300, 1);
            assert_eq!(most_in_a_minute(&times), a_minute as usize);
            // Nor fewer, in the long run.
            let minutes = times.last().unwrap().as_secs_f64() / 60.0;
            assert!(minutes <= 300.0 / f64::from(a_minute), "{minutes} minutes");
        }
    }

    #[test]
    fn tokens_a_minute_do_not_exceed_the_limit() {
        let times = calls(&mut RateLimiter::new(Duration::ZERO, 4, 1_000, 60_000), 200, 1_000);
        let most = most_in_a_minute(&times);
        assert!((60..=70).contains(&most), "{most} thousand in a minute");
    }

    #[test]
    fn a_call_larger_than_the_bucket_is_still_admitted() {
        let times = calls(&mut RateLimiter::new(Duration::ZERO, 4, 60, 1_000), 3, 5_000);
        assert!(times[1] < Duration::from_mins(6) && times[2] < Duration::from_mins(12), "{times:?}");
    }

    #[test]
    fn calls_in_flight_do_not_exceed_the_width() {
        let mut rates = RateLimiter::new(Duration::ZERO, 2, 60, 60_000);
        let now = Duration::ZERO;
        assert_eq!(
            [(); 3].map(|()| rates.try_acquire(now, 1)),
            [RateDecision::Admitted, RateDecision::Admitted, RateDecision::Full]
        );
        rates.release(now, &RateLimits::default());
        assert_eq!(rates.try_acquire(now, 1), RateDecision::Admitted);
    }

    #[test]
    fn a_rate_limit_halves_the_width_once_and_answers_restore_it_slowly() {
        let mut rates = RateLimiter::new(Duration::ZERO, 8, 6_000, 6_000_000);
        for _ in 0..8 {
            assert_eq!(rates.try_acquire(Duration::ZERO, 1), RateDecision::Admitted);
        }
        for _ in 0..8 {
            rates.release(Duration::from_secs(1), &RateLimits::default());
            rates.record_rate_limit(Duration::from_secs(1));
        }
        assert_eq!(rates.width, 4);
        for _ in 0..ANSWERS_TO_GROW {
            rates.record_success();
        }
        assert_eq!(rates.width, 5);
        for _ in 0..1_000 {
            rates.record_success();
        }
        assert!(rates.width == 8 && (rates.calls.rate - 6_000.0).abs() < 1.0);
    }

    #[test]
    fn an_exhausted_provider_rests_until_its_limit_resets() {
        let mut rates = RateLimiter::new(Duration::ZERO, 4, 60, 60_000);
        let window = LimitWindow { limit: Some(10), remaining: 0, resets_in: Duration::from_secs(42) };
        assert_eq!(rates.try_acquire(Duration::ZERO, 1), RateDecision::Admitted);
        rates.release(Duration::ZERO, &RateLimits { requests: Some(window), tokens: None });
        assert_eq!(rates.try_acquire(Duration::ZERO, 1), RateDecision::Wait(Duration::from_secs(42)));
        assert_eq!(rates.try_acquire(Duration::from_secs(42), 1), RateDecision::Admitted);
        assert!((rates.calls.rate - 10.0).abs() < 0.1);
    }
}
