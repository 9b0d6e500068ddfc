//! Whether a provider is left alone for a while.
//!
//! Pure: the time since some moment comes in as a number.

use std::time::Duration;

/// After so many failures in a row it is left alone.
const MAX_FAILURES: u32 = 5;
/// For so long the first time; each time twice as long as the time before.
const FIRST_REST: Duration = Duration::from_secs(30);
/// Never for longer.
const MAX_REST: Duration = Duration::from_mins(15);

/// Leaves a provider alone that does not answer, and then asks it one question alone before it is asked others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CircuitBreaker {
    /// Failures since the last success.
    failures: u32,
    /// How often it was left alone since the last success.
    rests: u32,
    /// Until when it is left alone, for either reason.
    until: Option<Duration>,
    /// Whether the next question is to go alone, and whether it is on its way.
    probe: ProbeState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ProbeState {
    #[default]
    Unneeded,
    Due,
    Sent,
}

/// Whether a question may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// It may.
    Open,
    /// Not before that time has passed.
    Closed(Duration),
    /// Not before the one question that is on its way has come back.
    Probing,
}

impl CircuitBreaker {
    /// Says whether a question may be sent now, without taking that as done.
    pub fn state(&self, now: Duration) -> BreakerState {
        match self.until.filter(|until| now < *until) {
            Some(until) => BreakerState::Closed(until.saturating_sub(now)),
            None if self.probe == ProbeState::Sent => BreakerState::Probing,
            None => BreakerState::Open,
        }
    }

    /// Asks for leave to send a question now. Where that is given, exactly one of [`Breaker::succeeded`],
    /// [`Breaker::failed`] and [`Breaker::abandoned`] is to follow.
    pub fn try_enter(&mut self, now: Duration) -> BreakerState {
        let gate = self.state(now);
        if gate == BreakerState::Open && self.probe == ProbeState::Due {
            self.probe = ProbeState::Sent;
        }
        gate
    }

    /// It answered, whatever that was: it is alive.
    pub fn record_success(&mut self) {
        // Who asked to be left alone is, though other calls still come through.
        *self = Self { until: self.until.filter(|_| self.probe == ProbeState::Unneeded), ..Self::default() };
    }

    /// It did not answer, or said that it is in trouble.
    pub fn record_failure(&mut self, now: Duration) {
        // Calls that were on their way when it was closed are no further sign.
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

    /// Nobody waits any more for what came of the question.
    pub fn release_probe(&mut self) {
        if self.probe == ProbeState::Sent {
            self.probe = ProbeState::Due;
        }
    }

    /// Leaves it alone for as long as it said.
    pub fn pause(&mut self, now: Duration, time: Duration) {
        self.until = self.until.max(Some(now + time.min(MAX_REST)));
        self.release_probe();
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
    fn four_failures_close_nothing_and_a_success_forgets_them() {
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
    fn after_five_failures_one_question_goes_alone() {
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
    fn failures_of_calls_that_were_on_their_way_lengthen_nothing() {
        let mut breaker = closed_at(seconds(0));
        for _ in 0..30 {
            breaker.record_failure(seconds(1));
        }
        assert_eq!(breaker.try_enter(seconds(1)), BreakerState::Closed(seconds(29)));
    }

    #[test]
    fn a_question_that_nobody_waits_for_lets_the_next_one_go() {
        let mut breaker = closed_at(seconds(0));
        assert_eq!(breaker.try_enter(seconds(30)), BreakerState::Open);
        breaker.release_probe();
        assert_eq!(breaker.try_enter(seconds(30)), BreakerState::Open);
        assert_eq!(breaker.try_enter(seconds(30)), BreakerState::Probing);
    }

    #[test]
    fn a_pause_is_kept_whatever_comes_meanwhile() {
        let mut breaker = CircuitBreaker::default();
        breaker.pause(seconds(10), seconds(60));
        breaker.record_success();
        breaker.pause(seconds(11), seconds(1));
        assert_eq!(breaker.try_enter(seconds(69)), BreakerState::Closed(seconds(1)));
        assert_eq!(breaker.try_enter(seconds(70)), BreakerState::Open);
        breaker.pause(seconds(70), seconds(1_000_000));
        assert_eq!(breaker.try_enter(seconds(70)), BreakerState::Closed(seconds(900)));
    }
}
