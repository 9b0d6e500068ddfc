//! Whether a provider is left alone for a while.
//!
//! Pure: the time since some moment comes in as a number.

use std::time::Duration;

/// After so many failures in a row it is left alone.
const MOST_FAILURES: u32 = 5;
/// For so long the first time; each time twice as long as the time before.
const FIRST_REST: Duration = Duration::from_secs(30);
/// Never for longer.
const LONGEST_REST: Duration = Duration::from_mins(15);

/// Leaves a provider alone that does not answer, and then asks it one question alone before it is asked others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Breaker {
    /// Failures since the last success.
    failures: u32,
    /// How often it was left alone since the last success.
    rests: u32,
    /// Until when it is left alone, for either reason.
    until: Option<Duration>,
    /// Whether the next question is to go alone, and whether it is on its way.
    probe: Probe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Probe {
    #[default]
    Unneeded,
    Due,
    Sent,
}

/// Whether a question may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It may.
    Open,
    /// Not before that time has passed.
    Closed(Duration),
    /// Not before the one question that is on its way has come back.
    Probing,
}

impl Breaker {
    /// Says whether a question may be sent now, without taking that as done.
    pub fn look(&self, now: Duration) -> Gate {
        match self.until.filter(|until| now < *until) {
            Some(until) => Gate::Closed(until.saturating_sub(now)),
            None if self.probe == Probe::Sent => Gate::Probing,
            None => Gate::Open,
        }
    }

    /// Asks for leave to send a question now. Where that is given, exactly one of [`Breaker::succeeded`],
    /// [`Breaker::failed`] and [`Breaker::abandoned`] is to follow.
    pub fn enter(&mut self, now: Duration) -> Gate {
        let gate = self.look(now);
        if gate == Gate::Open && self.probe == Probe::Due {
            self.probe = Probe::Sent;
        }
        gate
    }

    /// It answered, whatever that was: it is alive.
    pub fn succeeded(&mut self) {
        // Who asked to be left alone is, though other calls still come through.
        *self = Self { until: self.until.filter(|_| self.probe == Probe::Unneeded), ..Self::default() };
    }

    /// It did not answer, or said that it is in trouble.
    pub fn failed(&mut self, now: Duration) {
        // Calls that were on their way when it was closed are no further sign.
        if self.probe == Probe::Due && self.until.is_some_and(|until| now < until) {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if self.probe == Probe::Unneeded && self.failures < MOST_FAILURES {
            return;
        }
        let rest = FIRST_REST.saturating_mul(1 << self.rests.min(8)).min(LONGEST_REST);
        self.rests = self.rests.saturating_add(1);
        self.probe = Probe::Due;
        self.until = self.until.max(Some(now + rest));
    }

    /// Nobody waits any more for what came of the question.
    pub fn abandoned(&mut self) {
        if self.probe == Probe::Sent {
            self.probe = Probe::Due;
        }
    }

    /// Leaves it alone for as long as it said.
    pub fn pause(&mut self, now: Duration, time: Duration) {
        self.until = self.until.max(Some(now + time.min(LONGEST_REST)));
        self.abandoned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    fn closed_at(now: Duration) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..MOST_FAILURES {
            assert_eq!(breaker.enter(now), Gate::Open);
            breaker.failed(now);
        }
        breaker
    }

    #[test]
    fn four_failures_close_nothing_and_a_success_forgets_them() {
        let mut breaker = Breaker::default();
        for _ in 0..100 {
            for _ in 0..4 {
                breaker.failed(seconds(0));
            }
            assert_eq!(breaker.enter(seconds(0)), Gate::Open);
            breaker.succeeded();
        }
    }

    #[test]
    fn after_five_failures_one_question_goes_alone() {
        let mut breaker = closed_at(seconds(100));
        assert_eq!(breaker.enter(seconds(100)), Gate::Closed(seconds(30)));
        assert_eq!(breaker.enter(seconds(129)), Gate::Closed(seconds(1)));
        assert_eq!(breaker.enter(seconds(130)), Gate::Open);
        for _ in 0..10 {
            assert_eq!(breaker.enter(seconds(131)), Gate::Probing);
        }
        breaker.succeeded();
        assert_eq!(breaker.enter(seconds(131)), Gate::Open);
        assert_eq!(breaker.enter(seconds(131)), Gate::Open);
    }

    #[test]
    fn rests_double_up_to_a_quarter_of_an_hour() {
        let (mut breaker, mut now, mut rests) = (closed_at(seconds(0)), seconds(0), Vec::new());
        for _ in 0..8 {
            let Gate::Closed(rest) = breaker.enter(now) else { panic!("it is closed") };
            rests.push(rest.as_secs());
            now += rest;
            assert_eq!(breaker.enter(now), Gate::Open);
            breaker.failed(now);
        }
        assert_eq!(rests, [30, 60, 120, 240, 480, 900, 900, 900]);
    }

    #[test]
    fn failures_of_calls_that_were_on_their_way_lengthen_nothing() {
        let mut breaker = closed_at(seconds(0));
        for _ in 0..30 {
            breaker.failed(seconds(1));
        }
        assert_eq!(breaker.enter(seconds(1)), Gate::Closed(seconds(29)));
    }

    #[test]
    fn a_question_that_nobody_waits_for_lets_the_next_one_go() {
        let mut breaker = closed_at(seconds(0));
        assert_eq!(breaker.enter(seconds(30)), Gate::Open);
        breaker.abandoned();
        assert_eq!(breaker.enter(seconds(30)), Gate::Open);
        assert_eq!(breaker.enter(seconds(30)), Gate::Probing);
    }

    #[test]
    fn a_pause_is_kept_whatever_comes_meanwhile() {
        let mut breaker = Breaker::default();
        breaker.pause(seconds(10), seconds(60));
        breaker.succeeded();
        breaker.pause(seconds(11), seconds(1));
        assert_eq!(breaker.enter(seconds(69)), Gate::Closed(seconds(1)));
        assert_eq!(breaker.enter(seconds(70)), Gate::Open);
        breaker.pause(seconds(70), seconds(1_000_000));
        assert_eq!(breaker.enter(seconds(70)), Gate::Closed(seconds(900)));
    }
}
