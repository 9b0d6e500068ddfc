//! Limits the rate of calls to a provider.
//!
//! Pure: the time since a fixed moment is passed in.

use std::collections::VecDeque;
use std::time::Duration;

use crate::llm::call::{LimitWindow, RateLimits};

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
    /// Calls in flight.
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

/// Whether a call may be made.
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
        self.rate = (self.rate / 2.0).max((self.max / 64.0).max(1.0).min(self.max));
        self.level = self.level.min(0.0);
    }

    fn widen(&mut self) {
        self.rate = (self.rate + self.max / 20.0).min(self.max);
    }
}

#[cfg(test)]
mod tests {
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
